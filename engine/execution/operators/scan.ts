/**
 * Full scans of stored tables.
 *
 * A scan at the beginning of a program's stage runs a *kernel* over a range of a block's rows: a function generated for the
 * signature of the block's vectors, so that its loop sees one kind of typed array per column. Kernels are kept with the
 * statement.
 */
import type { ExecutionContext } from "../execution.ts";
import { emitZonePredicates } from "../codegen/prune.ts";
import { type RunningStage, StageCode } from "../codegen/stage_code.ts";
import { type Binding, Emitter, NULL_VALUE } from "../codegen/emitter.ts";
import { emitConjuncts } from "../codegen/condition.ts";
import type { Program, Sink } from "../codegen/region.ts";
import { emitSelection, splitFilter } from "../codegen/selection.ts";
import { storedCode } from "../codegen/value_form.ts";
import type { ExecutionState, Stage } from "../runtime/execution_state.ts";
import { decodeText } from "../runtime/interner.ts";
import type { IntegerRange } from "../../sql/functions/integer_range.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import {
  type Block,
  type BlockCursor,
  type Vector,
  vectorSignature,
  type ZonePredicate,
} from "../../storage/vector.ts";
import { type SqlType, storageClassOf } from "../../types/sql_type.ts";

type TableScan = Extract<Plan, { kind: "table_scan" }>;
type PruneFunction = (state: ExecutionState) => ZonePredicate[] | null;

/** Puts a scan of a table into a program. */
export function produceTableScan(plan: TableScan, program: Program, sink: Sink): void {
  program.add(new ScanStage(plan, program, sink));
}

/** Kernels that one scan keeps; far more than the signatures that one table has at a time. */
const MAXIMUM_KERNELS = 64;
/** Kernels whose text EXPLAIN (CODE) shows. */
const MAXIMUM_SOURCES = 4;

const NO_BYTES = new Uint8Array(0);
const NO_OFFSETS = new Uint32Array(0);
const NO_BIG: ReadonlyMap<number, bigint> = new Map();
const noPredicates: readonly ZonePredicate[] = [];

/** A scan that is under way. */
class ScanRun {
  readonly cursor: BlockCursor;
  /** The block that is being worked on, and its next row. */
  block: Block | null = null;
  next = 0;
  kernel: StageCode | null = null;
  running: RunningStage | null = null;

  constructor(cursor: BlockCursor) {
    this.cursor = cursor;
  }
}

class ScanStage implements Stage {
  writesResult = false;
  readonly operators: readonly number[];
  readonly #plan: TableScan;
  readonly #program: Program;
  readonly #sink: Sink;
  readonly #slot: number;
  readonly #selectionSlot: number;
  readonly #columnIds: readonly number[];
  readonly #kernels = new Map<string, StageCode>();
  #prune: PruneFunction | null = null;

  constructor(plan: TableScan, program: Program, sink: Sink) {
    this.#plan = plan;
    this.#program = program;
    this.#sink = sink;
    this.#slot = program.compilation.newSlot();
    this.#selectionSlot = program.compilation.newSlot();
    this.#columnIds = plan.columns.map((column) => column.columnId);
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
      state.x[this.#slot] = scan = new ScanRun(cursor);
    }
    const ended = this.#piece(state, scan);
    if (ended) state.x[this.#slot] = undefined;
    return ended;
  }

  /** Works through a piece. true: the scan is over, or what is above wants no more rows. */
  #piece(state: ExecutionState, scan: ScanRun): boolean {
    if (scan.running === null) {
      if (scan.block === null) {
        const block = scan.cursor.next();
        if (block === null) return true;
        scan.block = block;
        scan.next = 0;
        scan.kernel = this.#kernelOf(block);
      }
      const { block } = scan;
      const from = scan.next;
      const to = scan.next = Math.min(block.rowCount, from + state.quota);
      const kernel = scan.kernel as StageCode;
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
    if (prune === null) return null;
    return tableOf(state.context, this.#plan).scan(this.#columnIds, {
      ids: this.#plan.rowId !== null,
      prune,
    });
  }

