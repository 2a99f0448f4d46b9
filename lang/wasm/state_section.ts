/**
 * The section `lang.state`: where a game's state lies, and a hash that tells whether a snapshot of memory fits a new build.
 *
 * A snapshot fits when the state's type, the static data that pointers may lead to, and the functions as values are the same.
 * Format: the address and the size of the state's static cell as unsigned LEB128, then eight bytes of the hash (FNV-1a), little-endian.
 */
import type { Layout } from "../ir/layout.ts";
import { substitute, substitution } from "../ir/layout.ts";
import type { DataSegment, IrFunction } from "../ir/node.ts";
import { resolve } from "../types/primitives.ts";
import { typeText } from "../types/type_text.ts";
import type { Type } from "../types/type.ts";
import { ByteWriter } from "./byte_writer.ts";

const FNV_START = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

/** The bytes of the section. */
export function stateSection(options: {
  readonly address: number;
  readonly layout: Layout;
  readonly data: readonly DataSegment[];
  readonly heapStart: number;
  readonly table: readonly IrFunction[];
}): Uint8Array {
  const { address, layout, data, heapStart, table } = options;
  let hash = FNV_START;
  const add = (bytes: Uint8Array): void => {
    for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV_PRIME);
  };
  const text = (value: string): void => add(new TextEncoder().encode(`${value.length}:${value}`));
  text(describe(layout.type, new Set()));
  text(`${address} ${heapStart}`);
  for (const segment of data) {
    text(`${segment.address}`);
    add(segment.bytes);
  }
  for (const entry of table) text(entry.name);
  const out = new ByteWriter();
  out.unsigned(address);
  out.unsigned(layout.size);
  for (let byte = 0n; byte < 8n; byte++) out.byte(Number((hash >> (byte * 8n)) & 255n));
  return out.take();
}

/** A type with the definitions of all types in it. */
function describe(type: Type, seen: Set<string>): string {
  const at = resolve(type);
  if (at.kind === "tuple") return `(${at.elements.map((element) => describe(element, seen)).join()})`;
  if (at.kind !== "named") return typeText(at);
  const name = typeText(at, true);
  if (seen.has(name)) return name;
  seen.add(name);
  const put = substitution(at.definition.typeParameters, at.arguments);
  const { body } = at.definition;
  const fields = (list: readonly { readonly name: string | null; readonly type: Type }[]): string =>
    list.map((field) => `${field.name ?? ""}:${describe(substitute(field.type, put), seen)}`).join();
  if (body.kind === "record") return `${name}{${fields(body.fields)}}`;
  if (body.kind === "union") {
    return `${name}=${
      body.variants.map((variant) => `${variant.name}(${fields(variant.fields)})`).join("|")
    }`;
  }
  return `${name}[${at.arguments.map((argument) => describe(argument, seen)).join()}]`;
}
