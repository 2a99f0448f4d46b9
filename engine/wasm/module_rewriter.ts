/**
 * Writes a module anew from its decoded structure and the rewritten code of its functions.
 *
 * The result has other exports: `gas`, `gas_limit`, `depth`, `failure` (globals), `memory` and `map` (memories),
 * `reset`, `init`, `wide` (a global), for each exported function with the index n the entries `fresh:n`, `next:n` and
 * perhaps `number:n`, for each exported global `global:` and its name. It has no start section, for `reset` calls the
 * start function, and no custom sections. Active data go to the image in the second memory when there is one.
 */
import { WasmByteWriter } from "../base/wasm_byte_writer.ts";
import { BodyValidator } from "./body_validator.ts";
import {
  entryFunction,
  growFunction,
  hasState,
  HELPER_TYPES,
  initFunction,
  markFunction,
  resetFunction,
} from "./helper_functions.ts";
import { hasNumberEntry, numberEntryFunction, numberEntryType } from "./number_entry.ts";
import { type Layout, layoutOf } from "./layout.ts";
import { type ModuleFacts, STACK_BYTES } from "./module_facts.ts";
import { type FunctionType, I32, I64, type ModuleStructure, type SizeLimits } from "./module_structure.ts";

/** What an entry of a function is exported as. */
export function entryName(index: number, isFresh: boolean): string {
  return `${isFresh ? "fresh" : "next"}:${index}`;
}

/** What the entry of a function is exported as that takes and gives numbers in the place of i64. */
export function numberEntryName(index: number): string {
  return `number:${index}`;
}

/** What an exported global is exported as. */
export function globalName(name: string): string {
  return `global:${name}`;
}

/** Functions of one step, which may be as small as they like. */
export const FUNCTIONS_PER_STEP = 32;

/** A rewritten module. */
export interface RewrittenModule {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes of the code of each function of the module itself. */
  readonly codeBytes: readonly number[];
}

/** The rewritten module, in steps of a moment. */
export function* rewriteModule(
  structure: ModuleStructure,
  facts: ModuleFacts,
  validator: BodyValidator,
): Generator<void, RewrittenModule> {
  const rewriter = new ModuleRewriter(structure, facts, validator);
  return { bytes: yield* rewriter.rewrite(), codeBytes: rewriter.codeBytes };
}

class ModuleRewriter {
  readonly codeBytes: number[] = [];
  readonly #structure: ModuleStructure;
  readonly #facts: ModuleFacts;
  readonly #validator: BodyValidator;
  readonly #layout: Layout;
  /** Indexes of the functions that have entries. */
  readonly #entries: readonly number[];
  /** Those of them that have an entry over numbers, too. */
  readonly #numberEntries: readonly number[];

  constructor(structure: ModuleStructure, facts: ModuleFacts, validator: BodyValidator) {
    this.#structure = structure;
    this.#facts = facts;
    this.#validator = validator;
    this.#layout = layoutOf(structure, facts);
    const indexes = new Set<number>();
    for (const { kind, index } of structure.exports.values()) if (kind === "function") indexes.add(index);
    this.#entries = [...indexes];
    this.#numberEntries = this.#entries.filter((index) => hasNumberEntry(this.#typeOf(index)));
  }

