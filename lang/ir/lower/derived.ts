/**
 * `Eq`, `Ord`, `Hash` and `Show` of tuples, records and unions, made for each type that needs them; everything else
 * has methods.
 *
 * Equality and order go part by part, variants by their order; a hash is 17 (and the variant's index), then `hash *
 * 31 + part` wrapping; a text is as the value would be written.
 */
import type { DerivedInterface, Type } from "../../types/type.ts";
import { resolve } from "../../types/primitives.ts";
import { substitute, type Substitution, substitution } from "../layout.ts";
import { get, i32, type IrExpression, type IrFunction, newLocal, op } from "../node.ts";
import { fold } from "../fold.ts";
import { compareScalars } from "./arithmetic.ts";
import { fieldOf, type Located, primitiveOf, read } from "./memory.ts";
import { Frame, type Value } from "./frame.ts";
import { tagOf, variantField } from "./pattern.ts";
import { joinTexts, textConstant } from "./text.ts";

/** Tags of `Order`. */
const LESS = 0;
const EQUAL = 1;
const GREATER = 2;
const HASH_START = 17;

const METHODS: Readonly<Record<DerivedInterface, string>> = {
  Eq: "equals",
  Ord: "compare",
  Hash: "hash",
  Show: "show",
};

interface Part {
  readonly name: string | null;
  readonly type: Type;
}

interface Variant {
  readonly name: string;
  readonly parts: readonly Part[];
}

/** Calls a derived function by its name. */
export function derivedCall(frame: Frame, name: string, self: Type, args: readonly Value[]): Value {
  const [left, right] = args;
  switch (name) {
    case "equals":
      return [equalValues(frame, self, left ?? [], right ?? [])];
    case "compare":
      return [compareValues(frame, self, left ?? [], right ?? [])];
    case "hash":
      return [hashValue(frame, self, left ?? [])];
    case "show":
      return [showValue(frame, self, left ?? [])];
    default:
      throw new Error(`Cannot derive ${name}: it is no function of a derived interface`);
  }
}

function methodCall(frame: Frame, which: DerivedInterface, type: Type, args: readonly Value[]): Value | null {
  const method = frame.program.derivedMethod(type, which, METHODS[which]);
  if (method === null) return null;
  return frame.call(frame.program.instance(method.function, method.typeArguments), args.flat());
}

/** Whether two values are equal. */
export function equalValues(frame: Frame, type: Type, left: Value, right: Value): IrExpression {
  const primitive = primitiveOf(type);
  if (primitive === "String" || primitive === "Bytes") {
    return frame.helper(frame.program.runtime.equalBytes(), [left[0] ?? i32(0), right[0] ?? i32(0)]);
  }
  if (primitive !== null) return compareScalars("==", primitive, left[0] ?? i32(0), right[0] ?? i32(0));
  const method = methodCall(frame, "Eq", type, [left, right]);
  if (method !== null) return method[0] ?? i32(1);
  return callDerived(frame, "Eq", type, [left, right]);
}

/** How two values stand to each other: a tag of `Order`. */
export function compareValues(frame: Frame, type: Type, left: Value, right: Value): IrExpression {
  const primitive = primitiveOf(type);
  if (primitive === "Int" || primitive === "Char" || primitive === "Bool" || primitive === "Int64") {
    const a = frame.reusable(left[0] ?? i32(0));
    const b = frame.reusable(right[0] ?? i32(0));
    return op(
      "i32.add",
      op("i32.sub", compareScalars(">", primitive, a, b), compareScalars("<", primitive, a, b)),
      i32(EQUAL),
    );
  }
  const method = methodCall(frame, "Ord", type, [left, right]);
  if (method !== null) return method[0] ?? i32(EQUAL);
  return callDerived(frame, "Ord", type, [left, right]);
}

/** The hash of a value. */
function hashValue(frame: Frame, type: Type, value: Value): IrExpression {
  const method = methodCall(frame, "Hash", type, [value]);
  if (method !== null) return method[0] ?? i32(0);
  return callDerived(frame, "Hash", type, [value]);
}

/** The text of a value, as it would be written. */
export function showValue(frame: Frame, type: Type, value: Value): IrExpression {
  if (resolve(type).kind === "function") return textConstant(frame, "fn");
  const method = methodCall(frame, "Show", type, [value]);
  if (method !== null) return method[0] ?? i32(0);
  return callDerived(frame, "Show", type, [value]);
}

