/**
 * TPC-H's queries in SQLite's dialect, which has neither dates nor intervals: dates are texts that sort by
 * themselves.
 */

/** The text with dates folded, and with SQLite's names of functions. */
export function inSqlite(text: string): string {
  return text
    .replaceAll(
      /date '(\d+-\d+-\d+)'(?:\s*([+-])\s*interval '(\d+)' (day|month|year))?/g,
      (_all, date: string, sign = "+", count = "0", unit = "day") =>
        `'${shifted(date, Number(`${sign}${count}`), unit)}'`,
    )
    .replaceAll(/extract\(year from (\w+)\)/g, "cast(strftime('%Y', $1) as integer)")
    .replaceAll(/substring\((\w+) from (\d+) for (\d+)\)/g, "substr($1, $2, $3)")
    // Fractions are binary there: 0.06 + 0.01 is less than 0.07.
    .replaceAll(
      /(0\.\d\d) ([+-]) (0\.\d\d)/g,
      (_all, left: string, sign: string, right: string) => (Number(left) + Number(sign + right)).toFixed(2),
    )
    // Columns of a derived table cannot be renamed behind its name.
    .replace(
      /select c_custkey, count\(o_orderkey\) from(.*)\) as c_orders \(c_custkey, c_count\)/s,
      "select c_custkey, count(o_orderkey) as c_count from$1) as c_orders",
    );
}

function shifted(date: string, count: number, unit: string): string {
  const moved = new Date(`${date}T00:00:00Z`);
  if (unit === "day") moved.setUTCDate(moved.getUTCDate() + count);
  else if (unit === "month") moved.setUTCMonth(moved.getUTCMonth() + count);
  else moved.setUTCFullYear(moved.getUTCFullYear() + count);
  return moved.toISOString().slice(0, 10);
}
