/**
 * Patterns: tests that leave to a label when they fail, and names that are bound.
 *
 * Tests come first and bind nothing, so that a name is only set when the whole pattern fits; what both need is loaded
 * once by each and joined later.
 */
import { unreachable } from "../../../engine/base/assert.ts";
import type { Local, Pattern } from "../../typed/tree.ts";
import { BLOCK_HEADER, type Layout, LENGTH_OFFSET, TAG_OFFSET } from "../layout.ts";
import { constant, get, i32, type IrExpression, type IrLocal, type Label, load, op } from "../node.ts";
import { fold } from "../fold.ts";
import { compareTyped } from "./expression.ts";
import { fieldOf, type Located, pointerLocal, primitiveOf, read } from "./memory.ts";
import { type Frame, zeros } from "./frame.ts";
import { textConstant } from "./text.ts";

/** Branches to the label unless the pattern fits. */
export function testPattern(frame: Frame, pattern: Pattern, subject: Located, fail: Label): void {
  switch (pattern.kind) {
    case "wildcard":
    case "binding":
      return;
    case "literal": {
      frame.branchIf(fold(op("i32.eqz", equalsLiteral(frame, pattern, subject))), fail);
      return;
    }
    case "range": {
      const type = primitiveOf(frame.type(pattern.type));
      const bits = type === "Int64" ? "i64" : "i32";
      const value = frame.reusable(read(frame, subject)[0] ?? i32(0));
      const bound = (number: bigint): IrExpression =>
        constant(bits, bits === "i64" ? number : Number(number));
      frame.branchIf(
        fold(
          op(
            "i32.or",
            op(`${bits}.lt_s`, value, bound(pattern.start)),
            op(`${bits}.gt_s`, value, bound(pattern.end)),
          ),
        ),
        fail,
      );
      return;
    }
    case "tuple":
    case "record": {
      const parts = pattern.kind === "tuple" ? pattern.elements : pattern.fields;
      for (const [index, part] of parts.entries()) {
        if (isTested(part)) testPattern(frame, part, fieldOf(frame, subject, index), fail);
      }
      return;
    }
    case "variant": {
      const test = tagTest(frame, subject, pattern.variant.index);
      if (test !== null) frame.branchIf(fold(op("i32.eqz", test)), fail);
      for (const [index, part] of pattern.fields.entries()) {
        if (isTested(part)) {
          testPattern(frame, part, variantField(frame, subject, pattern.variant.index, index), fail);
        }
      }
      return;
    }
    case "list": {
      const list = listOf(frame, subject);
      const count = pattern.elements.length;
      const length = load("i32.load", get(list.pointer), LENGTH_OFFSET);
      if (pattern.rest === null) frame.branchIf(op("i32.ne", length, i32(count)), fail);
      else if (count > 0) frame.branchIf(op("i32.lt_u", length, i32(count)), fail);
      for (const [index, part] of pattern.elements.entries()) {
        if (isTested(part)) testPattern(frame, part, elementAt(list, index), fail);
      }
      return;
    }
    case "alternative": {
      frame.block("fits", (fits) => {
        for (const [index, alternative] of pattern.alternatives.entries()) {
          if (index === pattern.alternatives.length - 1) {
            testPattern(frame, alternative, subject, fail);
          } else {
            frame.block("next", (next) => {
              testPattern(frame, alternative, subject, next);
              frame.emit({ kind: "branch", label: fits });
            });
          }
        }
      });
      return;
    }
    default:
      return unreachable(pattern);
  }
}

