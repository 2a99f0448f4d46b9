/**
 * The envelope around a core module: a WebAssembly component with its imports as instances of functions over numbers,
 * texts and bytes.
 *
 * The core module needs its imports when it is made, and the imports need its memory: so it is given stand-ins first,
 * functions that call through a table (the shim), and when its memory is there, the table is filled with the real
 * ones (the fixup). Format: "Component Model", Binary.md of the specification, preview 2. Names of functions become
 * kebab-case.
 */
import type { HostType, ImportedFunction, ScalarType } from "../ir/node.ts";
import { WasmByteWriter as ByteWriter } from "../../engine/base/wasm_byte_writer.ts";
import { TYPE_CODES } from "./function_encoder.ts";

/** An import as the core module has it. */
export interface ComponentImport extends ImportedFunction {
  readonly coreParameters: readonly ScalarType[];
  readonly coreResults: readonly ScalarType[];
}

/** A function that the component exports. */
export interface ComponentExport {
  /** Of the core module. */
  readonly name: string;
  readonly parameters: readonly { readonly name: string; readonly type: HostType }[];
  readonly result: HostType | null;
}

const PRIMITIVE_CODES: Readonly<Record<Exclude<HostType, "bytes">, number>> = {
  bool: 0x7f,
  s32: 0x7a,
  s64: 0x78,
  f32: 0x76,
  f64: 0x75,
  char: 0x74,
  string: 0x73,
};
const U8 = 0x7d;

/** Sections of a component. */
const SECTION = {
  coreModule: 1,
  coreInstance: 2,
  alias: 6,
  type: 7,
  canonical: 8,
  import: 10,
  export: 11,
} as const;

/** Name of a function in an interface. */
function kebabCase(name: string): string {
  return name.replaceAll("_", "-").toLowerCase();
}

/** Writes sections and counts what they define. */
export class ComponentWriter {
  readonly out = new ByteWriter();
  #coreModules = 0;
  #coreInstances = 0;
  #coreFunctions = 0;
  #functions = 0;
  #instances = 0;
  #types = 0;

  constructor() {
    this.out.bytes(Uint8Array.of(0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0));
  }

