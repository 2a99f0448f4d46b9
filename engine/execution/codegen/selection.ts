/**
 * Generated code that chooses rows of a block: a loop over all rows for the first condition, and for each further one
 * a loop over the rows that are left, whose numbers are kept in an array. Conditions are masks, so that no loop
 * branches; conditions over the same columns share a loop. (Boncz, Zukowski, Nes, "MonetDB/X100: Hyper-Pipelining
 * Query Execution", CIDR 2005; Ross, "Selection Conditions in Main Memory", TODS 2004.)
 */
import { assert } from "../../base/assert.ts";
import type { Expression } from "../../sql/plan/expression.ts";
import { isHarmless } from "../../sql/plan/harmless.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { emitDictionaryMask, isDictionaryCondition } from "./condition.ts";
import type { Emitter } from "./emitter.ts";
import { emitMask, isMaskable } from "./mask.ts";
import { conjuncts, expressionFacts } from "./plan_analysis.ts";

/** Rows that a selection can number. */
const MAX_ROWS = 65_536;

/** The array for the numbers of a block's chosen rows, which an execution uses again for each block. */
export function selectionOf(state: ExecutionState, slot: number, rows: number): Uint16Array {
  assert(rows <= MAX_ROWS, `a block of ${rows} rows`);
  const known = state.x[slot];
  if (known instanceof Uint16Array && known.length >= rows) return known;
  const made = new Uint16Array(rows);
  state.x[slot] = made;
  return made;
}

/** A filter's conjuncts: those that choose rows beforehand, and those that each chosen row is asked for. */
export interface SplitFilter {
  readonly masks: readonly Expression[];
  readonly dictionary: readonly Expression[];
  readonly rest: readonly Expression[];
}

/** Splits a filter whose columns are bound. */
export function splitFilter(code: Emitter, filter: Expression | null): SplitFilter {
  const masks: Expression[] = [];
  const dictionary: Expression[] = [];
  const rest: Expression[] = [];
  for (const part of filter === null ? [] : conjuncts(filter)) {
    if (isMaskable(code, part)) masks.push(part);
    else if (isHarmless(part) && isDictionaryCondition(code, part)) dictionary.push(part);
    else rest.push(part);
  }
  return { masks, dictionary, rest };
}

/** What rows are chosen by; `bind` binds the columns of row `i`. */
export interface SelectionParts {
  readonly slot: number;
  readonly filter: SplitFilter;
  /** The block has rows that are not visible. */
  readonly hidesRows: boolean;
  readonly bind: (code: Emitter) => void;
}

/**
 * Emits the choice among the rows `from` to `to` of `block`; answers the variables of their numbers and of how many
 * there are.
 */
export function emitSelection(
  code: Emitter,
  { slot, filter, hidesRows, bind }: SelectionParts,
): { readonly rows: string; readonly count: string } {
  const rows = code.define(
    "chosen",
    `${code.use("selectionOf", selectionOf)}(S, ${slot}, block.rowCount)`,
  );
  const groups = sameColumns(filter.masks).map((conditions) => (code: Emitter) =>
    conditions.map((condition) => emitMask(code, condition)).join(" & ")
  );
  const all = [
    ...groups,
    ...filter.dictionary.map((condition) => (code: Emitter) => emitDictionaryMask(code, condition)),
  ];
  let previous: string | null = null;
  for (const emit of all) {
    const count: string = code.name("count");
    code.emit(`let ${count} = 0;`);
    const isFirst: boolean = previous === null;
    code.block(
      isFirst
        ? "for (let i = from | 0, end = to | 0; i < end; i = (i + 1) | 0) "
        : `for (let j = 0; j < ${previous}; j++) `,
      "row",
      () => {
        if (!isFirst) code.emit(`const i = ${rows}[j];`);
        bind(code);
        const mask = emit(code);
        code.emit(`${rows}[${count}] = i;`);
        // The sum stays an integer for the compiler, as the number of rows does.
        const visible = isFirst && hidesRows ? "Number(hidden[i] === 0) & " : "";
        code.emit(`${count} = (${count} + (${visible}${mask})) | 0;`);
      },
    );
    previous = count;
  }
  return { rows, count: previous ?? "0" };
}

/** Conditions in their order, together with those that follow over the same columns. */
function sameColumns(conditions: readonly Expression[]): readonly (readonly Expression[])[] {
  const groups: Expression[][] = [];
  let last: string | null = null;
  for (const condition of conditions) {
    const columns = [...expressionFacts(condition).mentioned.keys()].sort((a, b) => a - b).join();
    if (columns === last) groups.at(-1)?.push(condition);
    else groups.push([condition]);
    last = columns;
  }
  return groups;
}
