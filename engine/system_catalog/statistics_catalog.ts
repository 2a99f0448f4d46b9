/** What ANALYZE has found out of columns and of groups of columns, as pg_catalog shows it. */
import type { StatisticsDefinition, TableDefinition } from "../catalog/definitions.ts";
import { textOptions } from "../sql/functions/casts.ts";
import type { ColumnDistribution, CountedValue } from "../storage/access/column_distribution.ts";
import type { GroupDistribution } from "../storage/table/group_distribution.ts";
import { groupKey } from "../storage/table/table_analysis.ts";
import { SqlArray } from "../types/sql_array.ts";
import type { SqlType } from "../types/sql_type.ts";
import { fromStored } from "../types/stored_value.ts";
import { formatText } from "../types/text_io.ts";
import type { CatalogContext } from "./catalog_context.ts";
import { schemaId } from "./class_catalog.ts";
import { catalogRows, liveRows, type RelationProviders } from "./relation_provider.ts";
import type { RowValues } from "./relation_shape.ts";
import { shownColumns } from "./table_objects.ts";

/** What storage knows of the values of each column. */
function* columnStatistics(context: CatalogContext): Iterable<RowValues> {
  const { machine } = context;
  for (const table of machine.catalog.tables) {
    const rows = machine.rowCount(table.id);
    if (rows === 0) continue;
    for (const column of shownColumns(table)) {
      const statistics = machine.columnStatistics(table.id, column.id);
      if (statistics === undefined) continue;
      yield {
        schemaname: table.schema,
        tablename: table.name,
        attname: column.name,
        inherited: false,
        null_frac: Math.fround(statistics.nullFraction),
        avg_width: Math.round(statistics.averageBytes),
        // As in PostgreSQL, a negative number is a share of the rows.
        n_distinct: statistics.distinct >= rows ? -1 : Math.fround(statistics.distinct),
        ...(statistics.distribution === undefined
          ? {}
          : distributionOf(context, column.type, statistics.distribution, statistics.distinct >= rows)),
      };
    }
  }
}

/** What ANALYZE has found, as texts of the column's type; NULL is what there is none of. */
function distributionOf(
  context: CatalogContext,
  type: SqlType,
  { common, histogram, correlation }: ColumnDistribution,
  isUnique: boolean,
): RowValues {
  // Plans go by the values of small tables; of values that come once none is common to a reader.
  const hasNone = common.size === 0 || isUnique;
  const texts = (values: Iterable<CountedValue>) =>
    SqlArray.of([...values].map((each) => valueText(context, type, each)));
  return {
    most_common_vals: hasNone ? null : texts(common.keys()),
    most_common_freqs: hasNone ? null : SqlArray.of([...common.values()].map(Math.fround)),
    histogram_bounds: histogram.length < 2 ? null : texts(histogram),
    correlation: correlation === null ? null : Math.fround(correlation),
  };
}

function valueText(context: CatalogContext, type: SqlType, value: CountedValue): string {
  return formatText(type, fromStored(type, value), textOptions(context));
}

/** PostgreSQL's letters of kinds. */
const KIND_LETTERS = { ndistinct: "d", dependencies: "f", mcv: "m" } as const;

function* definitions(
  context: CatalogContext,
): Iterable<{ readonly table: TableDefinition; readonly definition: StatisticsDefinition }> {
  for (const table of context.catalog.tables) {
    for (const definition of table.statistics ?? []) yield { table, definition };
  }
}

function* groupDefinitions(context: CatalogContext): Iterable<RowValues> {
  for (const { table, definition } of definitions(context)) {
    yield {
      oid: definition.id,
      stxrelid: table.id,
      stxname: definition.name,
      stxnamespace: schemaId(context, definition.schema),
      stxowner: 10,
      stxstattarget: definition.target ?? -1,
      stxkeys: SqlArray.of([...definition.columns]),
      stxkind: SqlArray.of(definition.kinds.map((kind) => KIND_LETTERS[kind])),
      stxexprs: null,
    };
  }
}

