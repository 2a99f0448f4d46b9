/** Whether two peers give the same answer: rows of texts, as each peer writes them. */

/** An answer. */
export type Rows = readonly (readonly unknown[])[];

/** Queries whose ORDER BY leaves rows equal: their order within an answer is not compared. */
const PARTLY_ORDERED = new Set(["q3", "q10", "q11", "q18", "q21"]);

/** The first difference between two answers, byte by byte but for the order of equal rows, or null. */
export function exactDifference(query: string, ours: Rows, theirs: Rows): string | null {
  const [left = [], right = []] = [ours, theirs].map((rows) =>
    arrange(query, rows.map((row) => row.map(String)))
  );
  const at = left.findIndex((row, index) => JSON.stringify(row) !== JSON.stringify(right[index]));
  if (at < 0) return left.length === right.length ? null : `${left.length} rows instead of ${right.length}`;
  return `row ${at + 1} is ${left[at]} where ${right[at]} belongs`;
}

/** The first difference between two answers, or null. */
export function difference(query: string, ours: Rows, theirs: Rows): string | null {
  const [left, right] = [ours, theirs].map((rows) => arrange(query, rows.map((row) => row.map(textOf))));
  if (left === undefined || right === undefined) return null;
  if (left.length !== right.length) return `${left.length} rows instead of ${right.length}`;
  for (const [index, row] of left.entries()) {
    const other = right[index] ?? [];
    const column = row.findIndex((value, position) => !isSame(value, other[position] ?? ""));
    if (column >= 0) return `row ${index + 1} has ${row[column]} where ${other[column]} belongs`;
  }
  return null;
}

function arrange(query: string, rows: string[][]): string[][] {
  return PARTLY_ORDERED.has(query) ? rows.sort((a, b) => a.join("|") < b.join("|") ? -1 : 1) : rows;
}

/** Peers write padding, dates and fractions in their own ways. */
function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString().slice(0, 10);
  return String(value).replace(/T00:00:00\.000Z$/, "").trimEnd();
}

function isSame(left: string, right: string): boolean {
  if (left === right) return true;
  if (left === "" || right === "") return false;
  const [a, b] = [Number(left), Number(right)];
  // Averages and quotients of floating point agree in their leading digits.
  return Number.isFinite(a) && Number.isFinite(b) &&
    Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b), 1);
}
