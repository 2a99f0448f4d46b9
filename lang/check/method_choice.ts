/**
 * The function that a concrete type has for a function of an interface, for those who run programs.
 */
import type { MethodChoice } from "../typed/tree.ts";
import { ERROR_TYPE } from "../types/primitives.ts";
import type { InterfaceDefinition, Type } from "../types/type.ts";
import { substitute, Unifier, zonk } from "../types/unification.ts";
import { FunctionSymbol } from "./symbols.ts";
import type { ModuleGraph } from "./module_graph.ts";

/** The type's own function with the types to put in; null when it is derived. */
export function methodFor(
  graph: ModuleGraph,
  type: Type,
  definition: InterfaceDefinition,
  name: string,
): MethodChoice | null {
  const member = graph.membersOf(type)?.get(name);
  if (!(member instanceof FunctionSymbol)) return null;
  const wanted = definition.functions.find((each) => each.name === name);
  if (wanted === undefined || wanted.parameters.length !== member.parameters.length) return null;
  const unifier = new Unifier();
  const types = member.typeParameters.map((): Type => unifier.fresh());
  const put = (each: Type) => substitute(each, [definition.self], [type]);
  for (const [index, parameter] of wanted.parameters.entries()) {
    const mine = member.parameters[index];
    const mineType = substitute(mine?.type ?? ERROR_TYPE, member.typeParameters, types);
    if (!unifier.unify(put(parameter.type), mineType)) return null;
  }
  if (!unifier.unify(put(wanted.result), substitute(member.result, member.typeParameters, types))) {
    return null;
  }
  return { function: member, typeArguments: types.map(zonk) };
}
