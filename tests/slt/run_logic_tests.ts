/** Runs records of the sqllogictest format against a database and compares. */
import { createHash } from "node:crypto";
import { DatabaseError } from "../../mod.ts";
import type { LogicRecord } from "./logic_test_file.ts";

/** What runs statements; answers rows of text values, null for NULL. */
export interface LogicDatabase {
  run(sql: string): Promise<(string | null)[][]>;
}

/** A record whose outcome was not the expected one. */
export interface LogicFailure {
  readonly line: number;
  readonly sql: string;
  readonly message: string;
}

/** Runs all records; answers what failed. */
export async function runLogicTests(
  database: LogicDatabase,
  records: readonly LogicRecord[],
): Promise<LogicFailure[]> {
  const failures: LogicFailure[] = [];
  for (const record of records) {
    const message = record.kind === "statement"
      ? await runStatement(database, record)
      : await runQuery(database, record);
    if (message !== null) failures.push({ line: record.line, sql: record.sql, message });
  }
  return failures;
}

async function runStatement(
  database: LogicDatabase,
  record: LogicRecord & { kind: "statement" },
): Promise<string | null> {
  try {
    await database.run(record.sql);
    return record.error === null ? null : `expected an error ${record.error}, but it succeeded`;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const shown = `${error.code}: ${error.message}`;
    if (record.error === null) return `unexpected error ${shown}`;
    return shown.includes(record.error) ? null : `expected an error ${record.error}, got ${shown}`;
  }
}

async function runQuery(
  database: LogicDatabase,
  record: LogicRecord & { kind: "query" },
): Promise<string | null> {
  let rows: (string | null)[][];
  try {
    rows = await database.run(record.sql);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return `unexpected error ${error.code}: ${error.message}`;
  }
  if (record.rows) return compareRows(rows, record);
  const actual = render(rows, record);
  const hashed = /^(\d+) values hashing to ([0-9a-f]{32})$/.exec(record.expected[0] ?? "");
  if (hashed !== null) {
    const digest = createHash("md5").update(actual.map((value) => value + "\n").join("")).digest("hex");
    const same = actual.length === Number(hashed[1]) && digest === hashed[2];
    return same
      ? null
      : `expected ${hashed[0]}, got ${actual.length} values hashing to ${digest}: ${preview(actual)}`;
  }
  const { expected } = record;
  const same = actual.length === expected.length && actual.every((value, index) => value === expected[index]);
  return same ? null : `expected ${preview(expected)}, got ${preview(actual)}`;
}

function compareRows(
  rows: readonly (string | null)[][],
  record: LogicRecord & { kind: "query" },
): string | null {
  const actual = rows.map((row) => row.map(showValue).join("\t"));
  const expected = [...record.expected];
  if (record.sort !== "nosort") {
    actual.sort(compare);
    expected.sort(compare);
  }
  const same = actual.length === expected.length && actual.every((row, index) => row === expected[index]);
  return same ? null : `expected\n  ${expected.join("\n  ")}\n got\n  ${actual.join("\n  ")}`;
}

/** A value as files with `format rows` write it. */
export function showValue(value: string | null): string {
  if (value === null) return "NULL";
  if (value === "") return "(empty)";
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

function render(rows: readonly (string | null)[][], record: LogicRecord & { kind: "query" }): string[] {
  const shown = rows.map((row) =>
    row.map((value, column) => renderValue(value, record.types[column] ?? "T"))
  );
  if (record.sort === "rowsort") shown.sort((a, b) => compare(a.join("\t"), b.join("\t")));
  const values = shown.flat();
  return record.sort === "valuesort" ? values.sort(compare) : values;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function renderValue(value: string | null, type: string): string {
  if (value === null) return "NULL";
  if (type === "I") return /^-?\d+$/.test(value) ? value : String(Math.trunc(Number(value)));
  if (type === "R") return Number(value).toFixed(3);
  return value === "" ? "(empty)" : value;
}

function preview(values: readonly string[]): string {
  return values.length > 24 ? `[${values.slice(0, 24).join(" ")} …]` : `[${values.join(" ")}]`;
}
