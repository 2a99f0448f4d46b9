/**
 * Texts: constants in the module's data, and interpolation into one buffer.
 *
 * In a text, a `String` or `Char` stands as it is, everything else as its `show` gives it.
 */
import type { Expression } from "../../typed/tree.ts";
import type { Type } from "../../types/type.ts";
import { get, i32, type IrExpression } from "../node.ts";
import { showValue } from "./derived.ts";
import { primitiveOf } from "./memory.ts";
import { type Frame, owned, type Value } from "./frame.ts";

const TEXT: Type = { kind: "primitive", name: "String" };

/** A text that is known now. */
export function textConstant(frame: Frame, text: string): IrExpression {
  if (text === "") return i32(0);
  const local = frame.local("text", textSlot(frame));
  const address = frame.program.statics.text(text);
  frame.program.statics.note(local, address);
  frame.set(local, i32(address));
  return get(local);
}

function textSlot(frame: Frame) {
  const [slot] = frame.layout(TEXT).slots;
  if (slot === undefined) throw new Error("Cannot lower a text: its type has no slot");
  return slot;
}

/** A text with values in it. */
export function lowerInterpolation(frame: Frame, parts: readonly (string | Expression)[]): IrExpression {
  const expressions = parts.flatMap((part) => typeof part === "string" ? [] : [part]);
  const values = frame.values(expressions);
  let position = 0;
  const shown = parts.flatMap(
    (part): { text: string } | { type: Type; value: Value }[] | { type: Type; value: Value } => {
      if (typeof part === "string") return part === "" ? [] : { text: part };
      return { type: frame.type(part.type), value: values[position++] ?? [] };
    },
  );
  const texts = shown.map((part) =>
    "text" in part ? textConstant(frame, part.text) : asText(frame, part.type, part.value)
  );
  return joinTexts(frame, texts);
}

/** The text that stands for a value in a text. */
function asText(frame: Frame, type: Type, value: Value): IrExpression {
  const primitive = primitiveOf(type);
  if (primitive === "String") return value[0] ?? i32(0);
  if (primitive === "Char") {
    return frame.helper(frame.program.runtime.charText(), [value[0] ?? i32(0)], textSlot(frame).pointer);
  }
  return showValue(frame, type, value);
}

/** Texts one behind the other. */
export function joinTexts(frame: Frame, texts: readonly IrExpression[]): IrExpression {
  const [first, ...rest] = texts;
  if (first === undefined) return i32(0);
  const { pointer } = textSlot(frame);
  const append = frame.program.runtime.append(frame.program.byteLayout);
  let whole = first;
  for (const part of rest) whole = frame.helper(append, [owned(whole), part], pointer);
  return whole;
}

/** The value of an expression as it stands in a text. */
export function lowerAsText(frame: Frame, expression: Expression): IrExpression {
  return asText(frame, frame.type(expression.type), frame.lower(expression));
}
