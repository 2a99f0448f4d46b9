/**
 * Decodes the sections of a WebAssembly module: everything but the code of functions, whose ranges it returns.
 *
 * What one section says about another is checked here as well (indexes, counts, the size of segments), so that the
 * structure is valid when the code is read. Custom sections are passed over.
 */
import { LIMITS } from "../base/limits.ts";
import { ModuleReader } from "./module_reader.ts";
import {
  type DataSegment,
  type ElementSegment,
  type ExportKind,
  F32,
  F64,
  type FunctionBody,
  type FunctionType,
  type GlobalVariable,
  I32,
  I64,
  type ModuleExport,
  type ModuleStructure,
  type SizeLimits,
  type ValueType,
  valueTypeName,
} from "./module_structure.ts";

const PAGE_BYTES = 65_536;
/** The place of each section by its number; sections come in this order, each at most once. */
const SECTION_ORDER = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 10] as const;
const EXPORT_KINDS: readonly ExportKind[] = ["function", "table", "memory", "global"];

/** The type of value that a byte means; refuses those that are not allowed. */
export function readValueType(reader: ModuleReader): ValueType {
  const start = reader.position;
  const code = reader.byte();
  switch (code) {
    case I32:
    case I64:
    case F32:
    case F64:
      return code;
    case 0x7b:
      return reader.fail("SIMD is not allowed: type v128", start);
    case 0x70:
    case 0x6f:
    case 0x69:
    case 0x6e:
    case 0x63:
    case 0x64:
      return reader.fail("references are not allowed as values", start);
    default:
      return reader.fail(`malformed type of value: 0x${code.toString(16)}`, start);
  }
}

/** Decodes the sections; throws a ModuleError for what is malformed, invalid or not allowed. */
export function decodeSections(bytes: Uint8Array): ModuleStructure {
  return new SectionDecoder(bytes).decode();
}

class SectionDecoder {
  readonly #reader: ModuleReader;
  #types: FunctionType[] = [];
  #functions: number[] = [];
  #table: SizeLimits | null = null;
  #memory: SizeLimits | null = null;
  #globals: GlobalVariable[] = [];
  readonly #exports = new Map<string, ModuleExport>();
  #start: number | null = null;
  #startOffset = 0;
  #elements: ElementSegment[] = [];
  #data: DataSegment[] = [];
  #dataCount: number | null = null;
  #bodies: FunctionBody[] = [];

  constructor(bytes: Uint8Array) {
    this.#reader = new ModuleReader(bytes);
  }

  decode(): ModuleStructure {
    const reader = this.#reader;
    const { bytes } = reader;
    if (bytes.length > LIMITS.maximumModuleBytes) {
      reader.fail(
        `the module has ${bytes.length} bytes, the limit is ${LIMITS.maximumModuleBytes}`,
        LIMITS.maximumModuleBytes,
      );
    }
    const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
    for (const [index, expected] of header.entries()) {
      if (bytes[index] === expected) continue;
      if (index >= bytes.length) reader.fail("unexpected end", bytes.length);
      if (index < 4) reader.fail("magic header not detected: this is no WebAssembly module", 0);
      const isComponent = bytes[4] === 0x0d;
      reader.fail(
        isComponent ? "components are not allowed: give the core module" : "unknown binary version",
        4,
      );
    }
    reader.position = header.length;
    let last = 0;
    while (!reader.isAtEnd) last = this.#section(last);
    if (this.#bodies.length !== this.#functions.length) {
      reader.fail(
        `function and code section have inconsistent lengths: ${this.#functions.length} and ${this.#bodies.length}`,
      );
    }
    if (this.#dataCount !== null && this.#dataCount !== this.#data.length) {
      reader.fail(
        `data count and data section have inconsistent lengths: ${this.#dataCount} and ${this.#data.length}`,
      );
    }
    return {
      bytes,
      types: this.#types,
      functions: this.#functions,
      table: this.#table,
      memory: this.#memory,
      globals: this.#globals,
      exports: this.#exports,
      start: this.#start,
      startOffset: this.#startOffset,
      elements: this.#elements,
      data: this.#data,
      dataCount: this.#dataCount,
      bodies: this.#bodies,
    };
  }

