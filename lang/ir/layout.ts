/**
 * How values of the language lie in variables and in memory.
 *
 * A value is a list of scalar slots. Records and tuples are their parts in order; a union is a tag and slots that its
 * variants share where type and pointer agree; both up to a limit, above which a record is one pointer to a counted
 * cell, the box. A union that contains itself is a pointer to a counted cell as well, 0 for its first variant without
 * fields. Lists, texts and bytes are pointers to counted blocks, 0 when empty.
 *
 * Flat memory (elements of lists, fields of cells) holds the slots one after the other, each at a multiple of its size.
 *
 * Cells:   count i32 | (unions: tag i32) | fields
 * Blocks:  count i32 | length i32 | capacity i32 | reserved i32 | elements
 * Closures: count i32 | number of the code i32 | number of the function that releases i32 | captured values
 */
import { LANG_LIMITS } from "../limits.ts";
import { resolve } from "../types/primitives.ts";
import { typeText } from "../types/type_text.ts";
import { ProgramError } from "../diagnostics/internal_error.ts";
import type { FieldDefinition, Type, TypeDefinition, TypeParameter } from "../types/type.ts";
import { weightOf } from "../types/weight.ts";
import type { IrFunction, PointerKind, ScalarType } from "./node.ts";

/** Records and tuples of more slots become boxes. */
const MAX_FLAT_SLOTS = 16;

/** Bytes before the elements of a block. */
export const BLOCK_HEADER = 16;
/** Offset of the length in a block. */
export const LENGTH_OFFSET = 4;
/** Offset of the capacity in a block, in elements. */
export const CAPACITY_OFFSET = 8;
/** Offset of the tag in a cell. */
export const TAG_OFFSET = 4;
/** Offsets in a closure. */
export const CODE_OFFSET = 4;
export const RELEASE_OFFSET = 8;
export const CAPTURES_OFFSET = 12;

/** One scalar of a value. */
export interface Slot {
  readonly type: ScalarType;
  readonly pointer: CellKind | null;
  readonly load: string;
  readonly store: string;
  readonly bytes: number;
}

/** A field of something flat. */
export interface FlatField {
  readonly layout: Layout;
  /** Position of its first slot. */
  readonly first: number;
  readonly offset: number;
}

/** A field of a variant: its slots need not be neighbors. */
export interface VariantField {
  readonly layout: Layout;
  readonly slots: readonly number[];
}

/** A variant of a flat union. */
export interface FlatVariant {
  readonly tag: number;
  readonly fields: readonly VariantField[];
}

/** A field in a cell. */
export interface CellField {
  readonly layout: Layout;
  readonly offset: number;
}

/** A variant whose fields lie in a cell. */
export interface CellVariant {
  readonly tag: number;
  readonly fields: readonly CellField[];
  /** Bytes of the cell. */
  readonly size: number;
}

/** What a value is made of. */
export type Shape =
  | { readonly kind: "scalar" }
  | { readonly kind: "record"; readonly fields: readonly FlatField[] }
  /** Without a tag slot when there is but one variant. */
  | { readonly kind: "union"; readonly hasTag: boolean; readonly variants: readonly FlatVariant[] }
  | { readonly kind: "box"; readonly cell: CellKind }
  | { readonly kind: "cell-union"; readonly cell: CellKind }
  | { readonly kind: "block"; readonly cell: CellKind; readonly element: Layout }
  | { readonly kind: "function"; readonly cell: CellKind };

/** How a type lies. */
export interface Layout {
  readonly key: string;
  readonly name: string;
  readonly type: Type;
  readonly slots: readonly Slot[];
  /** Offsets of the slots in flat memory. */
  readonly offsets: readonly number[];
  /** Bytes in flat memory, a multiple of the alignment. */
  readonly size: number;
  readonly alignment: number;
  readonly shape: Shape;
  readonly hasPointers: boolean;
}