  /** A section with one item. */
  #one(section: number, write: (out: ByteWriter) => void): void {
    const body = new ByteWriter();
    body.unsigned(1);
    write(body);
    this.out.section(section, body);
  }

  /** A core module. */
  coreModule(bytes: Uint8Array): number {
    this.out.byte(SECTION.coreModule);
    this.out.unsigned(bytes.length);
    this.out.bytes(bytes);
    return this.#coreModules++;
  }

  /** An instance of a core module with instances for its imports. */
  instantiate(module: number, args: readonly { readonly name: string; readonly instance: number }[]): number {
    this.#one(SECTION.coreInstance, (out) => {
      out.byte(0);
      out.unsigned(module);
      out.unsigned(args.length);
      for (const { name, instance } of args) {
        out.text(name);
        out.byte(0x12);
        out.unsigned(instance);
      }
    });
    return this.#coreInstances++;
  }

  /** A core instance made of things that are there. */
  bundle(items: readonly { readonly name: string; readonly sort: number; readonly index: number }[]): number {
    this.#one(SECTION.coreInstance, (out) => {
      out.byte(1);
      out.unsigned(items.length);
      for (const { name, sort, index } of items) {
        out.text(name);
        out.byte(sort);
        out.unsigned(index);
      }
    });
    return this.#coreInstances++;
  }

  /** Something that a core instance exports: a function, table or memory; its index among its sort. */
  coreAlias(instance: number, name: string, sort: "function" | "table" | "memory"): number {
    this.#one(SECTION.alias, (out) => {
      out.byte(0);
      out.byte(sort === "function" ? 0 : sort === "table" ? 1 : 2);
      out.byte(1);
      out.unsigned(instance);
      out.text(name);
    });
    return sort === "function" ? this.#coreFunctions++ : 0;
  }

  /** A function or type of an instance that was imported. */
  alias(instance: number, name: string, sort: "function" | "type"): number {
    this.#one(SECTION.alias, (out) => {
      out.byte(sort === "function" ? 1 : 3);
      out.byte(0);
      out.unsigned(instance);
      out.text(name);
    });
    return sort === "function" ? this.#functions++ : this.#types++;
  }

  /** A type. */
  type(write: (out: ByteWriter) => void): number {
    this.#one(SECTION.type, write);
    return this.#types++;
  }

  /** An instance of an interface. */
  importInstance(name: string, type: number): number {
    this.#one(SECTION.import, (out) => {
      out.byte(0);
      out.text(name);
      out.byte(5);
      out.unsigned(type);
    });
    return this.#instances++;
  }

  /** A function of the host as a core function. */
  lower(target: number, memory: number | null, realloc: number | null): number {
    this.#one(SECTION.canonical, (out) => {
      out.byte(1);
      out.byte(0);
      out.unsigned(target);
      writeOptions(out, memory, realloc);
    });
    return this.#coreFunctions++;
  }

  /** The core function that drops a handle of a resource. */
  dropResource(type: number): number {
    this.#one(SECTION.canonical, (out) => {
      out.byte(3);
      out.unsigned(type);
    });
    return this.#coreFunctions++;
  }

  /** A core function as a function of the component. */
  lift(target: number, type: number, memory: number | null, realloc: number | null): number {
    this.#one(SECTION.canonical, (out) => {
      out.byte(0);
      out.byte(0);
      out.unsigned(target);
      writeOptions(out, memory, realloc);
      out.unsigned(type);
    });
    return this.#functions++;
  }

  /** An instance of functions of the component. */
  instance(items: readonly { readonly name: string; readonly function: number }[]): number {
    this.#one(5, (out) => {
      out.byte(1);
      out.unsigned(items.length);
      for (const item of items) {
        out.byte(0);
        out.text(item.name);
        out.byte(1);
        out.unsigned(item.function);
      }
    });
    return this.#instances++;
  }

  /** Exports a function or an instance. */
  export(name: string, sort: "function" | "instance", index: number): void {
    this.#one(SECTION.export, (out) => {
      out.byte(0);
      out.text(name);
      out.byte(sort === "function" ? 1 : 5);
      out.unsigned(index);
      out.byte(0);
    });
    // What is exported is there once more, under an index of its own.
    if (sort === "function") this.#functions++;
    else this.#instances++;
  }
}

function writeOptions(out: ByteWriter, memory: number | null, realloc: number | null): void {
  const count = 1 + (memory === null ? 0 : 1) + (realloc === null ? 0 : 1);
  out.unsigned(count);
  out.byte(0);
  if (memory !== null) {
    out.byte(3);
    out.unsigned(memory);
  }
  if (realloc !== null) {
    out.byte(4);
    out.unsigned(realloc);
  }
}

/** Writes the type of a function; `bytes` is the index of `list<u8>` around. */
function writeFunctionType(
  out: ByteWriter,
  parameters: readonly { readonly name: string; readonly type: HostType }[],
  result: HostType | null,
  bytes: number,
): void {
  const value = (type: HostType): void => {
    // Indexes of types are signed where codes of primitives may stand.
    if (type === "bytes") out.signed(bytes);
    else out.byte(PRIMITIVE_CODES[type]);
  };
  out.byte(0x40);
  out.unsigned(parameters.length);
  for (const { name, type } of parameters) {
    out.text(name);
    value(type);
  }
  if (result === null) {
    out.byte(1);
    out.byte(0);
  } else {
    out.byte(0);
    value(result);
  }
}

/** Writes `list<u8>`. */
function writeByteList(out: ByteWriter): void {
  out.byte(0x70);
  out.byte(U8);
}

