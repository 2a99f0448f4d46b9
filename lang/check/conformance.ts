/**
 * Whether a type fits an interface: it has the interface's functions, or they are derived from its parts.
 *
 * Recursive types are taken to fit while they are looked into (the largest fixed point), so a list of itself is as
 * comparable as its other parts; and what was looked into once is not again, since the first part that does not fit
 * ends it all.
 */
import { ERROR_TYPE, isError, resolve } from "../types/primitives.ts";
import type { InterfaceDefinition, Type } from "../types/type.ts";
import { substitute, Unifier } from "../types/unification.ts";
import { typeText } from "../types/type_text.ts";
import type { Body, Obligation } from "./body.ts";
import { FunctionSymbol } from "./symbols.ts";
import type { ModuleGraph } from "./module_graph.ts";

/** Why a type does not fit: a sentence, from the outermost reason to the innermost. */
export interface Misfit {
  readonly message: string;
  /** The part that is to blame, when it is not the type itself. */
  readonly culprit: Type;
  /** The interface's function that is missing or differs. */
  readonly functionName: string | null;
}

/** The named types that have been looked into, by the interface that they were held to. */
class Seen {
  readonly #texts = new Map<InterfaceDefinition, Set<string>>();

  /** Notes a type; whether it is a new one. */
  add(type: Type, wanted: InterfaceDefinition): boolean {
    const text = typeText(type, true);
    const texts = this.#texts.get(wanted);
    if (texts === undefined) this.#texts.set(wanted, new Set([text]));
    else if (texts.has(text)) return false;
    else texts.add(text);
    return true;
  }
}

/** Null when the type fits. Types that are not known yet fit. */
export function misfit(
  graph: ModuleGraph,
  type: Type,
  wanted: InterfaceDefinition,
  seen: Seen = new Seen(),
): Misfit | null {
  const at = resolve(type);
  if (isError(at)) return null;
  if (at.kind === "parameter") {
    if (at.parameter.bounds.includes(wanted) || wanted.self === at.parameter) return null;
    return {
      message: `the type parameter \`${at.parameter.name}\` has no such bound`,
      culprit: at,
      functionName: null,
    };
  }
  if (at.kind === "variable" && at.literal === null) return null;
  if (at.kind === "named" && (graph.endlessTypes.has(at.definition) || !seen.add(at, wanted))) return null;
  return misfitOf(graph, at, wanted, seen);
}

function misfitOf(graph: ModuleGraph, at: Type, wanted: InterfaceDefinition, seen: Seen): Misfit | null {
  const own = ownFunctions(graph, at, wanted, seen);
  if (own === "fits") return null;
  if (wanted.derived === null || own !== "none") {
    if (own !== "none") return own;
    return {
      message: `it has no function \`${wanted.functions[0]?.name ?? wanted.name}\``,
      culprit: at,
      functionName: wanted.functions[0]?.name ?? null,
    };
  }
  return derivedMisfit(graph, at, wanted, seen);
}

/** Whether the type has all of the interface's functions itself; "none" when it has not one of them. */
function ownFunctions(
  graph: ModuleGraph,
  type: Type,
  wanted: InterfaceDefinition,
  seen: Seen,
): "fits" | "none" | Misfit {
  const members = graph.membersOf(type);
  let problem: Misfit | null = null;
  let count = 0;
  for (const each of wanted.functions) {
    const member = members?.get(each.name);
    if (!(member instanceof FunctionSymbol)) {
      problem ??= { message: `it has no function \`${each.name}\``, culprit: type, functionName: each.name };
      continue;
    }
    count++;
    problem ??= functionMisfit(graph, member, type, wanted, each, seen);
  }
  if (count === 0 && wanted.functions.length > 0) return "none";
  return problem ?? "fits";
}

function functionMisfit(
  graph: ModuleGraph,
  member: FunctionSymbol,
  type: Type,
  wanted: InterfaceDefinition,
  each: InterfaceDefinition["functions"][number],
  seen: Seen,
): Misfit | null {
  const differs: Misfit = {
    message: `its \`${each.name}\` has a different signature than in the interface`,
    culprit: type,
    functionName: each.name,
  };
  if (member.parameters.length !== each.parameters.length) return differs;
  const unifier = new Unifier();
  const types = member.typeParameters.map(() => unifier.fresh());
  const put = (wantedType: Type) => substitute(wantedType, [wanted.self], [type]);
  for (const [index, parameter] of each.parameters.entries()) {
    const mine = member.parameters[index];
    if (mine === undefined || (mine.kind === "inout") !== parameter.isInout) return differs;
    if (!unifier.attempt(put(parameter.type), substitute(mine.type, member.typeParameters, types))) {
      return differs;
    }
  }
  if (!unifier.attempt(put(each.result), substitute(member.result, member.typeParameters, types))) {
    return differs;
  }
  for (const [index, parameter] of member.typeParameters.entries()) {
    for (const bound of parameter.bounds) {
      const problem = misfit(graph, types[index] ?? ERROR_TYPE, bound, seen);
      if (problem !== null) return problem;
    }
  }
  return null;
}

