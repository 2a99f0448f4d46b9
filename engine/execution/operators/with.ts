/**
 * WITH: definitions are computed at first use and kept; recursive ones iterate over their working table.
 *
 * A scan that is a pipeline of a program computes a recursion as far as it is read: behind the last row there is, it
 * asks for one more round. So a recursion without an end may be under LIMIT or a cursor. Scans inside of a row
 * need all rows.
 */
import { assertDefined } from "../../base/assert.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { bufferColumn } from "../codegen/buffer_code.ts";
import type { Compilation } from "../codegen/compilation.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { GroupCode } from "../codegen/group_code.ts";
import { KeyCode } from "../codegen/key_code.ts";
import { planFacts } from "../codegen/plan_analysis.ts";
import { nullableCode } from "../codegen/value_form.ts";
import { InlineRegion, Program, type Region, type Sink } from "../codegen/region.ts";
import type { ExecutionState, Pipeline } from "../runtime/execution_state.ts";
import { SeenRows } from "../runtime/seen_rows.ts";
import { slotObject } from "../runtime/slot_object.ts";
import type { Work } from "../runtime/work.ts";
import { KeptCode } from "./materialize.ts";

type With = Extract<Plan, { kind: "with" }>;
type Definition = With["definitions"][number];

/** What a WITH definition's code consists of; found again by its scans. */
interface DefinitionCode {
  readonly result: KeptCode;
  readonly working: KeptCode;
  /** Fills the result unless it is there already. */
  readonly emitEnsure: (code: Emitter) => void;
  /** It is computed anew for each row of a surrounding loop. */
  readonly isInline: boolean;
  /** How to compute a recursion as far as it is read; null: it is computed as a whole. */
  readonly recursion: { readonly emitBegin: (code: Emitter) => void; readonly rounds: Rounds } | null;
}

const definitionCodes = new WeakMap<object, Map<number, DefinitionCode>>();

function codesOf(region: Region): Map<number, DefinitionCode> {
  let codes = definitionCodes.get(region.compilation);
  if (codes === undefined) definitionCodes.set(region.compilation, codes = new Map());
  return codes;
}

/** Puts a WITH into a region. */
export function produceWith(plan: With, region: Region, sink: Sink): void {
  for (const definition of plan.definitions) defineOne(definition, region);
  region.produce(plan.body, sink);
}

/** Puts a scan of a definition into a region. */
export function produceWithScan(
  plan: Extract<Plan, { kind: "with_scan" }>,
  region: Region,
  sink: Sink,
): void {
  const definition = assertDefined(codesOf(region).get(plan.id), `definition ${plan.id} of WITH`);
  const kept = plan.working ? definition.working : definition.result;
  const { source } = kept.reader(region.compilation);
  const recursion = plan.working || region.isInline ? null : definition.recursion;
  region.loop(plan, {
    kind: "counted",
    ...(recursion === null ? {} : {
      more: (code: Emitter, index: string) => {
        const rounds = code.constant("rounds", recursion.rounds);
        return `(${kept.countCode(code)} > ${index} || ${rounds}.advance(S))`;
      },
    }),
    ...(definition.isInline ? {} : { atMost: kept.count }),
    count: (code) => {
      if (recursion !== null) recursion.emitBegin(code);
      else if (!plan.working) definition.emitEnsure(code);
      return source.count(code);
    },
    bind: (code, index) => {
      source.bind(code, index);
      const bindings = plan.columns.map((column) => code.binding(column));
      plan.outputs.forEach((output, position) => {
        const binding = bindings[position];
        if (binding !== undefined) code.bind(output, binding);
      });
    },
  }, sink);
}

