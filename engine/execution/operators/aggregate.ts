/**
 * Aggregation: without groups into one state in local variables, with groups into a {@link GroupTable}; one of either
 * for each grouping set.
 *
 * Aggregates with ORDER BY, and DISTINCT ones whose result depends on the order, keep their arguments and fold them
 * in order at the end. Other DISTINCT aggregates keep a set of what they have seen, which is a {@link GroupTable} by
 * group and argument where there is one argument. Groups that others decide are no keys: their values are taken from
 * the row that a group begins with.
 */
import type { AggregateComponent, AggregateSlot, StepFacts } from "../../sql/functions/definition.ts";
import { expressionKey, mayBeNull } from "../../sql/plan/build.ts";
import type { Expression } from "../../sql/plan/expression.ts";
import type { AggregateCall, Plan } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { BufferCode, type BufferColumn, bufferColumn, type ReadNames } from "../codegen/buffer_code.ts";
import type { Compilation } from "../codegen/compilation.ts";
import { type Emitter, NULL_VALUE, type Value } from "../codegen/emitter.ts";
import { emitTruth } from "../codegen/condition.ts";
import { emitValue } from "../codegen/expression.ts";
import { hasSameKeys, keyOfValues } from "../codegen/value_keys.ts";
import { GroupCode, LOOK_GROUPS } from "../codegen/group_code.ts";
import { KeyCode } from "../codegen/key_code.ts";
import { expressionFacts } from "../codegen/plan_analysis.ts";
import { type LoopSource, Program, type Region, type Sink } from "../codegen/region.ts";
import { AccumulatorFlush } from "../codegen/accumulator_flush.ts";
import type { SortColumn } from "../codegen/sort_code.ts";
import { anyNull, nullableCode } from "../codegen/value_form.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { externalSort, sortedRows } from "../runtime/external_sort.ts";
import { CollectedValues } from "../runtime/collected_values.ts";
import { slotObject } from "../runtime/slot_object.ts";
import type { Work } from "../runtime/work.ts";
import type { BlockCursor } from "../../storage/access/block.ts";
import type { ReadableTable } from "../../storage/access/readable_table.ts";
import { emitRelease, emitSorted, emitSpillSorted, openSpill, type SpillNames } from "./sort.ts";
import { nullableBinding } from "./sources.ts";
import { DividedCode, STEADY_GROUPS } from "./divided_code.ts";
import { produceRounds } from "./rounds.ts";
import { groupsStay, produceDividedSets } from "./spilled.ts";

type Aggregate = Extract<Plan, { kind: "aggregate" }>;

/** Puts an aggregation into a region. */
export function produceAggregate(plan: Aggregate, region: Region, sink: Sink): void {
  const counted = countSource(plan);
  if (counted !== null) return produceCount(plan, counted, region, sink);
  const isWhole = region.compilation.dividedSource(plan.input) === undefined;
  const isDivided = region instanceof Program && region.compilation.spills && isWhole &&
    produceDividedSets(plan, region, {
      direct: (direct) => aggregation(direct, region, sink),
      produce: (one, rounds) => produceAggregate(one, rounds, sink),
    });
  if (isDivided) return;
  const aside = region instanceof Program && region.compilation.spills && isWhole && groupsStay(plan)
    ? asideOf(plan, region.compilation)
    : null;
  const { rows, finish, stateSlots } = aggregation(plan, region, sink, aside);
  if (aside !== null) region.reset(...aside.slots);
  region.produce(plan.input, rows);
  finish();
  if (aside === null) return;
  produceRounds(plan, [aside], region as Program, (rounds) => {
    const sources = new Map([[plan.input, aside.source]]);
    rounds.compilation.readDivided(sources, () => produceAggregate(plan, rounds, sink));
  }, { forget: stateSlots });
}

/** Takes rows of groups for which there is no room. */
function asideOf(plan: Aggregate, compilation: Compilation): DividedCode {
  const columns = compilation.neededAbove(plan.input);
  const keys = plan.groups.filter(({ isDependent }) => isDependent !== true);
  return new DividedCode(compilation, {
    columns,
    keys: keys.map(({ expression }) => expression),
    isKept: true,
    keptSize: STEADY_GROUPS,
  });
}

