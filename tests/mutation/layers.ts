/** The layers that decide answers: which files are mutated, and which tests know them. */

/** Files of one responsibility. */
export interface Layer {
  readonly name: string;
  /** Which of the sources belong to it, tests left out. */
  readonly files: RegExp;
  /** Test modules besides {@link commonModules}: files, or folders that end with a slash. */
  readonly modules: readonly string[];
}

/** Test modules for every layer: they ask whole statements. */
export const commonModules: readonly string[] = [
  "tests/slt/logic_test.ts",
  "tests/answers/",
  "tests/mutation/suites/",
  "engine/sql/functions/",
];

export const layers: readonly Layer[] = [
  {
    name: "codegen",
    files: /^engine\/execution\/(codegen|operators)\//,
    modules: ["engine/execution/", "tests/pruning/"],
  },
  {
    name: "ranges",
    files:
      /^engine\/(sql\/functions\/(integer_range|arithmetic_operators|number_casts|comparison_operators|basic_aggregates)|storage\/access\/vector(_shape)?|types\/stored_range|transactions\/storable_rows)\.ts$/,
    modules: [
      "engine/execution/",
      "engine/storage/access/vector_shape_test.ts",
      "engine/types/",
      "engine/transactions/",
    ],
  },
  {
    name: "runtime",
    files: /^engine\/execution\/runtime\//,
    modules: ["engine/execution/", "tests/pruning/"],
  },
  {
    name: "values",
    files:
      /^engine\/types\/(calendar|compare|date_time\w*|decimal\w*|interval\w*|number_or_bigint|time_zone)\.ts$/,
    modules: ["engine/types/"],
  },
  {
    name: "pruning",
    files:
      /^engine\/(sql\/planner\/(access_path|extremes|index_expressions|join_keys)|storage\/table\/(zone_map|index_key|segment_index|bloom_filter|delta_index|slot_tree|location_cursor))\.ts$/,
    modules: ["engine/sql/planner/", "engine/storage/table/", "engine/execution/", "tests/pruning/"],
  },
];

/** The files that a layer's mutants are made in. */
export function filesOf(layer: Layer, paths: readonly string[]): string[] {
  return paths.filter((path) => layer.files.test(path) && !path.endsWith("_test.ts"));
}

/** The test modules that may notice a layer's mutants. */
export function modulesOf(layer: Layer, paths: readonly string[]): string[] {
  const wanted = [...layer.modules, ...commonModules];
  return paths.filter((path) =>
    path.endsWith("_test.ts") && !path.endsWith("_for_test.ts") &&
    wanted.some((module) => module.endsWith("/") ? path.startsWith(module) : path === module)
  );
}
