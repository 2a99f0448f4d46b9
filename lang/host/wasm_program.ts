/**
 * Runs compiled programs in this process: each run has its own instance, imports go to a {@link Host}, traps come
 * back with their place.
 *
 * The functions that a module imports are those that the library declares `extern`; their parameters tell how to read
 * texts and bytes, which come as address and length. A result of this kind is written into memory that the module's
 * `allocate` gives; its address and length are stored where the last argument points to. `main` gets its arguments by
 * `lang:host/process@1.0.0 arguments`, a zero character before each.
 */
import { internally } from "../diagnostics/internal_error.ts";
import type { Host, HostValue } from "../interpret/host.ts";
import type { TypedFunction, TypedProgram } from "../typed/tree.ts";
import type { Type } from "../types/type.ts";
import { indexMessage } from "../typed/trap.ts";
import { isLibraryPath } from "../source/source_file.ts";
import { trapMessage, type TrapReport, WasmTrap } from "./wasm_trap.ts";
import { type TrapPosition, trapSitesOf } from "./trap_sites.ts";

/** Where pointers to texts lead: a block's length and first byte. */
const LENGTH_OFFSET = 4;
const BLOCK_HEADER = 16;

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** Calls that are looked through for one in the package. */
const MAX_FRAMES = 2_500;

const PROCESS_MODULE = "lang:host/process@1.0.0";

/** Thrown by a host's function to end the program quietly, as `exit` does. */
export class ProgramStop extends Error {
}

/** A function of the host; types by their names, `()` for no result. */
export interface HostFunction {
  readonly module: string;
  readonly name: string;
  readonly parameters: readonly string[];
  readonly result: string;
}

/** What is needed to run a module; plain data that can be given to another thread. */
export interface RunnableModule {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly externs: readonly HostFunction[];
}

/** The functions of the host that a program may ask for. */
export function externsOf(program: TypedProgram): HostFunction[] {
  const declared = program.modules.flatMap(({ functions }) => functions.flatMap(externOf));
  return [...declared, { module: PROCESS_MODULE, name: "arguments", parameters: [], result: "String" }];
}

function externOf({ linkage, name, parameters, result }: TypedFunction): HostFunction[] {
  if (linkage.kind !== "extern") return [];
  return [{
    module: linkage.module,
    name,
    parameters: parameters.map((parameter) => primitiveName(parameter.type)),
    result: primitiveName(result),
  }];
}

/** A compiled program that can be run any number of times. */
export class WasmProgram {
  readonly module: WebAssembly.Module;
  readonly #sites: readonly TrapPosition[];
  readonly #externs: ReadonlyMap<string, HostFunction>;

  constructor({ bytes, externs }: RunnableModule) {
    this.module = internally("running", () => new WebAssembly.Module(bytes));
    this.#sites = trapSitesOf(this.module);
    this.#externs = new Map(externs.map((each) => [`${each.module} ${each.name}`, each]));
  }

  /** A new instance with a memory of its own. */
  instantiate(host: Host): WasmRun {
    const imports: Record<string, Record<string, WebAssembly.ImportValue>> = {};
    const holder: { run: WasmRun | null } = { run: null };
    for (const { module, name } of WebAssembly.Module.imports(this.module)) {
      const extern = this.#externs.get(`${module} ${name}`);
      if (extern === undefined) {
        throw new Error(`Cannot run the module: nobody declares its import ${module} ${name}`);
      }
      const functions = imports[module] ??= {};
      functions[name] = (...args: (number | bigint)[]) => {
        if (holder.run === null) throw new Error("Cannot call the host: the module is not ready");
        return holder.run.callHost(host, { module, name, extern }, args);
      };
    }
    const run = new WasmRun(new WebAssembly.Instance(this.module, imports), this.#sites);
    holder.run = run;
    return run;
  }
}

function primitiveName(type: Type): string {
  return type.kind === "primitive" ? type.name : "()";
}

/** One run of a program. */
export class WasmRun {
  readonly #exports: WebAssembly.Exports;
  readonly #memory: WebAssembly.Memory;
  readonly #sites: readonly TrapPosition[];

  constructor(instance: WebAssembly.Instance, sites: readonly TrapPosition[]) {
    this.#exports = instance.exports;
    const { memory } = instance.exports;
    if (!(memory instanceof WebAssembly.Memory)) {
      throw new Error("Cannot run the module: it exports no memory");
    }
    this.#memory = memory;
    this.#sites = sites;
  }

  /** Whether there is such a function. */
  has(name: string): boolean {
    return typeof this.#exports[name] === "function";
  }

  /** Calls an exported function over numbers; throws a {@link WasmTrap} when the program traps. */
  call(name: string, args: readonly (number | bigint)[] = []): number | bigint | undefined {
    const target = this.#exports[name];
    if (typeof target !== "function") throw new Error(`Cannot call ${name}: the module does not export it`);
    const limit = Error.stackTraceLimit;
    // Only what traps pays for a long trace: the calls that led there are read from it.
    Error.stackTraceLimit = MAX_FRAMES;
    try {
      return target(...args);
    } catch (error) {
      throw this.#trapOf(error) ?? error;
    } finally {
      Error.stackTraceLimit = limit;
    }
  }

