/**
 * What is looked at when a whole module has been checked: names that nobody uses, and methods that interfaces need to
 * be without effects.
 */
import { EFFECTS } from "../types/type.ts";
import { causeOf } from "./effects.ts";
import { isReachable } from "./duplicates.ts";
import { isEntryPoint } from "./module_body.ts";
import type { ImportSymbol, ModuleScope } from "./symbols.ts";
import type { ModuleGraph } from "./module_graph.ts";

/** Methods that texts, comparisons and maps call must not do anything else. */
const DERIVED_METHODS: Readonly<Record<string, string>> = {
  equals: "Eq",
  compare: "Ord",
  hash: "Hash",
  show: "Show",
};

/** Reports methods that stand for a derived interface and use something. */
export function checkInterfaceEffects(graph: ModuleGraph, scope: ModuleScope): void {
  for (const symbol of scope.functions) {
    const name = symbol.isMethod ? DERIVED_METHODS[symbol.name] : undefined;
    if (name === undefined || symbol.effects.size === 0) continue;
    const wanted = graph.coreInterface(name)?.functions[0];
    if (wanted === undefined || wanted.parameters.length !== symbol.parameters.length) continue;
    const effect = EFFECTS.find((each) => symbol.effects.has(each));
    if (effect === undefined) continue;
    const cause = causeOf(symbol.sources, effect);
    scope.reporter.report(
      "EF0005",
      symbol.nameSpan,
      `\`${symbol.displayName}\` is the \`${name}\` of \`${
        symbol.owner ?? ""
      }\`, which cannot have effects, but it uses \`${effect}\`.`,
      {
        labels: cause === null
          ? []
          : [scope.reporter.label(cause.span, `\`${cause.through}\` uses \`${effect}\``)],
        hint: "Rename the function, or remove the effect.",
      },
    );
  }
}

/** Reports functions that do more than the interface that they were held to says. */
export function checkFittings(scope: ModuleScope): void {
  for (const { function: symbol, interface: wanted, span } of scope.fittings) {
    const allowed = wanted.functions.find((each) => each.name === symbol.name)?.effects ?? [];
    const effect = EFFECTS.find((each) => symbol.effects.has(each) && !allowed.includes(each));
    if (effect === undefined) continue;
    scope.reporter.report(
      "EF0008",
      span,
      `\`${symbol.displayName}\` uses \`${effect}\`, which \`${wanted.name}.${symbol.name}\` does not declare.`,
      {
        labels: [{ file: symbol.file, span: symbol.nameSpan, message: `uses \`${effect}\`` }],
        hint: `Write \`uses ${effect}\` in the interface, or remove the effect.`,
      },
    );
  }
  scope.fittings.length = 0;
}

/** Warns of imports and private declarations that nobody uses. */
export function reportUnusedDeclarations(graph: ModuleGraph, scope: ModuleScope): void {
  const { reporter } = scope;
  for (const through of scope.imports.values()) {
    if (!through.isUsed && through.scope !== null) reportUnusedImport(scope, through);
  }
  for (const symbol of scope.functions) {
    if (symbol.isUsed || symbol.isPublic || symbol.isBroken || symbol.name.startsWith("_")) continue;
    if (isEntryPoint(symbol) || !isReachable(scope, symbol) || DERIVED_METHODS[symbol.name] !== undefined) {
      continue;
    }
    if (symbol.owner !== null && isOfInterface(graph, scope, symbol.name)) continue;
    reporter.report("LI0006", symbol.nameSpan, `The function \`${symbol.displayName}\` is never used.`, {
      hint: "Export it with `pub`, or prefix the name with `_` if this is intended.",
    });
  }
  for (const symbol of scope.constants) {
    if (symbol.isUsed || symbol.isPublic || symbol.name.startsWith("_")) continue;
    reporter.report("LI0008", symbol.nameSpan, `The constant \`${symbol.displayName}\` is never used.`, {
      hint: "Export it with `pub`, or prefix the name with `_` if this is intended.",
    });
  }
}

/** Whether an interface that the module sees has a function of that name, through which it may be called. */
function isOfInterface(graph: ModuleGraph, scope: ModuleScope, name: string): boolean {
  const seen = [
    scope,
    ...graph.core,
    ...[...scope.imports.values()].flatMap((through) => through.scope ?? []),
  ];
  return seen.some((each) =>
    [...each.types.values()].some((entry) =>
      entry.kind === "interface" && entry.definition.functions.some((other) => other.name === name)
    )
  );
}

function reportUnusedImport(scope: ModuleScope, through: ImportSymbol): void {
  const { span } = through.declaration;
  const { text } = scope.file;
  const end = text[span.end] === "\n" ? span.end + 1 : span.end;
  scope.reporter.report("LI0002", span, `The imported module \`${through.path}\` is never used.`, {
    fixes: [scope.reporter.fix("remove the import", "safe", { start: span.start, end }, "")],
  });
}
