/**
 * The tables of `docs/functions.md` that list functions, operators and aggregates, written from the registry.
 *
 * Overloads with the same name and summary share a row. Where an operator is defined for every pair of many types, the
 * row names the families of types instead.
 */
import type { AggregateDefinition, FunctionDefinition } from "./definition.ts";
import { allDefinitions } from "./registry.ts";
import { displayName } from "./type_family.ts";

/** One row of a table before it is written. */
interface Row {
  readonly name: string;
  readonly summary: string;
  readonly signatures: string[];
  readonly returns: Set<string>;
}

const categoryTitles: readonly (readonly [category: FunctionDefinition["category"], title: string])[] = [
  ["logical", "Logical"],
  ["comparison", "Comparison"],
  ["mathematical", "Mathematical"],
  ["text", "Text"],
  ["binary", "Bytes"],
  ["cryptographic", "Hashes"],
  ["date/time", "Dates and times"],
  ["conversion", "Conversion"],
  ["conditional", "Conditional"],
  ["array", "Arrays"],
  ["json", "JSON"],
  ["set-returning", "Set-returning"],
  ["sequence", "Sequences"],
  ["system", "System"],
];

const mostSignatures = 6;

function shown(key: string): string {
  return displayName(key).replaceAll('"', "");
}

/** Text that is safe in a table's cell. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

function code(text: string): string {
  return `\`${cell(text)}\``;
}

function collect<Definition extends FunctionDefinition | AggregateDefinition>(
  definitions: readonly Definition[],
  describe: (definition: Definition) => string,
): Row[] {
  const rows = new Map<string, Row>();
  for (const definition of definitions) {
    const key = `${definition.name}\0${definition.summary}`;
    let row = rows.get(key);
    if (row === undefined) {
      row = { name: definition.name, summary: definition.summary, signatures: [], returns: new Set() };
      rows.set(key, row);
    }
    row.signatures.push(describe(definition));
    row.returns.add(shown(definition.returns));
  }
  return [...rows.values()];
}

function callText(definition: FunctionDefinition | AggregateDefinition): string {
  const variadic = "variadic" in definition && definition.variadic === true ? ", …" : "";
  return `${definition.name}(${definition.signature.map(shown).join(", ")}${variadic})`;
}

function operatorText(definition: FunctionDefinition): string {
  const [left = "", right] = definition.signature.map(shown);
  return right === undefined ? `${definition.name} ${left}` : `${left} ${definition.name} ${right}`;
}

function table(heading: string, rows: readonly Row[], summarize: (row: Row) => string): string {
  const lines = [`| ${heading} | Result | Meaning |`, "|---|---|---|"];
  for (const row of rows) {
    const returns = [...row.returns].map(code).join(", ");
    lines.push(
      `| ${summarize(row)} | ${row.returns.size > mostSignatures ? "as the arguments" : returns} | ${
        cell(row.summary)
      } |`,
    );
  }
  return lines.join("\n");
}

function signaturesText(row: Row, otherwise: string): string {
  if (row.signatures.length <= mostSignatures) return row.signatures.map(code).join("<br>");
  return `${code(row.name)} ${otherwise}`;
}

/** The tables of all operators. */
export function operatorTables(): string {
  const { operators } = allDefinitions();
  const parts = categoryTitles.flatMap(([category, title]) => {
    const rows = collect(operators.filter((each) => each.category === category), operatorText);
    if (rows.length === 0) return [];
    const many = category === "comparison"
      ? "(every type that has an order)"
      : "(all combinations of numbers)";
    return [`### ${title}\n\n${table("Operator", rows, (row) => signaturesText(row, many))}`];
  });
  return parts.join("\n\n");
}

/** The tables of all functions that are not aggregates, by category. */
export function functionTables(): string {
  const { functions } = allDefinitions();
  const parts = categoryTitles.flatMap(([category, title]) => {
    const rows = collect(functions.filter((each) => each.category === category), callText);
    if (rows.length === 0) return [];
    return [`### ${title}\n\n${table("Function", rows, (row) => signaturesText(row, "(several forms)"))}`];
  });
  return parts.join("\n\n");
}

/** The table of all aggregates. */
export function aggregateTable(): string {
  const { aggregates } = allDefinitions();
  return table(
    "Aggregate",
    collect(aggregates, callText),
    (row) => signaturesText(row, "(every ordered type)"),
  );
}

/** All tables under their headings, ready to be put into `docs/functions.md`. */
export function functionReference(): string {
  return [
    "## Operators",
    operatorTables(),
    "## Functions",
    functionTables(),
    "## Aggregates",
    aggregateTable(),
  ].join("\n\n") + "\n";
}
