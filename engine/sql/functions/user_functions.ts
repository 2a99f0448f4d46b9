/**
 * User-defined functions as overloads, so that names, casts and generated code treat them as they treat built-in
 * functions: generated code calls a module's export with one function in between.
 */
import type { UserFunctionDefinition } from "../../catalog/definitions.ts";
import { callableOf } from "../../functions/user_function.ts";
import { INTEGER_RANGES, isIntegerKind } from "../../types/number_or_bigint.ts";
import type { BoundFunction, FunctionDefinition } from "./definition.ts";
import { matchSignature } from "./overload.ts";
import { typeKey } from "./type_family.ts";

type Callable = ReturnType<typeof callableOf>["call"];

const overloads = new WeakMap<UserFunctionDefinition, FunctionDefinition>();

/** The overload of a user-defined function. */
export function userFunctionOverload(definition: UserFunctionDefinition): FunctionDefinition {
  let overload = overloads.get(definition);
  if (overload === undefined) overloads.set(definition, overload = makeOverload(definition));
  return overload;
}

function makeOverload(definition: UserFunctionDefinition): FunctionDefinition {
  const signature = definition.parameters.map(({ type }) => typeKey(type));
  let bound: BoundFunction | null = null;
  return {
    name: definition.name,
    signature,
    returns: typeKey(definition.returns),
    category: "system",
    summary: definition.comment ?? "",
    bind(argumentTypes) {
      const match = matchSignature(signature, false, argumentTypes);
      if (match === undefined) return undefined;
      return { cost: match.cost, bound: bound ??= bindUserFunction(definition) };
    },
  };
}

function bindUserFunction(definition: UserFunctionDefinition): BoundFunction {
  const { schema, name } = definition;
  const { call, mayReturnNull, steps } = callableOf(definition);
  const bounded = mayReturnNull ? undefined : boundsOf(definition, call);
  return {
    name: schema === "public" ? name : `${schema}.${name}`,
    argumentTypes: definition.parameters.map(({ type }) => type),
    returnType: definition.returns,
    volatility: "immutable",
    strict: definition.strict,
    mayReturnNull,
    steps: steps ?? "own",
    userFunctionId: definition.id,
    evaluate: (_context, ...args) => call(...args),
    inline: (args, use) => `${use(name, call)}(${args.join(", ")})`,
    ...(bounded === undefined ? {} : { bounded }),
  };
}

/** A result of a small integer type has that type's bounds, which sums need no checks for. */
function boundsOf({ name, returns }: UserFunctionDefinition, call: Callable): BoundFunction["bounded"] {
  if (!isIntegerKind(returns.kind)) return undefined;
  const [low, high] = INTEGER_RANGES[returns.kind];
  if (typeof low !== "number" || typeof high !== "number") return undefined;
  return (args, _ranges, use) => ({ code: `${use(name, call)}(${args.join(", ")})`, range: { low, high } });
}