/** Groups that ANALYZE has looked at. */
function* found(context: CatalogContext) {
  for (const { table, definition } of definitions(context)) {
    if (context.machine.remoteRowCount(table.id) !== undefined) continue;
    if (context.machine.catalog.table(table.id) === undefined) continue;
    const group = context.machine.store(table.id).analysis?.groups.get(groupKey(definition.columns));
    if (group !== undefined) yield { table, definition, group };
  }
}

function* groupData(context: CatalogContext): Iterable<RowValues> {
  for (const { table, definition, group } of found(context)) {
    yield {
      stxoid: definition.id,
      stxdinherit: false,
      stxdndistinct: distinctText(definition, group),
      stxddependencies: dependenciesText(definition, group),
      stxdmcv: commonText(context, table, definition, group),
      stxdexpr: null,
    };
  }
}

function* groupStatistics(context: CatalogContext): Iterable<RowValues> {
  for (const { table, definition, group } of found(context)) {
    const columns = definition.columns.map((id) => table.columns.find((column) => column.id === id));
    const { kinds } = definition;
    const common = kinds.includes("mcv") ? group.common : [];
    const texts = common.map(({ values }) =>
      values.map((value, place) => {
        const type = columns[place]?.type;
        return value === null || type === undefined ? null : valueText(context, type, value);
      })
    );
    yield {
      schemaname: table.schema,
      tablename: table.name,
      statistics_schemaname: definition.schema,
      statistics_name: definition.name,
      statistics_owner: context.user,
      attnames: SqlArray.of(columns.map((column) => column?.name ?? "")),
      exprs: null,
      kinds: SqlArray.of(kinds.map((kind) => KIND_LETTERS[kind])),
      inherited: false,
      n_distinct: distinctText(definition, group),
      dependencies: dependenciesText(definition, group),
      most_common_vals: common.length === 0
        ? null
        : new SqlArray(texts.flat(), [common.length, columns.length], [1, 1]),
      most_common_val_nulls: common.length === 0
        ? null
        : new SqlArray(texts.flat().map((each) => each === null), [common.length, columns.length], [1, 1]),
      most_common_freqs: common.length === 0 ? null : SqlArray.of(common.map(({ share }) => share)),
      most_common_base_freqs: common.length === 0
        ? null
        : SqlArray.of(common.map(({ independentShare }) => independentShare)),
    };
  }
}

/** The most common combinations, as `pg_mcv_list_items` reads them. */
function commonText(
  context: CatalogContext,
  table: TableDefinition,
  { kinds, columns }: StatisticsDefinition,
  { common }: GroupDistribution,
): string | null {
  if (!kinds.includes("mcv") || common.length === 0) return null;
  const types = columns.map((id) => table.columns.find((column) => column.id === id)?.type);
  return JSON.stringify(common.map(({ values, share, independentShare }) => [
    values.map((value, place) => {
      const type = types[place];
      return value === null || type === undefined ? null : valueText(context, type, value);
    }),
    share,
    independentShare,
  ]));
}

/** The number of combinations of each set of columns, by the columns' numbers. */
function distinctText(
  { kinds, columns }: StatisticsDefinition,
  { distinct }: GroupDistribution,
): string | null {
  if (!kinds.includes("ndistinct")) return null;
  const parts = [...distinct].map(([places, count]) =>
    `"${places.split(",").map((place) => columns[Number(place)]).join(", ")}": ${count}`
  );
  return `{${parts.join(", ")}}`;
}

function dependenciesText(
  { kinds, columns }: StatisticsDefinition,
  { dependencies }: GroupDistribution,
): string | null {
  if (!kinds.includes("dependencies")) return null;
  const parts = dependencies.map(({ from, to, degree }) =>
    `"${from.map((place) => columns[place]).join(", ")} => ${columns[to]}": ${degree.toFixed(6)}`
  );
  return `{${parts.join(", ")}}`;
}

/** By name. */
export const STATISTICS_RELATIONS: RelationProviders = {
  pg_stats: liveRows(columnStatistics),
  pg_statistic_ext: catalogRows(groupDefinitions),
  pg_statistic_ext_data: liveRows(groupData),
  pg_stats_ext: liveRows(groupStatistics),
};
