/**
 * Effects of functions: inferred over the calls inside a module until nothing changes, and held to what is written.
 *
 * Functions of other modules have the effects that they declare. A private function without `uses` has what it calls
 * has.
 */
import type { Span } from "../source/source_file.ts";
import { type Effect, EFFECTS } from "../types/type.ts";
import type { EffectSources, FunctionSymbol, ModuleScope } from "./symbols.ts";

/** Works out the effects of all functions of a module without `uses`, and reports where `uses` says something else. */
export function settleEffects(scope: ModuleScope, functions: readonly FunctionSymbol[]): void {
  const inferred = functions.filter((symbol) => symbol.declaredEffects === null);
  for (const symbol of inferred) symbol.effects = new Set(symbol.sources.direct.keys());
  for (let changed = true; changed;) {
    changed = false;
    for (const symbol of inferred) {
      const effects = effectsOf(symbol.sources);
      if (effects.size === symbol.effects.size) continue;
      symbol.effects = effects;
      changed = true;
    }
  }
  for (const symbol of functions) {
    if (symbol.declaredEffects !== null && symbol.declaration.linkage.kind === "body" && !symbol.isBroken) {
      checkDeclared(scope, symbol, symbol.declaredEffects);
    }
  }
}

/** The effects of what a body does and calls. */
export function effectsOf(sources: EffectSources): Set<Effect> {
  const effects = new Set(sources.direct.keys());
  for (const callee of sources.calls.keys()) for (const effect of callee.effects) effects.add(effect);
  return effects;
}

/** The place in a body that brings an effect in. */
export function causeOf(
  sources: EffectSources,
  effect: Effect,
): { readonly span: Span; readonly through: string } | null {
  const direct = sources.direct.get(effect);
  if (direct !== undefined) return direct;
  for (const [callee, span] of sources.calls) {
    if (callee.effects.has(effect)) return { span, through: callee.displayName };
  }
  return null;
}

function checkDeclared(scope: ModuleScope, symbol: FunctionSymbol, declared: readonly Effect[]): void {
  const { reporter } = scope;
  // A misspelt effect is told once: what it should have been is not missing as well.
  if (symbol.declaration.effects?.some((name) => !EFFECTS.some((each) => each === name.text))) return;
  const actual = effectsOf(symbol.sources);
  const missing = EFFECTS.filter((effect) => actual.has(effect) && !declared.includes(effect));
  const { declaration } = symbol;
  if (missing.length > 0) {
    const names = missing.map((effect) => `\`${effect}\``).join(" and ");
    const causes = missing.flatMap((effect) => {
      const cause = causeOf(symbol.sources, effect);
      return cause === null ? [] : [reporter.label(cause.span, `\`${cause.through}\` uses \`${effect}\``)];
    });
    reporter.report(
      "EF0001",
      declaration.name.span,
      `\`${symbol.displayName}\` uses ${names}, which its signature does not say.`,
      {
        labels: causes,
        hint: declaration.effects === null && declaration.isPublic
          ? "A `pub fn` must declare its effects, so that its callers see them."
          : undefined,
        fixes: [addEffects(scope, symbol, missing)],
      },
    );
  }
  if (symbol.isBroken || scope.isLibrary && declaration.effects === null) return;
  const written = declaration.effects ?? [];
  for (const [index, name] of written.entries()) {
    const effect = EFFECTS.find((each) => each === name.text);
    if (effect === undefined || actual.has(effect)) continue;
    const start = index === 0
      ? usesStart(scope, symbol, name.span)
      : written[index - 1]?.span.end ?? name.span.start;
    const next = written[1];
    const span = index > 0
      ? { start, end: name.span.end }
      : next === undefined
      ? { start, end: name.span.end }
      : { start: name.span.start, end: next.span.start };
    reporter.report(
      "EF0003",
      name.span,
      `\`${symbol.displayName}\` declares the effect \`${effect}\`, but does not use it.`,
      {
        fixes: [
          reporter.fix(written.length === 1 ? "remove `uses`" : `remove \`${effect}\``, "safe", span, ""),
        ],
      },
    );
  }
}

/** Where ` uses` begins, with the space before it. */
function usesStart(scope: ModuleScope, symbol: FunctionSymbol, first: Span): number {
  const { text } = scope.file;
  const at = text.lastIndexOf("uses", first.start);
  if (at < symbol.declaration.span.start) return first.start;
  let start = at;
  while (start > 0 && /\s/.test(text[start - 1] ?? "")) start--;
  return start;
}

function addEffects(scope: ModuleScope, symbol: FunctionSymbol, missing: readonly Effect[]) {
  const { reporter } = scope;
  const { declaration } = symbol;
  const last = declaration.effects?.at(-1);
  const title = `add ${missing.map((effect) => `\`${effect}\``).join(" and ")}`;
  if (last !== undefined) {
    return reporter.insert(
      title,
      "safe",
      last.span.end,
      missing.map((each) => `, ${each}`).join(""),
    );
  }
  const end = signatureEnd(scope, symbol);
  return reporter.insert(title, "safe", end, ` uses ${missing.join(", ")}`);
}

/** The offset behind a function's result or parameters. */
function signatureEnd(scope: ModuleScope, symbol: FunctionSymbol): number {
  const { declaration } = symbol;
  if (declaration.effects !== null) {
    const last = declaration.effects.at(-1);
    if (last !== undefined) return last.span.end;
  }
  if (declaration.result !== null) return declaration.result.span.end;
  const { text } = scope.file;
  const limit = declaration.body?.span.start ?? declaration.span.end;
  const close = text.lastIndexOf(")", limit);
  return close < 0 ? limit : close + 1;
}

/** The offset at which a result may be written: behind the parameters, before `uses`. */
export function resultOffset(scope: ModuleScope, symbol: FunctionSymbol): number {
  const first = symbol.declaration.effects?.[0];
  return first === undefined ? signatureEnd(scope, symbol) : usesStart(scope, symbol, first.span);
}