  #typeOf(index: number): FunctionType {
    return this.#structure.types[this.#structure.functions[index] ?? -1] ?? HELPER_TYPES.nothing;
  }

  *rewrite(): Generator<void, Uint8Array<ArrayBuffer>> {
    const { table, memory, dataCount, elements } = this.#structure;
    const out = new WasmByteWriter();
    out.bytes(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
    out.section(1, this.#types());
    out.section(3, this.#functions());
    if (table !== null) out.section(4, tableSection(table));
    if (memory !== null) out.section(5, this.#memories(memory));
    out.section(6, this.#globals());
    out.section(7, this.#exports());
    if (elements.length > 0) out.section(9, this.#elements());
    if (dataCount !== null) {
      const count = new WasmByteWriter();
      count.unsigned(dataCount);
      out.section(12, count);
    }
    out.section(10, yield* this.#code());
    if (this.#structure.data.length > 0) out.section(11, this.#data());
    return out.take();
  }

  #types(): WasmByteWriter {
    const out = new WasmByteWriter();
    const helpers = Object.values(HELPER_TYPES);
    const numbers = this.#numberEntries.map((index) => numberEntryType(this.#typeOf(index)));
    const all: readonly FunctionType[] = [...this.#structure.types, ...helpers, ...numbers];
    out.unsigned(all.length);
    for (const { parameters, results } of all) {
      out.byte(0x60);
      for (const types of [parameters, results]) {
        out.unsigned(types.length);
        for (const type of types) out.byte(type);
      }
    }
    return out;
  }

  #functions(): WasmByteWriter {
    const out = new WasmByteWriter();
    const { functions, types } = this.#structure;
    const own = [types.length, types.length];
    if (this.#layout.growFunction >= 0) own.push(types.length + 1);
    if (this.#layout.map !== null) own.push(types.length + 2);
    for (const index of this.#entries) own.push(functions[index] ?? 0, functions[index] ?? 0);
    const firstNumberType = types.length + Object.keys(HELPER_TYPES).length;
    for (const position of this.#numberEntries.keys()) own.push(firstNumberType + position);
    out.unsigned(functions.length + own.length);
    for (const type of functions) out.unsigned(type);
    for (const type of own) out.unsigned(type);
    return out;
  }

  #memories({ initial }: SizeLimits): WasmByteWriter {
    const out = new WasmByteWriter();
    const { map, maximumPages } = this.#layout;
    out.unsigned(map === null ? 1 : 2);
    out.byte(1);
    out.unsigned(initial);
    // Without an instruction that grows it, the memory reserves no more than it has.
    out.unsigned(this.#facts.growsMemory ? maximumPages : initial);
    if (map === null) return out;
    out.byte(1);
    out.unsigned(map.pages);
    out.unsigned(map.pages);
    return out;
  }

  #globals(): WasmByteWriter {
    const out = new WasmByteWriter();
    const { globals } = this.#structure;
    const own = [0, 0, STACK_BYTES, 0];
    out.unsigned(globals.length + own.length + 1);
    for (const { type, isMutable, initial } of globals) {
      out.byte(type);
      out.byte(isMutable ? 1 : 0);
      out.bytes(initial);
      out.byte(0x0b);
    }
    for (const value of own) {
      out.byte(I32);
      out.byte(1);
      out.byte(0x41);
      out.signed(value);
      out.byte(0x0b);
    }
    out.bytes(Uint8Array.of(I64, 1, 0x42, 0, 0x0b));
    return out;
  }

  #exports(): WasmByteWriter {
    const layout = this.#layout;
    const exports: [name: string, kind: number, index: number][] = [
      ["gas", 3, layout.gasGlobal],
      ["gas_limit", 3, layout.gasLimitGlobal],
      ["depth", 3, layout.depthGlobal],
      ["failure", 3, layout.failureGlobal],
      ["wide", 3, layout.wideGlobal],
      ["reset", 0, layout.resetFunction],
      ["init", 0, layout.initFunction],
    ];
    if (this.#structure.memory !== null) exports.push(["memory", 2, 0]);
    if (layout.map !== null) exports.push(["map", 2, 1]);
    for (const [position, index] of this.#entries.entries()) {
      const first = layout.firstEntryFunction + 2 * position;
      exports.push([entryName(index, true), 0, first], [entryName(index, false), 0, first + 1]);
    }
    const firstNumberEntry = layout.firstEntryFunction + 2 * this.#entries.length;
    for (const [position, index] of this.#numberEntries.entries()) {
      exports.push([numberEntryName(index), 0, firstNumberEntry + position]);
    }
    for (const [name, { kind, index }] of this.#structure.exports) {
      if (kind === "global") exports.push([globalName(name), 3, index]);
    }
    const out = new WasmByteWriter();
    out.unsigned(exports.length);
    for (const [name, kind, index] of exports) {
      out.text(name);
      out.byte(kind);
      out.unsigned(index);
    }
    return out;
  }

  #elements(): WasmByteWriter {
    const out = new WasmByteWriter();
    out.unsigned(this.#structure.elements.length);
    for (const { offset, functions } of this.#structure.elements) {
      if (offset === null) {
        out.unsigned(1);
        out.byte(0);
      } else {
        out.unsigned(0);
        writeOffset(out, offset);
      }
      out.unsigned(functions.length);
      for (const index of functions) out.unsigned(index);
    }
    return out;
  }

  *#code(): Generator<void, WasmByteWriter> {
    const structure = this.#structure;
    const facts = this.#facts;
    const layout = this.#layout;
    const helpers = [resetFunction(structure, facts, layout), initFunction(layout)];
    if (layout.growFunction >= 0) helpers.push(growFunction(layout));
    if (layout.map !== null) helpers.push(markFunction());
    const mustReset = hasState(structure, facts);
    const out = new WasmByteWriter();
    const entries = 2 * this.#entries.length + this.#numberEntries.length;
    out.unsigned(structure.functions.length + helpers.length + entries);
    for (const index of structure.bodies.keys()) {
      const code = yield* this.#validator.rewrite(index, layout);
      this.codeBytes.push(code.length);
      out.sized(code);
      if (index % FUNCTIONS_PER_STEP === 0) yield;
    }
    for (const helper of helpers) out.sized(helper);
    for (const target of this.#entries) {
      const type = this.#typeOf(target);
      for (const isFresh of [true, false]) {
        out.sized(entryFunction({ target, type, isFresh, mustReset, layout }));
      }
    }
    for (const target of this.#numberEntries) {
      out.sized(numberEntryFunction({ target, type: this.#typeOf(target), mustReset, layout }));
    }
    return out;
  }

  #data(): WasmByteWriter {
    const out = new WasmByteWriter();
    const { map } = this.#layout;
    out.unsigned(this.#structure.data.length);
    for (const { offset, bytes } of this.#structure.data) {
      if (offset === null) {
        out.unsigned(1);
      } else if (map === null || bytes.length === 0) {
        out.unsigned(0);
        writeOffset(out, bytes.length === 0 ? 0 : offset);
      } else {
        out.unsigned(2);
        out.unsigned(1);
        writeOffset(out, map.imageStart + offset);
      }
      out.unsigned(bytes.length);
      out.bytes(bytes);
    }
    return out;
  }
}

function tableSection({ initial, maximum }: SizeLimits): WasmByteWriter {
  const out = new WasmByteWriter();
  out.unsigned(1);
  out.byte(0x70);
  out.byte(1);
  out.unsigned(initial);
  out.unsigned(Math.min(maximum ?? initial, initial));
  return out;
}

function writeOffset(out: WasmByteWriter, offset: number): void {
  out.byte(0x41);
  out.signed(offset | 0);
  out.byte(0x0b);
}