/** What a cell holds. */
export type CellContents =
  | { readonly kind: "block"; readonly element: Layout }
  /** A box has one variant and no tag; `nullVariant` is the one that is 0, or -1. */
  | {
    readonly kind: "variants";
    readonly variants: readonly CellVariant[];
    readonly nullVariant: number;
    readonly hasTag: boolean;
  }
  | { readonly kind: "closure" };

/** Makes the functions of cells when they are asked for. */
export interface CellFunctions {
  /** `made` is told the function before its body is written, because cells may hold cells of their own kind. */
  release(cell: CellKind, made: (target: IrFunction) => void): IrFunction;
  unshare(cell: CellKind): IrFunction;
}

/** A kind of counted cell or block. */
export class CellKind implements PointerKind {
  readonly name: string;
  readonly #functions: CellFunctions;
  readonly #makeContents: () => CellContents;
  #contents: CellContents | null = null;
  #release: IrFunction | null = null;
  #unshare: IrFunction | null = null;

  constructor(name: string, functions: CellFunctions, makeContents: () => CellContents) {
    this.name = name;
    this.#functions = functions;
    this.#makeContents = makeContents;
  }

  /** What it holds; worked out when asked for, because types may contain themselves. */
  get contents(): CellContents {
    this.#contents ??= this.#makeContents();
    return this.#contents;
  }

  /** @inheritdoc */
  release(): IrFunction {
    if (this.#release !== null) return this.#release;
    const made = this.#functions.release(this, (target) => {
      this.#release = target;
    });
    this.#release = made;
    return made;
  }

  /** @inheritdoc */
  unshare(): IrFunction {
    this.#unshare ??= this.#functions.unshare(this);
    return this.#unshare;
  }
}

function scalarSlot(type: ScalarType, load: string, store: string, bytes: number): Slot {
  return { type, pointer: null, load, store, bytes };
}

const WORD = scalarSlot("i32", "i32.load", "i32.store", 4);
const BYTE = scalarSlot("i32", "i32.load8_u", "i32.store8", 1);
const LONG = scalarSlot("i64", "i64.load", "i64.store", 8);
const DOUBLE = scalarSlot("f64", "f64.load", "f64.store", 8);
const SINGLE = scalarSlot("f32", "f32.load", "f32.store", 4);
const SHORT = scalarSlot("i32", "i32.load16_u", "i32.store16", 2);

/** Works out layouts, once for each type. */
export class Layouts {
  readonly #functions: CellFunctions;
  readonly #byType = new Map<Type, Layout>();
  readonly #byKey = new Map<string, Layout>();
  readonly #definitionNumbers = new Map<TypeDefinition, number>();
  readonly #recursive = new Map<string, boolean>();
  readonly #byteBlock: CellKind;
  readonly #closure: CellKind;
  readonly #byteLayout: Layout;

  constructor(functions: CellFunctions) {
    this.#functions = functions;
    this.#byteLayout = single("byte", "byte", { kind: "primitive", name: "Int" }, BYTE);
    this.#byteBlock = new CellKind("bytes", functions, () => ({ kind: "block", element: this.#byteLayout }));
    this.#closure = new CellKind("closure", functions, () => ({ kind: "closure" }));
  }

  /** The layout of a type without parameters. */
  of(type: Type): Layout {
    const known = this.#byType.get(type);
    if (known !== undefined) return known;
    const key = this.key(type);
    let layout = this.#byKey.get(key);
    if (layout === undefined) {
      layout = this.#make(resolve(type), key);
      this.#byKey.set(key, layout);
    }
    this.#byType.set(type, layout);
    return layout;
  }

  /** A text that is the same for equal types and for no others. */
  key(type: Type): string {
    if (
      weightOf(type) > LANG_LIMITS.maximumLaidOutTypeParts || isDeeper(type, LANG_LIMITS.maximumTypeDepth)
    ) throw endless(type);
    return this.#key(type);
  }

