/**
 * What programs ask of their host, on top of WASI preview 2: bodies for the imports `lang:host/*`, which call WASI's
 * functions by their core names.
 *
 * Streams are asked for and dropped in each call, so that nothing has to be kept. A stream that cannot be written any
 * more is left silent, as a closed pipe is. Files are not given yet: the answer says so.
 */
import type { Allocator } from "./allocator.ts";
import {
  get,
  i32,
  type IrExpression,
  type IrFunction,
  type IrLocal,
  load,
  newFunction,
  newLocal,
  op,
  type ScalarType,
} from "./node.ts";
import { RawBuilder } from "./raw_builder.ts";
import type { Statics } from "./statics.ts";

/** Version of the interfaces. */
const VERSION = "0.2.0";
/** Most bytes that one write may have. */
const WRITE_LIMIT = 4096;
/** Bytes asked for in one read. */
const READ_SIZE = 65536n;

/** A function of WASI as the core module sees it. */
export interface WasiFunction {
  readonly module: string;
  readonly name: string;
  readonly parameters: readonly ScalarType[];
  readonly results: readonly ScalarType[];
}

function wasi(
  path: string,
  name: string,
  parameters: readonly ScalarType[],
  results: readonly ScalarType[],
): WasiFunction {
  return { module: `wasi:${path}@${VERSION}`, name, parameters, results };
}

const FUNCTIONS = {
  stdout: wasi("cli/stdout", "get-stdout", [], ["i32"]),
  stderr: wasi("cli/stderr", "get-stderr", [], ["i32"]),
  stdin: wasi("cli/stdin", "get-stdin", [], ["i32"]),
  write: wasi(
    "io/streams",
    "[method]output-stream.blocking-write-and-flush",
    ["i32", "i32", "i32", "i32"],
    [],
  ),
  dropOutput: wasi("io/streams", "[resource-drop]output-stream", ["i32"], []),
  read: wasi("io/streams", "[method]input-stream.blocking-read", ["i32", "i64", "i32"], []),
  dropInput: wasi("io/streams", "[resource-drop]input-stream", ["i32"], []),
  dropError: wasi("io/error", "[resource-drop]error", ["i32"], []),
  args: wasi("cli/environment", "get-arguments", ["i32"], []),
  environment: wasi("cli/environment", "get-environment", ["i32"], []),
  exit: wasi("cli/exit", "exit-with-code", ["i32"], []),
  random: wasi("random/random", "get-random-u64", [], ["i64"]),
  wall: wasi("clocks/wall-clock", "now", ["i32"], []),
  monotonic: wasi("clocks/monotonic-clock", "now", [], ["i64"]),
} as const;

/** Gives the imports of a command their bodies, and collects what those import. */
export class WasiHost {
  readonly #allocator: Allocator;
  readonly #statics: Statics;
  readonly #append: () => IrFunction;
  readonly #register: (target: IrFunction) => void;
  readonly #imports = new Map<WasiFunction, IrFunction>();
  #scratch = 0;
  #writer: IrFunction | null = null;

  constructor(options: {
    readonly allocator: Allocator;
    readonly statics: Statics;
    /** Appends bytes to a block: `(own block, other) -> block`. */
    readonly append: () => IrFunction;
    readonly register: (target: IrFunction) => void;
  }) {
    this.#allocator = options.allocator;
    this.#statics = options.statics;
    this.#append = options.append;
    this.#register = options.register;
  }

  /** Imports of WASI that are used. */
  get imports(): readonly IrFunction[] {
    return [...this.#imports.values()];
  }

  /** Gives an import a body; false when it is not one of the host's. */
  implement(target: IrFunction): boolean {
    const { imported } = target;
    if (imported === null || !imported.module.startsWith("lang:host/")) return false;
    const write = this.#bodies()[imported.name];
    if (write === undefined) return false;
    const out = new RawBuilder(target.name);
    const parameters = target.parameters.map((parameter) => out.parameter(parameter.name, parameter.type));
    write(out, parameters);
    target.imported = null;
    target.parameters = out.function.parameters;
    target.locals = out.function.locals;
    target.body = out.function.body;
    target.name = `host.${target.name}`;
    target.isRaw = true;
    this.#register(target);
    return true;
  }

  #function(target: WasiFunction): IrFunction {
    const known = this.#imports.get(target);
    if (known !== undefined) return known;
    const made = newFunction(target.name, {
      imported: { module: target.module, name: target.name, parameters: [], result: null },
    });
    for (const [index, type] of target.parameters.entries()) {
      made.parameters.push(newLocal(made, { name: `p${index}`, type }));
    }
    made.results = target.results.map((type) => ({ type, pointer: null }));
    this.#imports.set(target, made);
    return made;
  }