  /** Bytes of the heap in use. */
  get heapBytes(): number {
    return this.#global("heap_bytes");
  }

  /** Size of the memory in bytes. */
  get memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }

  /** Gas that is left; only in modules that charge it. */
  get gasLeft(): bigint {
    const global = this.#exports["gas_left"];
    return global instanceof WebAssembly.Global ? BigInt(global.value) : 0n;
  }

  set gasLeft(amount: bigint) {
    const global = this.#exports["gas_left"];
    if (global instanceof WebAssembly.Global) global.value = amount;
  }

  #global(name: string): number {
    const global = this.#exports[name];
    return global instanceof WebAssembly.Global ? Number(global.value) : 0;
  }

  #trapOf(error: unknown): WasmTrap | null {
    if (error instanceof WebAssembly.RuntimeError) {
      const number = this.#global("trap_site");
      const site = this.#sites[number];
      if (site === undefined) return null;
      return new WasmTrap(this.#report(site), { site: number, offsets: offsetsOf(error) });
    }
    if (error instanceof RangeError && /call stack/.test(error.message)) {
      const report = {
        kind: "depth",
        message: trapMessage("depth"),
        place: null,
        library: null,
        sides: null,
      };
      return new WasmTrap(report, { site: null, offsets: offsetsOf(error) });
    }
    return null;
  }

  #report({ kind, place }: TrapPosition): TrapReport {
    const [text, other] = [this.#text("trap_text"), this.#text("trap_other")];
    const said = kind === "panic" ? text : null;
    // Sides of a comparison are never both empty: an empty text is shown in its quotes.
    const hasSides = kind === "expect" && text !== null && other !== null && text + other !== "";
    const sides = hasSides ? { left: text, right: other } : null;
    const message = said ?? this.#indexMessage(kind) ?? trapMessage(kind);
    const library = place !== null && isLibraryPath(place.file) ? place : null;
    return { kind, message, place, library, sides };
  }

  #indexMessage(kind: string): string | null {
    if (kind !== "index" || !(this.#exports["trap_index"] instanceof WebAssembly.Global)) return null;
    return indexMessage(this.#global("trap_index"), this.#global("trap_length"));
  }

  /** The text that a global points to; null when the module has no such global. An empty text is no block. */
  #text(name: string): string | null {
    if (!(this.#exports[name] instanceof WebAssembly.Global)) return null;
    const pointer = this.#global(name);
    if (pointer === 0) return "";
    const length = new DataView(this.#memory.buffer).getUint32(pointer + LENGTH_OFFSET, true);
    return this.#decode(pointer + BLOCK_HEADER, length);
  }

  #decode(pointer: number, length: number): string {
    return DECODER.decode(new Uint8Array(this.#memory.buffer, pointer, length));
  }

  /** Hands a call of the module to the host. */
  callHost(
    host: Host,
    target: { readonly module: string; readonly name: string; readonly extern: HostFunction },
    args: readonly (number | bigint)[],
  ): number | bigint | undefined {
    const { module, name, extern } = target;
    let at = 0;
    const values = extern.parameters.map((type): HostValue => {
      if (type === "String" || type === "Bytes") {
        const pointer = Number(args[at++]) >>> 0;
        const length = Number(args[at++]) >>> 0;
        return type === "String"
          ? this.#decode(pointer, length)
          : new Uint8Array(this.#memory.buffer, pointer, length).slice();
      }
      const value = args[at++] ?? 0;
      return type === "Bool" ? value !== 0 : type === "Char" ? String.fromCodePoint(Number(value)) : value;
    });
    const result = host.call({ module, name, args: values });
    switch (extern.result) {
      case "String":
      case "Bytes":
        this.#give(result, Number(args[at]) >>> 0);
        return undefined;
      case "Int64":
        return BigInt(
          Number.isSafeInteger(result) ? Number(result) : typeof result === "bigint" ? result : 0,
        );
      case "()":
        return undefined;
      default:
        return Number(result ?? 0);
    }
  }

  #give(result: HostValue, target: number): void {
    const bytes = result instanceof Uint8Array
      ? result
      : new TextEncoder().encode(typeof result === "string" ? result : "");
    const pointer = bytes.length === 0 ? 0 : Number(this.call("allocate", [bytes.length])) >>> 0;
    new Uint8Array(this.#memory.buffer).set(bytes, pointer);
    const view = new DataView(this.#memory.buffer);
    view.setUint32(target, pointer, true);
    view.setUint32(target + 4, bytes.length, true);
  }
}

/** Offsets of the calls in the module's bytes, as engines write them into traces. */
function offsetsOf({ stack }: Error): number[] {
  return [...(stack ?? "").matchAll(/wasm-function\[\d+\]:0x([0-9a-f]+)/g)].map((match) =>
    Number.parseInt(match[1] ?? "", 16)
  );
}
