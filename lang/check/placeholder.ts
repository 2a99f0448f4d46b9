/** What a fix writes where a value is missing. */
import { resolve } from "../types/primitives.ts";
import type { Type } from "../types/type.ts";

/** A value of the type to fill in where one is missing. */
export function placeholderFor(type: Type): string {
  const at = resolve(type);
  if (at.kind === "primitive") {
    switch (at.name) {
      case "Bool":
        return "false";
      case "Int":
      case "Int64":
        return "0";
      case "Float":
      case "F32":
        return "0.0";
      case "Char":
        return "' '";
      case "String":
        return '""';
      default:
        break;
    }
  }
  if (at.kind === "named" && at.definition.name === "List") return "[]";
  if (at.kind === "named" && at.definition.name === "Option") return "None";
  return 'panic("not written yet")';
}
