/**
 * Full scans of stored tables.
 *
 * A scan at the beginning of a program's pipeline runs a *kernel* over a range of a block's rows: a function
 * generated for the shape of the block's vectors, so that its loop sees one kind of typed array per column. Kernels
 * are kept with the statement and the shape, which is all that their code knows of the vectors.
 */
import type { ExecutionContext } from "../runtime/execution.ts";
import { emitZonePredicates } from "../codegen/prune.ts";
import { rowConditionOf } from "../codegen/row_condition.ts";
import { PipelineCode, type RunningPipeline } from "../codegen/pipeline_code.ts";
import { type Binding, Emitter, NULL_VALUE } from "../codegen/emitter.ts";
import { emitConjuncts } from "../codegen/condition.ts";
import type { RuntimeFilter, ScanRange } from "../codegen/compilation.ts";
import type { Program, Sink } from "../codegen/region.ts";
import { emitSelection, splitFilter } from "../codegen/selection.ts";
import { storedCode } from "../codegen/value_form.ts";
import type { ExecutionState, Pipeline } from "../runtime/execution_state.ts";
import { decodeText } from "../runtime/interner.ts";
import { openRange, openRowFilters, prunedByFilters, prunedByRange } from "./runtime_filter.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import { checksInput } from "../../base/assert.ts";
import type { Block, BlockCursor } from "../../storage/access/block.ts";
import type { ReadCount } from "../../storage/access/read_counts.ts";
import type { MakeCondition, ZonePredicate } from "../../storage/access/readable_table.ts";
import {
  assertBlock,
  type BlockShape,
  blockShapeOf,
  hasShape,
  integerBoundsOf,
  type VectorShape,
} from "../../storage/access/vector_shape.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { storageClassOf } from "../../types/physical_type.ts";

type TableScan = Extract<Plan, { kind: "table_scan" }>;
type PruneFunction = (state: ExecutionState) => ZonePredicate[] | null;

/** Puts a scan of a table into a program. */
export function produceTableScan(plan: TableScan, program: Program, sink: Sink): void {
  program.add(new ScanPipeline(plan, program, sink));
}

/** Kernels that one scan keeps; far more than the shapes that one table has at a time. */
const MAX_KERNELS = 64;
/** Kernels whose text EXPLAIN (CODE) shows. */
const MAX_SOURCES = 4;
/** Blocks that EXPLAIN (CODE) looks through for shapes. */
const MAX_EXPLAINED_BLOCKS = 64;

const noPredicates: readonly ZonePredicate[] = [];

/** A scan that is under way. */
class ScanRun {
  readonly cursor: BlockCursor;
  readonly reads: ReadCount;
  /** The block that is being worked on, and its next row. */
  block: Block | null = null;
  next = 0;
  kernel: PipelineCode | null = null;
  running: RunningPipeline | null = null;

  constructor(cursor: BlockCursor, reads: ReadCount) {
    this.cursor = cursor;
    this.reads = reads;
    reads.scans++;
  }
}

/** Code and the only shape that it may read. */
interface Kernel {
  readonly shape: BlockShape;
  readonly code: PipelineCode;
}

class ScanPipeline implements Pipeline {
  writesResult = false;
  readonly operators: readonly number[];
  readonly #plan: TableScan;
  readonly #program: Program;
  readonly #sink: Sink;
  readonly #slot: number;
  readonly #selectionSlot: number;
  readonly #columnIds: readonly number[];
  readonly #filters: readonly RuntimeFilter[];
  readonly #range: ScanRange | null;
  readonly #condition: ReturnType<typeof rowConditionOf>;
  /** The one that ran last comes first. */
  readonly #kernels: Kernel[] = [];
  #prune: PruneFunction | null = null;

