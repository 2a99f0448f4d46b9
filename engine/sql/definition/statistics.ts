/** CREATE, ALTER and DROP STATISTICS: columns that ANALYZE takes together, and SET STATISTICS of one column. */
import { SQLSTATE } from "../../base/errors.ts";
import type { StatisticsDefinition, StatisticsKind, TableDefinition } from "../../catalog/definitions.ts";
import type {
  AlterStatistics,
  AlterTableAction,
  CreateStatistics,
  DropObject,
  ObjectName,
  RenameObject,
} from "../parser/ast.ts";
import type { DefinitionBinder } from "./definition_binder.ts";

const KINDS: readonly StatisticsKind[] = ["ndistinct", "dependencies", "mcv"];
/** As in PostgreSQL. */
const MAX_COLUMNS = 8;
const MAX_TARGET = 10_000;

/**
 * Ids of statistics are apart from those of other objects, whose counter earlier releases would not advance for them: a
 * table has this many, and its own id says which.
 */
const FIRST_ID = 0x80000000;
const MAX_PER_TABLE = 64;

function newId(binder: DefinitionBinder, table: TableDefinition, position: number): number {
  const first = FIRST_ID + table.id * MAX_PER_TABLE;
  const taken = new Set((table.statistics ?? []).map(({ id }) => id));
  for (let id = first; id < first + MAX_PER_TABLE; id++) if (!taken.has(id)) return id;
  throw binder.error(
    SQLSTATE.programLimitExceeded,
    `a table cannot have more than ${MAX_PER_TABLE} statistics objects`,
    position,
  );
}

/** CREATE STATISTICS. */
export function createStatistics(binder: DefinitionBinder, ast: CreateStatistics): string {
  const tag = "CREATE STATISTICS";
  const table = binder.table(ast.table);
  const schema = ast.name === null ? table.schema : binder.schemaFor(ast.name);
  const columns = ast.columns.map(({ name, position }) => binder.column(table, name, position));
  const name = ast.name?.name ??
    binder.freeName(
      schema,
      [table.name, ...columns.map((each) => each.name)],
      "stat",
      (each) => findStatistics(binder, schema, each) !== undefined,
    );
  if (findStatistics(binder, schema, name) !== undefined) {
    const message = `statistics object "${name}" already exists`;
    if (!ast.ifNotExists) throw binder.error(SQLSTATE.duplicateObject, message, ast.name?.position);
    binder.notice(SQLSTATE.duplicateObject, `${message}, skipping`);
    return tag;
  }
  const kinds = ast.kinds.map((kind) => {
    const known = KINDS.find((each) => each === kind);
    if (known !== undefined) return known;
    throw binder.error(SQLSTATE.syntaxError, `unrecognized statistics kind "${kind}"`, ast.position);
  });
  const ids = columns.map(({ id }) => id);
  if (new Set(ids).size < ids.length) {
    throw binder.error(
      SQLSTATE.duplicateColumn,
      "duplicate column name in statistics definition",
      ast.position,
    );
  }
  if (ids.length < 2) {
    throw binder.error(
      SQLSTATE.invalidObjectDefinition,
      "extended statistics require at least 2 columns",
      ast.position,
    );
  }
  if (ids.length > MAX_COLUMNS) {
    throw binder.error(
      SQLSTATE.tooManyColumns,
      `cannot have more than ${MAX_COLUMNS} columns in statistics`,
      ast.position,
    );
  }
  const statistics: StatisticsDefinition = {
    id: newId(binder, table, ast.position),
    schema,
    name,
    kinds: kinds.length === 0 ? KINDS : KINDS.filter((each) => kinds.includes(each)),
    columns: ids.toSorted((a, b) => a - b),
  };
  binder.putTable({ ...table, statistics: [...table.statistics ?? [], statistics] });
  return tag;
}

/** DROP STATISTICS. */
export function dropStatistics(binder: DefinitionBinder, ast: DropObject, name: ObjectName): void {
  changeStatistics(binder, { name, ifExists: ast.ifExists }, () => null);
}

/** ALTER STATISTICS … RENAME TO. */
export function renameStatistics(binder: DefinitionBinder, ast: RenameObject): void {
  changeStatistics(binder, ast, (former) => {
    if (findStatistics(binder, former.schema, ast.newName) !== undefined) {
      throw binder.error(
        SQLSTATE.duplicateObject,
        `statistics object "${ast.newName}" already exists in schema "${former.schema}"`,
        ast.position,
      );
    }
    return { ...former, name: ast.newName };
  });
}

/** ALTER STATISTICS … SET STATISTICS. */
export function alterStatistics(binder: DefinitionBinder, ast: AlterStatistics): string {
  const bounded = boundedTarget(binder, ast.target);
  changeStatistics(binder, ast, ({ target: _, ...plain }) => ({
    ...plain,
    ...bounded === null ? {} : { target: bounded },
  }));
  return "ALTER STATISTICS";
}

/** What ANALYZE may look for at the most. */
function boundedTarget(binder: DefinitionBinder, target: number | null): number | null {
  if (target === null || target <= MAX_TARGET) return target;
  binder.warn(SQLSTATE.invalidParameterValue, `lowering statistics target to ${MAX_TARGET}`);
  return MAX_TARGET;
}

/** Puts another definition in the place of one, or none (null). */
export function changeStatistics(
  binder: DefinitionBinder,
  { name, ifExists }: { readonly name: ObjectName; readonly ifExists: boolean },
  change: (former: StatisticsDefinition) => StatisticsDefinition | null,
): void {
  const schemas = name.schema === null ? binder.environment.searchPath : [name.schema];
  for (const schema of schemas) {
    const found = findStatistics(binder, schema, name.name);
    if (found === undefined) continue;
    const { statistics = [], ...plain } = found;
    const changed = statistics.flatMap((each) =>
      each.schema === schema && each.name === name.name ? change(each) ?? [] : [each]
    );
    binder.putTable(changed.length === 0 ? plain : { ...plain, statistics: changed });
    return;
  }
  const message = `statistics object "${name.name}" does not exist`;
  if (!ifExists) throw binder.error(SQLSTATE.undefinedObject, message, name.position);
  binder.notice(SQLSTATE.successfulCompletion, `${message}, skipping`);
}

/** ALTER TABLE … ALTER COLUMN … SET STATISTICS. */
export function setStatistics(
  binder: DefinitionBinder,
  table: TableDefinition,
  { column: name, target, position }: AlterTableAction & { readonly kind: "set_statistics" },
): TableDefinition {
  const column = binder.column(table, name, position);
  const { statisticsTarget: _, ...plain } = column;
  const bounded = boundedTarget(binder, target);
  return binder.putTable({
    ...table,
    columns: table.columns.map((each) =>
      each.id === column.id ? { ...plain, ...bounded === null ? {} : { statisticsTarget: bounded } } : each
    ),
  });
}

/** A table without the statistics of groups that a column was in. */
export function withoutStatisticsOf(table: TableDefinition, columnId: number): TableDefinition {
  const { statistics, ...plain } = table;
  if (statistics === undefined) return table;
  const kept = statistics.filter(({ columns }) => !columns.includes(columnId));
  return kept.length === 0 ? plain : { ...plain, statistics: kept };
}

/** The table whose columns statistics of a name are about. */
function findStatistics(binder: DefinitionBinder, schema: string, name: string): TableDefinition | undefined {
  return binder.catalog.tables.find((table) =>
    table.statistics?.some((each) => each.schema === schema && each.name === name) === true
  );
}
