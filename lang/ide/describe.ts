/** What is told of a target: its signature, type, effects and documentation. */
import { wholeDeclaration } from "../check/declare.ts";
import type { ModuleGraph } from "../check/module_graph.ts";
import { resolve } from "../types/primitives.ts";
import { typeText } from "../types/type_text.ts";
import { type Effect, EFFECTS, type Type } from "../types/type.ts";
import {
  functionSignature,
  interfaceFunctionSignature,
  interfaceSignature,
  typeParametersText,
  typeSignature,
  variantSignature,
} from "../typed/signature.ts";
import { fieldsOf, type Target, targetName, targetType, variantDeclarationOf } from "./targets.ts";

/** What is told of a target. */
export interface Description {
  readonly signature: string;
  readonly type: string | null;
  readonly effects: readonly Effect[] | null;
  readonly documentation: string | null;
}

/** A type in words; null when it is not known. */
export function knownType(type: Type): string | null {
  const at = resolve(type);
  return at.kind === "variable" && at.literal === null ? null : typeText(at);
}

/** Tells what a target is. */
export function describe(graph: ModuleGraph, target: Target): Description {
  const type = targetType(target);
  const text = type === null ? null : knownType(type);
  const plain = (signature: string, documentation: string | null = null): Description => ({
    signature,
    type: text,
    effects: null,
    documentation: trimmed(documentation),
  });
  switch (target.kind) {
    case "local": {
      const { variable } = target;
      const word = variable.origin === "parameter"
        ? "parameter"
        : variable.kind === "var"
        ? "var"
        : variable.kind === "inout"
        ? "inout"
        : "let";
      return plain(`${word} ${variable.name}: ${text ?? "_"}`);
    }
    case "parameter": {
      const parameter = target.symbol.parameters[target.index];
      const inout = parameter?.kind === "inout" ? "inout " : "";
      return plain(`parameter ${targetName(target) ?? "_"}: ${inout}${text ?? "_"}`);
    }
    case "value": {
      const { symbol } = target;
      if (symbol.kind === "constant") {
        return plain(`const ${symbol.displayName}: ${text ?? "_"}`, symbol.documentation);
      }
      return {
        signature: functionSignature(symbol),
        type: text,
        effects: EFFECTS.filter((effect) => symbol.effects.has(effect)),
        documentation: trimmed(symbol.documentation),
      };
    }
    case "type": {
      const { entry, name } = target;
      switch (entry.kind) {
        case "definition":
          return plain(typeSignature(entry.definition), entry.definition.documentation);
        case "interface":
          return plain(interfaceSignature(entry.definition), entry.definition.documentation);
        case "alias": {
          const { alias } = entry;
          return plain(
            `type ${name}${typeParametersText(alias.typeParameters)} = ${typeText(alias.type)}`,
            alias.declaration.documentation?.text ?? null,
          );
        }
        case "primitive":
          return plain(`type ${name}`, primitiveDocumentation(graph, name));
        case "broken":
          return plain(`type ${name}`);
      }
      break;
    }
    case "variant":
      return plain(
        `${target.variant.definition.name}.${variantSignature(target.variant)}`,
        target.variant.documentation,
      );
    case "field": {
      const field = fieldsOf(target.definition)[target.index];
      return plain(`${target.definition.name}.${field?.name ?? "_"}: ${text ?? "_"}`, field?.documentation);
    }
    case "variant-field":
      return plain(
        `${target.variant.name}(${targetName(target) ?? "_"}: ${text ?? "_"})`,
        variantDeclarationOf(graph, target.variant)?.documentation?.text,
      );
    case "interface-function": {
      const found = target.interface.functions.find((each) => each.name === target.name);
      const declared = graph.scopes.get(target.interface.module)?.module.declarations.map(wholeDeclaration)
        .find((each) => each?.kind === "interface" && each.name.text === target.interface.name);
      const documentation = declared?.kind === "interface"
        ? declared.functions.find((each) => each.name.text === target.name)?.documentation?.text
        : undefined;
      return {
        ...plain(
          `${target.interface.name}: ${
            found === undefined ? target.name : interfaceFunctionSignature(found)
          }`,
          documentation ?? target.interface.documentation,
        ),
        effects: found?.effects ?? [],
      };
    }
    case "type-parameter": {
      const { bounds } = target.parameter;
      return plain(
        `type parameter ${target.name.text}${
          bounds.length === 0 ? "" : `: ${bounds.map((bound) => bound.name).join(" + ")}`
        }`,
      );
    }
    case "module":
    case "alias":
      return plain(`module ${target.path}`, introductionOf(graph, target.path));
  }
}

function primitiveDocumentation(graph: ModuleGraph, name: string): string | null {
  const declared = graph.primitiveScopes.get(name)?.module.declarations.find((each) =>
    each.kind === "type" && each.name.text === name
  );
  return declared?.documentation?.text ?? null;
}

/** The `//!` lines at the start of a module. */
export function introductionOf(graph: ModuleGraph, module: string): string | null {
  const lines: string[] = [];
  for (const line of graph.scopes.get(module)?.file.text.split("\n", 200) ?? []) {
    if (!line.startsWith("//!")) break;
    lines.push(line.slice(3).trim());
  }
  return lines.length === 0 ? null : lines.join("\n");
}

/** Examples in documentation are in the language: editors color them. */
function trimmed(documentation: string | null | undefined): string | null {
  if (documentation === null || documentation === undefined || documentation.trim() === "") return null;
  let isOpen = false;
  return documentation.trim().split("\n").map((line) => {
    if (!/^```\s*$/.test(line)) return line;
    isOpen = !isOpen;
    return isOpen ? "```lang" : line;
  }).join("\n");
}