/** Makes the code of a definition and notes it for its scans. */
function defineOne(definition: Definition, region: Region): void {
  const { compilation } = region;
  const columns = definition.columns.map((column, index) =>
    bufferColumn(column, definition.types[index] ?? { kind: "unknown" }, compilation.mayBeNull(column))
  );
  const plans = definition.recursive === null
    ? [definition.plan]
    : [definition.plan, definition.recursive.plan];
  const inside = new Set(plans.flatMap((plan) => [...planFacts(plan).defined]));
  const isOfRow = plans.some((plan) => planFacts(plan).free.some((column) => !inside.has(column)));
  const isHere = region.isInline && isOfRow;
  const result = new KeptCode(compilation, columns, !isHere);
  const working = new KeptCode(compilation, columns, !isHere);
  if (isHere) {
    // It depends on the row of the surrounding loop: it runs here, where that row is.
    const code: DefinitionCode = { result, working, emitEnsure: () => {}, isInline: true, recursion: null };
    codesOf(region).set(definition.id, code);
    fill(definition, region, code);
    return;
  }
  const isStable = !isOfRow && plans.every((plan) => {
    const facts = planFacts(plan);
    return !facts.volatile &&
      [...facts.freeDefinitions].every((id) =>
        id === definition.id || compilation.closedDefinitions.has(id)
      ) &&
      [...facts.freeWorkingTables].every((id) => id === definition.id);
  });
  const isInline = region.isInline && !isStable;
  const doneSlot = compilation.newSlot();
  const program = new Program(compilation, { reruns: true });
  const emitEnsure = (emitter: Emitter) => emitter.subplan(doneSlot, program.pipelines, isInline);
  if (definition.recursive === null) {
    const code: DefinitionCode = { result, working, emitEnsure, isInline, recursion: null };
    codesOf(region).set(definition.id, code);
    fill(definition, program, code);
    if (!isStable) region.reset(doneSlot);
  } else {
    const begunSlot = compilation.newSlot();
    const begin = new Program(compilation, { reruns: true });
    const next = new KeptCode(compilation, columns, true);
    const rounds = new Rounds(compilation, { working, next });
    const emitBegin = (emitter: Emitter) => emitter.subplan(begunSlot, begin.pipelines, false);
    const recursion = isInline ? null : { emitBegin, rounds };
    codesOf(region).set(definition.id, { result, working, emitEnsure, isInline, recursion });
    const recursive = { definition, recursive: definition.recursive, result, working, next };
    begin.reset(rounds.slot);
    const seen = compilation.spills && !definition.recursive.all
      ? new SeenCode(compilation, recursive)
      : null;
    const sink = produceBegin(recursive, begin, seen);
    seen?.endRound(begin, working);
    rounds.term.produce(definition.recursive.plan, sink);
    seen?.endRound(rounds.term, next);
    program.add(new BeginPipeline(begunSlot, begin));
    program.add(new RecursionPipeline(rounds));
    if (!isStable) region.reset(doneSlot, begunSlot);
  }
  if (isStable) compilation.closedDefinitions.add(definition.id);
}

/** Puts the whole computation of a definition into a region. */
function fill(definition: Definition, region: Region, code: DefinitionCode): void {
  if (definition.recursive !== null) {
    const { result, working } = code;
    const next = new KeptCode(region.compilation, result.buffer.columns, false);
    produceInlineRecursion({ definition, recursive: definition.recursive, result, working, next }, region);
    return;
  }
  region.reset(...code.result.slots);
  region.produce(definition.plan, intoBuffers(definition.columns, null, [code.result]));
}

/** Skips rows that have been there. */
interface Distinctness {
  open(code: Emitter): void;
  skipSeen(code: Emitter): void;
}

/** Appends the named columns of each row to buffers; `distinct` knows which rows have been there. */
function intoBuffers(
  columns: readonly ColumnRef[],
  distinct: Distinctness | null,
  buffers: readonly KeptCode[],
): Sink {
  return {
    open: (code) => {
      distinct?.open(code);
      for (const buffer of buffers) buffer.openAppend(code);
    },
    row: (code) => {
      distinct?.skipSeen(code);
      const values = columns.map((column) => code.column(column));
      for (const buffer of buffers) buffer.append(code, values);
    },
    close: (code) => {
      for (const buffer of buffers) buffer.closeAppend(code);
    },
  };
}

/** Which rows a recursion without ALL has given out, in files if need be. */
class SeenCode {
  readonly #slot: number;
  readonly #workSlot: number;
  readonly #types: readonly SqlType[];
  readonly #result: KeptCode;

  constructor(compilation: Compilation, { definition, result }: Recursive) {
    this.#slot = compilation.newSlot();
    this.#workSlot = compilation.newSlot();
    this.#types = definition.types;
    this.#result = result;
  }

