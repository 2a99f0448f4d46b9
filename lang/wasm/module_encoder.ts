/**
 * A whole module in WebAssembly's binary format, with names, trap sites and the table of code places for the source
 * map.
 *
 * Sections: types, imports, functions, table, memory, globals, exports, elements, code, data, then the custom
 * sections `lang.sites` and `name`. Only what is used is written: no table without calls of functions as values, no
 * memory section is ever left out because every host expects one.
 *
 * `lang.sites`: count of files, their paths; count of kinds, their names; count of sites, each kind, file, line and
 * column (from 1; all 0 when the site has no place). What stands in the library and was lowered in place is reported by
 * the line of the package that called it. A site's number is its position.
 */
import type { IrFunction, IrModule, IrPosition, ScalarType, TrapSite } from "../ir/node.ts";
import { isLibraryPath } from "../source/source_file.ts";
import { unsignedLength, WasmByteWriter as ByteWriter } from "../../engine/base/wasm_byte_writer.ts";
import { type CodePosition, FunctionEncoder, type ModuleIndexes, TYPE_CODES } from "./function_encoder.ts";

/** The bytes of a module and what belongs to them. */
export interface EncodedModule {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Places in the source by offset in the bytes, ascending. */
  readonly places: readonly CodePosition[];
  /** Offsets at which the code of functions begins, ascending. */
  readonly functionStarts: readonly number[];
  /** What the numbers of trap sites stand for. */
  readonly sites: readonly TrapSite[];
  /** Size of each function's code in bytes. */
  readonly functionSizes: readonly { readonly name: string; readonly bytes: number }[];
}

/** What is asked of the encoder. */
export interface EncodeOptions {
  /** Most pages of memory. */
  readonly maximumPages: number;
  /** Whether functions and variables keep their names. */
  readonly hasNames: boolean;
}

class Indexes implements ModuleIndexes {
  readonly types = new ByteWriter();
  typeCount = 0;
  needsTable = false;
  readonly #typeNumbers = new Map<string, number>();
  readonly #functions = new Map<IrFunction, number>();
  readonly #globals = new Map<string, number>();

  constructor(module: IrModule) {
    for (const imported of module.imports) this.#functions.set(imported, this.#functions.size);
    for (const own of module.functions) this.#functions.set(own, this.#functions.size);
    for (const global of module.globals) this.#globals.set(global.name, this.#globals.size);
    this.needsTable = module.table.length > 0;
  }

  needTable(): void {
    this.needsTable = true;
  }

  functionIndex(target: IrFunction): number {
    const index = this.#functions.get(target);
    if (index === undefined) {
      throw new Error(`Cannot encode a call: the function ${target.name} is not in the module`);
    }
    return index;
  }

  globalIndex(name: string): number {
    const index = this.#globals.get(name);
    if (index === undefined) {
      throw new Error(`Cannot encode an access: the global ${name} is not in the module`);
    }
    return index;
  }

  typeIndex(parameters: readonly ScalarType[], results: readonly ScalarType[]): number {
    const key = `${parameters.join()}:${results.join()}`;
    const known = this.#typeNumbers.get(key);
    if (known !== undefined) return known;
    this.types.byte(0x60);
    this.types.unsigned(parameters.length);
    for (const type of parameters) this.types.byte(TYPE_CODES[type]);
    this.types.unsigned(results.length);
    for (const type of results) this.types.byte(TYPE_CODES[type]);
    this.#typeNumbers.set(key, this.typeCount);
    return this.typeCount++;
  }

  typeOf(target: IrFunction): number {
    return this.typeIndex(
      target.parameters.map((parameter) => parameter.type),
      target.results.map((result) => result.type),
    );
  }
}

