/**
 * `expect` and `expect_snapshot`: what is told when they fail.
 */
import type { Span } from "../source/source_file.ts";
import type { Expression } from "../typed/tree.ts";
import type { Code } from "./frame.ts";
import type { FunctionCompiler } from "./function_compiler.ts";
import { ProgramTrap, type Site } from "./trap.ts";
import { booleanOf, decodeText, UNIT_VALUE } from "./value.ts";

/** An `expect` or `expect_snapshot` that does not hold. */
export class ExpectationTrap extends ProgramTrap {
  /** The two sides of a comparison as texts; of a snapshot what is there and what was written. */
  readonly sides: { readonly left: string; readonly operator: string; readonly right: string } | null;
  /** Where the text of the snapshot stands, for `--update`. */
  readonly snapshotSpan: Span | null;

  constructor(
    site: Site,
    message: string,
    sides: ExpectationTrap["sides"],
    snapshotSpan: Span | null = null,
  ) {
    super("expect", site, message);
    this.name = "ExpectationTrap";
    this.sides = sides;
    this.snapshotSpan = snapshotSpan;
  }
}

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
