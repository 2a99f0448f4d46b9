/**
 * Access to rows of stored tables by location: row ids, ranges of ids, and indexes.
 *
 * Values are read one by one when they are needed. A lookup of one id is straight code without a loop.
 */
import { keyPositions, ROW_ID_POSITION } from "../../sql/plan/index_only.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import { NO_ROW } from "../../storage/access/block.ts";
import type { Binding, Emitter } from "../codegen/emitter.ts";
import { emitGuards } from "../codegen/condition.ts";
import { emitValue } from "../codegen/expression.ts";
import { emitBounds, storedForm } from "../codegen/prune.ts";
import { rowConditionOf } from "../codegen/row_condition.ts";
import { before, type LoopSource, type Region, type Sink } from "../codegen/region.ts";
import { nullableCode, storedCode } from "../codegen/value_form.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import type { SqlType } from "../../types/sql_type.ts";

type Access = Extract<Plan, { kind: "row_lookup" | "row_range" | "index_scan" }>;

/** Puts an access by location into a region. */
export function produceLookup(plan: Access, region: Region, sink: Sink): void {
  const filtered = plan.filter === null ? sink : before(sink, (code) => {
    if (plan.filter !== null) emitGuards(code, plan.filter);
    sink.row(code);
  });
  region.loop(plan, sourceOf(plan), filtered);
}

function sourceOf(plan: Access): LoopSource {
  if (plan.kind !== "row_lookup") return cursorSource(plan);
  const [id, ...more] = plan.ids;
  if (id === undefined || more.length > 0) return idListSource(plan);
  return {
    kind: "single",
    bind: (code) => {
      const value = emitValue(code, id);
      if (value.isNull !== null) code.emit(`if (${value.isNull}) ${code.skip}`);
      // After a constant NULL the rest is never reached, but what follows still names the columns.
      const table = tableCode(code, plan);
      const reads = readsCode(code, plan);
      code.emit(`${reads}.scans++;`);
      const location = code.define("location", `${table}.find(${value.code})`);
      code.emit(`if (${location} === ${NO_ROW}) ${code.skip}`);
      code.emit(`${reads}.rows++;`);
      bindColumns(code, plan, table, location);
    },
  };
}

function tableCode(code: Emitter, plan: Access): string {
  return code.once(
    code.compilation.derivedKey(plan, "table"),
    () =>
      code.define("table", `S.context.before?.table(${plan.table.id}) ?? S.context.table(${plan.table.id})`),
  );
}

/** Where the reads by an index are counted; those by row id count for the index that a primary key is shown with. */
function readsCode(code: Emitter, plan: Access): string {
  const id = plan.kind === "index_scan"
    ? plan.index.id
    : plan.table.constraints.find((each) => each.kind === "primary_key")?.id ?? plan.table.id;
  return code.once(
    code.compilation.derivedKey(plan, "reads"),
    () => code.define("reads", `S.context.reads.of(${id})`),
  );
}

/** Distinct ids that are not NULL, as an iterator of locations. */
export class IdListCursor {
  readonly #find: (id: number | bigint) => number;
  readonly #ids: Iterator<number | bigint>;

  constructor(table: { find(id: number | bigint): number }, ids: readonly (number | bigint | null)[]) {
    this.#find = (id) => table.find(id);
    this.#ids = new Set(ids.filter((id) => id !== null)).values();
  }

  /** The location of the next id that has a row, or NO_ROW at the end. */
  next(): number {
    for (;;) {
      const { done, value } = this.#ids.next();
      if (done === true) return NO_ROW;
      const location = this.#find(value);
      if (location !== NO_ROW) return location;
    }
  }
}

function makeIdListCursor(
  table: { find(id: number | bigint): number },
  ids: readonly (number | bigint | null)[],
): IdListCursor {
  return new IdListCursor(table, ids);
}

function idListSource(plan: Extract<Plan, { kind: "row_lookup" }>): LoopSource {
  return {
    kind: "cursor",
    atMost: () => plan.ids.length,
    prepare: (code) => prepare(code, plan),
    open: (code) => {
      code.emit(`${readsCode(code, plan)}.scans++;`);
      const ids = plan.ids.map((id) => nullableCode(emitValue(code, id)));
      return `${code.use("makeIdListCursor", makeIdListCursor)}(${tableCode(code, plan)}, [${
        ids.join(", ")
      }])`;
    },
    next: (code, cursor, leave) => emitNextLocation(code, plan, cursor, leave),
  };
}

/** What every round of a loop uses. */
function prepare(code: Emitter, plan: Access): void {
  tableCode(code, plan);
  readsCode(code, plan);
}

const emptyCursor = { next: () => NO_ROW };

