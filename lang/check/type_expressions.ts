/**
 * Turns types as written into types: finds names, puts arguments into aliases, counts type arguments.
 */
import type * as ast from "../syntax/ast.ts";
import { ERROR_TYPE, UNIT } from "../types/primitives.ts";
import type { InterfaceDefinition, Type, TypeParameter } from "../types/type.ts";
import { substitute } from "../types/unification.ts";
import { nearest } from "../../engine/base/suggest.ts";
import { resolveAlias } from "./declare.ts";
import { publishFix, unimportedHome } from "./suggestions.ts";
import type { Candidate, ModuleGraph } from "./module_graph.ts";
import type { ModuleScope, TypeEntry } from "./symbols.ts";

/** Where types are written: the module and the type parameters in scope. */
export interface TypeContext {
  readonly graph: ModuleGraph;
  readonly scope: ModuleScope;
  readonly typeParameters: readonly TypeParameter[];
}

/** The type that was written; the error type, after a report, when there is none. */
export function typeOf(context: TypeContext, expression: ast.TypeExpression): Type {
  switch (expression.kind) {
    case "tuple-type":
      if (expression.elements.length === 0) return UNIT;
      return { kind: "tuple", elements: expression.elements.map((element) => typeOf(context, element)) };
    case "function-type":
      return {
        kind: "function",
        parameters: expression.parameters.map((parameter) => ({
          isInout: parameter.isInout,
          type: typeOf(context, parameter.type),
        })),
        result: expression.result === null ? UNIT : typeOf(context, expression.result),
      };
    case "named-type":
      return namedType(context, expression);
  }
}

function namedType(context: TypeContext, expression: ast.NamedTypeExpression): Type {
  const { name } = expression;
  if (expression.module === null) {
    const parameter = context.typeParameters.find((each) => each.name === name.text);
    if (parameter !== undefined) {
      if (expression.arguments.length > 0) {
        context.scope.reporter.report(
          "TY0014",
          expression.span,
          `\`${name.text}\` is a type parameter and takes no type arguments.`,
        );
        return ERROR_TYPE;
      }
      return { kind: "parameter", parameter };
    }
  }
  const entry = typeEntry(context, expression.module, name);
  if (entry === null) {
    for (const argument of expression.arguments) typeOf(context, argument);
    return ERROR_TYPE;
  }
  switch (entry.kind) {
    case "broken":
      return ERROR_TYPE;
    case "interface":
      context.scope.reporter.report(
        "TY0036",
        expression.span,
        `\`${name.text}\` is an interface, not a type.`,
        { hint: `Use it as the bound of a type parameter: \`fn f[T: ${name.text}](value: T)\`.` },
      );
      return ERROR_TYPE;
    case "primitive":
      return hasArguments(context, expression, 0) ? entry.type : ERROR_TYPE;
    case "alias": {
      resolveAlias(context.graph, entry.scope, entry.alias);
      const count = entry.alias.typeParameters.length;
      if (!hasArguments(context, expression, count)) return ERROR_TYPE;
      const types = expression.arguments.map((argument) => typeOf(context, argument));
      return substitute(entry.alias.type, entry.alias.typeParameters, types);
    }
    case "definition": {
      const count = entry.definition.typeParameters.length;
      if (!hasArguments(context, expression, count)) return ERROR_TYPE;
      const types = expression.arguments.map((argument) => typeOf(context, argument));
      return { kind: "named", definition: entry.definition, arguments: types };
    }
  }
}

function hasArguments(context: TypeContext, expression: ast.NamedTypeExpression, expected: number): boolean {
  const actual = expression.arguments.length;
  if (actual === expected) return true;
  const { reporter } = context.scope;
  const name = expression.name.text;
  const count = (n: number) => (n === 1 ? "one type" : n === 0 ? "no types" : `${n} types`);
  const fixes = expected === 0
    ? [
      reporter.fix("remove the type arguments", "safe", {
        start: expression.name.span.end,
        end: expression.span.end,
      }, ""),
    ]
    : [];
  reporter.report(
    "TY0014",
    expression.span,
    `\`${name}\` takes ${count(expected)}, but ${count(actual)} given.`,
    {
      fixes,
      hint: expected === 0 ? undefined : `Write \`${name}[${Array(expected).fill("…").join(", ")}]\`.`,
    },
  );
  for (const argument of expression.arguments) typeOf(context, argument);
  return false;
}

/** What a capitalized name, perhaps of a module, stands for; null after a report. */
function typeEntry(context: TypeContext, module: ast.Name | null, name: ast.Name): TypeEntry | null {
  const { scope, graph } = context;
  if (module !== null) return qualifiedType(context, module, name);
  const candidates = graph.typesNamed(scope, name.text);
  if (candidates.length > 1) {
    reportAmbiguous(scope, name, candidates);
    return null;
  }
  const candidate = candidates[0];
  if (candidate === undefined) {
    if (!scope.hasNameless && !scope.brokenNames.has(name.text)) reportUnknownType(context, name);
    return null;
  }
  if (candidate.through !== null) candidate.through.isUsed = true;
  return candidate.item;
}