  #key(type: Type): string {
    const at = resolve(type);
    switch (at.kind) {
      case "primitive":
        return at.name;
      case "tuple":
        return `(${at.elements.map((element) => this.#key(element)).join()})`;
      case "named": {
        let number = this.#definitionNumbers.get(at.definition);
        if (number === undefined) {
          number = this.#definitionNumbers.size;
          this.#definitionNumbers.set(at.definition, number);
        }
        return `${at.definition.name}#${number}[${
          at.arguments.map((argument) => this.#key(argument)).join()
        }]`;
      }
      case "function":
        return `fn(${
          at.parameters.map((parameter) => (parameter.isInout ? "&" : "") + this.#key(parameter.type)).join()
        })${this.#key(at.result)}`;
      default:
        throw new Error(`Cannot lay out ${typeText(at)}: the type is not known`);
    }
  }

  #make(type: Type, key: string): Layout {
    const name = typeText(type);
    switch (type.kind) {
      case "primitive":
        switch (type.name) {
          case "Bool":
            return single(key, name, type, BYTE);
          case "Int":
          case "Char":
            return single(key, name, type, WORD);
          case "Int64":
            return single(key, name, type, LONG);
          case "Float":
            return single(key, name, type, DOUBLE);
          case "F32":
            return single(key, name, type, SINGLE);
          case "String":
          case "Bytes":
            return single(key, name, type, pointerSlot(this.#byteBlock), {
              kind: "block",
              cell: this.#byteBlock,
              element: this.#byteLayout,
            });
          case "Never":
            return flat(key, name, type, []);
        }
        break;
      case "tuple":
        return this.#record(key, name, type, type.elements);
      case "function":
        return single(key, name, type, pointerSlot(this.#closure), { kind: "function", cell: this.#closure });
      case "named":
        return this.#named(key, name, type, type.definition, type.arguments);
      default:
    }
    throw new Error(`Cannot lay out ${name}: the type is not known`);
  }

  #named(
    key: string,
    name: string,
    type: Type,
    definition: TypeDefinition,
    typeArguments: readonly Type[],
  ): Layout {
    const put = substitution(definition.typeParameters, typeArguments);
    const { body } = definition;
    switch (body.kind) {
      case "builtin": {
        const element = typeArguments[0];
        if (element === undefined) return this.of(builtin(definition.name));
        const cell = new CellKind(
          name,
          this.#functions,
          () => ({ kind: "block", element: this.of(element) }),
        );
        // The element may contain this very list, so its layout is worked out when it is needed.
        const of = this.of.bind(this);
        return single(key, name, type, pointerSlot(cell), {
          kind: "block",
          cell,
          get element() {
            return of(element);
          },
        });
      }
      case "record":
        return this.#record(key, name, type, body.fields.map((field) => substitute(field.type, put)));
      case "union": {
        const variants = body.variants.map((variant) =>
          variant.fields.map((field: FieldDefinition) => substitute(field.type, put))
        );
        if (this.#isRecursive(type, key)) return this.#cellUnion(key, name, type, variants);
        return this.#union(key, name, type, variants);
      }
    }
  }

  #record(key: string, name: string, type: Type, parts: readonly Type[]): Layout {
    const layouts = parts.map((part) => this.of(part));
    const count = layouts.reduce((sum, layout) => sum + layout.slots.length, 0);
    if (count <= MAX_FLAT_SLOTS) return flat(key, name, type, layouts);
    const cell = new CellKind(name, this.#functions, () => ({
      kind: "variants",
      variants: [cellVariant(0, layouts, 4)],
      nullVariant: -1,
      hasTag: false,
    }));
    return single(key, name, type, pointerSlot(cell), { kind: "box", cell });
  }

  #union(key: string, name: string, type: Type, variants: readonly (readonly Type[])[]): Layout {
    const slots: Slot[] = [];
    const hasTag = variants.length !== 1;
    if (hasTag) slots.push(variants.length <= 256 ? BYTE : SHORT);
    const flatVariants: FlatVariant[] = variants.map((types, tag) => {
      const used = new Set<number>();
      const fields = types.map((part) => {
        const layout = this.of(part);
        const positions = layout.slots.map((slot) => {
          const wide = slot.type === "i32" && slot.pointer === null ? WORD : slot;
          let position = slots.findIndex((other, index) =>
            (index > 0 || !hasTag) && !used.has(index) && other.type === wide.type &&
            other.pointer === wide.pointer
          );
          if (position < 0) {
            position = slots.length;
            slots.push(wide);
          }
          used.add(position);
          return position;
        });
        return { layout, slots: positions };
      });
      return { tag, fields };
    });
    if (slots.length > MAX_FLAT_SLOTS) return this.#cellUnion(key, name, type, variants);
    return fromSlots(key, name, type, slots, { kind: "union", hasTag, variants: flatVariants });
  }

  #cellUnion(key: string, name: string, type: Type, variants: readonly (readonly Type[])[]): Layout {
    const nullVariant = variants.findIndex((types) => types.length === 0);
    const cell = new CellKind(name, this.#functions, () => ({
      kind: "variants",
      // The variant that is 0 has the tag 0, because address 4 holds 0.
      variants: variants.map((types, index) =>
        cellVariant(
          nullVariant < 0 ? index : index === nullVariant ? 0 : index < nullVariant ? index + 1 : index,
          types.map((part) => this.of(part)),
          8,
        )
      ),
      nullVariant,
      hasTag: true,
    }));
    return single(key, name, type, pointerSlot(cell), { kind: "cell-union", cell });
  }

  /** Whether a value of the type lies flat in a value of the same type. */
  #isRecursive(type: Type, key: string): boolean {
    const known = this.#recursive.get(key);
    if (known !== undefined) return known;
    const seen = new Set<string>();
    const reaches = (from: Type): boolean => {
      for (const part of this.#flatParts(from)) {
        const partKey = this.key(part);
        if (partKey === key) return true;
        if (seen.has(partKey)) continue;
        seen.add(partKey);
        if (reaches(part)) return true;
      }
      return false;
    };
    const answer = reaches(type);
    this.#recursive.set(key, answer);
    return answer;
  }

  #flatParts(type: Type): readonly Type[] {
    const at = resolve(type);
    if (at.kind === "tuple") return at.elements;
    if (at.kind !== "named") return [];
    const put = substitution(at.definition.typeParameters, at.arguments);
    const { body } = at.definition;
    if (body.kind === "record") return body.fields.map((field) => substitute(field.type, put));
    if (body.kind === "union") {
      return body.variants.flatMap((variant) => variant.fields.map((field) => substitute(field.type, put)));
    }
    return [];
  }
}

