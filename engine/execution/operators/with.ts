/**
 * WITH: definitions are computed at first use and kept; recursive ones iterate over their working table.
 */
import { assertDefined } from "../../base/assert.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { BufferCode, bufferColumn } from "../codegen/buffer_code.ts";
import type { Emitter } from "../codegen/emitter.ts";
import { GroupCode } from "../codegen/group_code.ts";
import { KeyCode } from "../codegen/key_code.ts";
import { planFacts } from "../codegen/plan_analysis.ts";
import { InlineRegion, Program, type Region, type Sink } from "../codegen/region.ts";
import type { ExecutionState, Stage } from "../runtime/execution_state.ts";
import { RowBuffer } from "../runtime/row_buffer.ts";
import { bufferSource, rowsIn } from "./materialise.ts";
import { produce } from "./produce.ts";

type With = Extract<Plan, { kind: "with" }>;
type Definition = With["definitions"][number];

/** What a WITH definition's code consists of; found again by its scans. */
interface DefinitionCode {
  readonly result: BufferCode;
  readonly working: BufferCode;
  /** Fills the result unless it is there already. */
  readonly emitEnsure: (code: Emitter) => void;
  /** It is computed anew for each row of a surrounding loop. */
  readonly isInline: boolean;
}

const definitionCodes = new WeakMap<object, Map<number, DefinitionCode>>();

function codesOf(region: Region): Map<number, DefinitionCode> {
  let codes = definitionCodes.get(region.compilation);
  if (codes === undefined) definitionCodes.set(region.compilation, codes = new Map());
  return codes;
}

/** Puts a WITH into a region. */
export function produceWith(plan: With, region: Region, sink: Sink): void {
  for (const definition of plan.definitions) {
    codesOf(region).set(definition.id, defineOne(definition, region));
  }
  produce(plan.body, region, sink);
}