/** The type of an interface: its functions. */
function interfaceType(writer: ComponentWriter, functions: readonly ComponentImport[]): number {
  return writer.type((out) => {
    const needsBytes = functions.some((each) => each.result === "bytes" || each.parameters.includes("bytes"));
    out.byte(0x42);
    out.unsigned((needsBytes ? 1 : 0) + functions.length * 2);
    if (needsBytes) {
      out.byte(1);
      writeByteList(out);
    }
    for (const [index, each] of functions.entries()) {
      out.byte(1);
      const parameters = each.parameters.map((type, position) => ({ name: `p${position}`, type }));
      writeFunctionType(out, parameters, each.result, 0);
      out.byte(4);
      out.byte(0);
      out.text(kebabCase(each.name));
      out.byte(1);
      out.unsigned((needsBytes ? 1 : 0) + index);
    }
  });
}

/** The component around a core module whose imports are functions over numbers, texts and bytes. */
export function encodeComponent(options: {
  readonly core: Uint8Array;
  readonly imports: readonly ComponentImport[];
  readonly exports: readonly ComponentExport[];
  /** Whether the core module has `cabi_realloc`. */
  readonly hasRealloc: boolean;
}): Uint8Array<ArrayBuffer> {
  const writer = new ComponentWriter();
  const byModule = new Map<string, ComponentImport[]>();
  for (const each of options.imports) {
    const known = byModule.get(each.module);
    if (known === undefined) byModule.set(each.module, [each]);
    else known.push(each);
  }
  const interfaces = [...byModule].map(([name, functions]) => ({
    name,
    functions,
    instance: writer.importInstance(name, interfaceType(writer, functions)),
  }));
  const ordered = interfaces.flatMap(({ functions }) => functions);
  const main = writer.coreModule(options.core);
  const linked = linkCore(writer, {
    main,
    imports: ordered,
    hasRealloc: options.hasRealloc,
    lower: (memory, realloc) =>
      interfaces.flatMap(({ instance, functions }) =>
        functions.map((each) =>
          writer.lower(writer.alias(instance, kebabCase(each.name), "function"), memory, realloc)
        )
      ),
  });
  const bytes =
    options.exports.some((each) =>
        each.result === "bytes" || each.parameters.some((parameter) => parameter.type === "bytes")
      )
      ? writer.type(writeByteList)
      : 0;
  for (const each of options.exports) {
    const type = writer.type((out) => writeFunctionType(out, each.parameters, each.result, bytes));
    const core = writer.coreAlias(linked.instance, each.name, "function");
    const lifted = writer.lift(core, type, linked.memory, linked.realloc);
    writer.export(kebabCase(each.name), "function", lifted);
  }
  return writer.out.take();
}

/** Instantiates the core module with its imports, through shim and fixup when there are any. */
export function linkCore(writer: ComponentWriter, options: {
  readonly main: number;
  readonly imports: readonly {
    readonly module: string;
    readonly name: string;
    readonly coreParameters: readonly ScalarType[];
    readonly coreResults: readonly ScalarType[];
  }[];
  readonly hasRealloc: boolean;
  /** The core functions for the imports, in their order, when the memory is there. */
  readonly lower: (memory: number, realloc: number | null) => readonly number[];
}): { readonly instance: number; readonly memory: number; readonly realloc: number | null } {
  const { main, imports, hasRealloc } = options;
  if (imports.length === 0) {
    const instance = writer.instantiate(main, []);
    const memory = writer.coreAlias(instance, "memory", "memory");
    const realloc = hasRealloc ? writer.coreAlias(instance, "cabi_realloc", "function") : null;
    return { instance, memory, realloc };
  }
  const shim = writer.instantiate(writer.coreModule(shimModule(imports)), []);
  const standIns = imports.map((each, index) => ({
    ...each,
    index: writer.coreAlias(shim, `${index}`, "function"),
  }));
  const modules = [...new Set(imports.map((each) => each.module))];
  const args = modules.map((module) => ({
    name: module,
    instance: writer.bundle(
      standIns.filter((each) => each.module === module).map(({ name, index }) => ({ name, sort: 0, index })),
    ),
  }));
  const instance = writer.instantiate(main, args);
  const memory = writer.coreAlias(instance, "memory", "memory");
  const realloc = hasRealloc ? writer.coreAlias(instance, "cabi_realloc", "function") : null;
  const real = options.lower(memory, realloc);
  const table = writer.coreAlias(shim, "$imports", "table");
  const bundle = writer.bundle([
    { name: "$imports", sort: 1, index: table },
    ...real.map((index, position) => ({ name: `${position}`, sort: 0, index })),
  ]);
  writer.instantiate(writer.coreModule(fixupModule(imports)), [{ name: "", instance: bundle }]);
  return { instance, memory, realloc };
}

