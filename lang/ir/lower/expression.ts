/**
 * Lowers expressions to values: lists of scalars.
 *
 * An expression whose parts lie in memory is only read where it is needed: `bodies[i].x` loads one number ({@link
 * locate}).
 */
import { unreachable } from "../../../engine/base/assert.ts";
import type { Expression } from "../../typed/tree.ts";
import type { PrimitiveName, Type } from "../../types/type.ts";
import { BLOCK_HEADER, type Layout, LENGTH_OFFSET } from "../layout.ts";
import { constant, get, i32, type IrExpression, type IrLocal, type Label, op } from "../node.ts";
import { fold } from "../fold.ts";
import { arithmetic, compareScalars, intervalOf, negate } from "./arithmetic.ts";
import { lowerCall, lowerFunctionValue } from "./call.ts";
import { lowerClosure } from "./closure.ts";
import { locateConstant } from "./constant.ts";
import { compareValues, equalValues } from "./derived.ts";
import { type Frame, isStable, owned, type Value, zero, zeros } from "./frame.ts";
import { lowerExpect, lowerPanic, lowerSnapshot } from "./failure.ts";
import {
  elementOf,
  fieldOf,
  isQuiet,
  type Located,
  locatedOf,
  makeCell,
  pointerLocal,
  primitiveOf,
  read,
  single,
  storeMemory,
  writeMemory,
} from "./memory.ts";
import { lowerMatch, lowerPropagate } from "./match.ts";
import { lowerStatement } from "./statement.ts";
import { lowerInterpolation, textConstant } from "./text.ts";

/** The value of an expression. */
export function lowerExpression(frame: Frame, expression: Expression): Value {
  switch (expression.kind) {
    case "integer":
      return [
        primitiveOf(frame.type(expression.type)) === "Int64"
          ? constant("i64", expression.value)
          : i32(Number(expression.value)),
      ];
    case "float":
      return [
        primitiveOf(frame.type(expression.type)) === "F32"
          ? constant("f32", Math.fround(expression.value))
          : constant("f64", expression.value),
      ];
    case "boolean":
      return [i32(expression.value ? 1 : 0)];
    case "character":
      return [i32(expression.codePoint)];
    case "string":
      return [textConstant(frame, expression.value)];
    case "interpolation":
      return [lowerInterpolation(frame, expression.parts)];
    case "local":
    case "constant":
    case "field":
    case "element":
      return read(frame, locate(frame, expression));
    case "function":
      return [lowerFunctionValue(frame, expression.callee, expression)];
    case "call":
      return lowerCall(frame, expression);
    case "tuple":
      return lowerRecord(frame, expression.type, expression.elements, null);
    case "list":
      return [lowerList(frame, expression)];
    case "record":
      return lowerRecord(frame, expression.type, expression.fields, expression.order);
    case "update":
      return lowerUpdate(frame, expression);
    case "variant":
      return lowerVariant(frame, expression);
    case "negate": {
      const [operand] = lowerExpression(frame, expression.operand);
      return [negate(frame, numberOf(frame, expression.type), operand ?? i32(0), expression.span)];
    }
    case "not":
      return [fold(op("i32.eqz", single(frame, expression.operand)))];
    case "arithmetic":
      return [lowerArithmetic(frame, expression)];
    case "compare":
      return [lowerCompare(frame, expression)];
    case "and":
    case "or":
      return [lowerLogic(frame, expression)];
    case "block": {
      for (const statement of expression.statements) lowerStatement(frame, statement);
      if (expression.result === null) return [];
      if (expression.statements.length > 0) {
        frame.emit({ kind: "at", place: frame.place(expression.result.span) });
      }
      return lowerExpression(frame, expression.result);
    }
    case "if":
      return lowerIf(frame, expression);
    case "match":
      return lowerMatch(frame, expression);
    case "closure":
      return [lowerClosure(frame, expression)];
    case "propagate":
      return lowerPropagate(frame, expression);
    case "return": {
      const value = expression.value === null ? [] : lowerExpression(frame, expression.value);
      frame.return(value);
      return [];
    }
    case "break":
    case "continue": {
      const labels = frame.loops[frame.loops.length - 1];
      if (labels === undefined) throw new Error(`Cannot lower ${expression.kind}: no loop is around it`);
      frame.emit({ kind: "branch", label: expression.kind === "break" ? labels.exit : labels.again });
      return [];
    }
    case "expect":
      lowerExpect(frame, expression);
      return [];
    case "snapshot":
      lowerSnapshot(frame, expression);
      return [];
    case "panic":
      lowerPanic(frame, expression.message, expression.span);
      return [];
    default:
      return unreachable(expression);
  }
}