  #call(target: WasiFunction, ...args: IrExpression[]): IrExpression {
    return { kind: "call", function: this.#function(target), args };
  }

  /** Memory for what functions of WASI give. */
  #area(): IrExpression {
    if (this.#scratch === 0) this.#scratch = this.#statics.reserve(16);
    return i32(this.#scratch);
  }

  #bodies(): Readonly<Record<string, (out: RawBuilder, parameters: readonly IrLocal[]) => void>> {
    return {
      write: (out, [pointer, length]) => this.#writeLine(out, FUNCTIONS.stdout, pointer, length),
      write_error: (out, [pointer, length]) => this.#writeLine(out, FUNCTIONS.stderr, pointer, length),
      write_output: (out, [pointer, length]) => this.#writeAll(out, FUNCTIONS.stdout, pointer, length),
      arguments: (out, [result]) => this.#arguments(out, result),
      environment_variable: (out, [pointer, length, result]) => this.#variable(out, pointer, length, result),
      exit_with_code: (out, [code]) => {
        if (code !== undefined) out.call(this.#function(FUNCTIONS.exit), get(code));
      },
      read_input: (out, [result]) => this.#readInput(out, result),
      read_whole_file: (out, parameters) => this.#refuse(out, parameters[parameters.length - 1]),
      write_whole_file: (out, parameters) => this.#refuse(out, parameters[parameters.length - 1]),
      seed: (out) => out.return(this.#call(FUNCTIONS.random)),
      now_milliseconds: (out) => {
        out.add({ kind: "call", call: asCall(this.#call(FUNCTIONS.wall, this.#area())) });
        out.return(
          op(
            "f64.add",
            op("f64.mul", op("f64.convert_i64_u", load("i64.load", this.#area(), 0)), float(1000)),
            op("f64.div", op("f64.convert_i32_u", load("i32.load", this.#area(), 8)), float(1e6)),
          ),
        );
      },
      elapsed_milliseconds: (out) =>
        out.return(op("f64.div", op("f64.convert_i64_u", this.#call(FUNCTIONS.monotonic)), float(1e6))),
    };
  }

  /** `(stream, pointer, length)`: writes in pieces, and drops the stream. */
  #writeFunction(): IrFunction {
    if (this.#writer !== null) return this.#writer;
    const out = new RawBuilder("host.write_stream");
    this.#writer = out.function;
    const stream = out.parameter("stream");
    const pointer = out.parameter("pointer");
    const length = out.parameter("length");
    out.block("done", (done) => {
      out.loop("piece", (again) => {
        out.if(op("i32.eqz", get(length)), () => out.branch(done));
        const piece = out.local("piece", get(length));
        out.if(op("i32.gt_u", get(piece), i32(WRITE_LIMIT)), () => out.set(piece, i32(WRITE_LIMIT)));
        out.call(this.#function(FUNCTIONS.write), get(stream), get(pointer), get(piece), this.#area());
        out.if(load("i32.load8_u", this.#area(), 0), () => {
          this.#dropError(out);
          out.branch(done);
        });
        out.set(pointer, op("i32.add", get(pointer), get(piece)));
        out.set(length, op("i32.sub", get(length), get(piece)));
        out.branch(again);
      });
    });
    out.call(this.#function(FUNCTIONS.dropOutput), get(stream));
    this.#register(out.function);
    return out.function;
  }

  /** Drops the error that an operation on a stream left in the area. */
  #dropError(out: RawBuilder): void {
    out.if(
      op("i32.eqz", load("i32.load8_u", this.#area(), 4)),
      () => out.call(this.#function(FUNCTIONS.dropError), load("i32.load", this.#area(), 8)),
    );
  }

  #writeAll(
    out: RawBuilder,
    stream: WasiFunction,
    pointer: IrLocal | undefined,
    length: IrLocal | undefined,
  ): void {
    if (pointer === undefined || length === undefined) return;
    out.call(this.#writeFunction(), this.#call(stream), get(pointer), get(length));
  }

  #writeLine(
    out: RawBuilder,
    stream: WasiFunction,
    pointer: IrLocal | undefined,
    length: IrLocal | undefined,
  ): void {
    if (pointer === undefined || length === undefined) return;
    this.#writeAll(out, stream, pointer, length);
    out.call(this.#writeFunction(), this.#call(stream), i32(this.#statics.text("\n") + 16), i32(1));
  }

  /** Pointer and length where the caller finds them. */
  #give(out: RawBuilder, result: IrLocal, pointer: IrExpression, length: IrExpression): void {
    out.store(get(result), 0, pointer);
    out.store(get(result), 4, length);
  }

  /**
   * A zero character before each argument; the first one of WASI is the name of the program, which `main` does not
   * get.
   */
  #arguments(out: RawBuilder, result: IrLocal | undefined): void {
    if (result === undefined) return;
    out.call(this.#function(FUNCTIONS.args), this.#area());
    const list = out.local("list", load("i32.load", this.#area(), 0));
    const count = out.local("count", load("i32.load", this.#area(), 4));
    const end = out.local("end", op("i32.add", get(list), op("i32.shl", get(count), i32(3))));
    const first = out.local("first", get(list));
    const total = out.local("total", i32(0));
    out.if(get(count), () => {
      out.set(first, op("i32.add", get(list), i32(8)));
      out.set(total, op("i32.sub", get(count), i32(1)));
      const length = out.local("name_length", load("i32.load", get(list), 4));
      out.if(get(length), () => this.#allocator.giveAny(out, load("i32.load", get(list), 0), get(length)));
    });
    const at = out.local("at", get(first));
    this.#each(
      out,
      at,
      end,
      8,
      () => out.set(total, op("i32.add", get(total), load("i32.load", get(at), 4))),
    );
    const bytes = out.local("bytes", i32(0));
    out.if(get(total), () => out.set(bytes, this.#allocator.takeAny(get(total))));
    const to = out.local("to", get(bytes));
    out.set(at, get(first));
    this.#each(out, at, end, 8, () => {
      out.store(get(to), 0, i32(0), "i32.store8");
      const length = out.local("length", load("i32.load", get(at), 4));
      out.copy(op("i32.add", get(to), i32(1)), load("i32.load", get(at), 0), get(length));
      out.set(to, op("i32.add", op("i32.add", get(to), get(length)), i32(1)));
      out.if(get(length), () => this.#allocator.giveAny(out, load("i32.load", get(at), 0), get(length)));
    });
    out.if(get(count), () => this.#allocator.giveAny(out, get(list), op("i32.shl", get(count), i32(3))));
    this.#give(out, result, get(bytes), get(total));
  }

  #each(out: RawBuilder, at: IrLocal, end: IrLocal, size: number, write: () => void): void {
    out.block("done", (done) => {
      out.loop("each", (again) => {
        out.if(op("i32.ge_u", get(at), get(end)), () => out.branch(done));
        write();
        out.set(at, op("i32.add", get(at), i32(size)));
        out.branch(again);
      });
    });
  }

  /** A byte 1 and the value, or a byte 0. */
  #variable(
    out: RawBuilder,
    pointer: IrLocal | undefined,
    length: IrLocal | undefined,
    result: IrLocal | undefined,
  ): void {
    if (pointer === undefined || length === undefined || result === undefined) return;
    out.call(this.#function(FUNCTIONS.environment), this.#area());
    const list = out.local("list", load("i32.load", this.#area(), 0));
    const count = out.local("count", load("i32.load", this.#area(), 4));
    const end = out.local("end", op("i32.add", get(list), op("i32.shl", get(count), i32(4))));
    const answer = out.local("answer", i32(0));
    const answerLength = out.local("answer_length", i32(0));
    const at = out.local("at", get(list));
    this.#each(out, at, end, 16, () => {
      const same = out.local("same", op("i32.eq", load("i32.load", get(at), 4), get(length)));
      const index = out.local("index", i32(0));
      out.block("compared", (compared) => {
        out.loop("byte", (again) => {
          out.if(
            op("i32.or", op("i32.eqz", get(same)), op("i32.ge_u", get(index), get(length))),
            () => out.branch(compared),
          );
          out.set(
            same,
            op(
              "i32.eq",
              load("i32.load8_u", op("i32.add", load("i32.load", get(at), 0), get(index)), 0),
              load("i32.load8_u", op("i32.add", get(pointer), get(index)), 0),
            ),
          );
          out.set(index, op("i32.add", get(index), i32(1)));
          out.branch(again);
        });
      });
      out.if(op("i32.and", get(same), op("i32.eqz", get(answer))), () => {
        const size = out.local("size", load("i32.load", get(at), 12));
        out.set(answerLength, op("i32.add", get(size), i32(1)));
        out.set(answer, this.#allocator.takeAny(get(answerLength)));
        out.store(get(answer), 0, i32(1), "i32.store8");
        out.copy(op("i32.add", get(answer), i32(1)), load("i32.load", get(at), 8), get(size));
      });
      for (const offset of [0, 8]) {
        out.if(
          load("i32.load", get(at), offset + 4),
          () =>
            this.#allocator.giveAny(
              out,
              load("i32.load", get(at), offset),
              load("i32.load", get(at), offset + 4),
            ),
        );
      }
    });
    out.if(get(count), () => this.#allocator.giveAny(out, get(list), op("i32.shl", get(count), i32(4))));
    out.if(op("i32.eqz", get(answer)), () => {
      out.set(answer, this.#allocator.takeAny(i32(1)));
      out.set(answerLength, i32(1));
      out.store(get(answer), 0, i32(0), "i32.store8");
    });
    this.#give(out, result, get(answer), get(answerLength));
  }

  /** All of standard input. */
  #readInput(out: RawBuilder, result: IrLocal | undefined): void {
    if (result === undefined) return;
    const stream = out.local("stream", this.#call(FUNCTIONS.stdin));
    const block = out.local("block", i32(0));
    const piece = out.declare("piece");
    const length = out.declare("length");
    out.block("end", (end) => {
      out.loop("read", (again) => {
        out.call(this.#function(FUNCTIONS.read), get(stream), {
          kind: "const",
          type: "i64",
          value: READ_SIZE,
        }, this.#area());
        out.if(load("i32.load8_u", this.#area(), 0), () => {
          this.#dropError(out);
          out.branch(end);
        });
        out.set(piece, load("i32.load", this.#area(), 4));
        out.set(length, load("i32.load", this.#area(), 8));
        out.if(op("i32.eqz", get(length)), () => out.branch(again));
        // The piece as a block, so that it can be appended.
        const whole = out.local("whole", this.#allocator.takeAny(op("i32.add", get(length), i32(16))));
        out.store(get(whole), 0, i32(1));
        out.store(get(whole), 4, get(length));
        out.store(get(whole), 8, get(length));
        out.copy(op("i32.add", get(whole), i32(16)), get(piece), get(length));
        this.#allocator.giveAny(out, get(piece), get(length));
        out.set(block, { kind: "call", function: this.#append(), args: [get(block), get(whole)] });
        this.#allocator.giveAny(out, get(whole), op("i32.add", get(length), i32(16)));
        out.branch(again);
      });
    });
    out.call(this.#function(FUNCTIONS.dropInput), get(stream));
    out.set(length, load("i32.load", get(block), 4));
    out.set(piece, i32(0));
    out.if(get(length), () => {
      out.set(piece, this.#allocator.takeAny(get(length)));
      out.copy(get(piece), op("i32.add", get(block), i32(16)), get(length));
    });
    out.if(
      get(block),
      () => this.#allocator.giveAny(out, get(block), op("i32.add", load("i32.load", get(block), 8), i32(16))),
    );
    this.#give(out, result, get(piece), get(length));
  }

  #refuse(out: RawBuilder, result: IrLocal | undefined): void {
    if (result === undefined) return;
    const text = "\0this host gives no files";
    const length = text.length;
    const answer = out.local("answer", this.#allocator.takeAny(i32(length)));
    out.copy(get(answer), i32(this.#statics.text(text) + 16), i32(length));
    this.#give(out, result, get(answer), i32(length));
  }
}

function float(value: number): IrExpression {
  return { kind: "const", type: "f64", value };
}

function asCall(expression: IrExpression): IrExpression & { readonly kind: "call" } {
  if (expression.kind !== "call") throw new Error("Cannot use the expression as a statement: it is no call");
  return expression;
}