/** The module in the binary format. */
export function encodeModule(module: IrModule, options: EncodeOptions): EncodedModule {
  const indexes = new Indexes(module);
  const code = encodeCode(module, indexes);
  const imports = encodeImports(module, indexes);
  const functions = new ByteWriter();
  functions.unsigned(module.functions.length);
  for (const own of module.functions) functions.unsigned(indexes.typeOf(own));
  const types = new ByteWriter();
  types.unsigned(indexes.typeCount);
  types.bytes(indexes.types.view());

  const out = new ByteWriter();
  out.bytes(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
  if (indexes.typeCount > 0) out.section(1, types);
  if (module.imports.length > 0) out.section(2, imports);
  if (module.functions.length > 0) out.section(3, functions);
  if (indexes.needsTable) out.section(4, encodeTable(module));
  out.section(5, encodeMemory(module, options));
  if (module.globals.length > 0) out.section(6, encodeGlobals(module));
  out.section(7, encodeExports(module, indexes));
  if (module.table.length > 0) out.section(9, encodeElements(module, indexes));
  let codeStart = 0;
  if (module.functions.length > 0) {
    out.byte(10);
    out.unsigned(code.section.length);
    codeStart = out.length;
    out.bytes(code.section.view());
  }
  if (module.data.length > 0) out.section(11, encodeData(module));
  if (module.sites.length > 0) out.section(0, encodeSites(module));
  for (const { name, bytes } of module.customSections) {
    const section = new ByteWriter();
    section.text(name);
    section.bytes(bytes);
    out.section(0, section);
  }
  if (options.hasNames) out.section(0, encodeNames(module, code.localNames));
  return {
    bytes: out.take(),
    places: code.places.map(({ offset, place }) => ({ offset: offset + codeStart, place })),
    functionStarts: code.starts.map((start) => start + codeStart),
    sites: module.sites,
    functionSizes: code.sizes,
  };
}

function encodeCode(module: IrModule, indexes: Indexes) {
  const section = new ByteWriter();
  const places: CodePosition[] = [];
  const sizes: { name: string; bytes: number }[] = [];
  const starts: number[] = [];
  const localNames: string[][] = [];
  section.unsigned(module.functions.length);
  const globals = {
    trap: indexes.globalIndex(module.trapGlobal.name),
    gas: module.gas === null ? 0 : indexes.globalIndex(module.gas.global.name),
    gasSite: module.gas?.site.number ?? 0,
  };
  for (const own of module.functions) {
    const encoder = new FunctionEncoder(own, indexes, globals);
    const body = encoder.encode();
    section.unsigned(body.length);
    starts.push(section.length);
    for (const { offset, place } of encoder.places) places.push({ offset: offset + section.length, place });
    section.bytes(body.view());
    sizes.push({ name: own.name, bytes: body.length + unsignedLength(body.length) });
    localNames.push(encoder.localNames);
  }
  return { section, places, sizes, starts, localNames };
}

function encodeImports(module: IrModule, indexes: Indexes): ByteWriter {
  const out = new ByteWriter();
  out.unsigned(module.imports.length);
  for (const imported of module.imports) {
    out.text(imported.imported?.module ?? "");
    out.text(imported.imported?.name ?? "");
    out.byte(0);
    out.unsigned(indexes.typeOf(imported));
  }
  return out;
}

function encodeTable(module: IrModule): ByteWriter {
  const out = new ByteWriter();
  out.unsigned(1);
  out.byte(0x70);
  out.byte(1);
  out.unsigned(module.table.length);
  out.unsigned(module.table.length);
  return out;
}

function encodeMemory(module: IrModule, options: EncodeOptions): ByteWriter {
  const out = new ByteWriter();
  out.unsigned(1);
  out.byte(1);
  out.unsigned(Math.max(1, Math.ceil(module.heapStart / 65536)));
  out.unsigned(options.maximumPages);
  return out;
}

function encodeGlobals(module: IrModule): ByteWriter {
  const out = new ByteWriter();
  out.unsigned(module.globals.length);
  for (const global of module.globals) {
    out.byte(TYPE_CODES[global.type]);
    out.byte(1);
    if (global.type === "i64") {
      out.byte(0x42);
      out.signed64(BigInt(global.initial));
    } else {
      out.byte(0x41);
      out.signed(Number(global.initial));
    }
    out.byte(0x0b);
  }
  return out;
}

function encodeExports(module: IrModule, indexes: Indexes): ByteWriter {
  const out = new ByteWriter();
  const globals = module.globals.filter((global) => global.exportName !== null);
  out.unsigned(1 + globals.length + module.exports.length);
  out.text("memory");
  out.byte(2);
  out.unsigned(0);
  for (const global of globals) {
    out.text(global.exportName ?? "");
    out.byte(3);
    out.unsigned(indexes.globalIndex(global.name));
  }
  for (const exported of module.exports) {
    out.text(exported.name);
    out.byte(0);
    out.unsigned(indexes.functionIndex(exported.function));
  }
  return out;
}

function encodeElements(module: IrModule, indexes: Indexes): ByteWriter {
  const out = new ByteWriter();
  out.unsigned(1);
  out.unsigned(0);
  out.byte(0x41);
  out.signed(0);
  out.byte(0x0b);
  out.unsigned(module.table.length);
  for (const entry of module.table) out.unsigned(indexes.functionIndex(entry));
  return out;
}

function encodeData(module: IrModule): ByteWriter {
  const out = new ByteWriter();
  out.unsigned(module.data.length);
  for (const segment of module.data) {
    out.unsigned(0);
    out.byte(0x41);
    out.signed(segment.address);
    out.byte(0x0b);
    out.unsigned(segment.bytes.length);
    out.bytes(segment.bytes);
  }
  return out;
}

function encodeSites(module: IrModule): ByteWriter {
  const files = new Map<string, number>();
  const kinds = new Map<string, number>();
  const sites = module.sites.map(({ kind, place }) => ({
    kind,
    place: place === null ? null : packagePosition(place),
  }));
  for (const { kind, place } of sites) {
    if (!kinds.has(kind)) kinds.set(kind, kinds.size);
    if (place !== null && !files.has(place.file.path)) files.set(place.file.path, files.size);
  }
  const out = new ByteWriter();
  out.text("lang.sites");
  for (const names of [files, kinds]) {
    out.unsigned(names.size);
    for (const name of names.keys()) out.text(name);
  }
  out.unsigned(sites.length);
  for (const { kind, place } of sites) {
    out.unsigned(kinds.get(kind) ?? 0);
    const position = place === null ? { line: 0, column: 0 } : lineAndColumn(place);
    out.unsigned(place === null ? 0 : files.get(place.file.path) ?? 0);
    out.unsigned(position.line);
    out.unsigned(position.column);
  }
  return out;
}

/**
 * Where the package called what was lowered in place and stands in the library; the place itself when nobody is
 * known.
 */
export function packagePosition(place: IrPosition): IrPosition {
  for (let at: IrPosition | undefined = place; at !== undefined; at = at.caller) {
    if (!isLibraryPath(at.file.path)) return at;
  }
  return place;
}

/** Line and column of a place, from 1, the column in code points. */
export function lineAndColumn(
  { file, offset }: IrPosition,
): { readonly line: number; readonly column: number } {
  const index = file.lineIndexAt(offset);
  let column = 1;
  for (let at = file.lineStarts[index] ?? 0; at < offset; at++) {
    const unit = file.text.charCodeAt(at);
    // The second half of a surrogate pair is no character of its own.
    if (unit < 0xdc00 || unit > 0xdfff) column++;
  }
  return { line: index + 1, column };
}

function encodeNames(module: IrModule, localNames: readonly (readonly string[])[]): ByteWriter {
  const out = new ByteWriter();
  out.text("name");
  const all = [...module.imports, ...module.functions];
  const functions = new ByteWriter();
  functions.unsigned(all.length);
  for (const [index, named] of all.entries()) {
    functions.unsigned(index);
    functions.text(named.name);
  }
  out.section(1, functions);
  const locals = new ByteWriter();
  locals.unsigned(module.functions.length);
  for (const [index, names] of localNames.entries()) {
    locals.unsigned(module.imports.length + index);
    locals.unsigned(names.length);
    for (const [number, name] of names.entries()) {
      locals.unsigned(number);
      locals.text(name);
    }
  }
  out.section(2, locals);
  return out;
}