function qualifiedType(context: TypeContext, module: ast.Name, name: ast.Name): TypeEntry | null {
  const { reporter, imports } = context.scope;
  const through = imports.get(module.text);
  if (through === undefined) {
    const names = nearest(module.text, imports.keys());
    reporter.report("NM0001", module.span, `Cannot find \`${module.text}\` in this scope.`, {
      hint: "Import the module with `use`.",
      fixes: names.map((other) => reporter.fix(`use \`${other}\``, "maybe", module.span, other)),
    });
    return null;
  }
  through.isUsed = true;
  if (through.scope === null) return null;
  const entry = through.scope.types.get(name.text);
  if (entry === undefined) {
    if (through.scope.hasNameless || through.scope.brokenNames.has(name.text)) return null;
    const names = nearest(
      name.text,
      [...through.scope.types].filter(([, each]) => each.isPublic).map(([key]) => key),
    );
    reporter.report("NM0006", name.span, `The module \`${through.path}\` has no type \`${name.text}\`.`, {
      fixes: names.map((other) => reporter.fix(`use \`${other}\``, "maybe", name.span, other)),
    });
    return null;
  }
  if (!entry.isPublic) {
    reporter.report("NM0007", name.span, `\`${name.text}\` is private to the module \`${through.path}\`.`, {
      labels: [{ file: entry.scope.file, span: entry.span, message: "declared here, without `pub`" }],
      fixes: publishFix(entry.scope.file, entry.span, entry.scope.isLibrary),
    });
  }
  return entry;
}

function reportAmbiguous(
  scope: ModuleScope,
  name: ast.Name,
  candidates: readonly Candidate<TypeEntry>[],
): void {
  const { reporter } = scope;
  for (const { through } of candidates) if (through !== null) through.isUsed = true;
  const homes = candidates.map(({ item }) => `\`${item.scope.name}\``).join(" and ");
  reporter.report("NM0012", name.span, `\`${name.text}\` is ambiguous: it may be the type of ${homes}.`, {
    labels: candidates.map(({ item }) => ({
      file: item.scope.file,
      span: item.span,
      message: "one is declared here",
    })),
    fixes: candidates.flatMap(({ through }) =>
      through === null ? [] : [
        reporter.fix(
          `use \`${through.alias}.${name.text}\``,
          "maybe",
          name.span,
          `${through.alias}.${name.text}`,
        ),
      ]
    ),
  });
}

/** Spellings of other languages, and what they are called here. */
const foreignTypes: Readonly<Record<string, string>> = {
  Boolean: "Bool",
  Integer: "Int",
  I32: "Int",
  I64: "Int64",
  Long: "Int64",
  Double: "Float",
  Number: "Float",
  F64: "Float",
  Str: "String",
  Text: "String",
  Character: "Char",
  Array: "List",
  Vec: "List",
  Vector: "List",
  Dict: "Map",
  HashMap: "Map",
  HashSet: "Set",
  Maybe: "Option",
  Optional: "Option",
};

function reportUnknownType(context: TypeContext, name: ast.Name): void {
  const { scope, graph } = context;
  const { reporter } = scope;
  const names = new Set<string>(context.typeParameters.map((parameter) => parameter.name));
  for (const key of scope.types.keys()) names.add(key);
  for (const through of scope.imports.values()) {
    for (const [key, entry] of through.scope?.types ?? []) if (entry.isPublic) names.add(key);
  }
  for (const core of graph.core) for (const [key, entry] of core.types) if (entry.isPublic) names.add(key);
  const foreign = foreignTypes[name.text];
  const suggestions = foreign !== undefined ? [foreign] : nearest(name.text, names);
  const home = foreign === undefined ? unimportedHome(graph, scope, name, ["type"]) : [];
  const variants = graph.variantsNamed(scope, name.text);
  const variant = variants[0]?.item;
  reporter.report("NM0002", name.span, `Cannot find the type \`${name.text}\` in this scope.`, {
    hint: variant !== undefined
      ? `\`${name.text}\` is a variant of \`${variant.definition.name}\`, not a type.`
      : name.text === "Void" || name.text === "Unit"
      ? "The type of an expression without a value is `()`; it can be left out."
      : /^[A-Z]$/.test(name.text)
      ? `A type parameter is declared after the name: \`fn first[${name.text}](…)\`, \`type Pair[${name.text}] = …\`.`
      : undefined,
    fixes: [
      ...(variant === undefined ? [] : [
        reporter.fix(`write \`${variant.definition.name}\``, "maybe", name.span, variant.definition.name),
      ]),
      ...home,
      ...suggestions.map((other) => reporter.fix(`write \`${other}\``, "maybe", name.span, other)),
    ],
  });
}

/** The interface that a bound names; null after a report. */
export function boundOf(
  context: TypeContext,
  expression: ast.NamedTypeExpression,
): InterfaceDefinition | null {
  const entry = typeEntry(context, expression.module, expression.name);
  if (entry === null || entry.kind === "broken") return null;
  if (entry.kind === "interface") {
    if (expression.arguments.length > 0) hasArguments(context, expression, 0);
    return entry.definition;
  }
  context.scope.reporter.report(
    "NM0016",
    expression.span,
    `\`${expression.name.text}\` is a type, but a bound must be an interface, such as \`Eq\`, \`Ord\`, \`Hash\` or \`Show\`.`,
  );
  return null;
}