function callDerived(
  frame: Frame,
  which: DerivedInterface,
  type: Type,
  args: readonly Value[],
): IrExpression {
  const target = frame.program.derived(type, which, (made) => writeDerived(frame, made, which, type));
  const [result] = frame.call(target, args.flat());
  return result ?? i32(0);
}

/** Starts a derived function and gives what writes its body later. */
function writeDerived(frame: Frame, target: IrFunction, which: DerivedInterface, type: Type): () => void {
  const { program } = frame;
  const layout = program.layouts.of(type);
  const subjects: Located[] = [];
  for (const name of which === "Eq" || which === "Ord" ? ["left", "right"] : ["self"]) {
    const locals = layout.slots.map((slot) =>
      newLocal(target, { name, type: slot.type, pointer: slot.pointer, isBorrowed: slot.pointer !== null })
    );
    target.parameters.push(...locals);
    subjects.push({ kind: "value", value: locals.map(get), layout });
  }
  const result: Type = which === "Show"
    ? { kind: "primitive", name: "String" }
    : { kind: "primitive", name: "Int" };
  target.results = program.layouts.of(result).slots.map(({ type: scalar, pointer }) => ({
    type: scalar,
    pointer,
  }));
  return () => {
    const inner = new Frame({
      program,
      function: target,
      file: frame.file,
      source: null,
      put: new Map(),
      result,
    });
    const [left, right] = subjects;
    if (left === undefined) return;
    const body = bodyOf(type);
    switch (which) {
      case "Eq":
        if (right !== undefined) writeEquals(inner, body, left, right);
        return;
      case "Ord":
        if (right !== undefined) writeCompare(inner, body, left, right);
        return;
      case "Hash":
        writeHash(inner, body, left);
        return;
      case "Show":
        writeShow(inner, body, left);
        return;
    }
  };
}

interface Body {
  readonly isUnion: boolean;
  readonly isTuple: boolean;
  readonly variants: readonly Variant[];
}

function bodyOf(type: Type): Body {
  const at = resolve(type);
  if (at.kind === "tuple") {
    const parts = at.elements.map((element) => ({ name: null, type: element }));
    return { isUnion: false, isTuple: true, variants: [{ name: "", parts }] };
  }
  if (at.kind !== "named") throw new Error("Cannot derive: the type has no parts");
  const put = substitution(at.definition.typeParameters, at.arguments);
  const { body, name } = at.definition;
  if (body.kind === "record") {
    return { isUnion: false, isTuple: false, variants: [{ name, parts: partsOf(body.fields, put) }] };
  }
  if (body.kind === "union") {
    const variants = body.variants.map((variant) => ({
      name: variant.name,
      parts: partsOf(variant.fields, put),
    }));
    return { isUnion: true, isTuple: false, variants };
  }
  throw new Error(`Cannot derive for ${name}: the type has no parts`);
}

function partsOf(
  fields: readonly { readonly name: string | null; readonly type: Type }[],
  put: Substitution,
): Part[] {
  return fields.map((field) => ({ name: field.name, type: substitute(field.type, put) }));
}

/** Whether no variant has fields. */
function isPlain(body: Body): boolean {
  return body.variants.every((variant) => variant.parts.length === 0);
}

function partOf(frame: Frame, body: Body, subject: Located, variant: number, index: number): Value {
  return read(
    frame,
    body.isUnion ? variantField(frame, subject, variant, index) : fieldOf(frame, subject, index),
  );
}

/** Writes one way for each variant; variants without parts share the last one. */
function eachVariant(
  frame: Frame,
  body: Body,
  subject: Located,
  write: (variant: Variant, index: number) => void,
): void {
  if (!body.isUnion || body.variants.length === 1) {
    for (const [index, variant] of body.variants.entries()) write(variant, index);
    return;
  }
  const tag = tagOf(frame, subject);
  const { shape } = subject.layout;
  const cases: (() => void)[] = body.variants.map(() => () => {});
  for (const [index, variant] of body.variants.entries()) {
    const physical = shape.kind === "cell-union" && shape.cell.contents.kind === "variants"
      ? shape.cell.contents.variants[index]?.tag ?? index
      : index;
    cases[physical] = () => write(variant, index);
  }
  if (cases.length > 2) frame.switch(tag, cases);
  else frame.if(tag, () => cases[1]?.(), () => cases[0]?.());
}

