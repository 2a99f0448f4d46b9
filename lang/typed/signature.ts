/**
 * Declarations as one would write them, without bodies: for `inspect`, for editors and for whoever asks what a name is.
 */
import type { Span } from "../source/source_file.ts";
import { isUnit } from "../types/primitives.ts";
import { typeText } from "../types/type_text.ts";
import {
  EFFECTS,
  type InterfaceDefinition,
  type InterfaceFunction,
  type TypeDefinition,
  type TypeParameter,
  type VariantDefinition,
} from "../types/type.ts";
import type { Local, TypedFunction } from "./tree.ts";

/** A heading, and where its parameters stand in it. */
export interface Signature {
  readonly text: string;
  readonly parameters: readonly Span[];
}

/** What a function's heading says. */
export type Heading = Pick<
  TypedFunction,
  "owner" | "name" | "typeParameters" | "parameters" | "result" | "effects"
>;

/** `[T: Ord, U]`, or nothing. */
export function typeParametersText(parameters: readonly TypeParameter[]): string {
  if (parameters.length === 0) return "";
  const texts = parameters.map(({ name, bounds }) =>
    bounds.length === 0 ? name : `${name}: ${bounds.map((bound) => bound.name).join(" + ")}`
  );
  return `[${texts.join(", ")}]`;
}

/** `x: inout Int`. */
function parameterText({ name, kind, type }: Pick<Local, "name" | "kind" | "type">): string {
  return `${name}: ${kind === "inout" ? "inout " : ""}${typeText(type)}`;
}

/** A function as it would be declared. */
export function functionSignature(each: Heading): string {
  return placedFunctionSignature(each).text;
}

/** The same, with the places of its parameters. */
export function placedFunctionSignature(each: Heading): Signature {
  const name = each.owner === null ? each.name : `${each.owner}.${each.name}`;
  const head = `fn ${name}${typeParametersText(each.typeParameters)}(`;
  const result = isUnit(each.result) ? "" : ` -> ${typeText(each.result)}`;
  const effects = EFFECTS.filter((effect) => each.effects.has(effect));
  const uses = effects.length === 0 ? "" : ` uses ${effects.join(", ")}`;
  return placed(head, each.parameters.map(parameterText), `)${result}${uses}`);
}

function placed(head: string, parameters: readonly string[], tail: string): Signature {
  let at = head.length;
  const spans = parameters.map((text): Span => {
    const span = { start: at, end: at + text.length };
    at = span.end + ", ".length;
    return span;
  });
  return { text: `${head}${parameters.join(", ")}${tail}`, parameters: spans };
}

/** `Over(score: Int)`, `Playing`. */
export function variantSignature(variant: VariantDefinition): string {
  return placedVariantSignature(variant).text;
}

/** The same, with the places of its fields. */
export function placedVariantSignature({ name, fields }: VariantDefinition): Signature {
  if (fields.length === 0) return { text: name, parameters: [] };
  const texts = fields.map((field) =>
    field.name === null ? typeText(field.type) : `${field.name}: ${typeText(field.type)}`
  );
  return placed(`${name}(`, texts, ")");
}

/** A type as it would be declared. */
export function typeSignature({ name, typeParameters, body }: TypeDefinition): string {
  const head = `type ${name}${typeParametersText(typeParameters)}`;
  switch (body.kind) {
    case "builtin":
      return head;
    case "record": {
      const fields = body.fields.map((field) => `${field.name ?? "_"}: ${typeText(field.type)}`);
      return `${head} = { ${fields.join(", ")} }`;
    }
    case "union":
      return `${head} = ${body.variants.map(variantSignature).join(" | ")}`;
  }
}

/** A function of an interface as it is declared there. */
export function interfaceFunctionSignature(each: InterfaceFunction): string {
  return placedInterfaceFunctionSignature(each).text;
}

/** The same, with the places of its parameters. */
export function placedInterfaceFunctionSignature(
  { name, parameters, result, effects }: InterfaceFunction,
): Signature {
  const texts = parameters.map((each) =>
    `${each.name}: ${each.isInout ? "inout " : ""}${typeText(each.type)}`
  );
  const gives = isUnit(result) ? "" : ` -> ${typeText(result)}`;
  const uses = effects.length === 0 ? "" : ` uses ${effects.join(", ")}`;
  return placed(`fn ${name}(`, texts, `)${gives}${uses}`);
}

/** An interface as it is declared. */
export function interfaceSignature({ name, functions }: InterfaceDefinition): string {
  return `interface ${name} { ${functions.map(interfaceFunctionSignature).join("; ")} }`;
}