  constructor(plan: TableScan, program: Program, sink: Sink) {
    this.#plan = plan;
    this.#program = program;
    this.#sink = sink;
    this.#slot = program.compilation.newSlot();
    this.#selectionSlot = program.compilation.newSlot();
    this.#columnIds = plan.columns.map((column) => column.columnId);
    this.#filters = program.compilation.runtimeFilters.get(plan) ?? [];
    this.#range = program.compilation.scanRanges.get(plan) ?? null;
    this.#condition = rowConditionOf(program.compilation, plan);
    this.operators = [program.compilation.operatorIndex(plan)];
  }

  run(state: ExecutionState): boolean {
    let scan = state.x[this.#slot] as ScanRun | undefined;
    if (scan === undefined) {
      const flags = this.#program.flags;
      for (let index = 0; index < flags.length; index++) {
        if (state.x[flags[index] as number] === true) return true;
      }
      const cursor = this.#open(state);
      if (cursor === null) return true;
      state.x[this.#slot] = scan = new ScanRun(cursor, state.context.reads.of(this.#plan.table.id));
    }
    const ended = this.#morsel(state, scan);
    if (ended) state.x[this.#slot] = undefined;
    return ended;
  }

  /** Works through a morsel. true: the scan is over, or what is above wants no more rows. */
  #morsel(state: ExecutionState, scan: ScanRun): boolean {
    if (scan.running === null) {
      if (scan.block === null) {
        const block = scan.cursor.next();
        if (block === null) return true;
        scan.block = block;
        scan.reads.rows += block.rowCount;
        scan.next = 0;
        scan.kernel = this.#kernelOf(block);
      }
      const { block } = scan;
      const from = scan.next;
      const to = scan.next = Math.min(block.rowCount, from + state.batchRows);
      const kernel = scan.kernel as PipelineCode;
      const begun = kernel.begin(state, block, from, to);
      this.writesResult = kernel.writesResult;
      if (typeof begun === "boolean") {
        if (to === block.rowCount) scan.block = null;
        return begun;
      }
      scan.running = begun;
    }
    const { done, value } = scan.running.next();
    if (done !== true) return false;
    scan.running = null;
    if (scan.next === scan.block?.rowCount) scan.block = null;
    return value;
  }

  #open(state: ExecutionState): BlockCursor | null {
    let prune: readonly ZonePredicate[] | null = noPredicates;
    if (this.#plan.prune.length > 0) {
      this.#prune ??= this.#compilePrune();
      prune = this.#prune(state);
    }
    const known = prune === null ? null : prunedByFilters(state, this.#filters);
    if (prune === null || known === null) return null;
    const ranged = prunedByRange(state, this.#range);
    return this.#cursor(state.context, [...prune, ...known, ...ranged], () => this.#condition(state));
  }

  #cursor(
    context: ExecutionContext,
    prune: readonly ZonePredicate[],
    condition?: MakeCondition,
  ): BlockCursor {
    const ids = this.#plan.rowId !== null;
    return tableOf(context, this.#plan).scan(this.#columnIds, { ids, prune }, condition);
  }

  #compilePrune(): PruneFunction {
    const code = new Emitter(this.#program.compilation);
    emitZonePredicates(code, this.#plan);
    return code.compile<PruneFunction>(code.source("prune", "S"));
  }

  #kernelOf(block: Block): PipelineCode {
    const kernels = this.#kernels;
    const at = kernels.findIndex(({ shape }) => hasShape(block, shape));
    const kernel = kernels[at] ?? this.#newKernel(block);
    if (at > 0) kernels.splice(at, 1);
    if (at !== 0) kernels.unshift(kernel);
    if (kernels.length > MAX_KERNELS) kernels.pop();
    if (checksInput()) assertBlock(block, kernel.shape, this.#plan.columns.map(({ type }) => type));
    return kernel.code;
  }

  #newKernel(block: Block): Kernel {
    const shape = blockShapeOf(block);
    return { shape, code: this.#makeKernel(shape) };
  }

  #makeKernel(shape: BlockShape): PipelineCode {
    return new PipelineCode(this.#program.compilation, {
      name: `scan_${this.#plan.table.name.replaceAll(/\W/g, "_")}`,
      parameters: "S, block, from, to",
      emit: (code) =>
        emitKernel(code, shape, {
          plan: this.#plan,
          sink: this.#sink,
          flags: this.#program.flags,
          filters: this.#filters,
          range: this.#range,
          selectionSlot: this.#selectionSlot,
        }),
    });
  }

  /** The kernels that have run; before a run those for the blocks that the table has at this moment. */
  source(context: ExecutionContext): string {
    const cursor = this.#kernels.length === 0 ? this.#cursor(context, noPredicates) : null;
    for (let blocks = 0; cursor !== null && blocks < MAX_EXPLAINED_BLOCKS; blocks++) {
      const block = cursor.next();
      if (block === null) break;
      this.#kernelOf(block);
    }
    if (this.#kernels.length === 0) {
      return `// no code for table "${this.#plan.table.name}": a scan finds no block`;
    }
    const shown = this.#kernels.slice(0, MAX_SOURCES);
    const texts = shown.map(({ shape, code }) => `// vectors: ${shape.name}\n${code.source()}`);
    const hidden = this.#kernels.length - shown.length;
    if (hidden > 0) texts.push(`// and ${hidden} more for other shapes of vectors`);
    return texts.join("\n\n");
  }
}

/** The table of a plan as the running transaction sees it. */
function tableOf(context: ExecutionContext, plan: TableScan): ReturnType<ExecutionContext["table"]> {
  const { id } = plan.table;
  return context.before?.table(id) ?? context.table(id);
}

/** What a kernel is made of besides the shape of the vectors. */
interface KernelParts {
  readonly plan: TableScan;
  readonly sink: Sink;
  readonly flags: readonly number[];
  readonly filters: readonly RuntimeFilter[];
  readonly range: ScanRange | null;
  /** Where an execution keeps the numbers of chosen rows. */
  readonly selectionSlot: number;
}

function emitKernel(
  code: Emitter,
  shape: BlockShape,
  { plan, sink, flags, filters, range, selectionSlot }: KernelParts,
): void {
  const label = code.name("rows");
  const bindings = shape.columns.map((vector, index) => {
    const type = plan.columns[index]?.type ?? { kind: "unknown" };
    return vectorBinding(code, vector, `block.columns[${index}]`, type);
  });
  const ids = shape.ids === null ? null : vectorBinding(code, shape.ids, "block.ids", { kind: "i64" });
  const bind = (code: Emitter) => {
    plan.columns.forEach((column, index) => {
      const binding = bindings[index];
      if (binding !== undefined) code.bind(column.output, binding);
    });
    if (plan.rowId !== null && ids !== null) code.bind(plan.rowId, ids);
  };
  const { hidesRows } = shape;
  if (hidesRows) code.emit("const hidden = block.hidden;");
  const filter = code.capture("row", () => {
    bind(code);
    return splitFilter(code, plan.filter);
  }).result;
  const isChosen = filter.masks.length + filter.dictionary.length > 0;
  code.loopLabel = label;
  code.morselRows = "(to - from)";
  const testRange = openRange(code, range);
  const testFilters = openRowFilters(code, filters);
  sink.open(code);
  const chosen = isChosen ? emitSelection(code, { slot: selectionSlot, filter, hidesRows, bind }) : null;
  const head = chosen === null ? "let i = from; i < to; i++" : `let j = 0; j < ${chosen.count}; j++`;
  code.block(`${label}: for (${head}) `, "row", () => {
    if (chosen !== null) code.emit(`const i = ${chosen.rows}[j];`);
    code.rowBlock(() => {
      bind(code);
      if (hidesRows && chosen === null) code.emit(`if (hidden[i] !== 0) ${code.skip}`);
      testRange(code);
      emitConjuncts(code, filter.rest);
      testFilters(code);
      sink.row(code);
    });
  });
  sink.close(code);
  code.emit(`return ${flags.map((flag) => `S.x[${flag}] === true`).join(" || ") || "false"};`);
}

/** The binding of a vector at row `i`; its arrays become local constants. */
function vectorBinding(code: Emitter, vector: VectorShape, place: string, type: SqlType): Binding {
  switch (vector.kind) {
    case "number":
      return numberBinding(code, vector, place, type);
    case "bytes":
      return bytesBinding(code, vector, place, type);
    case "dictionary":
      return dictionaryBinding(code, vector, place, type);
    case "constant": {
      const value = code.define("k", `${place}.value`);
      if (vector.isNull) return { type, cheap: true, isVector: true, load: () => NULL_VALUE };
      const known = code.define("k", storedCode(code, type, value));
      return { type, cheap: true, isVector: true, load: () => ({ code: known, isNull: null }) };
    }
  }
}

type ShapeOf<K extends VectorShape["kind"]> = Extract<VectorShape, { kind: K }>;

function numberBinding(code: Emitter, vector: ShapeOf<"number">, place: string, type: SqlType): Binding {
  const data = code.define("v", `${place}.data`);
  const nulls = !vector.hasNulls ? "" : code.define("x", `${place}.nulls`);
  const big = !vector.hasBig ? "" : code.define("big", `${place}.big`);
  return {
    type,
    cheap: true,
    isVector: big === "",
    load: (code) => {
      const isNull = nulls === "" ? null : code.define("n", `${nulls}[i] !== 0`);
      if (type.kind === "bool") return { code: code.define("c", `${data}[i] !== 0`), isNull };
      if (big === "") {
        const range = storageClassOf(type) === "int" ? integerBoundsOf(vector) : null;
        return {
          code: code.define("c", `${data}[i]`),
          isNull,
          plain: true,
          ...(range === null ? {} : { range }),
        };
      }
      const value = code.name("c");
      code.emit(`let ${value} = ${data}[i];`);
      code.emit(
        `if (${value} !== ${value}${isNull === null ? "" : ` && !${isNull}`}) ${value} = ${big}.get(i);`,
      );
      return { code: value, isNull };
    },
  };
}

function bytesBinding(code: Emitter, vector: ShapeOf<"bytes">, place: string, type: SqlType): Binding {
  const bytes = code.define("bytes", `${place}.bytes`);
  const starts = code.define("starts", `${place}.starts`);
  const ends = code.define("ends", `${place}.ends`);
  const nulls = !vector.hasNulls ? null : code.define("x", `${place}.nulls`);
  const isNull = nulls === null ? null : `${nulls}[i] !== 0`;
  const isText = storageClassOf(type) === "text";
  const decode = (code: Emitter) =>
    isText
      ? `${code.use("decodeText", decodeText)}(${bytes}, ${starts}[i], ${ends}[i])`
      : storedCode(code, type, `${bytes}.slice(${starts}[i], ${ends}[i])`);
  const binding: Binding = {
    type,
    cheap: false,
    load: (code) => {
      if (isNull === null) return { code: code.define("c", decode(code)), isNull: null };
      const name = code.define("c", `${isNull} ? null : ${decode(code)}`);
      return { code: name, isNull: `${name} === null` };
    },
  };
  if (!isText) return binding;
  return { ...binding, utf8: () => ({ bytes, start: `${starts}[i]`, end: `${ends}[i]`, isNull }) };
}

function dictionaryBinding(
  code: Emitter,
  vector: ShapeOf<"dictionary">,
  place: string,
  type: SqlType,
): Binding {
  const codes = code.define("codes", `${place}.codes`);
  const dictionary = code.define("dictionary", `${place}.dictionary`);
  const nulls = !vector.hasNulls ? null : code.define("x", `${place}.nulls`);
  const isNull = nulls === null ? null : `${nulls}[i] !== 0`;
  return {
    type,
    cheap: true,
    load: (code) => {
      const read = `${dictionary}[${codes}[i]]`;
      const name = code.define("c", isNull === null ? read : `${isNull} ? null : ${read}`);
      return { code: name, isNull: isNull === null ? null : `${name} === null` };
    },
    dictionary: {
      code: `${codes}[i]`,
      dictionary,
      bits: vector.bits,
      isNull,
    },
  };
}
