/**
 * Uses of generic things: fresh variables for their type parameters, and what is asked of these.
 */
import type { Span } from "../source/source_file.ts";
import type { Type, VariantDefinition } from "../types/type.ts";
import { substitute } from "../types/unification.ts";
import type { Body } from "./body.ts";
import type { FunctionSymbol, SignatureParameter } from "./symbols.ts";

/** A function with types put in for its parameters. */
export interface Instance {
  readonly typeArguments: Type[];
  readonly parameters: readonly SignatureParameter[];
  readonly result: Type;
}

/** A use of a function. */
export function instantiate(body: Body, symbol: FunctionSymbol, span: Span): Instance {
  const { typeParameters } = symbol;
  if (typeParameters.length === 0) {
    return {
      typeArguments: [],
      parameters: symbol.signature,
      result: symbol.result,
    };
  }
  const typeArguments = typeParameters.map((parameter): Type => {
    const type = body.session.freshAt(span, `\`${parameter.name}\` of \`${symbol.displayName}\``);
    for (const bound of parameter.bounds) {
      body.session.require({
        type,
        interface: bound,
        span,
        asker: `\`${parameter.name}\` of \`${symbol.displayName}\``,
        body,
      });
    }
    return type;
  });
  return {
    // A list of its own: the types are put into it in the end.
    typeArguments: body.session.keepAll([...typeArguments]),
    parameters: symbol.parameters.map((each) => ({
      name: each.name,
      isInout: each.kind === "inout",
      type: substitute(each.type, typeParameters, typeArguments),
    })),
    result: substitute(symbol.result, typeParameters, typeArguments),
  };
}

/** A variant of a union with types put in for the union's parameters. */
export interface VariantInstance {
  readonly type: Type;
  readonly fields: readonly { readonly name: string | null; readonly type: Type }[];
}

/** A use of a variant. Types that its fields do not have may stay open. */
export function instantiateVariant(body: Body, variant: VariantDefinition): VariantInstance {
  const { definition } = variant;
  const types = definition.typeParameters.map((): Type => body.session.freshOpen());
  return {
    type: { kind: "named", definition, arguments: types },
    fields: variant.fields.map((field) => ({
      name: field.name,
      type: substitute(field.type, definition.typeParameters, types),
    })),
  };
}