function cursorSource(plan: Extract<Plan, { kind: "row_range" | "index_scan" }>): LoopSource {
  return {
    kind: "cursor",
    ...(findsOneRow(plan) ? { atMost: () => 1 } : {}),
    prepare: (code) => prepare(code, plan),
    open: (code) => {
      code.emit(`${readsCode(code, plan)}.scans++;`);
      const table = tableCode(code, plan);
      const prefix = plan.kind === "index_scan" ? plan.prefix : [];
      const isEquality = plan.kind === "index_scan" && plan.bounds.low === null &&
        plan.bounds.high === null &&
        !plan.backward && prefix.length > 0;
      if (isEquality) {
        const values = prefix.map((part) => ({ type: part.type, value: emitValue(code, part) }));
        const tests = values.flatMap(({ value }) => value.isNull === null ? [] : [value.isNull]);
        const keys = values.map(({ type, value }) => storedForm(type, value));
        const open = `${table}.lookup(${plan.index.id}, [${keys.join(", ")}]${conditionCode(code, plan)})`;
        return orEmpty(code, tests.length === 0 ? null : tests.join(" || "), open);
      }
      const { bounds, nullTest } = emitBounds(code, { prefix, bounds: plan.bounds, backward: plan.backward });
      const open = plan.kind === "index_scan"
        ? `${table}.range(${plan.index.id}, ${bounds}${conditionCode(code, plan)})`
        : `${table}.findRange(${bounds}${conditionCode(code, plan)})`;
      return orEmpty(code, nullTest, open);
    },
    next: (code, cursor, leave) => emitNextLocation(code, plan, cursor, leave),
  };
}

/** The argument that makes what the filter says of a row, where there is one. */
function conditionCode(code: Emitter, plan: Access): string {
  if (plan.filter === null) return "";
  return `, () => ${code.constant("conditionOf", rowConditionOf(code.compilation, plan))}(S)`;
}

function orEmpty(code: Emitter, nullTest: string | null, open: string): string {
  return nullTest === null ? open : `(${nullTest}) ? ${code.constant("emptyCursor", emptyCursor)} : ${open}`;
}

/** Whether an index holds the whole key of at most one row. NULLs may repeat, but a lookup of NULL is rare. */
function findsOneRow(plan: Extract<Plan, { kind: "row_range" | "index_scan" }>): boolean {
  return plan.kind === "index_scan" && plan.index.unique &&
    plan.prefix.length === plan.index.columns.length &&
    plan.prefix.every((part) => part.kind !== "constant" || part.value !== null);
}

function emitNextLocation(code: Emitter, plan: Access, cursor: string, leave: string): void {
  const location = code.define("location", `${cursor}.next()`);
  code.emit(`if (${location} === ${NO_ROW}) ${leave}`);
  code.emit(`${readsCode(code, plan)}.rows++;`);
  bindColumns(code, plan, tableCode(code, plan), location, cursor);
}

/** `cursor` is on the location, and may know of it what is in the index. */
function bindColumns(code: Emitter, plan: Access, table: string, location: string, cursor?: string): void {
  const positions = plan.kind === "index_scan" && cursor !== undefined ? keyPositions(plan) : null;
  for (const [at, column] of plan.columns.entries()) {
    const { type, columnId } = column;
    const read = `${table}.valueAt(${location}, ${columnId})`;
    const position = positions?.[at] ?? ROW_ID_POSITION;
    if (position !== ROW_ID_POSITION) {
      // NULL is asked of the row as well.
      const known = `${cursor}.keyValue?.(${position}) ?? ${read}`;
      code.bind(column.output, storedBinding(type, column.nullable, known));
      continue;
    }
    const binding = storedBinding(type, column.nullable, read);
    const stored = { table, location, columnId };
    code.bind(column.output, storageClassOf(type) === "text" ? { ...binding, stored } : binding);
  }
  if (plan.rowId !== null) {
    code.bind(plan.rowId, {
      type: { kind: "i64" },
      cheap: false,
      load: (code) => ({ code: code.define("id", `${table}.idAt(${location})`), isNull: null }),
    });
  }
}

/** The binding of an expression that answers stored values. */
function storedBinding(type: SqlType, nullable: boolean, read: string): Binding {
  return {
    type,
    cheap: false,
    load: (code) => {
      const stored = code.define("c", read);
      const converted = storedCode(code, type, stored);
      if (converted === stored) return { code: stored, isNull: nullable ? `${stored} === null` : null };
      if (!nullable) return { code: code.define("c", converted), isNull: null };
      return {
        code: code.define("c", `${stored} === null ? null : ${converted}`),
        isNull: `${stored} === null`,
      };
    },
  };
}
