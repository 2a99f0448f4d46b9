/**
 * The sqllogictest format (SQLite's, as also used by DuckDB and CockroachDB): statements with the expected outcome,
 * queries with expected rows.
 *
 * Records: `statement ok`, `statement error [SQLSTATE or text]`, `query <types> [sort mode] [label]` followed by the
 * text, a line `----` and one value per line (or one row per line when the file says `format rows`), `skipif`/`onlyif
 * <database>`, `hash-threshold n`, `halt`. Types: T text, I integer, R real with three decimals. `N values hashing to
 * <md5>` stands for long results. With `format rows` each line of a result is a row whose values are separated by
 * tabs; backslashes, tabs and line ends within a value are written `\\`, `\t` and `\n`.
 */

/** One record of a file. */
export type LogicRecord =
  | { readonly kind: "statement"; readonly line: number; readonly sql: string; readonly error: string | null }
  | {
    readonly kind: "query";
    readonly line: number;
    readonly sql: string;
    readonly types: string;
    readonly sort: "nosort" | "rowsort" | "valuesort";
    /** Whether each line of `expected` is a whole row. */
    readonly rows: boolean;
    readonly expected: readonly string[];
  };

/** Reads a file's records that apply to a database of this name. */
export function parseLogicTests(text: string, database: string): LogicRecord[] {
  const lines = text.split(/\r?\n/);
  const records: LogicRecord[] = [];
  let rows = false;
  let at = 0;
  while (at < lines.length) {
    const paragraph: string[] = [];
    const line = at + 1;
    while (at < lines.length && (lines[at] ?? "") !== "") paragraph.push(lines[at++] ?? "");
    at++;
    const record = parseParagraph(paragraph, line, database);
    if (record === "halt") break;
    if (record === "rows") rows = true;
    else if (record !== null) records.push(record.kind === "query" ? { ...record, rows } : record);
  }
  return records;
}

function parseParagraph(
  paragraph: readonly string[],
  first: number,
  database: string,
): LogicRecord | "halt" | "rows" | null {
  let index = 0;
  for (; index < paragraph.length; index++) {
    const line = paragraph[index] ?? "";
    if (line.startsWith("#")) continue;
    const [word, name] = line.split(/\s+/);
    if (word === "skipif" && name === database) return null;
    if (word === "onlyif" && name !== database) return null;
    if (word !== "skipif" && word !== "onlyif") break;
  }
  const head = (paragraph[index] ?? "").replace(/#.*$/, "").trim();
  const line = first + index;
  const words = head.split(/\s+/);
  const body = paragraph.slice(index + 1);
  switch (words[0]) {
    case "":
    case undefined:
    case "hash-threshold":
      return null;
    case "halt":
      return "halt";
    case "format":
      return "rows";
    case "statement":
      return {
        kind: "statement",
        line,
        sql: body.join("\n"),
        error: words[1] === "error" ? words.slice(2).join(" ") : null,
      };
    case "query": {
      const split = body.indexOf("----");
      const sort = words[2] === "rowsort" || words[2] === "valuesort" ? words[2] : "nosort";
      return {
        kind: "query",
        line,
        types: words[1] ?? "",
        sort,
        rows: false,
        sql: (split < 0 ? body : body.slice(0, split)).join("\n"),
        expected: split < 0 ? [] : body.slice(split + 1),
      };
    }
    default:
      throw new Error(`line ${line}: unknown record "${head}"`);
  }
}
