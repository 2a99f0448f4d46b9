/**
 * Functions as values: their types, and variants with fields as functions.
 */
import type { Span } from "../source/source_file.ts";
import type { Expression } from "../typed/tree.ts";
import type { Type, VariantDefinition } from "../types/type.ts";
import type { Body } from "./body.ts";
import type { Instance, VariantInstance } from "./instances.ts";

/** The type of a function as a value. */
export function functionSymbolType(instance: Instance): Type {
  return {
    kind: "function",
    parameters: instance.parameters.map((each) => ({ isInout: each.isInout, type: each.type })),
    result: instance.result,
  };
}

/** A variant with fields as a function that makes it: `xs.map(Some)`. */
export function constructorFunction(
  body: Body,
  variant: VariantDefinition,
  instance: VariantInstance,
  span: Span,
): Expression {
  body.closures.push({ depth: body.depth + 1, captures: new Set() });
  const parameters = instance.fields.map((field, index) =>
    body.session.keep(body.makeParameter({ text: field.name ?? `field${index}`, span }, field.type, false))
  );
  body.closures.pop();
  const made: Expression = body.node({
    kind: "variant",
    span,
    type: instance.type,
    variant,
    fields: parameters.map((local): Expression =>
      body.node({ kind: "local", span, type: local.type, local })
    ),
    order: parameters.map((_, index) => index),
  });
  return body.node({
    kind: "closure",
    span,
    type: {
      kind: "function",
      parameters: instance.fields.map((field) => ({ isInout: false, type: field.type })),
      result: instance.type,
    },
    parameters,
    body: made,
    captures: [],
  });
}