function numberOf(frame: Frame, type: Type): PrimitiveName {
  return primitiveOf(frame.type(type)) ?? "Int";
}

/** A value that two or more ways give: variables that each way sets. */
export function join(
  frame: Frame,
  layout: Layout,
  write: (give: (value: Value) => void) => void,
): Value {
  const locals = frame.locals("v", layout, true);
  write((value) => frame.setAll(locals, value));
  return frame.isReachable ? locals.map(get) : zeros(layout);
}

function lowerIf(frame: Frame, expression: Expression & { readonly kind: "if" }): Value {
  const { condition, otherwise } = expression;
  const layout = frame.layout(expression.type);
  if (condition.kind !== "and" && condition.kind !== "or") {
    const test = single(frame, condition);
    if (test.kind === "const") {
      // Decided already, as in what is lowered in place with known arguments.
      const chosen = test.value === 0 ? otherwise : expression.then;
      return chosen === null ? [] : lowerExpression(frame, chosen);
    }
    return join(frame, layout, (give) =>
      frame.if(
        test,
        () => give(lowerExpression(frame, expression.then)),
        () => {
          if (otherwise !== null) give(lowerExpression(frame, otherwise));
        },
      ));
  }
  return join(frame, layout, (give) =>
    frame.block("end", (end) => {
      frame.block("else", (fail) => {
        branchUnless(frame, condition, fail);
        give(lowerExpression(frame, expression.then));
        frame.emit({ kind: "branch", label: end });
      });
      if (otherwise !== null) give(lowerExpression(frame, otherwise));
    }));
}

/** Branches to the label unless the condition holds; the sides of `and` and `or` are only looked at when needed. */
export function branchUnless(frame: Frame, condition: Expression, label: Label): void {
  switch (condition.kind) {
    case "and":
      branchUnless(frame, condition.left, label);
      branchUnless(frame, condition.right, label);
      return;
    case "or":
      frame.block("holds", (holds) => {
        frame.block("next", (next) => {
          branchUnless(frame, condition.left, next);
          frame.emit({ kind: "branch", label: holds });
        });
        branchUnless(frame, condition.right, label);
      });
      return;
    default:
      frame.branchIf(fold(op("i32.eqz", single(frame, condition))), label);
  }
}

function lowerLogic(frame: Frame, expression: Expression & { readonly kind: "and" | "or" }): IrExpression {
  const left = single(frame, expression.left);
  const isAnd = expression.kind === "and";
  let right: IrExpression = i32(0);
  const { body, isReachable } = frame.collect(() => {
    right = single(frame, expression.right);
  });
  if (body.length === 0 && isReachable && isCheap(right)) {
    return fold(op(isAnd ? "i32.and" : "i32.or", left, right));
  }
  const result = frame.local("v", { type: "i32", pointer: null }, { isMutable: true });
  frame.set(result, i32(isAnd ? 0 : 1));
  const write = (): void => {
    for (const statement of body) frame.emit(statement);
    if (isReachable) frame.set(result, right);
  };
  frame.if(isAnd ? left : fold(op("i32.eqz", left)), write);
  return get(result);
}

function isCheap(value: IrExpression): boolean {
  switch (value.kind) {
    case "const":
    case "get":
      return true;
    case "op":
      return value.args.every((operand) =>
        operand.kind === "const" || operand.kind === "get" ||
        (operand.kind === "op" &&
          operand.args.every((inner) => inner.kind === "const" || inner.kind === "get"))
      );
    default:
      return false;
  }
}

function lowerArithmetic(
  frame: Frame,
  expression: Expression & { readonly kind: "arithmetic" },
): IrExpression {
  const type = primitiveOf(frame.type(expression.type));
  const [left, right] = frame.values([expression.left, expression.right]);
  const first = left?.[0] ?? i32(0);
  const second = right?.[0] ?? i32(0);
  if (type === null || type === "String" || type === "Bytes") {
    return joinBlocks(frame, frame.layout(expression.type), first, second);
  }
  return arithmetic(frame, expression.operator, type, first, second, expression.span);
}

/** `left + right` of texts or lists: appended in place when the left one is not needed any more. */
export function joinBlocks(
  frame: Frame,
  layout: Layout,
  left: IrExpression,
  right: IrExpression,
): IrExpression {
  const { shape } = layout;
  if (shape.kind !== "block") throw new Error(`Cannot join ${layout.name}: it is no list`);
  const target = frame.program.runtime.append(shape.element);
  return frame.helper(target, [owned(left), right], shape.cell);
}

