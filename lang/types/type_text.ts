/**
 * How types are written in messages: as a person would write them in a source.
 *
 * Two types of one name are distinguished by their modules. What is not known is `_`.
 */
import { resolve } from "./primitives.ts";
import type { Type } from "./type.ts";

/** The type as it would be written. */
export function typeText(type: Type, qualified = false): string {
  const at = resolve(type);
  switch (at.kind) {
    case "primitive":
      return at.name;
    case "parameter":
      return at.parameter.name;
    case "variable":
      return at.literal === "integer" ? "Int" : at.literal === "float" ? "Float" : "_";
    case "tuple":
      return `(${at.elements.map((element) => typeText(element, qualified)).join(", ")})`;
    case "named": {
      const name = qualified ? `${at.definition.module}.${at.definition.name}` : at.definition.name;
      if (at.arguments.length === 0) return name;
      return `${name}[${at.arguments.map((argument) => typeText(argument, qualified)).join(", ")}]`;
    }
    case "function": {
      const parameters = at.parameters.map((parameter) =>
        `${parameter.isInout ? "inout " : ""}${typeText(parameter.type, qualified)}`
      );
      const result = resolve(at.result);
      const isUnit = result.kind === "tuple" && result.elements.length === 0;
      return `fn(${parameters.join(", ")})${isUnit ? "" : ` -> ${typeText(result, qualified)}`}`;
    }
  }
}

/** Two types for one message: with their modules when they would else read the same. */
export function typeTexts(left: Type, right: Type): readonly [string, string] {
  const texts = [typeText(left), typeText(right)] as const;
  if (texts[0] !== texts[1]) return texts;
  return [typeText(left, true), typeText(right, true)];
}

/** The type in backquotes behind "a" or "an". */
export function typeWithArticle(type: Type): string {
  const text = typeText(type);
  return `${/^[AEIO]/.test(text) ? "an" : "a"} \`${text}\``;
}