/** Puts a scan of a definition into a region. */
export function produceWithScan(
  plan: Extract<Plan, { kind: "with_scan" }>,
  region: Region,
  sink: Sink,
): void {
  const definition = assertDefined(codesOf(region).get(plan.id), `definition ${plan.id} of WITH`);
  const buffer = plan.working ? definition.working : definition.result;
  const source = bufferSource(buffer);
  if (source.kind !== "counted") return;
  region.loop(plan, {
    kind: "counted",
    ...(definition.isInline ? {} : { atMost: (state: ExecutionState) => rowsIn(state, buffer.slot) }),
    count: (code) => {
      if (!plan.working) definition.emitEnsure(code);
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

function defineOne(definition: Definition, region: Region): DefinitionCode {
  const { compilation } = region;
  const columns = definition.columns.map((column, index) =>
    bufferColumn(column, definition.types[index] ?? { kind: "unknown" }, compilation.mayBeNull(column))
  );
  const result = new BufferCode(compilation, columns);
  const working = new BufferCode(compilation, columns);
  const plans = definition.recursive === null
    ? [definition.plan]
    : [definition.plan, definition.recursive.plan];
  const inside = new Set(plans.flatMap((plan) => [...planFacts(plan).defined]));
  if (plans.some((plan) => planFacts(plan).free.some((column) => !inside.has(column)))) {
    // It depends on the row of the surrounding loop: it runs here, where that row is.
    const code: DefinitionCode = { result, working, emitEnsure: () => {}, isInline: true };
    codesOf(region).set(definition.id, code);
    fill(definition, region, code);
    return code;
  }
  const isStable = plans.every((plan) => {
    const facts = planFacts(plan);
    return !facts.volatile &&
      [...facts.freeDefinitions].every((id) => id === definition.id || compilation.closedDefinitions.has(id));
  });
  const doneSlot = compilation.newSlot();
  const program = new Program(compilation, { reruns: true });
  const code: DefinitionCode = {
    result,
    working,
    emitEnsure: (emitter) => emitter.procedure(doneSlot, program.stages, region.isInline && !isStable),
    isInline: region.isInline && !isStable,
  };
  codesOf(region).set(definition.id, code);
  fill(definition, program, code);
  if (isStable) compilation.closedDefinitions.add(definition.id);
  else region.reset(doneSlot);
  return code;
}

function fill(definition: Definition, region: Region, code: DefinitionCode): void {
  if (definition.recursive !== null) {
    produceRecursive(definition, definition.recursive, region, code);
    return;
  }
  region.reset(code.result.slot);
  produce(definition.plan, region, intoBuffers(definition.columns, null, [code.result]));
}

/** Appends the named columns of each row to buffers. */
function intoBuffers(
  columns: readonly ColumnRef[],
  groups: { readonly code: GroupCode; readonly expressions: readonly Expression[] } | null,
  buffers: readonly BufferCode[],
): Sink {
  return {
    open: (code) => {
      groups?.code.open(code);
      for (const buffer of buffers) buffer.openAppend(code);
    },
    row: (code) => {
      if (groups !== null) {
        const isNew = code.name("isNew");
        code.emit(`let ${isNew} = false;`);
        groups.code.lookup(code, groups.expressions, () => code.emit(`${isNew} = true;`));
        code.emit(`if (!${isNew}) ${code.skip}`);
      }
      const values = columns.map((column) => code.column(column));
      for (const buffer of buffers) buffer.append(code, values);
    },
    close: (code) => {
      for (const buffer of buffers) buffer.closeAppend(code);
    },
  };
}

/** Exchanges the rows of two slots and empties the second. */
export function exchange(state: ExecutionState, working: number, next: number): boolean {
  const current = state.x[working];
  const produced = state.x[next];
  if (current instanceof RowBuffer) current.reset();
  state.x[working] = produced;
  state.x[next] = current;
  return produced instanceof RowBuffer && produced.count > 0;
}

/** Runs the recursive term again and again until it gives no more rows. */
class RecursionStage implements Stage {
  readonly writesResult = false;
  readonly operators: readonly number[] = [];
  readonly #term: Program;
  readonly #flags: readonly number[];
  readonly #working: number;
  readonly #next: number;
  /** Holds true while the term runs. */
  readonly #slot: number;

  constructor(program: Program, term: Program, buffers: { readonly working: number; readonly next: number }) {
    this.#term = term;
    this.#flags = program.flags;
    this.#working = buffers.working;
    this.#next = buffers.next;
    this.#slot = program.compilation.newSlot();
  }

  run(state: ExecutionState): boolean {
    const hasRun = state.x[this.#slot] === true;
    if (!hasRun && this.#flags.some((flag) => state.x[flag] === true)) return true;
    const hasRows = hasRun ? exchange(state, this.#working, this.#next) : rowsIn(state, this.#working) > 0;
    state.x[this.#slot] = hasRows ? true : undefined;
    if (hasRows) state.call(this.#term.stages);
    return !hasRows;
  }

  source(): string {
    return this.#term.stages.map((stage) => stage.source()).join("\n\n");
  }
}

function produceRecursive(
  definition: Definition,
  recursive: NonNullable<Definition["recursive"]>,
  region: Region,
  { result, working }: DefinitionCode,
): void {
  const { compilation } = region;
  const next = new BufferCode(compilation, result.columns);
  const keys = definition.types.map((type) => new KeyCode(compilation, type));
  const groups = recursive.all ? null : new GroupCode(compilation, keys, []);
  const distinct = (columns: readonly ColumnRef[]) =>
    groups === null ? null : { code: groups, expressions: columnExpressions(columns, definition.types) };
  region.reset(result.slot, working.slot, next.slot, ...(groups?.stateSlots ?? []));
  const begin = definition.columns;
  produce(definition.plan, region, intoBuffers(begin, distinct(begin), [result, working]));
  const sink = intoBuffers(recursive.columns, distinct(recursive.columns), [result, next]);
  if (region.isInline) {
    region.once(definition.plan, (code) => {
      code.block(`if (S.x[${working.slot}] !== undefined) for (;;) `, "row", () => {
        produce(recursive.plan, new InlineRegion(code), sink);
        code.pause();
        code.emit(`if (!${code.use("exchange", exchange)}(S, ${working.slot}, ${next.slot})) break;`);
      });
    });
    return;
  }
  const term = new Program(compilation, { reruns: true });
  produce(recursive.plan, term, sink);
  if (region instanceof Program) {
    region.add(new RecursionStage(region, term, { working: working.slot, next: next.slot }));
  }
}

function columnExpressions(columns: readonly ColumnRef[], types: readonly SqlType[]): readonly Expression[] {
  return columns.map((column, index) => ({
    kind: "column",
    type: types[index] ?? { kind: "unknown" },
    column,
    nullable: true,
  }));
}
