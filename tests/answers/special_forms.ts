/**
 * Expressions with a syntax of their own, which no entry of the registry stands for, over every type.
 */
import type { Signature } from "./calls.ts";
import { CAST_TYPES, poolOf } from "./edge_values.ts";

/** Types for comparisons in other words; the operators themselves are compared over all. */
const COMPARED_TYPES = [
  ...[
    "bool",
    "i16",
    "i32",
    "i64",
    "numeric",
    "numeric(10,2)",
    "numeric(36,6)",
    "f32",
    "f64",
    "text",
    "char(5)",
    "bytea",
    "date",
  ],
  ...["timestamptz", "interval", "uuid", "jsonb", "enum", "i32[]", "numeric[]"],
];

/** Over two values of one type that has an order. */
const TWO_VALUES: readonly (readonly [label: string, call: (left: string, right: string) => string])[] = [
  ["distinct", (left, right) => `${left} is distinct from ${right}`],
  ["between", (left, right) => `${left} between symmetric ${right} and ${right}`],
  ["nullif", (left, right) => `nullif(${left}, ${right})`],
  ["coalesce", (left, right) => `coalesce(${left}, ${right})`],
  ["greatest", (left, right) => `greatest(${left}, ${right})`],
  ["least", (left, right) => `least(${left}, ${right})`],
  ["in", (left, right) => `${left} in (${right}, null)`],
  ["not in", (left, right) => `${left} not in (${right}, ${right})`],
  ["any", (left, right) => `${left} <= any (array[${right}])`],
  ["all", (left, right) => `${left} <> all (array[${right}, ${right}])`],
  ["case", (left, right) => `case ${left} when ${right} then 1 else 0 end`],
  ["row <", (left, right) => `row(${left}, ${right}) < row(${right}, ${left})`],
  ["row =", (left, right) => `row(${left}, 1) = row(${right}, 1)`],
];

/** Over one value of any type. */
const ONE_VALUE: readonly (readonly [label: string, call: (value: string) => string])[] = [
  ["is null", (value) => `${value} is null`],
  ["array", (value) => `array[${value}, null]`],
  ["row", (value) => `row(${value}, null)`],
  ["row_to_json", (value) => `row_to_json(row(${value}))`],
];

/** All special forms. */
export function specialForms(): Signature[] {
  const pairs = TWO_VALUES.flatMap(([form, call]) =>
    COMPARED_TYPES.map((name): Signature => ({
      label: `${form}: ${name}`,
      pools: [poolOf(name), poolOf(name)],
      call: ([left = "", right = ""]) => call(left, right),
    }))
  );
  const singles = ONE_VALUE.flatMap(([form, call]) =>
    CAST_TYPES.filter((name) => form !== "array" || !name.endsWith("[]")).map((name): Signature => ({
      label: `${form}: ${name}`,
      pools: [poolOf(name)],
      call: ([value = ""]) => call(value),
    }))
  );
  const truth = ["is true", "is not false", "is unknown"].map((form): Signature => ({
    label: `${form}: bool`,
    pools: [poolOf("bool")],
    call: ([value = ""]) => `${value} ${form}`,
  }));
  const logic = ["and", "or"].map((form): Signature => ({
    label: `${form}: bool`,
    pools: [poolOf("bool"), poolOf("bool")],
    call: ([left = "", right = ""]) => `${left} ${form} ${right}`,
  }));
  const texts = [
    [
      "trim leading",
      "text",
      "text/characters",
      (text: string, other: string) => `trim(leading ${other} from ${text})`,
    ],
    [
      "trim both",
      "text",
      "text/characters",
      (text: string, other: string) => `trim(both ${other} from ${text})`,
    ],
    [
      "like escape",
      "text/subject",
      "text/escape",
      (text: string, other: string) => `${text} like 'a#%' escape ${other}`,
    ],
    [
      "similar to",
      "text/subject",
      "text/similar",
      (text: string, other: string) => `${text} similar to ${other}`,
    ],
    [
      "overlaps",
      "date",
      "date",
      (text: string, other: string) => `(${text}, ${other}) overlaps (${other}, ${text})`,
    ],
    ["subscript", "i32[]", "i32/position", (text: string, other: string) => `(${text})[${other}]`],
    ["slice", "text[]", "i32/position", (text: string, other: string) => `(${text})[0:${other}]`],
    ["subscript", "jsonb", "text/key", (text: string, other: string) => `(${text})[${other}]`],
  ] as const;
  const others = texts.map(([form, left, right, call]): Signature => ({
    label: `${form}: ${left}, ${right}`,
    pools: [poolOf(left), poolOf(right)],
    call: ([first = "", second = ""]) => call(first, second),
  }));
  return [...pairs, ...singles, ...truth, ...logic, ...others];
}