function writeEquals(frame: Frame, body: Body, left: Located, right: Located): void {
  if (body.isUnion && body.variants.length > 1) {
    const differ = op("i32.ne", tagOf(frame, left), tagOf(frame, right));
    if (isPlain(body)) {
      frame.return([fold(op("i32.eqz", differ))]);
      return;
    }
    frame.if(differ, () => frame.return([i32(0)]));
  }
  eachVariant(frame, body, left, (variant, index) => {
    let last: IrExpression = i32(1);
    for (const [position, part] of variant.parts.entries()) {
      if (position > 0) frame.if(fold(op("i32.eqz", last)), () => frame.return([i32(0)]));
      last = equalValues(
        frame,
        part.type,
        partOf(frame, body, left, index, position),
        partOf(frame, body, right, index, position),
      );
    }
    frame.return([last]);
  });
}

/** The order of variants as they are defined, which cells do not store. */
function orderOfTag(frame: Frame, subject: Located): IrExpression {
  const { shape } = subject.layout;
  if (shape.kind === "union" && !shape.hasTag) return i32(0);
  const tag = tagOf(frame, subject);
  if (shape.kind !== "cell-union" || shape.cell.contents.kind !== "variants") return tag;
  const { nullVariant } = shape.cell.contents;
  if (nullVariant <= 0) return tag;
  // Stored: 0 for the variant that is a null pointer, one more for those before it.
  const stored = frame.reusable(tag);
  return {
    kind: "select",
    type: "i32",
    condition: op("i32.eqz", stored),
    then: i32(nullVariant),
    otherwise: op("i32.sub", stored, op("i32.le_u", stored, i32(nullVariant))),
  };
}

function writeCompare(frame: Frame, body: Body, left: Located, right: Located): void {
  if (body.isUnion && body.variants.length > 1) {
    const a = frame.reusable(orderOfTag(frame, left));
    const b = frame.reusable(orderOfTag(frame, right));
    frame.if(op("i32.ne", a, b), () =>
      frame.return([
        {
          kind: "select",
          type: "i32",
          condition: op("i32.lt_s", a, b),
          then: i32(LESS),
          otherwise: i32(GREATER),
        },
      ]));
  }
  if (isPlain(body)) {
    frame.return([i32(EQUAL)]);
    return;
  }
  eachVariant(frame, body, left, (variant, index) => {
    let last: IrExpression = i32(EQUAL);
    for (const [position, part] of variant.parts.entries()) {
      if (position > 0) {
        const before = frame.reusable(last);
        frame.if(op("i32.ne", before, i32(EQUAL)), () => frame.return([before]));
      }
      last = compareValues(
        frame,
        part.type,
        partOf(frame, body, left, index, position),
        partOf(frame, body, right, index, position),
      );
    }
    frame.return([last]);
  });
}

function writeHash(frame: Frame, body: Body, self: Located): void {
  if (body.isUnion && isPlain(body)) {
    frame.return([fold(op("i32.add", orderOfTag(frame, self), i32(HASH_START)))]);
    return;
  }
  eachVariant(frame, body, self, (variant, index) => {
    let hash: IrExpression = i32(body.isUnion ? HASH_START + index : HASH_START);
    for (const [position, part] of variant.parts.entries()) {
      const one = hashValue(frame, part.type, partOf(frame, body, self, index, position));
      hash = frame.temporary(fold(op("i32.add", fold(op("i32.mul", hash, i32(31))), one)));
    }
    frame.return([hash]);
  });
}

function writeShow(frame: Frame, body: Body, self: Located): void {
  eachVariant(frame, body, self, (variant, index) => {
    const texts: IrExpression[] = [];
    let fixed = variant.name;
    const isBare = variant.parts.length === 0 && body.isUnion;
    const isRecord = !body.isUnion && !body.isTuple;
    if (!isBare) fixed += isRecord ? (variant.parts.length === 0 ? " {" : " { ") : "(";
    for (const [position, part] of variant.parts.entries()) {
      if (position > 0) fixed += ", ";
      if (part.name !== null) fixed += `${part.name}: `;
      if (fixed !== "") texts.push(textConstant(frame, fixed));
      fixed = "";
      texts.push(showValue(frame, part.type, partOf(frame, body, self, index, position)));
    }
    if (!isBare) fixed += isRecord ? (variant.parts.length === 0 ? "}" : " }") : ")";
    texts.push(textConstant(frame, fixed));
    frame.return([joinTexts(frame, texts)]);
  });
}