  get slots(): readonly number[] {
    return [this.#slot, this.#workSlot];
  }

  /** What stands in front of the buffers for rows with these columns. */
  of(columns: readonly ColumnRef[]): Distinctness {
    const key = {};
    return {
      open: (code) => {
        const types = code.constant("types", this.#types);
        code.note(key, code.define("seen", `${code.use("seenRows", seenRows)}(S, ${this.#slot}, ${types})`));
      },
      skipSeen: (code) => {
        const seen = code.recall<string>(key);
        const values = columns.map((column) => nullableCode(code.column(column)));
        const isNew = code.define("isNew", `${seen}.add([${values.join(", ")}])`);
        code.block(`if (${seen}.isDue) `, "conditional", () => void code.work(`${seen}.write()`));
        code.emit(`if (!${isNew}) ${code.skip}`);
      },
    };
  }

  /** Puts behind a round that what was not known to be new in it goes to the result and to the next one. */
  endRound(round: Program, next: KeptCode): void {
    round.add({
      writesResult: false,
      operators: [],
      run: (state) => {
        const { x } = state;
        const seen = x[this.#slot];
        if (!(seen instanceof SeenRows)) return true;
        const work = (x[this.#workSlot] ??= seen.endRound((values) =>
          this.#take(state, next, values)
        )) as Work;
        if (!work.advance()) return false;
        x[this.#workSlot] = undefined;
        return true;
      },
    });
  }

  *#take(state: ExecutionState, next: KeptCode, values: readonly SqlValue[]): Generator<void, void, void> {
    for (const kept of [this.#result, next]) yield* kept.appendTo(state, values);
  }
}

function seenRows(state: ExecutionState, slot: number, types: readonly SqlType[]): SeenRows {
  return slotObject(state, slot, SeenRows, types);
}

/** Rows of one round become those that the next one works on. false: there are none. */
function turn(state: ExecutionState, working: KeptCode, next: KeptCode): boolean {
  working.takeFrom(state, next);
  return working.count(state) > 0;
}

/** The recursive term, which is run once for each round. */
class Rounds {
  readonly term: Program;
  /** Holds true while the term runs. */
  readonly slot: number;
  readonly #working: KeptCode;
  readonly #next: KeptCode;

  constructor(compilation: Compilation, buffers: { readonly working: KeptCode; readonly next: KeptCode }) {
    this.term = new Program(compilation, { reruns: true });
    this.slot = compilation.newSlot();
    this.#working = buffers.working;
    this.#next = buffers.next;
  }

  /** Calls the term for one more round; false: there is nothing left for it to work on. The caller ends its piece. */
  advance(state: ExecutionState): boolean {
    const hasRows = state.x[this.slot] === true
      ? turn(state, this.#working, this.#next)
      : this.#working.count(state) > 0;
    state.x[this.slot] = hasRows ? true : undefined;
    if (hasRows) state.call(this.term.pipelines);
    return hasRows;
  }
}

/** Runs the term that is not recursive, unless a scan has done so. */
class BeginPipeline implements Pipeline {
  readonly writesResult = false;
  readonly operators: readonly number[] = [];
  readonly #begunSlot: number;
  readonly #begin: Program;

  constructor(begunSlot: number, begin: Program) {
    this.#begunSlot = begunSlot;
    this.#begin = begin;
  }

  run(state: ExecutionState): boolean {
    if (state.x[this.#begunSlot] === true) return true;
    state.x[this.#begunSlot] = true;
    state.call(this.#begin.pipelines);
    return false;
  }
}

/** Runs the recursive term again and again until it gives no more rows. */
class RecursionPipeline implements Pipeline {
  readonly writesResult = false;
  readonly operators: readonly number[] = [];
  readonly #rounds: Rounds;

  constructor(rounds: Rounds) {
    this.#rounds = rounds;
  }

  run(state: ExecutionState): boolean {
    return !this.#rounds.advance(state);
  }
}

/** A recursive definition and its buffers. */
interface Recursive {
  readonly definition: Definition;
  readonly recursive: NonNullable<Definition["recursive"]>;
  readonly result: KeptCode;
  readonly working: KeptCode;
  readonly next: KeptCode;
}

/** Puts the term that is not recursive into a region, and answers what becomes of the recursive term's rows. */
function produceBegin(
  { definition, recursive, result, working, next }: Recursive,
  region: Region,
  seen: SeenCode | null,
): Sink {
  const { compilation } = region;
  const keys = definition.types.map((type) => new KeyCode(compilation, type));
  const groups = recursive.all || seen !== null ? null : new GroupCode(compilation, keys, []);
  const distinct = (columns: readonly ColumnRef[]) =>
    seen?.of(columns) ?? (groups === null ? null : distinctBy(groups, columns, definition.types));
  region.reset(
    ...[result, working, next].flatMap(({ slots }) => slots),
    ...(seen?.slots ?? groups?.stateSlots ?? []),
  );
  const begin = definition.columns;
  region.produce(definition.plan, intoBuffers(begin, distinct(begin), [result, working]));
  return intoBuffers(recursive.columns, distinct(recursive.columns), [result, next]);
}

/** Knows the rows with these columns by their groups. */
function distinctBy(
  groups: GroupCode,
  columns: readonly ColumnRef[],
  types: readonly SqlType[],
): Distinctness {
  return {
    open: (code) => groups.open(code),
    skipSeen: (code) => {
      const isNew = code.name("isNew");
      code.emit(`let ${isNew} = false;`);
      groups.lookup(code, columnExpressions(columns, types), () => code.emit(`${isNew} = true;`));
      code.emit(`if (!${isNew}) ${code.skip}`);
    },
  };
}

/** Puts a whole recursion into the code of a surrounding row. */
function produceInlineRecursion(parts: Recursive, region: Region): void {
  const { definition, recursive, working, next } = parts;
  const sink = produceBegin(parts, region, null);
  region.once(definition.plan, (code) => {
    code.block(`if (S.x[${working.buffer.slot}] !== undefined) for (;;) `, "row", () => {
      new InlineRegion(code).produce(recursive.plan, sink);
      code.pause();
      const buffers = `${code.constant("working", working)}, ${code.constant("next", next)}`;
      code.emit(`if (!${code.use("turn", turn)}(S, ${buffers})) break;`);
    });
  });
}

function columnExpressions(columns: readonly ColumnRef[], types: readonly SqlType[]): readonly Expression[] {
  return columns.map((column, index) => ({
    kind: "column",
    type: types[index] ?? { kind: "unknown" },
    column,
    nullable: true,
  }));
}
