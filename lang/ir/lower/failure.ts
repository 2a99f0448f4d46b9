/**
 * `panic`, `expect` and `expect_snapshot`: what they say is put into globals before the trap.
 *
 * `trap_text` holds the text of a panic, or the left side of a comparison that does not hold; `trap_other` the right
 * side, or the snapshot.
 */
import type { Span } from "../../source/source_file.ts";
import type { Expression } from "../../typed/tree.ts";
import { resolve } from "../../types/primitives.ts";
import { type IrExpression, op } from "../node.ts";
import { fold } from "../fold.ts";
import { equalValues, showValue } from "./derived.ts";
import { compareTyped } from "./expression.ts";
import { single } from "./memory.ts";
import { type Frame, owned } from "./frame.ts";
import { lowerAsText, textConstant } from "./text.ts";

/** Ends the program with a text. */
export function lowerPanic(frame: Frame, message: Expression, span: Span): void {
  const text = single(frame, message);
  tell(frame, "text", text);
  frame.emit({ kind: "trap", site: frame.site("panic", span) });
}

function tell(frame: Frame, which: "text" | "other", text: IrExpression): void {
  // The count is handed to the global and never given back: the program ends.
  frame.emit({ kind: "set-global", global: frame.program.trapText(which), value: owned(text) });
}

/** `expect(condition)`. */
export function lowerExpect(frame: Frame, expression: Expression & { readonly kind: "expect" }): void {
  const { condition, span } = expression;
  if (condition.kind !== "compare") {
    frame.check(fold(op("i32.eqz", single(frame, condition))), "expect", span);
    return;
  }
  const type = frame.type(condition.left.type);
  const layout = frame.layout(type);
  const values = frame.values([condition.left, condition.right]);
  const [left, right] = values.map((value) => frame.stableValue(value, layout));
  if (left === undefined || right === undefined) return;
  const holds = compareTyped(frame, condition.operator, type, left, right);
  frame.if(fold(op("i32.eqz", holds)), () => {
    if (resolve(type).kind !== "function") {
      tell(frame, "text", showValue(frame, type, left));
      tell(frame, "other", showValue(frame, type, right));
    }
    frame.emit({ kind: "trap", site: frame.site("expect", span) });
  });
}

/** `expect_snapshot(value, "…")`. */
export function lowerSnapshot(frame: Frame, expression: Expression & { readonly kind: "snapshot" }): void {
  const text = frame.stable(lowerAsText(frame, expression.value));
  const expected = textConstant(frame, expression.expected);
  const same = equalValues(frame, { kind: "primitive", name: "String" }, [text], [expected]);
  frame.if(fold(op("i32.eqz", same)), () => {
    tell(frame, "text", text);
    tell(frame, "other", expected);
    frame.emit({ kind: "trap", site: frame.site("expect", expression.span) });
  });
}
