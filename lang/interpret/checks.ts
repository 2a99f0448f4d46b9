/**
 * `expect` and `expect_snapshot`: what is told when they fail.
 */
import type { Expression } from "../typed/tree.ts";
import type { Code } from "./frame.ts";
import type { FunctionCompiler } from "./function_compiler.ts";
import { ExpectationTrap } from "./trap.ts";
import { booleanOf, decodeText, UNIT_VALUE } from "./value.ts";

/** Makes an `expect`. */
export function expectCode(node: Extract<Expression, { kind: "expect" }>, compiler: FunctionCompiler): Code {
  const site = compiler.siteOf(node);
  const { condition, source } = node;
  if (condition.kind === "compare") {
    const left = compiler.expression(condition.left, true);
    const right = compiler.expression(condition.right, false);
    const holds = compiler.comparison(condition);
    return (frame) => {
      const leftValue = left(frame);
      const rightValue = right(frame);
      if (holds(leftValue, rightValue)) return UNIT_VALUE;
      const show = compiler.machine.structure.show(compiler.typeOf(condition.left.type));
      throw new ExpectationTrap(site, `expect(${source}) does not hold`, {
        left: decodeText(show(leftValue)),
        operator: condition.operator,
        right: decodeText(show(rightValue)),
      });
    };
  }
  const code = compiler.expression(condition, false);
  return (frame) => {
    if (booleanOf(code(frame))) return UNIT_VALUE;
    throw new ExpectationTrap(site, `expect(${source}) does not hold`, null);
  };
}

/** Makes an `expect_snapshot`. */
export function snapshotCode(
  node: Extract<Expression, { kind: "snapshot" }>,
  compiler: FunctionCompiler,
): Code {
  const site = compiler.siteOf(node);
  const value = compiler.expression(node.value, false);
  const display = compiler.machine.structure.display(compiler.typeOf(node.value.type));
  return (frame) => {
    const actual = decodeText(display(value(frame)));
    if (actual === node.expected) return UNIT_VALUE;
    throw new ExpectationTrap(
      site,
      "the snapshot differs",
      { left: actual, operator: "==", right: node.expected },
      node.expectedSpan,
    );
  };
}