/** Gives the names of a pattern that fits their values. */
export function bindPattern(frame: Frame, pattern: Pattern, subject: Located): void {
  switch (pattern.kind) {
    case "wildcard":
    case "literal":
    case "range":
      return;
    case "binding":
      bindName(frame, pattern.local, subject);
      return;
    case "tuple":
    case "record": {
      const parts = pattern.kind === "tuple" ? pattern.elements : pattern.fields;
      for (const [index, part] of parts.entries()) {
        if (isBinding(part)) bindPattern(frame, part, fieldOf(frame, subject, index));
      }
      return;
    }
    case "variant":
      for (const [index, part] of pattern.fields.entries()) {
        if (isBinding(part)) {
          bindPattern(frame, part, variantField(frame, subject, pattern.variant.index, index));
        }
      }
      return;
    case "list": {
      const list = listOf(frame, subject);
      for (const [index, part] of pattern.elements.entries()) {
        if (isBinding(part)) bindPattern(frame, part, elementAt(list, index));
      }
      const rest = pattern.rest?.local ?? null;
      if (rest !== null) {
        const pointer = get(list.pointer);
        const slice = frame.helper(frame.program.runtime.slice(list.element), [
          pointer,
          i32(pattern.elements.length),
          load("i32.load", pointer, LENGTH_OFFSET),
        ], list.pointer.pointer);
        bindName(frame, rest, { kind: "value", value: [slice], layout: frame.layout(rest.type) });
      }
      return;
    }
    case "alternative":
      bindAlternatives(frame, pattern, subject);
      return;
    default:
      return unreachable(pattern);
  }
}

function bindName(frame: Frame, local: Local, subject: Located): void {
  const layout = subject.layout;
  const target = frame.isBound(local) ? frame.binding(local) : null;
  if (target !== null && target.kind === "locals") {
    // A name of several alternatives has its variables already.
    frame.setAll(target.locals, read(frame, subject));
    return;
  }
  const value = read(frame, subject).map((part, index) => {
    if (part.kind === "const" || (part.kind === "get" && !part.local.isMutable)) return part;
    const slot = layout.slots[index] ?? { type: "i32" as const, pointer: null };
    const name = frame.local(local.name, slot, { base: part.kind === "get" ? part.local.base : null });
    frame.set(name, part);
    return frame.isReachable ? get(name) : (zeros(layout)[index] ?? i32(0));
  });
  frame.bind(local, { kind: "value", value, layout });
}

/** Each alternative sets the same variables. */
function bindAlternatives(
  frame: Frame,
  pattern: Pattern & { readonly kind: "alternative" },
  subject: Located,
): void {
  const names: Local[] = [];
  collectNames(pattern.alternatives[0] ?? pattern, names);
  if (names.length === 0) return;
  for (const name of names) {
    const layout = frame.layout(name.type);
    frame.bind(name, { kind: "locals", locals: frame.locals(name.name, layout, true), layout });
  }
  frame.block("bound", (bound) => {
    for (const [index, alternative] of pattern.alternatives.entries()) {
      if (index === pattern.alternatives.length - 1) {
        bindPattern(frame, alternative, subject);
      } else {
        frame.block("next", (next) => {
          testPattern(frame, alternative, subject, next);
          bindPattern(frame, alternative, subject);
          frame.emit({ kind: "branch", label: bound });
        });
      }
    }
  });
}

function collectNames(pattern: Pattern, names: Local[]): void {
  switch (pattern.kind) {
    case "binding":
      names.push(pattern.local);
      return;
    case "tuple":
      for (const part of pattern.elements) collectNames(part, names);
      return;
    case "record":
    case "variant":
      for (const part of pattern.fields) collectNames(part, names);
      return;
    case "list":
      for (const part of pattern.elements) collectNames(part, names);
      if (pattern.rest?.local) names.push(pattern.rest.local);
      return;
    case "alternative":
      if (pattern.alternatives[0] !== undefined) collectNames(pattern.alternatives[0], names);
      return;
    default:
  }
}

function isBinding(pattern: Pattern): boolean {
  const names: Local[] = [];
  collectNames(pattern, names);
  return names.length > 0;
}

/** Whether the pattern can fail. */
function isTested(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case "wildcard":
    case "binding":
      return false;
    case "tuple":
      return pattern.elements.some(isTested);
    case "record":
      return pattern.fields.some(isTested);
    default:
      return true;
  }
}