/** What takes the rows of an aggregation, and what gives the groups out behind them. */
function aggregation(
  plan: Aggregate,
  region: Region,
  sink: Sink,
  aside: DividedCode | null = null,
): { readonly rows: Sink; readonly finish: () => void; readonly stateSlots: readonly number[] } {
  const { compilation } = region;
  const all = plan.groups.map((_, index) => index);
  const sets = (plan.groupingSets ?? [all]).map((set) =>
    new GroupingSetCode(compilation, plan, [...new Set(set)], !region.isInline)
  );
  const stateSlots = sets.flatMap((set) => set.stateSlots);
  region.reset(...stateSlots);
  return {
    stateSlots,
    rows: {
      open: (code) => {
        aside?.open(code);
        sets.forEach((set) => set.open(code));
      },
      row: (code) => sets.forEach((set) => set.row(code, aside)),
      close: (code) => {
        aside?.close(code);
        sets.forEach((set) => set.close(code));
      },
    },
    finish: () => {
      for (const set of sets) {
        if (set.needsFold) region.once(plan, (code) => set.fold(code));
        region.loop(plan, set.source(), sink);
      }
    },
  };
}

/** The scan whose rows are merely counted. */
function countSource(plan: Aggregate): Extract<Plan, { kind: "table_scan" }> | null {
  const { input } = plan;
  if (plan.groups.length > 0 || plan.groupingSets !== null || plan.groupings.length > 0) return null;
  if (input.kind !== "table_scan" || input.filter !== null) return null;
  const isCount = (call: AggregateCall) =>
    call.aggregate.name === "count" && call.args.length === 0 && call.filter === null && !call.distinct;
  return plan.aggregates.length > 0 && plan.aggregates.every(isCount) ? input : null;
}

/** count(*) of a whole table: known to storage, or a scan that looks at no column. */
function produceCount(
  plan: Aggregate,
  scan: Extract<Plan, { kind: "table_scan" }>,
  region: Region,
  sink: Sink,
): void {
  region.loop(plan, {
    kind: "single",
    bind: (code) => {
      const count = code.work(`${code.use("rowCountOf", rowCountOf)}(S, ${scan.table.id})`);
      const rows = code.define("rows", `${count}.rows`);
      for (const call of plan.aggregates) {
        code.bind(call.output, {
          type: call.aggregate.returnType,
          cheap: true,
          load: () => ({ code: rows, isNull: null, plain: true }),
        });
      }
    },
  }, sink);
}

/** Counts the visible rows of a table; looks at them only when storage does not know. */
class RowCount implements Work {
  rows: number;
  readonly #cursor: BlockCursor | null;

  constructor(table: ReadableTable) {
    const known = table.exactRowCount();
    this.rows = known ?? 0;
    this.#cursor = known === undefined ? table.scan([], { ids: false, prune: [] }) : null;
  }

