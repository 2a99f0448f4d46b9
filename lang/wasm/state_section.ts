/**
 * The section `lang.state`: where a game's state lies and what its values look like in memory, so that a page can
 * take the state out of one instance and put it into another, also of a new build, as long as its type is the same.
 *
 * Only what the state reaches is carried over: code, static data and everything else are the new build's.
 * docs/adr/0009 says why.
 *
 * Format, numbers as unsigned LEB128, lists with their length before them:
 *
 *     address   where the state's cell lies
 *     hash      eight bytes, little-endian: FNV-1a of the type with the names and types of all parts
 *     state     size in bytes, list of pointers
 *     kinds     list of what pointers lead to; the first byte of each says
 *               0  a block: size of an element, list of the pointers in one
 *               1  a cell without a tag: size, list of pointers
 *               2  a cell with a tag: list of (tag, size, list of pointers)
 *               3  a function value, which belongs to its build
 *     pointer   offset in what holds it, number of its kind
 */
import type { CellKind, CellVariant, Layout } from "../ir/layout.ts";
import { substitute, substitution } from "../ir/layout.ts";
import { pointersOf } from "../ir/cells.ts";
import { resolve } from "../types/primitives.ts";
import { typeText } from "../types/type_text.ts";
import type { Type } from "../types/type.ts";
import { WasmByteWriter as ByteWriter } from "../../engine/base/wasm_byte_writer.ts";

const FNV_START = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

const BLOCK = 0;
const PLAIN_CELL = 1;
const TAGGED_CELL = 2;
const FUNCTION = 3;

/** The bytes of the section. */
export function stateSection(options: { readonly address: number; readonly layout: Layout }): Uint8Array {
  const { address, layout } = options;
  const out = new ByteWriter();
  out.unsigned(address);
  const hash = hashOf(describe(layout.type, new Set()));
  for (let byte = 0n; byte < 8n; byte++) out.byte(Number((hash >> (byte * 8n)) & 255n));
  const kinds = new Kinds();
  out.unsigned(layout.size);
  kinds.writePointers(out, pointersIn(layout));
  const described = new ByteWriter();
  // More kinds are found while they are described.
  for (let index = 0; index < kinds.found.length; index++) kinds.describe(described, index);
  out.unsigned(kinds.found.length);
  out.bytes(described.take());
  return out.take();
}

interface Pointer {
  readonly offset: number;
  readonly slot: CellKind;
}

/** Kinds of cells by the order in which they are met. */
class Kinds {
  readonly found: CellKind[] = [];
  readonly #numbers = new Map<CellKind, number>();

  #numberOf(kind: CellKind): number {
    const known = this.#numbers.get(kind);
    if (known !== undefined) return known;
    const number = this.found.length;
    this.#numbers.set(kind, number);
    this.found.push(kind);
    return number;
  }

  writePointers(out: ByteWriter, pointers: readonly Pointer[]): void {
    out.unsigned(pointers.length);
    for (const { offset, slot } of pointers) {
      out.unsigned(offset);
      out.unsigned(this.#numberOf(slot));
    }
  }

  describe(out: ByteWriter, index: number): void {
    const contents = this.found[index]?.contents ?? { kind: "closure" };
    switch (contents.kind) {
      case "block":
        out.byte(BLOCK);
        out.unsigned(contents.element.size);
        this.writePointers(out, pointersIn(contents.element));
        return;
      case "variants": {
        const variants = contents.variants.filter((_, position) => position !== contents.nullVariant);
        const [only] = variants;
        if (!contents.hasTag && only !== undefined) {
          out.byte(PLAIN_CELL);
          this.#writeCell(out, only);
          return;
        }
        out.byte(TAGGED_CELL);
        out.unsigned(variants.length);
        for (const variant of variants) {
          out.unsigned(variant.tag);
          this.#writeCell(out, variant);
        }
        return;
      }
      case "closure":
        out.byte(FUNCTION);
    }
  }

  #writeCell(out: ByteWriter, variant: CellVariant): void {
    out.unsigned(variant.size);
    this.writePointers(out, pointersOf(variant));
  }
}

function pointersIn(layout: Layout): Pointer[] {
  return layout.slots.flatMap(({ pointer }, index) =>
    pointer === null ? [] : [{ offset: layout.offsets[index] ?? 0, slot: pointer }]
  );
}

function hashOf(text: string): bigint {
  let hash = FNV_START;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV_PRIME);
  }
  return hash;
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
