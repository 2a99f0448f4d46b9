/**
 * Exact sums without a test in each row: the sums of the rows that one call works through cannot leave ±2^53 when the
 * bounds of their values are known, and numbers that have become large are moved to their bigints behind the loop.
 *
 * Sums of groups are of two kinds. Where values are small, it is enough to know how many rows were folded. Where they
 * are larger, the groups whose numbers have become large are noted in a list, without a branch.
 */
import type { IntegerRange } from "../../sql/functions/integer_range.ts";
import { magnitudeOf } from "../../sql/functions/integer_range.ts";
import { MAX_BATCH_ROWS } from "../runtime/execution_state.ts";
import { FLUSH_ABOVE, type SumPlace } from "../runtime/group_table.ts";
import type { Emitter } from "./emitter.ts";
import type { GroupCode } from "./group_code.ts";

/** What one call may add to a sum. */
const MAX_ADDED = 2 ** 50;
/** Values up to this are small: a sum of them becomes large after millions of rows. */
const SMALL_VALUE = 2 ** 26;

/** What one generated function knows of its sums. */
interface Flush {
  /** Sums of local variables: the number and the bigint. */
  readonly locals: Map<string, string>;
  /** Sums of groups by their first slot. */
  readonly sums: Map<number, SumPlace>;
  /** The largest of the small values. */
  largest: number;
  /** The list of groups and how many are in it. */
  high: { readonly list: string; readonly count: string } | null;
  /** The current row's variable that is 1 when its group belongs into the list. */
  flag: string;
}

/**
 * Exact sums without a test in each row: the sums of the rows that one call works through cannot leave ±2^53 when the
 * bounds of their values are known, and numbers that have become large are moved to their bigints behind the loop.
 * One for each set of states.
 */
export class AccumulatorFlush {
  readonly #key = {};
  readonly #groups: GroupCode | null;

  constructor(groups: GroupCode | null) {
    this.#groups = groups;
  }

  #flushing(code: Emitter): Flush {
    return code.once<Flush>(
      this.#key,
      () => ({ locals: new Map(), sums: new Map(), largest: 0, high: null, flag: "" }),
    );
  }

  /** Before the folding of a row. */
  beginRow(code: Emitter): void {
    if (this.#groups === null || !code.isOncePerRow) return;
    const flushing = this.#flushing(code);
    flushing.flag = code.name("isHigh");
    code.emit(`let ${flushing.flag} = 0;`);
  }

  /** Whether a row's value is folded without tests: the name of the sum's number after it. Undefined: with tests. */
  begin(code: Emitter, range: IntegerRange | undefined): string | undefined {
    if (range === undefined || !code.isOncePerRow) return undefined;
    if (magnitudeOf(range) * MAX_BATCH_ROWS > MAX_ADDED) return undefined;
    return code.name("sum");
  }

  /** Notes a sum that was folded without tests. */
  end(
    code: Emitter,
    range: IntegerRange,
    sum: { readonly name: string; readonly firstSlot: number; readonly slots: readonly string[] },
  ): void {
    const flushing = this.#flushing(code);
    const magnitude = magnitudeOf(range);
    const [low = "", big = ""] = sum.slots;
    if (this.#groups === null) {
      flushing.locals.set(low, big);
      return;
    }
    flushing.sums.set(sum.firstSlot, this.#groups.sumPlace(sum.firstSlot));
    if (magnitude <= SMALL_VALUE) {
      flushing.largest = Math.max(flushing.largest, magnitude);
      return;
    }
    const distance = range.low >= 0 ? sum.name : `Math.abs(${sum.name})`;
    code.emit(`${flushing.flag} |= Number(${distance} > ${FLUSH_ABOVE});`);
    flushing.high ??= this.#declareList(code, this.#groups);
  }

  #declareList(code: Emitter, groups: GroupCode): NonNullable<Flush["high"]> {
    const high = { list: code.name("high"), count: code.name("highCount") };
    code.atPrologue(() => {
      code.emit(`const ${high.list} = ${groups.highList(code, code.morselRows ?? "0")};`);
      code.emit(`let ${high.count} = 0;`);
    });
    return high;
  }

  /** Behind the folding of a row. */
  endRow(code: Emitter, group: string): void {
    if (this.#groups === null || !code.isOncePerRow) return;
    const { high, flag } = this.#flushing(code);
    if (high === null) return;
    code.emit(`${high.list}[${high.count}] = ${group};`);
    code.emit(`${high.count} = (${high.count} + ${flag}) | 0;`);
  }

  /** Behind the loop. */
  close(code: Emitter): void {
    if (code.morselRows === null) return;
    const { locals, sums, largest, high } = this.#flushing(code);
    for (const [low, big] of locals) {
      code.emit(
        `if (${low} > ${FLUSH_ABOVE} || ${low} < -${FLUSH_ABOVE}) { ${big} += BigInt(${low}); ${low} = 0; }`,
      );
    }
    if (this.#groups === null || sums.size === 0) return;
    const table = this.#groups.table(code);
    const places = code.constant("sums", [...sums.values()]);
    if (high !== null) {
      code.emit(`if (${high.count} > 0) ${table}.flushListed(${high.list}, ${high.count}, ${places});`);
    }
    if (largest > 0) code.emit(`${table}.noteUnflushed(${code.morselRows} * ${largest}, ${places});`);
  }
}
