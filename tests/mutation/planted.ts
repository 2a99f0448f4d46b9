/** Bugs that were once there, planted again on purpose: the suites must notice each. */
import { layers } from "./layers.ts";
import type { Trial } from "./run_mutants.ts";

/** A bug as replacements in the sources, each of which occurs exactly once. */
export interface PlantedBug {
  readonly name: string;
  /** The layer whose suites must notice it. */
  readonly layer: string;
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    // Kernels were made for a copy of the block in which bytes stood for all numbers; so every integer column without
    // bounds was taken for one of 0 to 255, and arithmetic on rows in memory lost its checks.
    name: "kernels are made for bytes",
    layer: "codegen",
    edits: [{
      file: "engine/execution/operators/scan.ts",
      find: "code: this.#makeKernel(shape)",
      replace: `code: this.#makeKernel({
        ...shape,
        columns: shape.columns.map((each) => each.kind === "number" ? { ...each, element: "u8" } : each),
      })`,
    }],
  },
  {
    // Bounds came from a logarithm, which is rounded near 2^50: they were too small by one.
    name: "spans come from a rounded logarithm",
    layer: "ranges",
    edits: [{
      file: "engine/storage/access/vector.ts",
      find: "  let power = 1;\n  while (power < value) power *= 2;\n  return power;",
      replace: "  return 2 ** Math.ceil(Math.log2(value));",
    }],
  },
];

/** The planted bugs, ready to be tried. */
export function plantedTrials(root: string): Trial[] {
  return plantedBugs.map(({ name, layer: layerName, edits }) => {
    const layer = layers.find(({ name }) => name === layerName);
    const file = edits[0]?.file;
    if (layer === undefined || file === undefined) throw new Error(`Cannot plant ${name}: it has no place`);
    const files = new Map<string, string>();
    for (const { file, find, replace } of edits) {
      const text = files.get(file) ?? Deno.readTextFileSync(`${root}/${file}`);
      if (text.split(find).length !== 2) {
        throw new Error(`Cannot plant ${name}: ${file} has changed where ${JSON.stringify(find)} was`);
      }
      files.set(file, text.replace(find, () => replace));
    }
    return { id: `planted: ${name}`, layer, file, files };
  });
}