  /** Decodes one section and returns its place in the order. */
  #section(last: number): number {
    const reader = this.#reader;
    const start = reader.position;
    const number = reader.byte();
    const size = reader.unsigned();
    if (size > reader.bytes.length - reader.position) reader.fail("unexpected end", reader.bytes.length);
    reader.end = reader.position + size;
    let order = last;
    if (number === 0) {
      reader.name();
      reader.position = reader.end;
    } else {
      if (number === 13) reader.fail("exceptions are not allowed: tag section", start);
      const place = SECTION_ORDER[number];
      if (place === undefined) return reader.fail(`malformed section id: ${number}`, start);
      if (place <= last) reader.fail(`unexpected section: ${number} comes twice or too late`, start);
      order = place;
      this.#content(number);
    }
    if (reader.position !== reader.end) reader.fail("section size mismatch");
    reader.end = reader.bytes.length;
    return order;
  }

  #content(number: number): void {
    switch (number) {
      case 1:
        return this.#readTypes();
      case 2:
        return this.#readImports();
      case 3:
        return this.#readFunctions();
      case 4:
        return this.#readTable();
      case 5:
        return this.#readMemory();
      case 6:
        return this.#readGlobals();
      case 7:
        return this.#readExports();
      case 8:
        return this.#readStart();
      case 9:
        return this.#readElements();
      case 10:
        return this.#readBodies();
      case 11:
        return this.#readData();
      default:
        this.#dataCount = this.#reader.unsigned();
    }
  }

  #readTypes(): void {
    const reader = this.#reader;
    const count = reader.count(LIMITS.maximumWasmItems, "types");
    for (let index = 0; index < count; index++) {
      const start = reader.position;
      const form = reader.byte();
      if (form === 0x5f || form === 0x5e || form === 0x50 || form === 0x4f || form === 0x4e) {
        reader.fail("garbage-collected types are not allowed", start);
      }
      if (form !== 0x60) reader.fail(`malformed type: 0x${form.toString(16)}`, start);
      const parameters = this.#valueTypes(LIMITS.maximumWasmParameters, "parameters");
      const results = this.#valueTypes(LIMITS.maximumWasmResults, "results");
      this.#types.push({ parameters, results });
    }
  }

  #valueTypes(limit: number, what: string): ValueType[] {
    const count = this.#reader.count(limit, what);
    const types: ValueType[] = [];
    for (let index = 0; index < count; index++) types.push(readValueType(this.#reader));
    return types;
  }

  #readImports(): void {
    const reader = this.#reader;
    const count = reader.unsigned();
    if (count === 0) return;
    const start = reader.position;
    const module = reader.name();
    const name = reader.name();
    reader.fail(`imports are not allowed: "${module}" "${name}"`, start);
  }

  #readFunctions(): void {
    const reader = this.#reader;
    const count = reader.count(LIMITS.maximumWasmItems, "functions");
    for (let index = 0; index < count; index++) {
      const start = reader.position;
      const type = reader.unsigned();
      if (type >= this.#types.length) reader.fail(`unknown type ${type}`, start);
      this.#functions.push(type);
    }
  }

  #sizeLimits(): SizeLimits {
    const reader = this.#reader;
    const start = reader.position;
    const flags = reader.byte();
    if (flags === 2 || flags === 3) reader.fail("threads are not allowed: shared memory", start);
    if (flags >= 4 && flags <= 7) reader.fail("64-bit memories and tables are not allowed", start);
    if (flags > 7) reader.fail(`malformed limits flags: 0x${flags.toString(16)}`, start);
    const initial = reader.unsigned();
    const maximum = flags === 1 ? reader.unsigned() : null;
    if (maximum !== null && maximum < initial) {
      reader.fail("size minimum must not be greater than maximum", start);
    }
    return { initial, maximum };
  }

  #readTable(): void {
    const reader = this.#reader;
    const count = reader.unsigned();
    for (let index = 0; index < count; index++) {
      const start = reader.position;
      if (index > 0) reader.fail("multiple tables are not allowed", start);
      const type = reader.byte();
      if (type !== 0x70) reader.fail("tables hold functions: other references are not allowed", start);
      const table = this.#sizeLimits();
      if (table.initial > LIMITS.maximumWasmTableElements) {
        reader.fail(
          `the table has ${table.initial} elements, the limit is ${LIMITS.maximumWasmTableElements}`,
          start,
        );
      }
      this.#table = table;
    }
  }

  #readMemory(): void {
    const reader = this.#reader;
    const count = reader.unsigned();
    for (let index = 0; index < count; index++) {
      const start = reader.position;
      if (index > 0) reader.fail("multiple memories are not allowed", start);
      const memory = this.#sizeLimits();
      if (memory.initial > PAGE_BYTES || (memory.maximum ?? 0) > PAGE_BYTES) {
        reader.fail("memory size must be at most 65536 pages (4GiB)", start);
      }
      if (memory.initial > LIMITS.maximumWasmMemoryPages) {
        reader.fail(
          `the memory begins with ${memory.initial} pages, the limit is ${LIMITS.maximumWasmMemoryPages}`,
          start,
        );
      }
      this.#memory = memory;
    }
  }

  #readGlobals(): void {
    const reader = this.#reader;
    const count = reader.count(LIMITS.maximumWasmItems, "globals");
    for (let index = 0; index < count; index++) {
      const type = readValueType(reader);
      const mutability = reader.byte();
      if (mutability > 1) reader.fail("malformed mutability", reader.position - 1);
      this.#globals.push({ type, isMutable: mutability === 1, initial: this.#constant(type) });
    }
  }

  /** A constant expression of a type: one constant instruction. Returns its bytes. */
  #constant(type: ValueType): Uint8Array {
    const reader = this.#reader;
    const start = reader.position;
    const opcode = reader.byte();
    let found: ValueType;
    switch (opcode) {
      case 0x41:
        reader.signed();
        found = I32;
        break;
      case 0x42:
        reader.skipSigned64();
        found = I64;
        break;
      case 0x43:
        reader.skip(4);
        found = F32;
        break;
      case 0x44:
        reader.skip(8);
        found = F64;
        break;
      case 0x23:
        return reader.fail("a constant expression may not read a global: no global is imported", start);
      case 0x0b:
        return reader.fail("type mismatch: the constant expression is empty", start);
      case 0xd0:
      case 0xd2:
        return reader.fail("references are not allowed as values", start);
      default:
        return reader.fail(`constant expression required, found opcode 0x${opcode.toString(16)}`, start);
    }
    const expression = reader.bytes.slice(start, reader.position);
    const next = reader.position;
    if (reader.byte() !== 0x0b) {
      reader.fail("constant expression required: one constant, then end", next);
    }
    if (found !== type) {
      reader.fail(`type mismatch: ${valueTypeName(type)} expected, found ${valueTypeName(found)}`, start);
    }
    return expression;
  }

  /** The offset of an active segment. */
  #segmentOffset(): number {
    const reader = this.#reader;
    const start = reader.position;
    this.#constant(I32);
    const end = reader.position;
    reader.position = start + 1;
    const offset = reader.signed() >>> 0;
    reader.position = end;
    return offset;
  }

  #readExports(): void {
    const reader = this.#reader;
    const count = reader.count(LIMITS.maximumWasmItems, "exports");
    for (let index = 0; index < count; index++) {
      const start = reader.position;
      const name = reader.name();
      const kindOffset = reader.position;
      const code = reader.byte();
      const kind = EXPORT_KINDS[code];
      if (kind === undefined) {
        return reader.fail(
          code === 4 ? "exceptions are not allowed: export of a tag" : `malformed export kind: ${code}`,
          kindOffset,
        );
      }
      const item = reader.unsigned();
      const counts = {
        function: this.#functions.length,
        table: this.#table === null ? 0 : 1,
        memory: this.#memory === null ? 0 : 1,
        global: this.#globals.length,
      };
      if (item >= counts[kind]) reader.fail(`unknown ${kind} ${item}`, kindOffset);
      if (this.#exports.has(name)) reader.fail(`duplicate export name "${name}"`, start);
      this.#exports.set(name, { kind, index: item });
    }
  }

  #readStart(): void {
    const reader = this.#reader;
    this.#startOffset = reader.position;
    const index = reader.unsigned();
    const type = this.#types[this.#functions[index] ?? -1];
    if (type === undefined) return reader.fail(`unknown function ${index}`, this.#startOffset);
    if (type.parameters.length > 0 || type.results.length > 0) {
      reader.fail("start function: it may have no parameters and results", this.#startOffset);
    }
    this.#start = index;
  }

  #readElements(): void {
    const reader = this.#reader;
    const count = reader.count(LIMITS.maximumWasmItems, "element segments");
    let total = 0;
    for (let index = 0; index < count; index++) {
      const start = reader.position;
      const flags = reader.unsigned();
      if (flags > 2) {
        reader.fail(
          flags > 7
            ? `malformed element segment kind: ${flags}`
            : "references are not allowed: element segment",
          start,
        );
      }
      if (flags === 2 && reader.unsigned() !== 0) reader.fail("unknown table", start);
      if (flags !== 1 && this.#table === null) reader.fail("unknown table 0", start);
      const offset = flags === 1 ? null : this.#segmentOffset();
      if (flags > 0 && reader.byte() !== 0) reader.fail("malformed element kind", reader.position - 1);
      const functions: number[] = [];
      const length = reader.count(LIMITS.maximumWasmTableElements, "elements");
      total += length;
      if (total > LIMITS.maximumWasmTableElements * 4) reader.fail("too many elements", start);
      for (let element = 0; element < length; element++) {
        const place = reader.position;
        const item = reader.unsigned();
        if (item >= this.#functions.length) reader.fail(`unknown function ${item}`, place);
        functions.push(item);
      }
      if (offset !== null && offset + length > (this.#table?.initial ?? 0)) {
        reader.fail("out of bounds table access: the element segment does not fit", start);
      }
      this.#elements.push({ offset, functions });
    }
  }

  #readBodies(): void {
    const reader = this.#reader;
    const start = reader.position;
    const count = reader.count(LIMITS.maximumWasmItems, "function bodies");
    if (count !== this.#functions.length) {
      reader.fail(
        `function and code section have inconsistent lengths: ${this.#functions.length} and ${count}`,
        start,
      );
    }
    for (let index = 0; index < count; index++) {
      const place = reader.position;
      const size = reader.unsigned();
      if (size > LIMITS.maximumWasmBodyBytes) {
        reader.fail(
          `the function has ${size} bytes of code, the limit is ${LIMITS.maximumWasmBodyBytes}`,
          place,
        );
      }
      const from = reader.position;
      reader.skip(size);
      this.#bodies.push({ start: from, end: reader.position });
    }
  }

  #readData(): void {
    const reader = this.#reader;
    const count = reader.count(LIMITS.maximumWasmItems, "data segments");
    for (let index = 0; index < count; index++) {
      const start = reader.position;
      const flags = reader.unsigned();
      if (flags > 2) reader.fail(`malformed data segment kind: ${flags}`, start);
      if (flags === 2 && reader.unsigned() !== 0) reader.fail("unknown memory", start);
      if (flags !== 1 && this.#memory === null) reader.fail("unknown memory 0", start);
      const offset = flags === 1 ? null : this.#segmentOffset();
      const bytes = reader.take(reader.unsigned());
      if (offset !== null && offset + bytes.length > (this.#memory?.initial ?? 0) * PAGE_BYTES) {
        reader.fail("out of bounds memory access: the data segment does not fit", start);
      }
      this.#data.push({ offset, bytes });
    }
  }
}
