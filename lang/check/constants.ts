/**
 * Constants: made of literals, constructors, other constants and functions without effects, and never of themselves.
 */
import type { Span } from "../source/source_file.ts";
import type { Expression } from "../typed/tree.ts";
import type { ConstantSymbol, FunctionSymbol, ModuleScope } from "./symbols.ts";
import { causeOf, effectsOf } from "./effects.ts";
import { visitExpressions } from "./typed_walk.ts";

/** Checks the values of a module's constants, when bodies and effects are known. */
export function checkConstants(scope: ModuleScope): void {
  for (const symbol of scope.constants) {
    checkForm(scope, symbol, symbol.value);
    checkPurity(scope, symbol);
    const cycle = findCycle(symbol);
    if (cycle !== null) reportCycle(scope, symbol, cycle);
  }
}

function checkForm(scope: ModuleScope, symbol: ConstantSymbol, value: Expression): void {
  visitExpressions(value, (expression) => {
    if (expression.kind !== "expect" && expression.kind !== "snapshot") return true;
    scope.reporter.report(
      "TY0041",
      expression.span,
      `The constant \`${symbol.displayName}\` is evaluated at compile time, so it cannot contain an expectation.`,
    );
    return false;
  });
}

function checkPurity(scope: ModuleScope, symbol: ConstantSymbol): void {
  for (const effect of effectsOf(symbol.sources)) {
    const cause = causeOf(symbol.sources, effect);
    if (cause === null) continue;
    scope.reporter.report(
      "EF0004",
      cause.span,
      `A constant cannot have effects, but \`${cause.through}\` uses \`${effect}\`.`,
      { hint: "Use a function instead of a constant." },
    );
  }
}

interface Step {
  readonly name: string;
  readonly span: Span;
  readonly scope: ModuleScope;
}

/** The way from a constant back to itself, through constants and functions of its module; null when there is none. */
function findCycle(start: ConstantSymbol): readonly Step[] | null {
  const seen = new Set<ConstantSymbol | FunctionSymbol>();
  const walk = (symbol: ConstantSymbol | FunctionSymbol): Step[] | null => {
    const uses: [ConstantSymbol | FunctionSymbol, Span][] = [
      ...symbol.sources.constants,
      ...symbol.sources.functions,
    ];
    for (const [next, span] of uses) {
      const step = { name: next.displayName, span, scope: symbol.scope };
      if (next === start) return [step];
      if (seen.has(next) || next.scope !== start.scope) continue;
      seen.add(next);
      const rest = walk(next);
      if (rest !== null) return [step, ...rest];
    }
    return null;
  };
  return walk(start);
}

function reportCycle(scope: ModuleScope, symbol: ConstantSymbol, cycle: readonly Step[]): void {
  // Each circle is told once, at its first constant.
  const members = new Set(cycle.map((step) => step.name));
  const first = scope.constants.find((each) => members.has(each.displayName));
  if (first !== symbol) return;
  const way = [symbol.displayName, ...cycle.map((step) => step.name)].map((name) => `\`${name}\``).join(
    " → ",
  );
  scope.reporter.report(
    "TY0032",
    symbol.declaration.name.span,
    `The constant \`${symbol.displayName}\` depends on itself: ${way}.`,
    {
      labels: cycle.map((step) => scope.reporter.label(step.span, `\`${step.name}\` is used here`)),
    },
  );
}