  advance(): boolean {
    if (this.#cursor === null) return true;
    const block = this.#cursor.next();
    if (block === null) return true;
    const { hidden, rowCount } = block;
    this.rows += rowCount;
    if (hidden !== null) { for (let row = 0; row < rowCount; row++) if (hidden[row] !== 0) this.rows--; }
    return false;
  }
}

/** The count of the rows of a table, which is work to be done. */
export function rowCountOf(state: ExecutionState, tableId: number): RowCount {
  return new RowCount(state.context.before?.table(tableId) ?? state.context.table(tableId));
}

/** How a call is folded. */
interface CallCode {
  readonly call: AggregateCall;
  readonly components: readonly PlacedPiece[];
  /** Position of the slot with the set of values seen, or -1. */
  readonly seenSlot: number;
  /** What has been seen, by group and argument, when there is one argument. */
  readonly seen: GroupCode | null;
  /** Arguments kept to be folded in order, or null. */
  readonly kept: KeptArguments | null;
  /** Position of the slot with the number of rows kept, or -1. */
  readonly countSlot: number;
}

/** Arguments in a buffer, or in a file if they are too many. */
interface KeptArguments {
  readonly buffer: BufferCode;
  readonly keys: readonly SortColumn[];
  /** Slots of what is in the file, and of the sorted rows. */
  readonly spillSlot: number;
  readonly orderSlot: number;
}

/** A component of a call's state. */
interface PlacedPiece {
  readonly component: AggregateComponent;
  /** Position of its first slot. */
  readonly firstSlot: number;
  /** Another call folds it. */
  readonly isShared: boolean;
}

/** One grouping set of an aggregation. */
class GroupingSetCode {
  readonly #compilation: Compilation;
  readonly #plan: Aggregate;
  readonly #set: readonly number[];
  readonly #slots: AggregateSlot[] = [];
  /** The first slots of components that calls can share, by what they fold. */
  readonly #shared = new Map<string, number>();
  readonly #calls: readonly CallCode[];
  readonly #groups: GroupCode | null;
  /** Positions in the set of the groups that are keys; the slots of the others. */
  readonly #keys: readonly number[];
  readonly #dependentSlots: ReadonlyMap<number, number>;
  readonly #flushing: AccumulatorFlush;
  readonly #stateSlot: number;
  /** What is collected by all groups. */
  readonly #collectedSlot: number;
  readonly #canSpill: boolean;
  readonly #key = {};
  readonly #fullKey = {};

  constructor(compilation: Compilation, plan: Aggregate, set: readonly number[], canSpill: boolean) {
    this.#compilation = compilation;
    this.#canSpill = canSpill;
    this.#plan = plan;
    this.#set = set;
    this.#calls = plan.aggregates.map((call) => this.#prepare(call));
    // Other grouping sets may lack the groups that decide.
    const isDependent = (index: number) =>
      plan.groupingSets === null && this.#group(index).isDependent === true;
    this.#keys = set.filter((index) => !isDependent(index));
    this.#dependentSlots = new Map(
      set.filter(isDependent).map((
        index,
      ) => [index, this.#slots.push({ kind: "object", initial: "null" }) - 1]),
    );
    const keys = this.#keys.map((index) => new KeyCode(compilation, this.#group(index).expression.type));
    this.#groups = keys.length === 0 ? null : new GroupCode(compilation, keys, this.#slots);
    this.#flushing = new AccumulatorFlush(this.#groups);
    this.#stateSlot = compilation.newSlot();
    this.#collectedSlot = compilation.newSlot();
  }

  #group(index: number): Aggregate["groups"][number] {
    return this.#plan.groups[index] as Aggregate["groups"][number];
  }