function derivedMisfit(
  graph: ModuleGraph,
  type: Type,
  wanted: InterfaceDefinition,
  seen: Seen,
): Misfit | null {
  switch (type.kind) {
    case "primitive":
      if (type.name === "Never") return null;
      if (wanted.derived === "Hash" && (type.name === "Float" || type.name === "F32")) {
        return {
          message:
            `a \`${type.name}\` cannot be a key: numbers that differ only in the last bit would be different keys`,
          culprit: type,
          functionName: null,
        };
      }
      return null;
    case "variable":
      if (wanted.derived === "Hash" && type.literal === "float") {
        return { message: "a `Float` cannot be a key", culprit: type, functionName: null };
      }
      return null;
    case "function":
      return {
        message: "functions do not implement the derived interfaces",
        culprit: type,
        functionName: null,
      };
    case "parameter":
      return null;
    case "tuple":
      return firstMisfit(graph, type.elements, wanted, seen);
    case "named":
      return firstMisfit(graph, partsOf(type), wanted, seen);
  }
}

/** The types of all fields; of a type that the compiler knows its arguments. */
function partsOf(type: Extract<Type, { kind: "named" }>): readonly Type[] {
  const { definition } = type;
  const { body } = definition;
  if (body.kind === "builtin") return type.arguments;
  const fields = body.kind === "record" ? body.fields : body.variants.flatMap((variant) => variant.fields);
  return fields.map((field) => substitute(field.type, definition.typeParameters, type.arguments));
}

function firstMisfit(
  graph: ModuleGraph,
  parts: readonly Type[],
  wanted: InterfaceDefinition,
  seen: Seen,
): Misfit | null {
  for (const part of parts) {
    const problem = misfit(graph, part, wanted, seen);
    if (problem !== null) return problem;
  }
  return null;
}

/** Notes which functions stand for those of an interface, whose effects are compared when all are known. */
function noteFitting(body: Body, type: Type, wanted: InterfaceDefinition, span: Obligation["span"]): void {
  const members = body.graph.membersOf(type);
  for (const each of wanted.functions) {
    const member = members?.get(each.name);
    if (member instanceof FunctionSymbol) {
      body.scope.fittings.push({ function: member, interface: wanted, span });
    }
  }
}

/** Reports, in the end, a type that lacks an interface which something asks for. */
export function requireInterface({ type, interface: wanted, span, asker, body }: Obligation): void {
  const problem = misfit(body.graph, type, wanted);
  if (problem === null) {
    if (wanted.derived === null) noteFitting(body, type, wanted, span);
    return;
  }
  const { reporter } = body;
  const text = typeText(type);
  const culprit = typeText(problem.culprit);
  const because = culprit === text
    ? problem.message
    : `\`${culprit}\` inside of it does not: ${problem.message}`;
  const at = resolve(problem.culprit);
  const details = { labels: [], seeAlso: [] };
  if (at.kind === "parameter" && body.symbol !== null) {
    const declared = body.symbol.declaration.typeParameters.find((each) =>
      each.name.text === at.parameter.name
    );
    if (declared !== undefined) {
      // What is asked of the parameter is forgotten once, however often it is needed.
      const key = `${declared.span.start} ${wanted.name}`;
      if (body.session.missingBounds.has(key)) return;
      body.session.missingBounds.add(key);
      const isFirst = declared.bounds.length === 0;
      reporter.report("TY0010", span, `${asker} requires \`${wanted.name}\`, but ${because}.`, {
        labels: [reporter.label(declared.span, "declared here")],
        fixes: [
          reporter.insert(
            `add the bound \`${wanted.name}\` to \`${at.parameter.name}\``,
            "safe",
            declared.span.end,
            isFirst ? `: ${wanted.name}` : ` + ${wanted.name}`,
          ),
        ],
      });
      return;
    }
  }
  const code = wanted.derived === null ? "TY0011" : "TY0010";
  reporter.report(
    code,
    span,
    `${asker} requires \`${wanted.name}\`, which \`${text}\` does not implement: ${because}.`,
    {
      ...details,
      labels: wanted.derived === null
        ? [{ file: wanted.file, span: wanted.nameSpan, message: "the interface is declared here" }]
        : [],
      ...(problem.functionName !== null && wanted.derived === null
        ? { hint: `Write \`fn ${culprit}.${problem.functionName}\` as the interface has it.` }
        : {}),
    },
  );
}
