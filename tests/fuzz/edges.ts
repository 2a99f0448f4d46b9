/**
 * The values at the edges of a type that random tables and statements draw from: those of the answer tables, the
 * neighbors of every power of two that matters, and a few more. A pool's name is the type's (see
 * `tests/answers/edge_values.ts`).
 */
import { poolOf } from "../answers/edge_values.ts";

const POWERS = [7, 8, 15, 16, 24, 31, 32, 52, 53, 62, 63];
const INTEGER_BITS: Readonly<Record<string, number>> = { i16: 15, i32: 31, i64: 63 };
const MORE: Readonly<Record<string, readonly string[]>> = {
  "numeric(10,2)": ["1234567.89"],
  numeric: ["1e131", "-1e-131", "9007199254740991.5", "12345678901234567890.0123456789"],
  date: ["2024-12-31", "2000-01-01"],
  text: ["\u{10FFFF}", "\uFFFD", "e\u0301", "zz", "b", "AbC", "a%b", "_"],
  timestamp: ["9999-12-31 00:00:00", "2255-06-05 23:47:34.740993"],
};

const found = new Map<string, readonly string[]>();

/** The texts of a type's edges, without NULL. */
export function edgesOf(type: string): readonly string[] {
  const known = found.get(type);
  if (known !== undefined) return known;
  // NaN is no value of a declared scale here: it would leave the statements nothing to compute.
  const pool = poolOf(type).values.filter((value): value is string =>
    value !== null && !(value === "NaN" && type.startsWith("numeric("))
  );
  const edges = [...new Set([...pool, ...powersWithin(INTEGER_BITS[type] ?? 0), ...MORE[type] ?? []])];
  found.set(type, edges);
  return edges;
}

/** Powers of two of a signed integer of so many bits beside its sign, with their neighbors. */
function powersWithin(bits: number): string[] {
  const limit = 2n ** BigInt(bits);
  const fits = (value: bigint) => value < limit && value >= -limit;
  return POWERS.filter((power) => power <= bits).flatMap((power) => {
    const value = 2n ** BigInt(power);
    return [value - 1n, value, value + 1n, -value - 1n, -value, 1n - value].filter(fits).map(String);
  });
}