interface CoreSignature {
  readonly coreParameters: readonly ScalarType[];
  readonly coreResults: readonly ScalarType[];
}

function typesSection(signatures: readonly CoreSignature[]): ByteWriter {
  const out = new ByteWriter();
  out.unsigned(signatures.length);
  for (const { coreParameters, coreResults } of signatures) {
    out.byte(0x60);
    for (const types of [coreParameters, coreResults]) {
      out.unsigned(types.length);
      for (const type of types) out.byte(TYPE_CODES[type]);
    }
  }
  return out;
}

function newModule(): ByteWriter {
  const out = new ByteWriter();
  out.bytes(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
  return out;
}

/** Functions that call through a table, and the table. */
function shimModule(signatures: readonly CoreSignature[]): Uint8Array {
  const count = signatures.length;
  const out = newModule();
  out.section(1, typesSection(signatures));
  const functions = new ByteWriter();
  functions.unsigned(count);
  for (let index = 0; index < count; index++) functions.unsigned(index);
  out.section(3, functions);
  const table = new ByteWriter();
  table.unsigned(1);
  table.byte(0x70);
  table.byte(1);
  table.unsigned(count);
  table.unsigned(count);
  out.section(4, table);
  const exports = new ByteWriter();
  exports.unsigned(count + 1);
  for (let index = 0; index < count; index++) {
    exports.text(`${index}`);
    exports.byte(0);
    exports.unsigned(index);
  }
  exports.text("$imports");
  exports.byte(1);
  exports.unsigned(0);
  out.section(7, exports);
  const code = new ByteWriter();
  code.unsigned(count);
  for (const [index, { coreParameters }] of signatures.entries()) {
    const body = new ByteWriter();
    body.unsigned(0);
    for (let parameter = 0; parameter < coreParameters.length; parameter++) {
      body.byte(0x20);
      body.unsigned(parameter);
    }
    body.byte(0x41);
    body.signed(index);
    body.byte(0x11);
    body.unsigned(index);
    body.byte(0);
    body.byte(0x0b);
    code.sized(body);
  }
  out.section(10, code);
  return out.take();
}

/** Puts the real functions into the shim's table. */
function fixupModule(signatures: readonly CoreSignature[]): Uint8Array {
  const count = signatures.length;
  const out = newModule();
  out.section(1, typesSection(signatures));
  const imports = new ByteWriter();
  imports.unsigned(count + 1);
  for (let index = 0; index < count; index++) {
    imports.text("");
    imports.text(`${index}`);
    imports.byte(0);
    imports.unsigned(index);
  }
  imports.text("");
  imports.text("$imports");
  imports.byte(1);
  imports.byte(0x70);
  imports.byte(1);
  imports.unsigned(count);
  imports.unsigned(count);
  out.section(2, imports);
  const elements = new ByteWriter();
  elements.unsigned(1);
  elements.unsigned(0);
  elements.byte(0x41);
  elements.signed(0);
  elements.byte(0x0b);
  elements.unsigned(count);
  for (let index = 0; index < count; index++) elements.unsigned(index);
  out.section(9, elements);
  return out.take();
}
