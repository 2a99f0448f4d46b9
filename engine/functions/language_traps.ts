/**
 * Traps of modules that `lang` compiled: each stores the number of its place before it stops, and the custom section
 * `lang.sites` says what the numbers stand for.
 *
 * Format: count of files, their paths; count of kinds, their names; count of sites, each kind, file, line and column.
 * Numbers are LEB128, texts have their length before them; line 0 stands for no place.
 */
import { decodeUtf8Strict } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE, type SqlState } from "../base/errors.ts";
import type { FunctionInstance } from "../wasm/function_instance.ts";
import { ModuleError } from "../wasm/module_error.ts";
import { ModuleReader } from "../wasm/module_reader.ts";

/** Where a block of the language has its length, and its bytes. */
const LENGTH_OFFSET = 4;
const BYTES_OFFSET = 16;
/** Bytes of a panic's text that a message shows. */
const MAX_TEXT_BYTES = 1000;

interface Site {
  readonly kind: string;
  readonly place: string | null;
}

/** What each kind of trap is in SQL. */
const KINDS: Readonly<Record<string, readonly [SqlState, string]>> = {
  overflow: [SQLSTATE.numericValueOutOfRange, "integer overflow"],
  division: [SQLSTATE.divisionByZero, "division by zero"],
  conversion: [SQLSTATE.numericValueOutOfRange, "number out of range of an integer"],
  index: [SQLSTATE.arraySubscriptError, "index out of range"],
  depth: [SQLSTATE.statementTooComplex, "calls too deep"],
  memory: [SQLSTATE.outOfMemory, "out of memory"],
};

/** The error of a call that the language's own code has ended; undefined when it has not. */
export function languageError(name: string, instance: FunctionInstance): DatabaseError | undefined {
  const number = instance.global("trap_site");
  if (typeof number !== "number") return undefined;
  const site = sitesOf(instance.module.original)[number];
  if (site === undefined) return undefined;
  const fields = site.place === null ? {} : { detail: `At ${site.place}.` };
  if (site.kind === "panic") {
    const text = textAt(instance, instance.global("trap_text"));
    return new DatabaseError(SQLSTATE.externalRoutineException, `function ${name} panicked: ${text}`, fields);
  }
  const [code, what] = KINDS[site.kind] ?? [SQLSTATE.externalRoutineException, site.kind];
  return new DatabaseError(code, `function ${name} stopped: ${what}`, fields);
}

/** A text of the language in the module's memory. */
function textAt(instance: FunctionInstance, address: number | bigint | undefined): string {
  if (typeof address !== "number" || address === 0) return "";
  const start = address >>> 0;
  const head = instance.read(start, BYTES_OFFSET);
  if (head === undefined) return "";
  const length = new DataView(head.buffer).getUint32(LENGTH_OFFSET, true);
  const bytes = instance.read(start + BYTES_OFFSET, Math.min(length, MAX_TEXT_BYTES));
  return bytes === undefined ? "" : new TextDecoder().decode(bytes);
}

const known = new WeakMap<Uint8Array, readonly Site[]>();

function sitesOf(module: Uint8Array): readonly Site[] {
  let sites = known.get(module);
  if (sites === undefined) known.set(module, sites = readSites(module));
  return sites;
}

/** The sites of a module; none when it has no such section, or one that is none. */
function readSites(module: Uint8Array): readonly Site[] {
  try {
    const reader = new ModuleReader(module);
    reader.position = 8;
    while (!reader.isAtEnd) {
      const section = reader.byte();
      const bytes = reader.unsigned();
      const end = reader.position + bytes;
      if (section === 0) {
        const part = new ModuleReader(module.subarray(reader.position, end));
        if (readText(part) === "lang.sites") return readList(part);
      }
      reader.position = end;
    }
  } catch (error) {
    // The section is only for messages: without it, they say less.
    if (!(error instanceof ModuleError)) throw error;
  }
  return [];
}

function readText(reader: ModuleReader): string {
  const length = reader.unsigned();
  const bytes = reader.bytes.subarray(reader.position, reader.position + length);
  reader.position += length;
  return decodeUtf8Strict(bytes) ?? "";
}

function readList(reader: ModuleReader): readonly Site[] {
  const list = <T>(read: () => T): T[] => {
    const items: T[] = [];
    for (let count = reader.unsigned(); count > 0; count--) items.push(read());
    return items;
  };
  const files = list(() => readText(reader));
  const kinds = list(() => readText(reader));
  return list(() => {
    const kind = kinds[reader.unsigned()] ?? "";
    const file = files[reader.unsigned()] ?? "";
    const line = reader.unsigned();
    const column = reader.unsigned();
    return { kind, place: line === 0 ? null : `${file}:${line}:${column}` };
  });
}
