/**
 * Functions of double precision whose last digits PostgreSQL leaves to the C library of its machine. Ours are the
 * same on every machine; the two agree to 14 digits.
 */

const INEXACT: ReadonlySet<string> = new Set([
  ...[
    "||/",
    "^",
    "acos",
    "acosd",
    "acosh",
    "asin",
    "asind",
    "asinh",
    "atan",
    "atan2",
    "atan2d",
    "atand",
    "atanh",
    "cbrt",
    "cos",
    "cosd",
  ],
  ...[
    "cosh",
    "cot",
    "cotd",
    "degrees",
    "exp",
    "ln",
    "log",
    "log10",
    "pow",
    "power",
    "sin",
    "sind",
    "sinh",
    "tan",
    "tand",
    "tanh",
  ],
]);

const RELATIVE_TOLERANCE = 2e-14;

/** Whether a signature is of a function whose last digits may differ. */
export function isInexact(label: string): boolean {
  if (!label.includes("f64")) return false;
  const name = /^([a-z_0-9]+)\(/.exec(label)?.[1];
  return INEXACT.has(name ?? (label.split(" ").find((word) => INEXACT.has(word)) ?? ""));
}

/** Whether two answers are finite numbers that are equal but for their last digits. */
export function isClose(left: string, right: string): boolean {
  const [first, second] = [Number(left), Number(right)];
  if (!Number.isFinite(first) || !Number.isFinite(second) || Object.is(first, 0) !== Object.is(second, 0)) {
    return false;
  }
  return Math.abs(first - second) <= RELATIVE_TOLERANCE * Math.max(Math.abs(first), Math.abs(second));
}