  #prepare(call: AggregateCall): CallCode {
    // Of what has been seen nothing can be put into a file.
    const isSorted = call.aggregate.orderSensitive || this.#canSpill && this.#compilation.spills;
    const inOrder = call.orderBy.length > 0 || call.distinct && isSorted;
    const isPlain = !inOrder && !call.distinct && call.filter === null;
    const { slots, step } = call.aggregate;
    const whole: AggregateComponent = { key: call.aggregate.name, slots, step };
    const components = isPlain
      ? (call.aggregate.components ?? [whole]).map((component) => this.#place(call, component))
      : [{ component: whole, firstSlot: this.#addSlots(call, slots), isShared: false }];
    const kept = inOrder ? this.#keptArguments(call) : null;
    const countSlot = call.aggregate.needsCount === true
      ? this.#slots.push({ kind: "float", initial: "0" }) - 1
      : -1;
    if (inOrder || !call.distinct) return { call, components, seenSlot: -1, seen: null, kept, countSlot };
    const [only] = call.args;
    // A key that is read again must not be another value by then.
    if (only !== undefined && call.args.length === 1 && !expressionFacts(only).volatile) {
      const seen = new GroupCode(this.#compilation, [new KeyCode(this.#compilation, only.type)], [], 1);
      return { call, components, seenSlot: -1, seen, kept, countSlot };
    }
    const seenSlot = this.#slots.length;
    this.#slots.push({ kind: "object", initial: "null" });
    return { call, components, seenSlot, seen: null, kept, countSlot };
  }

  /** Finds room for a component, together with those of other calls over the same argument. */
  #place(call: AggregateCall, component: AggregateComponent): PlacedPiece {
    const isOpen = call.aggregate.components === undefined ||
      call.args.some((arg) => expressionFacts(arg).volatile);
    if (isOpen) return { component, firstSlot: this.#addSlots(call, component.slots), isShared: false };
    const countsAll = component.countsRows === true && !call.args.some((arg) => this.#mayBeNull(arg));
    const key = countsAll ? component.key : `${component.key} ${call.args.map(expressionKey).join()}`;
    const known = this.#shared.get(key);
    if (known !== undefined) return { component, firstSlot: known, isShared: true };
    const firstSlot = this.#addSlots(call, component.slots);
    this.#shared.set(key, firstSlot);
    return { component, firstSlot, isShared: false };
  }

  #addSlots(call: AggregateCall, slots: readonly AggregateSlot[]): number {
    const first = this.#slots.length;
    const hasValue = this.#beginsWithValue(call);
    this.#slots.push(
      ...slots.map((slot) => hasValue && slot.initial === "NaN" ? { ...slot, initial: "0" } : slot),
    );
    return first;
  }

  /** A group begins with a row, whose arguments the state then has. */
  #beginsWithValue(call: AggregateCall): boolean {
    return this.#set.length > 0 && call.filter === null && call.aggregate.components !== undefined &&
      !call.args.some((arg) => this.#mayBeNull(arg));
  }

  #mayBeNull(expression: Expression): boolean {
    return mayBeNull(expression, ({ column }) => this.#compilation.mayBeNull(column));
  }

  /** Group number, arguments, then the order's keys; DISTINCT orders by the arguments as well. */
  #keptArguments(call: AggregateCall): KeptArguments {
    const column = (expression: Expression): BufferColumn =>
      bufferColumn(
        null,
        expression.type,
        mayBeNull(expression, ({ column }) => this.#compilation.mayBeNull(column)),
      );
    const columns: BufferColumn[] = [bufferColumn(null, { kind: "i32" }, false), ...call.args.map(column)];
    const keys: SortColumn[] = [{ position: 0, descending: false, nullsFirst: false }];
    for (const { expression, descending, nullsFirst } of call.orderBy) {
      keys.push({ position: columns.length, descending, nullsFirst });
      columns.push(column(expression));
    }
    if (call.distinct) {
      call.args.forEach((_, index) =>
        keys.push({ position: index + 1, descending: false, nullsFirst: false })
      );
    }
    return {
      buffer: new BufferCode(this.#compilation, columns),
      keys,
      spillSlot: this.#compilation.newSlot(),
      orderSlot: this.#compilation.newSlot(),
    };
  }

  get stateSlots(): readonly number[] {
    const own = this.#calls.flatMap(({ kept, seen }) => [
      ...(kept === null ? [] : [kept.buffer.slot, kept.spillSlot, kept.orderSlot]),
      ...(seen === null ? [] : seen.stateSlots),
    ]);
    return [this.#stateSlot, this.#collectedSlot, ...(this.#groups?.stateSlots ?? []), ...own];
  }

  get needsFold(): boolean {
    return this.#calls.some(({ kept }) => kept !== null);
  }

  open(code: Emitter): void {
    this.#openState(code);
    for (const { kept, seen } of this.#calls) {
      kept?.buffer.openAppend(code);
      if (kept !== null && this.#canSpill) {
        code.note(kept, openSpill(code, externalSort, kept.spillSlot, kept.buffer));
      }
      seen?.open(code);
    }
  }

  #openState(code: Emitter): void {
    if (this.#groups !== null) {
      this.#groups.open(code);
      return;
    }
    const initial = this.#slots.map((slot) => slot.initial).join(", ");
    const state = code.define("state", `S.x[${this.#stateSlot}] ?? (S.x[${this.#stateSlot}] = [${initial}])`);
    const names = this.#slots.map(() => code.name("s"));
    names.forEach((name, index) => {
      const isNumber = this.#slots[index]?.kind === "float";
      code.emit(`let ${name} = ${isNumber ? "+" : ""}${state}[${index}];`);
      if (isNumber) code.noteNumber(name);
    });
    code.note(this.#key, { state, names });
  }

  close(code: Emitter): void {
    for (const { kept } of this.#calls) kept?.buffer.closeAppend(code);
    this.#flushing.close(code);
    this.#closeState(code);
  }

  #closeState(code: Emitter): void {
    if (this.#groups !== null) return;
    const { state, names } = code.recall<{ state: string; names: readonly string[] }>(this.#key);
    names.forEach((name, index) => code.emit(`${state}[${index}] = ${name};`));
  }

  #slot(code: Emitter, index: number, group: string): string {
    if (this.#groups !== null) return this.#groups.slotCode(code, index, group);
    return code.recall<{ names: readonly string[] }>(this.#key).names[index] ?? "";
  }

  #slotsOf(code: Emitter, components: readonly PlacedPiece[], group: string): readonly string[] {
    return components.flatMap(({ component, firstSlot }) =>
      component.slots.map((_, index) => this.#slot(code, firstSlot + index, group))
    );
  }

  /** `aside`: takes rows of groups for which there is no room; null: there is. */
  row(code: Emitter, aside: DividedCode | null): void {
    const group = this.#groups === null ? "0" : this.#lookUp(code, this.#groups, aside);
    this.#flushing.beginRow(code);
    for (const entry of this.#calls) {
      if (entry.call.filter === null) {
        this.#fold(code, entry, group);
        continue;
      }
      const test = emitTruth(code, entry.call.filter);
      code.block(`if (${test}) `, "conditional", () => this.#fold(code, entry, group));
    }
    this.#flushing.endRow(code, group);
  }

  #lookUp(code: Emitter, groups: GroupCode, aside: DividedCode | null): string {
    const keys = this.#keys.map((index) => this.#group(index).expression);
    const keep = this.#dependentSlots.size === 0 ? null : (made: string) => this.#keepDependent(code, made);
    if (aside === null) return groups.lookup(code, keys, keep);
    const full = `S.mustSpillBeyond(${groups.table(code)}.bytes)`;
    const isFull = code.once(this.#fullKey, () => {
      const name = code.name("isFull");
      code.emit(`let ${name} = true;`);
      return name;
    });
    code.block(`if (${isFull}) `, "conditional", () => {
      code.block(`if (${groups.find(code, keys)} < 0 && (${isFull} = ${full})) `, "conditional", () => {
        aside.take(code);
        code.emit(code.skip);
      });
    });
    return groups.lookup(code, keys, (made) => {
      keep?.(made);
      code.emit(`if ((${made} & ${LOOK_GROUPS - 1}) === 0) ${isFull} = ${full};`);
    });
  }

  #keepDependent(code: Emitter, group: string): void {
    for (const [index, slot] of this.#dependentSlots) {
      const value = nullableCode(emitValue(code, this.#group(index).expression));
      code.emit(`${this.#slot(code, slot, group)} = ${value};`);
    }
  }

  #fold(code: Emitter, entry: CallCode, group: string): void {
    const { call, kept } = entry;
    if (entry.components.every(({ isShared }) => isShared)) return;
    const args = call.args.map((arg) => emitValue(code, arg));
    if (kept === null) {
      this.#step(code, entry, group, args);
      return;
    }
    emitUnlessSkipped(code, call.aggregate, args, () => {
      const order = call.orderBy.map((key) => emitValue(code, key.expression));
      const { buffer, keys, spillSlot } = kept;
      const row = buffer.append(code, [{ code: group, isNull: null, plain: true }, ...args, ...order]);
      if (entry.countSlot >= 0) code.emit(`${this.#slot(code, entry.countSlot, group)} += 1;`);
      if (!this.#canSpill) return;
      emitSpillSorted(code, buffer, row, { names: code.recall<SpillNames>(kept), keys, spillSlot });
    });
  }

  #step(code: Emitter, entry: CallCode, group: string, args: readonly Value[]): void {
    const { aggregate } = entry.call;
    emitUnlessSkipped(code, aggregate, args, () => {
      const names = args.map((arg) => aggregate.skipsNulls ? arg.code : identifier(code, nullableCode(arg)));
      const facts = {
        ranges: args.map((arg) => arg.range),
        hasValue: this.#beginsWithValue(entry.call),
        ...(entry.countSlot < 0 ? {} : { count: this.#slot(code, entry.countSlot, group) }),
      };
      const step = () => {
        for (const placed of entry.components) {
          if (!placed.isShared) this.#stepPiece(code, placed, { group, names, facts });
        }
        const [value] = names;
        if (value === undefined || !collects(aggregate)) return;
        code.emit(`${code.use("collectedIn", collectedIn)}(S, ${this.#collectedSlot}).add(${value});`);
      };
      if (entry.seen !== null) {
        const isNew = code.name("isNew");
        code.emit(`let ${isNew} = false;`);
        entry.seen.lookupUnder(code, [group], entry.call.args, () => code.emit(`${isNew} = true;`));
        code.block(`if (${isNew}) `, "conditional", step);
        return;
      }
      if (entry.seenSlot < 0) return step();
      const seen = this.#slot(code, entry.seenSlot, group);
      const types = code.constant("types", entry.call.args.map((arg) => arg.type));
      code.emit(`if (${seen} === null) ${seen} = new Set();`);
      const given = args.map(nullableCode).join(", ");
      code.block(
        `if (${code.use("isFirst", isFirst)}(S, ${seen}, ${types}, [${given}])) `,
        "conditional",
        step,
      );
    });
  }

  #stepPiece(
    code: Emitter,
    { component, firstSlot, isShared }: PlacedPiece,
    row: { readonly group: string; readonly names: readonly string[]; readonly facts: StepFacts },
  ): void {
    const slots = this.#slotsOf(code, [{ component, firstSlot, isShared }], row.group);
    const [range] = row.facts.ranges;
    const name = component.flush === true ? this.#flushing.begin(code, range) : undefined;
    if (name === undefined || range === undefined) {
      code.emit(component.step(slots, row.names, code.use, row.facts));
      return;
    }
    code.emit(component.step(slots, row.names, code.use, { ...row.facts, flushed: name }));
    this.#flushing.end(code, range, { name, firstSlot, slots });
  }

  /** Folds what was kept, group by group in order. */
  fold(code: Emitter): void {
    this.#openState(code);
    for (const entry of this.#calls) {
      const { call, kept } = entry;
      if (kept === null) continue;
      const { buffer, keys, orderSlot } = kept;
      const spillSlot = this.#canSpill ? kept.spillSlot : null;
      emitSorted(code, buffer, keys, {
        spillSlot,
        inMemory: (order) =>
          code.emit(`S.x[${orderSlot}] = ${code.use("sortedRows", sortedRows)}(${order});`),
        inFile: (spill, read, compare) => {
          const merge = code.work(`${spill}.merge(${read}, ${compare}, Infinity)`);
          code.emit(`S.x[${orderSlot}] = ${merge}.result;`);
        },
      });
      const names = buffer.openRead(code);
      const rows = code.define("rows", `S.x[${orderSlot}]`);
      const order = code.name("order");
      code.emit(`let ${order} = ${rows}.order;`);
      const index = code.name("i");
      const types = code.constant("types", call.args.map((arg) => arg.type));
      const previous = code.name("previous");
      if (call.distinct) code.emit(`let ${previous} = null;`);
      code.innerLoop({
        label: code.name("kept"),
        declare: `let ${index} = 0`,
        test:
          `${index} < ${order}.length || ${rows}.more() && (${order} = ${rows}.order, ${index} = 0, true)`,
        advance: `${index}++`,
        atMost: null,
      }, () => {
        const row = code.define("r", `${order}[${index}]`);
        const group = code.define("g", `${names.columns[0]?.data}[${row}]`);
        const args = call.args.map((_, position) => this.#keptValue(code, buffer, names, position + 1, row));
        if (call.distinct) {
          const current = code.define("current", `[${[group, ...args.map(nullableCode)].join(", ")}]`);
          code.emit(`if (${code.use("repeats", repeats)}(${types}, ${previous}, ${current})) continue;`);
          code.emit(`${previous} = ${current};`);
        }
        this.#step(code, { ...entry, seenSlot: -1, seen: null }, group, args);
      });
      emitRelease(code, buffer.slot, ...(spillSlot === null ? [] : [spillSlot]));
    }
    this.#closeState(code);
  }

  #keptValue(code: Emitter, buffer: BufferCode, names: ReadNames, position: number, row: string): Value {
    return buffer.binding(names, position, row).load(code);
  }

  /** One row for each group. */
  source(): LoopSource {
    return {
      kind: "counted",
      count: (code) => {
        this.#openState(code);
        return this.#groups === null ? "1" : this.#groups.count(code);
      },
      bind: (code, index) => this.#bindGroup(code, index),
    };
  }

  #bindGroup(code: Emitter, group: string): void {
    const plan = this.#plan;
    plan.groups.forEach(({ output, expression }, index) => {
      const slot = this.#dependentSlots.get(index);
      if (slot !== undefined) {
        code.bind(output, nullableBinding(expression.type, this.#slot(code, slot, group)));
        return;
      }
      const position = this.#keys.indexOf(index);
      const key = this.#groups?.keys[position];
      if (key === undefined || this.#groups === null) {
        code.bind(output, { type: expression.type, cheap: true, load: () => NULL_VALUE });
        return;
      }
      const nullable = mayBeNull(expression, ({ column }) => this.#compilation.mayBeNull(column));
      code.bind(output, key.binding(this.#groups.keyAt(code, position, group), nullable));
    });
    for (const entry of this.#calls) {
      const { call } = entry;
      const finish = call.aggregate.finish(this.#slotsOf(code, entry.components, group), code.use);
      code.bind(call.output, nullableBinding(call.aggregate.returnType, finish));
    }
    for (const { output, groups } of plan.groupings) {
      const mask = groups.reduce((bits, index) => bits * 2 + (this.#set.includes(index) ? 0 : 1), 0);
      code.bind(output, {
        type: { kind: "i32" },
        cheap: true,
        load: () => ({ code: `${mask}`, isNull: null, plain: true }),
      });
    }
  }
}

/** Puts code under the condition that the aggregate does not skip the row for a NULL among its arguments. */
function emitUnlessSkipped(
  code: Emitter,
  aggregate: AggregateCall["aggregate"],
  args: readonly Value[],
  emit: () => void,
): void {
  const absent = aggregate.skipsNulls ? anyNull(args.map((arg) => arg.isNull)) : null;
  if (absent === "true") return;
  code.block(absent === null ? "" : `if (!(${absent})) `, "conditional", emit);
}

function identifier(code: Emitter, expression: string): string {
  return /^[\w$]+$/.test(expression) ? expression : code.define("a", expression);
}

/** Whether it makes one value of all that it is given. */
function collects({ orderSensitive, name, needsCount }: AggregateCall["aggregate"]): boolean {
  return orderSensitive && name !== "mode" && needsCount !== true;
}

function collectedIn(state: ExecutionState, slot: number): CollectedValues {
  return slotObject(state, slot, CollectedValues);
}

const BYTES_PER_SEEN = 64;

/** Notes values; whether they are new. */
export function isFirst(
  state: ExecutionState,
  seen: Set<unknown>,
  types: readonly SqlType[],
  values: readonly SqlValue[],
): boolean {
  const key = keyOfValues(types, values);
  if (seen.has(key)) return false;
  state.charge(BYTES_PER_SEEN);
  seen.add(key);
  return true;
}

/** Whether the row repeats the one before; the first element is the group. */
export function repeats(
  types: readonly SqlType[],
  previous: readonly SqlValue[] | null,
  current: readonly SqlValue[],
): boolean {
  if (previous === null || previous[0] !== current[0]) return false;
  return hasSameKeys(types, previous.slice(1), current.slice(1));
}