function lowerCompare(frame: Frame, expression: Expression & { readonly kind: "compare" }): IrExpression {
  const type = frame.type(expression.left.type);
  const [left, right] = frame.values([expression.left, expression.right]);
  if (left === undefined || right === undefined) return i32(0);
  return compareTyped(frame, expression.operator, type, left, right);
}

/** A comparison of two values of a type. */
export function compareTyped(
  frame: Frame,
  operator: "==" | "!=" | "<" | "<=" | ">" | ">=",
  type: Type,
  left: Value,
  right: Value,
): IrExpression {
  const primitive = primitiveOf(type);
  if (primitive !== null && primitive !== "String" && primitive !== "Bytes" && primitive !== "Never") {
    return compareScalars(operator, primitive, left[0] ?? i32(0), right[0] ?? i32(0));
  }
  if (operator === "==") return equalValues(frame, type, left, right);
  if (operator === "!=") return fold(op("i32.eqz", equalValues(frame, type, left, right)));
  // Order is `Less`, `Equal`, `Greater`: 0, 1, 2.
  const order = compareValues(frame, type, left, right);
  switch (operator) {
    case "<":
      return op("i32.eq", order, i32(0));
    case "<=":
      return op("i32.ne", order, i32(2));
    case ">":
      return op("i32.eq", order, i32(2));
    case ">=":
      return op("i32.ne", order, i32(0));
  }
}

function lowerRecord(
  frame: Frame,
  type: Type,
  fields: readonly Expression[],
  order: readonly number[] | null,
): Value {
  return makeRecord(frame, frame.layout(type), inOrder(frame, fields, order));
}

/** Lowers fields in the order in which they were written. */
function inOrder(frame: Frame, fields: readonly Expression[], order: readonly number[] | null): Value[] {
  if (order === null) return frame.values(fields);
  const written: Expression[] = [];
  for (const index of order) {
    const field = fields[index];
    if (field !== undefined) written.push(field);
  }
  const values = frame.values(written);
  const byField: Value[] = fields.map(() => []);
  for (const [position, index] of order.entries()) byField[index] = values[position] ?? [];
  return byField;
}

/** A record of the values of its fields. */
function makeRecord(frame: Frame, layout: Layout, fields: readonly Value[]): Value {
  const { shape } = layout;
  if (shape.kind === "box") {
    const contents = shape.cell.contents;
    if (contents.kind !== "variants") throw new Error(`Cannot make ${layout.name}: it is no record`);
    const variant = contents.variants[0];
    if (variant === undefined) return zeros(layout);
    return [makeCell(frame, shape.cell, variant, false, fields)];
  }
  if (shape.kind !== "record") throw new Error(`Cannot make ${layout.name}: it is no record`);
  const values: IrExpression[] = [];
  for (const [index, field] of shape.fields.entries()) {
    const value = fields[index];
    for (const [slot, { type }] of field.layout.slots.entries()) values.push(value?.[slot] ?? zero(type));
  }
  return values;
}

function lowerUpdate(frame: Frame, expression: Expression & { readonly kind: "update" }): Value {
  const layout = frame.layout(expression.type);
  const parts = [expression.base, ...expression.fields.map((field) => field.value)];
  const [base, ...values] = frame.values(parts);
  const { shape } = layout;
  if (base === undefined) return zeros(layout);
  if (shape.kind === "record") {
    const result = [...base];
    for (const [position, { index }] of expression.fields.entries()) {
      const field = shape.fields[index];
      if (field === undefined) continue;
      for (let slot = 0; slot < field.layout.slots.length; slot++) {
        result[field.first + slot] = values[position]?.[slot] ?? i32(0);
      }
    }
    return result;
  }
  if (shape.kind !== "box") throw new Error(`Cannot update ${layout.name}: it is no record`);
  const pointer = frame.local("box", { type: "i32", pointer: shape.cell }, { isMutable: true });
  frame.set(pointer, base[0] ?? i32(0));
  frame.emit({ kind: "unique", local: pointer });
  const contents = shape.cell.contents;
  if (contents.kind === "variants") {
    for (const [position, { index }] of expression.fields.entries()) {
      const field = contents.variants[0]?.fields[index];
      const value = values[position];
      if (field === undefined || value === undefined) continue;
      writeMemory(frame, {
        kind: "memory",
        address: get(pointer),
        offset: field.offset,
        base: pointer,
        layout: field.layout,
      }, value);
    }
  }
  return [get(pointer)];
}

