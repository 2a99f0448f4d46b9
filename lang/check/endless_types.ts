/**
 * Generic functions and types that need themselves for ever larger types: compiled once for each type, they would
 * never be done.
 *
 * The graph has an arrow from each type parameter to those that types with it are put in for; an arrow grows when the
 * parameter is only a part of that type. A circle with an arrow that grows has no end, every other is finite (the
 * rule of ECMA-335, II.9.2). Modules import one another without circles, so looking at one module is enough. What
 * grows by way of an interface is told by the back end (`lang/ir/layout.ts`).
 */
import type { Span } from "../source/source_file.ts";
import { resolve } from "../types/primitives.ts";
import type { Type, TypeDefinition, TypeParameter } from "../types/type.ts";
import { typeText } from "../types/type_text.ts";
import type { FunctionSymbol, ModuleScope } from "./symbols.ts";
import { visitExpressions } from "./typed_walk.ts";
import type { ModuleGraph } from "./module_graph.ts";

/** A type that is put in for a type parameter, and a parameter in it. */
interface Arrow {
  readonly from: TypeParameter;
  readonly to: TypeParameter;
  readonly isGrowing: boolean;
  readonly span: Span;
  /** What is wrong when the arrow is one of a circle. */
  readonly message: string;
  readonly hint: string;
}

/** Reports the generic types of a module that would never end; nothing looks into them from then on. */
export function checkEndlessTypes(graph: ModuleGraph, scope: ModuleScope): void {
  const arrows: Arrow[] = [];
  const definitions = [...scope.types.values()].flatMap((entry) =>
    entry.kind === "definition" && entry.definition.typeParameters.length > 0 ? [entry.definition] : []
  );
  for (const definition of definitions) addParts(arrows, definition);
  const endless = reportCircles(scope, arrows);
  for (const definition of definitions) {
    if (definition.typeParameters.some((each) => endless.has(each))) graph.endlessTypes.add(definition);
  }
}

/** Reports the generic functions of a module that would never end. */
export function checkEndlessFunctions(scope: ModuleScope): void {
  const arrows: Arrow[] = [];
  for (const symbol of scope.functions) if (symbol.typeParameters.length > 0) addCalls(arrows, symbol);
  reportCircles(scope, arrows);
}

/** Tells each circle that grows once; gives the type parameters of them all. */
function reportCircles(scope: ModuleScope, arrows: readonly Arrow[]): ReadonlySet<TypeParameter> {
  const told = new Set<TypeParameter>();
  if (!arrows.some((arrow) => arrow.isGrowing)) return told;
  const next = new Map<TypeParameter, Set<TypeParameter>>();
  for (const { from, to } of arrows) {
    const known = next.get(from);
    if (known === undefined) next.set(from, new Set([to]));
    else known.add(to);
  }
  for (const arrow of arrows.toSorted((left, right) => left.span.start - right.span.start)) {
    if (!arrow.isGrowing || told.has(arrow.from)) continue;
    const reached = reachedFrom(arrow.to, next);
    if (!reached.has(arrow.from)) continue;
    for (const parameter of reached) if (reachedFrom(parameter, next).has(arrow.from)) told.add(parameter);
    scope.reporter.report("TY0048", arrow.span, arrow.message, { hint: arrow.hint });
  }
  return told;
}

function addCalls(arrows: Arrow[], caller: FunctionSymbol): void {
  if (caller.body === null) return;
  visitExpressions(caller.body, (expression) => {
    const callee = expression.kind === "call" || expression.kind === "function" ? expression.callee : null;
    if (callee?.kind !== "function") return true;
    const { function: target, typeArguments } = callee;
    for (const [index, to] of target.typeParameters.entries()) {
      const type = typeArguments[index];
      if (type === undefined) continue;
      const name = target.owner === null ? target.name : `${target.owner}.${target.name}`;
      add(arrows, { from: caller.typeParameters, to, type }, {
        span: expression.span,
        message: `\`${caller.displayName}\` needs ${
          target.id === caller.id ? "itself" : `\`${name}\``
        } with \`${typeText(type)}\` for \`${to.name}\`, and so on with ever larger types.`,
        hint:
          "A generic function is compiled once for each type that it is used with. Use a list for data that grows at run time.",
      });
    }
    return true;
  });
}

function addParts(arrows: Arrow[], definition: TypeDefinition): void {
  const { body } = definition;
  if (body.kind === "builtin") return;
  const fields = body.kind === "record" ? body.fields : body.variants.flatMap((variant) => variant.fields);
  const visit = (type: Type): void => {
    const at = resolve(type);
    if (at.kind === "tuple") at.elements.forEach(visit);
    if (at.kind === "function") {
      for (const parameter of at.parameters) visit(parameter.type);
      visit(at.result);
    }
    if (at.kind !== "named") return;
    for (const [index, argument] of at.arguments.entries()) {
      visit(argument);
      const to = at.definition.typeParameters[index];
      if (to === undefined) continue;
      add(arrows, { from: definition.typeParameters, to, type: argument }, {
        span: definition.nameSpan,
        message: `\`${definition.name}\` holds a \`${typeText(at)}\`, and so on with ever larger types.`,
        hint: "Pass the type's own parameters, or types that do not contain them.",
      });
    }
  };
  for (const field of fields) visit(field.type);
}

function add(
  arrows: Arrow[],
  put: { readonly from: readonly TypeParameter[]; readonly to: TypeParameter; readonly type: Type },
  told: Pick<Arrow, "span" | "message" | "hint">,
): void {
  const whole = resolve(put.type);
  for (const from of put.from) {
    const isGrowing = whole.kind !== "parameter";
    if (isGrowing ? contains(whole, from) : whole.parameter === from) {
      arrows.push({ from, to: put.to, isGrowing, ...told });
    }
  }
}

function contains(type: Type, parameter: TypeParameter): boolean {
  const at = resolve(type);
  switch (at.kind) {
    case "parameter":
      return at.parameter === parameter;
    case "tuple":
      return at.elements.some((each) => contains(each, parameter));
    case "named":
      return at.arguments.some((each) => contains(each, parameter));
    case "function":
      return contains(at.result, parameter) ||
        at.parameters.some((each) => contains(each.type, parameter));
    default:
      return false;
  }
}

function reachedFrom(
  start: TypeParameter,
  next: ReadonlyMap<TypeParameter, ReadonlySet<TypeParameter>>,
): Set<TypeParameter> {
  const reached = new Set([start]);
  // What is added while going over a set is gone over as well.
  for (const parameter of reached) for (const each of next.get(parameter) ?? []) reached.add(each);
  return reached;
}
