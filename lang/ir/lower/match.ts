/**
 * `match` and `?`.
 *
 * Arms are tried in turn; the last one is taken without a test, because the match is exhaustive. Where each variant
 * of a union has arms of its own, the tag chooses between them at once.
 */
import type { Expression, MatchArm } from "../../typed/tree.ts";
import type { Type } from "../../types/type.ts";
import { resolve } from "../../types/primitives.ts";
import { i32, type Label } from "../node.ts";
import { branchUnless, join, locate, makeVariant } from "./expression.ts";
import { type Located, read } from "./memory.ts";
import { type Frame, type Value, zeros } from "./frame.ts";
import { bindPattern, tagOf, tagTest, testPattern, variantField } from "./pattern.ts";

/** Fewer variants are told apart by comparisons. */
const SWITCH_VARIANTS = 4;

/** The value of a match. */
export function lowerMatch(frame: Frame, expression: Expression & { readonly kind: "match" }): Value {
  const subject = stableSubject(frame, expression.subject);
  const layout = frame.layout(expression.type);
  return join(frame, layout, (give) => {
    const groups = groupByVariant(subject, expression.arms);
    if (groups === null) {
      lowerArms(frame, subject, expression.arms, give);
      return;
    }
    frame.switch(tagOf(frame, subject), groups.map((arms) => () => lowerArms(frame, subject, arms, give)));
  });
}

/** The subject in a form that the arms cannot change. */
function stableSubject(frame: Frame, expression: Expression): Located {
  const located = locate(frame, expression);
  const { layout } = located;
  return { kind: "value", value: frame.stableValue(read(frame, located), layout), layout };
}

function lowerArms(
  frame: Frame,
  subject: Located,
  arms: readonly MatchArm[],
  give: (value: Value) => void,
): void {
  frame.block("matched", (matched) => {
    for (const [index, arm] of arms.entries()) {
      const isLast = index === arms.length - 1;
      if (isLast) {
        lowerArm(frame, subject, arm, { fail: null, matched: null, give });
      } else {
        frame.block("next", (fail) => lowerArm(frame, subject, arm, { fail, matched, give }));
      }
    }
  });
}

function lowerArm(frame: Frame, subject: Located, arm: MatchArm, ways: {
  readonly fail: Label | null;
  readonly matched: Label | null;
  readonly give: (value: Value) => void;
}): void {
  const { fail, matched, give } = ways;
  if (fail !== null) testPattern(frame, arm.pattern, subject, fail);
  bindPattern(frame, arm.pattern, subject);
  if (arm.guard !== null && fail !== null) {
    branchUnless(frame, arm.guard, fail);
  }
  give(frame.lower(arm.body));
  if (matched !== null) frame.emit({ kind: "branch", label: matched });
}

/** The arms for each tag, the last list for tags that no arm names; null when an arm would have to be written twice. */
function groupByVariant(subject: Located, arms: readonly MatchArm[]): MatchArm[][] | null {
  const { shape } = subject.layout;
  let tags: readonly number[];
  if (shape.kind === "union" && shape.hasTag) tags = shape.variants.map((variant) => variant.tag);
  else if (shape.kind === "cell-union" && shape.cell.contents.kind === "variants") {
    tags = shape.cell.contents.variants.map((variant) => variant.tag);
  } else return null;
  if (tags.length < SWITCH_VARIANTS) return null;
  const groups: MatchArm[][] = tags.map(() => []);
  const named = new Set<number>();
  let hasRest = false;
  for (const arm of arms) {
    if (hasRest) return null;
    if (arm.pattern.kind === "variant") {
      const tag = tags[arm.pattern.variant.index];
      if (tag === undefined) return null;
      groups[tag]?.push(arm);
      named.add(tag);
    } else if (arm.pattern.kind === "wildcard" || arm.pattern.kind === "binding") {
      // It may follow only arms that surely fit, or it would be needed behind them as well.
      if (arm.guard !== null) return null;
      hasRest = true;
      const rest = tags.filter((tag) => !named.has(tag));
      if (rest.length === 0) return null;
      if (![...named].every((tag) => fitsSurely(groups[tag] ?? []))) return null;
      // `switch` takes the last case for everything else, so the rest is moved there.
      const highest = Math.max(...named, -1) + 1;
      if (rest.some((tag) => tag < highest) && rest.length > 1) return null;
      if (rest.length === 1 && rest[0] !== undefined) groups[rest[0]]?.push(arm);
      else {
        groups.length = highest;
        groups.push([arm]);
      }
    } else return null;
  }
  if (!hasRest && groups.some((group) => group.length === 0)) return null;
  return groups;
}

function fitsSurely(arms: readonly MatchArm[]): boolean {
  const last = arms[arms.length - 1];
  return last !== undefined && last.guard === null && last.pattern.kind === "variant" &&
    last.pattern.fields.every((field) => field.kind === "wildcard" || field.kind === "binding");
}

/** `e?`: the value inside, or leaves with what stands in the way. */
export function lowerPropagate(frame: Frame, expression: Expression & { readonly kind: "propagate" }): Value {
  const subject = stableSubject(frame, expression.target);
  const good = goodVariant(frame.type(expression.target.type));
  const bad = 1 - good;
  const test = tagTest(frame, subject, bad) ?? i32(0);
  frame.if(test, () => {
    const returns = frame.type(expression.returns);
    const layout = frame.layout(returns);
    const at = resolve(returns);
    const error = at.kind === "named" && at.definition.name === "Result"
      ? [read(frame, variantField(frame, subject, bad, 0))]
      : [];
    frame.return(makeVariant(frame, layout, 1 - goodVariant(returns), error));
  });
  if (!frame.isReachable) return zeros(frame.layout(expression.type));
  return read(frame, variantField(frame, subject, good, 0));
}

/** Index of `Some` or `Ok`. */
function goodVariant(type: Type): number {
  const at = resolve(type);
  if (at.kind !== "named" || at.definition.body.kind !== "union") {
    throw new Error("Cannot lower `?`: its type is neither Option nor Result");
  }
  return Math.max(
    0,
    at.definition.body.variants.findIndex((variant) => variant.name === "Some" || variant.name === "Ok"),
  );
}
