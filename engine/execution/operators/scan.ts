/**
 * Full scans of stored tables.
 *
 * A scan at the beginning of a program's stage runs one *kernel* a block: a function generated for the signature of the
 * block's vectors, so that its loop sees one kind of typed array per column. Kernels are kept with the statement.
 */
import type { ExecutionContext } from "../execution.ts";
import { emitZonePredicates } from "../codegen/prune.ts";
import { type Binding, Emitter, NULL_VALUE } from "../codegen/emitter.ts";
import { emitGuards } from "../codegen/condition.ts";
import type { Program, Sink } from "../codegen/region.ts";
import { storedCode } from "../codegen/value_form.ts";
import type { ExecutionState, Stage } from "../runtime/execution_state.ts";
import { decodeText } from "../runtime/interner.ts";
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
type Kernel = (state: ExecutionState, block: Block) => boolean;
type PruneFunction = (state: ExecutionState) => ZonePredicate[] | null;

/** Puts a scan of a table into a program. */
export function produceTableScan(plan: TableScan, program: Program, sink: Sink): void {
  program.add(new ScanStage(plan, program, sink));
}

/** Kernels that one scan keeps; far more than the signatures that one table has at a time. */
const MAXIMUM_KERNELS = 64;
/** Kernels whose text is kept for EXPLAIN (CODE). */
const MAXIMUM_SOURCES = 4;

const noPredicates: readonly ZonePredicate[] = [];

class ScanStage implements Stage {
  writesResult = false;
  readonly operators: readonly number[];
  readonly #plan: TableScan;
  readonly #program: Program;
  readonly #sink: Sink;
  readonly #slot: number;
  readonly #columnIds: readonly number[];
  readonly #kernels = new Map<string, Kernel>();
  readonly #sources: string[] = [];
  #prune: PruneFunction | null = null;

  constructor(plan: TableScan, program: Program, sink: Sink) {
    this.#plan = plan;
    this.#program = program;
    this.#sink = sink;
    this.#slot = program.compilation.newSlot();
    this.#columnIds = plan.columns.map((column) => column.columnId);
    this.operators = [program.compilation.operatorIndex(plan)];
  }

  run(state: ExecutionState): boolean {
    const flags = this.#program.flags;
    for (let index = 0; index < flags.length; index++) {
      if (state.x[flags[index] as number] === true) return true;
    }
    let cursor = state.x[this.#slot] as BlockCursor | undefined;
    if (cursor === undefined) {
      const opened = this.#open(state);
      if (opened === null) return true;
      state.x[this.#slot] = cursor = opened;
    } else state.context.checkCancelled();
    const block = cursor.next();
    if (block === null || this.#kernelOf(block)(state, block)) {
      state.x[this.#slot] = undefined;
      return true;
    }
    return false;
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

  #kernelOf(block: Block): Kernel {
    let signature = block.hidden === null ? "" : "hidden ";
    const columns = block.columns;
    for (let index = 0; index < columns.length; index++) {
      signature += vectorSignature(columns[index] as Vector) + " ";
    }
    if (block.ids !== null) signature += vectorSignature(block.ids);
    let kernel = this.#kernels.get(signature);
    if (kernel === undefined) {
      if (this.#kernels.size >= MAXIMUM_KERNELS) this.#kernels.clear();
      kernel = this.#compile(block, signature);
      this.#kernels.set(signature, kernel);
    }
    return kernel;
  }

  #compile(block: Block, signature: string): Kernel {
    const code = new Emitter(this.#program.compilation);
    emitKernel(code, this.#plan, block, this.#sink, this.#program.flags);
    const text = code.source(`scan_${this.#plan.table.name.replaceAll(/\W/g, "_")}`, "S, block");
    if (this.#sources.length < MAXIMUM_SOURCES) {
      this.#sources.push(`// vectors: ${signature.trim()}\n${text}`);
    }
    this.writesResult = code.writesResult;
    return code.compile<Kernel>(text);
  }

  source(): string {
    if (this.#sources.length > 0) return this.#sources.join("\n\n");
    const code = new Emitter(this.#program.compilation);
    emitKernel(code, this.#plan, sampleBlock(this.#plan), this.#sink, this.#program.flags);
    return code.source(`scan_${this.#plan.table.name.replaceAll(/\W/g, "_")}`, "S, block");
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

function emitKernel(
  code: Emitter,
  plan: TableScan,
  block: Block,
  sink: Sink,
  flags: readonly number[],
): void {
  const label = code.name("rows");
  const bindings = block.columns.map((vector, index) => {
    const type = plan.columns[index]?.type ?? { kind: "unknown" };
    return vectorBinding(code, vector, `block.columns[${index}]`, type);
  });
  const ids = block.ids === null ? null : vectorBinding(code, block.ids, "block.ids", { kind: "i64" });
  if (block.hidden !== null) code.emit("const hidden = block.hidden;");
  code.emit("const count = block.rowCount;");
  code.loopLabel = label;
  sink.open(code);
  code.block(`${label}: for (let i = 0; i < count; i++) `, "row", () => {
    code.rowBlock(() => {
      plan.columns.forEach((column, index) => {
        const binding = bindings[index];
        if (binding !== undefined) code.bind(column.output, binding);
      });
      if (plan.rowId !== null && ids !== null) code.bind(plan.rowId, ids);
      if (block.hidden !== null) code.emit(`if (hidden[i] !== 0) ${code.skip}`);
      if (plan.filter !== null) emitGuards(code, plan.filter);
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
      if (vector.value === null) return { type, cheap: true, load: () => NULL_VALUE };
      const known = code.define("k", storedCode(code, type, value));
      return { type, cheap: true, load: () => ({ code: known, isNull: null }) };
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
    load: (code) => {
      const isNull = nulls === "" ? null : code.define("n", `${nulls}[i] !== 0`);
      if (type.kind === "bool") return { code: code.define("c", `${data}[i] !== 0`), isNull };
      if (big === "") return { code: code.define("c", `${data}[i]`), isNull, plain: true };
      const value = code.name("c");
      code.emit(`let ${value} = ${data}[i];`);
      code.emit(
        `if (${value} !== ${value}${isNull === null ? "" : ` && !${isNull}`}) ${value} = ${big}.get(i);`,
      );
      return { code: value, isNull };
    },
  };
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