/**
 * What is used with a larger type of its own each time, by way of an interface; the checker sees functions that call
 * one another.
 */
function endless(type: Type): ProgramError {
  const at = resolve(type);
  const name = at.kind === "named" ? `\`${at.definition.name}\`` : "what is used with tuples or functions";
  return new ProgramError(
    "TY0048",
    `Cannot compile ${name}: it is needed for larger and larger types, without end`,
  );
}

/** Whether more than so many types stand within one another. */
function isDeeper(type: Type, limit: number): boolean {
  const at = resolve(type);
  const inner = (each: Type) => limit === 0 || isDeeper(each, limit - 1);
  switch (at.kind) {
    case "tuple":
      return at.elements.some(inner);
    case "named":
      return at.arguments.some(inner);
    case "function":
      return inner(at.result) || at.parameters.some((parameter) => inner(parameter.type));
    default:
      return false;
  }
}

function builtin(name: string): Type {
  switch (name) {
    case "Bool":
    case "Int":
    case "Int64":
    case "Float":
    case "F32":
    case "Char":
    case "String":
    case "Bytes":
    case "Never":
      return { kind: "primitive", name };
    default:
      throw new Error(`Cannot lay out ${name}: it is no type that the compiler knows`);
  }
}

function pointerSlot(pointer: CellKind): Slot {
  return { type: "i32", pointer, load: "i32.load", store: "i32.store", bytes: 4 };
}

