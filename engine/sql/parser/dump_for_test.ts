/**
 * Syntax trees as compact S-expressions, for tests: `(kind field=value …)`, without positions and without fields that
 * are empty (null, false, an empty list), which is how "not written" looks in the tree.
 */

/** The text of a syntax tree. */
export function dump(node: unknown): string {
  if (Array.isArray(node)) return `[${node.map(dump).join(" ")}]`;
  if (typeof node === "string") return /^[\w.$-]+$/.test(node) ? node : JSON.stringify(node);
  if (typeof node !== "object" || node === null) return String(node);
  const fields = Object.entries(node);
  const atom = dumpAtom(Object.fromEntries(fields));
  if (atom !== null) return atom;
  const parts: string[] = [];
  let head = "";
  for (const [key, value] of fields) {
    if (/position$/i.test(key) || key === "arrayDimensions" && value === 0) continue;
    if (isEmpty(value) && !(value === false && THREE_VALUED.has(key))) continue;
    if (key === "kind") head = String(value);
    else parts.push(`${key}=${dump(value)}`);
  }
  return `(${[head, ...parts].filter((part) => part !== "").join(" ")})`;
}

/** Fields in which false says something else than null. */
const THREE_VALUED = new Set(["materialized", "readOnly", "scroll", "withData", "cycle"]);

/** Columns and constants as they are written. */
function dumpAtom(node: Readonly<Record<string, unknown>>): string | null {
  if (node["kind"] === "column" && Array.isArray(node["parts"])) return node["parts"].join(".");
  if (node["kind"] !== "literal" || node["literalIndex"] !== null) return null;
  if (node["type"] === "string") return `'${String(node["text"])}'`;
  return node["type"] === "null" ? "null" : String(node["text"]);
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && value !== null && dump(value) === "()";
}