function equalsLiteral(
  frame: Frame,
  pattern: Pattern & { readonly kind: "literal" },
  subject: Located,
): IrExpression {
  const type = frame.type(pattern.type);
  const value = read(frame, subject);
  const primitive = primitiveOf(type);
  let literal: IrExpression;
  if (typeof pattern.value === "string") literal = textConstant(frame, pattern.value);
  else if (typeof pattern.value === "boolean") literal = i32(pattern.value ? 1 : 0);
  else if (primitive === "Int64") literal = constant("i64", BigInt(pattern.value));
  else if (primitive === "Float") literal = constant("f64", Number(pattern.value));
  else if (primitive === "F32") literal = constant("f32", Number(pattern.value));
  else literal = i32(Number(pattern.value));
  return compareTyped(frame, "==", type, value, [literal]);
}

/** Whether the subject is this variant; null when there is but one. */
export function tagTest(frame: Frame, subject: Located, index: number): IrExpression | null {
  const { shape } = subject.layout;
  if (shape.kind === "union") {
    if (!shape.hasTag) return null;
    return fold(op("i32.eq", tagOf(frame, subject), i32(index)));
  }
  if (shape.kind !== "cell-union" || shape.cell.contents.kind !== "variants") {
    throw new Error(`Cannot match ${subject.layout.name}: it is no union`);
  }
  const { variants, nullVariant } = shape.cell.contents;
  if (variants.length === 1) return null;
  const pointer = read(frame, subject)[0] ?? i32(0);
  if (index === nullVariant) return op("i32.eqz", pointer);
  if (nullVariant >= 0 && variants.length === 2) return op("i32.ne", pointer, i32(0));
  return op("i32.eq", load("i32.load", pointer, TAG_OFFSET), i32(variants[index]?.tag ?? 0));
}

/** The tag of a union's value, as it is stored. */
export function tagOf(frame: Frame, subject: Located): IrExpression {
  const { shape, slots, offsets } = subject.layout;
  if (shape.kind === "cell-union") {
    return load("i32.load", read(frame, subject)[0] ?? i32(0), TAG_OFFSET);
  }
  if (subject.kind === "value") return subject.value[0] ?? i32(0);
  return load(slots[0]?.load ?? "i32.load8_u", subject.address, subject.offset + (offsets[0] ?? 0));
}

/** A field of a variant, which the subject is known to be. */
export function variantField(frame: Frame, subject: Located, variant: number, index: number): Located {
  const { shape } = subject.layout;
  if (shape.kind === "union") {
    const field = shape.variants[variant]?.fields[index];
    if (field === undefined) {
      throw new Error(`Cannot match ${subject.layout.name}: the variant has fewer fields`);
    }
    const value = read(frame, subject);
    return { kind: "value", value: field.slots.map((slot) => value[slot] ?? i32(0)), layout: field.layout };
  }
  const field = shape.kind === "cell-union" && shape.cell.contents.kind === "variants"
    ? shape.cell.contents.variants[variant]?.fields[index]
    : undefined;
  if (field === undefined || shape.kind !== "cell-union") {
    throw new Error(`Cannot match ${subject.layout.name}: the variant has fewer fields`);
  }
  const pointer = pointerLocal(frame, read(frame, subject)[0] ?? i32(0), shape.cell);
  return { kind: "memory", address: get(pointer), offset: field.offset, base: pointer, layout: field.layout };
}

function listOf(frame: Frame, subject: Located): { readonly pointer: IrLocal; readonly element: Layout } {
  const { shape } = subject.layout;
  if (shape.kind !== "block") throw new Error(`Cannot match ${subject.layout.name}: it is no list`);
  return {
    pointer: pointerLocal(frame, read(frame, subject)[0] ?? i32(0), shape.cell),
    element: shape.element,
  };
}

function elementAt(list: { readonly pointer: IrLocal; readonly element: Layout }, index: number): Located {
  const { pointer, element } = list;
  return {
    kind: "memory",
    address: get(pointer),
    offset: BLOCK_HEADER + index * element.size,
    base: pointer,
    layout: element,
  };
}