function single(
  key: string,
  name: string,
  type: Type,
  slot: Slot,
  shape: Shape = { kind: "scalar" },
): Layout {
  return {
    key,
    name,
    type,
    slots: [slot],
    offsets: [0],
    size: slot.bytes,
    alignment: slot.bytes,
    shape,
    hasPointers: slot.pointer !== null,
  };
}

function align(offset: number, alignment: number): number {
  return Math.ceil(offset / alignment) * alignment;
}

function flat(key: string, name: string, type: Type, parts: readonly Layout[]): Layout {
  const slots: Slot[] = [];
  const offsets: number[] = [];
  const fields: FlatField[] = [];
  let end = 0;
  let alignment = 1;
  for (const layout of parts) {
    const offset = align(end, layout.alignment);
    fields.push({ layout, first: slots.length, offset });
    slots.push(...layout.slots);
    for (const inner of layout.offsets) offsets.push(offset + inner);
    end = offset + layout.size;
    alignment = Math.max(alignment, layout.alignment);
  }
  return {
    key,
    name,
    type,
    slots,
    offsets,
    size: align(end, alignment),
    alignment,
    shape: { kind: "record", fields },
    hasPointers: slots.some((slot) => slot.pointer !== null),
  };
}

function fromSlots(key: string, name: string, type: Type, slots: readonly Slot[], shape: Shape): Layout {
  const offsets: number[] = [];
  let end = 0;
  let alignment = 1;
  for (const slot of slots) {
    const offset = align(end, slot.bytes);
    offsets.push(offset);
    end = offset + slot.bytes;
    alignment = Math.max(alignment, slot.bytes);
  }
  const hasPointers = slots.some((slot) => slot.pointer !== null);
  return { key, name, type, slots, offsets, size: align(end, alignment), alignment, shape, hasPointers };
}

function cellVariant(tag: number, parts: readonly Layout[], start: number): CellVariant {
  let end = start;
  const fields = parts.map((layout) => {
    const offset = align(end, layout.alignment);
    end = offset + layout.size;
    return { layout, offset };
  });
  return { tag, fields, size: end };
}

/** Which type stands for each parameter. */
export type Substitution = ReadonlyMap<TypeParameter, Type>;

/** Puts arguments in the place of parameters. */
export function substitution(
  parameters: readonly TypeParameter[],
  typeArguments: readonly Type[],
): Substitution {
  const put = new Map<TypeParameter, Type>();
  for (const [index, parameter] of parameters.entries()) {
    const argument = typeArguments[index];
    if (argument === undefined) {
      throw new Error(`Cannot instantiate: the parameter ${parameter.name} has no argument`);
    }
    put.set(parameter, argument);
  }
  return put;
}

/** The type with its parameters replaced; the same object when there are none. */
export function substitute(type: Type, put: Substitution): Type {
  if (put.size === 0) return type;
  const at = resolve(type);
  switch (at.kind) {
    case "parameter":
      return put.get(at.parameter) ?? at;
    case "tuple": {
      const elements = substituteAll(at.elements, put);
      return elements === at.elements ? at : { ...at, elements };
    }
    case "named": {
      const typeArguments = substituteAll(at.arguments, put);
      return typeArguments === at.arguments ? at : { ...at, arguments: typeArguments };
    }
    case "function": {
      return {
        kind: "function",
        parameters: at.parameters.map((parameter) => ({
          ...parameter,
          type: substitute(parameter.type, put),
        })),
        result: substitute(at.result, put),
      };
    }
    default:
      return at;
  }
}

function substituteAll(types: readonly Type[], put: Substitution): readonly Type[] {
  const replaced = types.map((type) => substitute(type, put));
  return replaced.every((type, index) => type === types[index]) ? types : replaced;
}