function lowerVariant(frame: Frame, expression: Expression & { readonly kind: "variant" }): Value {
  const layout = frame.layout(expression.type);
  const fields = inOrder(frame, expression.fields, expression.order);
  return makeVariant(frame, layout, expression.variant.index, fields);
}

/** A variant of the values of its fields. */
export function makeVariant(frame: Frame, layout: Layout, index: number, fields: readonly Value[]): Value {
  const { shape } = layout;
  if (shape.kind === "cell-union") {
    const contents = shape.cell.contents;
    if (contents.kind !== "variants") throw new Error(`Cannot make ${layout.name}: it is no union`);
    const variant = contents.variants[index];
    if (index === contents.nullVariant || variant === undefined) return [i32(0)];
    if (variant.fields.length === 0) {
      const pointer = frame.local("variant", { type: "i32", pointer: shape.cell });
      frame.set(pointer, i32(frame.program.statics.constantCell(variant.tag)));
      return [get(pointer)];
    }
    return [makeCell(frame, shape.cell, variant, true, fields)];
  }
  if (shape.kind !== "union") throw new Error(`Cannot make ${layout.name}: it is no union`);
  const result: IrExpression[] = [...zeros(layout)];
  if (shape.hasTag) result[0] = i32(index);
  for (const [position, field] of (shape.variants[index]?.fields ?? []).entries()) {
    const value = fields[position];
    for (const [part, slot] of field.slots.entries()) {
      result[slot] = value?.[part] ?? zero(layout.slots[slot]?.type ?? "i32");
    }
  }
  return result;
}

function lowerList(frame: Frame, expression: Expression & { readonly kind: "list" }): IrExpression {
  const { shape } = frame.layout(expression.type);
  if (shape.kind !== "block") throw new Error("Cannot lower a list: its type is none");
  if (expression.elements.length === 0) return i32(0);
  const values = frame.values(expression.elements);
  const fixed = frame.program.statics.constantList(shape.element, values);
  const pointer = frame.local("list", { type: "i32", pointer: shape.cell });
  if (fixed !== null) {
    frame.program.statics.note(pointer, fixed);
    frame.set(pointer, i32(fixed));
    return get(pointer);
  }
  const { element } = shape;
  const count = values.length;
  frame.set(pointer, frame.program.allocator.take(BLOCK_HEADER + count * element.size));
  const word = (offset: number, value: number): void =>
    frame.emit({ kind: "store", op: "i32.store", address: get(pointer), offset, value: i32(value) });
  word(0, 1);
  word(LENGTH_OFFSET, count);
  word(8, count);
  for (const [index, value] of values.entries()) {
    storeMemory(frame, {
      kind: "memory",
      address: get(pointer),
      offset: BLOCK_HEADER + index * element.size,
      base: pointer,
      layout: element,
    }, value);
  }
  return get(pointer);
}

/** Where the value of an expression lies, or the value. */
export function locate(frame: Frame, expression: Expression): Located {
  switch (expression.kind) {
    case "local":
      return locatedOf(frame.binding(expression.local));
    case "constant":
      return locateConstant(frame, expression.constant);
    case "field":
      return fieldOf(frame, locate(frame, expression.target), expression.index);
    case "element": {
      const target = locate(frame, expression.target);
      const list = listPointer(frame, target);
      const isKept = isStable(get(list.pointer)) || isQuiet(expression.index);
      const pointer = isKept ? get(list.pointer) : frame.temporary(get(list.pointer));
      const index = single(frame, expression.index);
      return elementOf(frame, {
        pointer,
        element: list.element,
        index,
        isInside: isKnownInside(frame, expression),
        span: expression.span,
      });
    }
    default:
      return {
        kind: "value",
        value: lowerExpression(frame, expression),
        layout: frame.layout(expression.type),
      };
  }
}

function listPointer(frame: Frame, target: Located): { readonly pointer: IrLocal; readonly element: Layout } {
  const { shape } = target.layout;
  if (shape.kind !== "block") throw new Error(`Cannot index ${target.layout.name}: it is no list`);
  return {
    pointer: pointerLocal(frame, read(frame, target)[0] ?? i32(0), shape.cell),
    element: shape.element,
  };
}

function isKnownInside(frame: Frame, expression: Expression & { readonly kind: "element" }): boolean {
  const { target, index } = expression;
  if (target.kind !== "local" || index.kind !== "local") return false;
  return frame.insides.get(target.local)?.has(index.local) === true;
}

/** Whether an `i32` is known not to be negative. */
export function isNatural(frame: Frame, value: IrExpression): boolean {
  return intervalOf(frame, value).low >= 0;
}