  #compilePrune(): PruneFunction {
    const code = new Emitter(this.#program.compilation);
    emitZonePredicates(code, this.#plan);
    return code.compile<PruneFunction>(code.source("prune", "S"));
  }

  #kernelOf(block: Block): StageCode {
    let signature = block.hidden === null ? "" : "hidden ";
    const columns = block.columns;
    for (let index = 0; index < columns.length; index++) {
      signature += vectorSignature(columns[index] as Vector) + " ";
    }
    if (block.ids !== null) signature += vectorSignature(block.ids);
    let kernel = this.#kernels.get(signature);
    if (kernel === undefined) {
      if (this.#kernels.size >= MAXIMUM_KERNELS) this.#kernels.clear();
      kernel = this.#makeKernel(shapeOf(block));
      this.#kernels.set(signature, kernel);
    }
    return kernel;
  }

  #makeKernel(shape: Block): StageCode {
    return new StageCode(this.#program.compilation, {
      name: `scan_${this.#plan.table.name.replaceAll(/\W/g, "_")}`,
      parameters: "S, block, from, to",
      emit: (code) =>
        emitKernel(code, shape, {
          plan: this.#plan,
          sink: this.#sink,
          flags: this.#program.flags,
          selectionSlot: this.#selectionSlot,
        }),
    });
  }

  source(): string {
    if (this.#kernels.size === 0) return this.#makeKernel(sampleBlock(this.#plan)).source();
    const shown = [...this.#kernels].slice(0, MAXIMUM_SOURCES);
    return shown.map(([signature, kernel]) => `// vectors: ${signature.trim()}\n${kernel.source()}`).join(
      "\n\n",
    );
  }
}

/** The table of a plan as the running transaction sees it. */
function tableOf(context: ExecutionContext, plan: TableScan): ReturnType<ExecutionContext["table"]> {
  const { id } = plan.table;
  return context.before?.table(id) ?? context.table(id);
}

/** A block of the shape that a fresh table has, for showing code before anything has run. */
function sampleBlock(plan: TableScan): Block {
  const vector = (type: SqlType): Vector =>
    storageClassOf(type) === "int" || storageClassOf(type) === "float"
      ? { kind: "number", data: new Float64Array(0), nulls: null, big: null }
      : {
        kind: "bytes",
        bytes: new Uint8Array(0),
        starts: new Uint32Array(0),
        ends: new Uint32Array(0),
        nulls: null,
      };
  return {
    rowCount: 0,
    firstLocation: 0,
    ids: plan.rowId === null ? null : vector({ kind: "i64" }),
    columns: plan.columns.map((column) => vector(column.type)),
    hidden: null,
  };
}

/** A block like another one, but without its rows, which a kernel that is kept would hold in memory. */
function shapeOf(block: Block): Block {
  return {
    rowCount: 0,
    firstLocation: 0,
    ids: block.ids === null ? null : shapeOfVector(block.ids),
    columns: block.columns.map(shapeOfVector),
    hidden: block.hidden === null ? null : NO_BYTES,
  };
}

function shapeOfVector(vector: Vector): Vector {
  const nulls = "nulls" in vector && vector.nulls !== null ? NO_BYTES : null;
  switch (vector.kind) {
    case "number":
      return { ...vector, data: NO_BYTES, nulls, big: vector.big === null ? null : NO_BIG };
    case "bytes":
      return { ...vector, bytes: NO_BYTES, starts: NO_OFFSETS, ends: NO_OFFSETS, nulls };
    case "dictionary":
      return { ...vector, codes: vector.codes.slice(0, 0), dictionary: [], nulls };
    case "constant":
      return { ...vector, value: vector.value === null ? null : 0 };
  }
}

/** What a kernel is made of besides the shape of the vectors. */
interface KernelParts {
  readonly plan: TableScan;
  readonly sink: Sink;
  readonly flags: readonly number[];
  /** Where an execution keeps the numbers of chosen rows. */
  readonly selectionSlot: number;
}

function emitKernel(code: Emitter, block: Block, { plan, sink, flags, selectionSlot }: KernelParts): void {
  const label = code.name("rows");
  const bindings = block.columns.map((vector, index) => {
    const type = plan.columns[index]?.type ?? { kind: "unknown" };
    return vectorBinding(code, vector, `block.columns[${index}]`, type);
  });
  const ids = block.ids === null ? null : vectorBinding(code, block.ids, "block.ids", { kind: "i64" });
  const bind = (code: Emitter) => {
    plan.columns.forEach((column, index) => {
      const binding = bindings[index];
      if (binding !== undefined) code.bind(column.output, binding);
    });
    if (plan.rowId !== null && ids !== null) code.bind(plan.rowId, ids);
  };
  const hidesRows = block.hidden !== null;
  if (hidesRows) code.emit("const hidden = block.hidden;");
  const filter = code.capture("row", () => {
    bind(code);
    return splitFilter(code, plan.filter);
  }).result;
  const isChosen = filter.masks.length + filter.dictionary.length > 0;
  code.loopLabel = label;
  code.pieceRows = "(to - from)";
  sink.open(code);
  const chosen = isChosen ? emitSelection(code, { slot: selectionSlot, filter, hidesRows, bind }) : null;
  const head = chosen === null ? "let i = from; i < to; i++" : `let j = 0; j < ${chosen.count}; j++`;
  code.block(`${label}: for (${head}) `, "row", () => {
    if (chosen !== null) code.emit(`const i = ${chosen.rows}[j];`);
    code.rowBlock(() => {
      bind(code);
      if (hidesRows && chosen === null) code.emit(`if (hidden[i] !== 0) ${code.skip}`);
      emitConjuncts(code, filter.rest);
      sink.row(code);
    });
  });
  sink.close(code);
  code.emit(`return ${flags.map((flag) => `S.x[${flag}] === true`).join(" || ") || "false"};`);
}

/** The binding of a vector at row `i`; its arrays become local constants. */
function vectorBinding(code: Emitter, vector: Vector, place: string, type: SqlType): Binding {
  switch (vector.kind) {
    case "number":
      return numberBinding(code, vector, place, type);
    case "bytes":
      return bytesBinding(code, vector, place, type);
    case "dictionary":
      return dictionaryBinding(code, vector, place, type);
    case "constant": {
      const value = code.define("k", `${place}.value`);
      if (vector.value === null) return { type, cheap: true, isVector: true, load: () => NULL_VALUE };
      const known = code.define("k", storedCode(code, type, value));
      return { type, cheap: true, isVector: true, load: () => ({ code: known, isNull: null }) };
    }
  }
}

type VectorOf<K extends Vector["kind"]> = Extract<Vector, { kind: K }>;

function numberBinding(code: Emitter, vector: VectorOf<"number">, place: string, type: SqlType): Binding {
  const data = code.define("v", `${place}.data`);
  const nulls = vector.nulls === null ? "" : code.define("x", `${place}.nulls`);
  const big = vector.big === null ? "" : code.define("big", `${place}.big`);
  return {
    type,
    cheap: true,
    isVector: big === "",
    load: (code) => {
      const isNull = nulls === "" ? null : code.define("n", `${nulls}[i] !== 0`);
      if (type.kind === "bool") return { code: code.define("c", `${data}[i] !== 0`), isNull };
      if (big === "") {
        const range = rangeOf(vector, type);
        return {
          code: code.define("c", `${data}[i]`),
          isNull,
          plain: true,
          ...(range === undefined ? {} : { range }),
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

/** Bounds of a vector's integers, from the storage or from the width of an element. */
function rangeOf(vector: VectorOf<"number">, type: SqlType): IntegerRange | undefined {
  if (storageClassOf(type) !== "int") return undefined;
  if (vector.span !== undefined) return vector.span;
  const { data } = vector;
  if (data instanceof Float64Array || data instanceof Float32Array) return undefined;
  const values = 2 ** (8 * data.BYTES_PER_ELEMENT);
  const isSigned = data instanceof Int8Array || data instanceof Int16Array || data instanceof Int32Array;
  return isSigned ? { low: -values / 2, high: values / 2 - 1 } : { low: 0, high: values - 1 };
}

function bytesBinding(code: Emitter, vector: VectorOf<"bytes">, place: string, type: SqlType): Binding {
  const bytes = code.define("bytes", `${place}.bytes`);
  const starts = code.define("starts", `${place}.starts`);
  const ends = code.define("ends", `${place}.ends`);
  const nulls = vector.nulls === null ? null : code.define("x", `${place}.nulls`);
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
  vector: VectorOf<"dictionary">,
  place: string,
  type: SqlType,
): Binding {
  const codes = code.define("codes", `${place}.codes`);
  const dictionary = code.define("dictionary", `${place}.dictionary`);
  const nulls = vector.nulls === null ? null : code.define("x", `${place}.nulls`);
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
      bits: vector.codes.BYTES_PER_ELEMENT * 8,
      isNull,
    },
  };
}
