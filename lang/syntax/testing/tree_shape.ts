/** Trees as short texts, so that tests can show them: `(let (binding x) (binary + 1 2))`. */
import type * as Ast from "../ast.ts";

type Shaped = Ast.Declaration | Ast.Expression | Ast.Statement | Ast.Pattern | Ast.TypeExpression;

/** A node as a text, without its places. */
export function treeShape(node: Shaped): string {
  return shape(node);
}

/** Fields that say nothing about the form. */
const omitted = new Set(["span", "operatorSpan", "file", "kind"]);

function shape(value: unknown): string {
  if (value === null || value === undefined) return "-";
  if (Array.isArray(value)) return `[${value.map(shape).join(" ")}]`;
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object") return String(value);
  const fields = Object.entries(value).filter(([key]) => !omitted.has(key));
  if ("text" in value && fields.length === 1) return String(value.text);
  if (!("kind" in value)) return `{${fields.map(([key, field]) => `${key}=${shape(field)}`).join(" ")}}`;
  if (value.kind === "name" && "name" in value) return String(value.name);
  if (/^(integer|float|boolean)$/.test(String(value.kind)) && "value" in value) return String(value.value);
  const shown = fields.filter(([key, field]) =>
    !isUsual(key, field) && !(value.kind === "named-type" && key === "module" && field === null)
  );
  return `(${[value.kind, ...shown.map(([, field]) => shape(field))].join(" ")})`;
}

/** Fields with the value that they mostly have are not shown. */
function isUsual(key: string, field: unknown): boolean {
  if (/^(isPublic|isInout|hasRest|isInclusive)$/.test(key)) return field === false;
  if (/^(documentation|owner|alias|otherwise|guard|base|effects)$/.test(key)) return field === null;
  if (/^(arguments|typeParameters)$/.test(key)) return Array.isArray(field) && field.length === 0;
  return key === "linkage" && typeof field === "object" && field !== null && "kind" in field &&
    field.kind === "body";
}
