/**
 * Order, hash keys and sort keys agree for every type: for lists of values in SQL order, with equal ones grouped, each
 * pair is compared in all three ways.
 */
import assert from "node:assert/strict";
import { compareValues, compositeHashKey, hashKey, sortKey } from "./compare.ts";
import { parseText } from "./text_io.ts";
import { parseTypeText } from "./type_names.ts";
import type { SqlType } from "./sql_type.ts";
import type { SqlValue } from "./value.ts";

/** A type and its values in ascending order; values within one inner list are equal. */
const ORDERED: readonly (readonly [string, readonly (readonly string[])[]])[] = [
  ["boolean", [["f"], ["t"]]],
  ["integer", [["-2147483648"], ["-256"], ["-255"], ["-1"], ["0"], ["1"], ["255"], ["256"], ["2147483647"]]],
  ["bigint", [
    ["-9223372036854775808"],
    ["-9007199254740993"],
    ["-9007199254740992"],
    ["-9007199254740991"],
    ["-1"],
    ["0"],
    ["9007199254740991"],
    ["9007199254740992"],
    ["9007199254740993"],
    ["9223372036854775807"],
  ]],
  ["double precision", [["-Infinity"], ["-1e300"], ["-1"], ["-1e-300"], ["0", "-0"], ["1e-300"], ["1"], [
    "Infinity",
  ], ["NaN"]]],
  ["real", [["-1.5"], ["0"], ["0.1"], ["NaN"]]],
  ["numeric", [
    ["-Infinity"],
    ["-1e30"],
    ["-100"],
    ["-10.5"],
    ["-10"],
    ["-0.5"],
    ["-0.05"],
    ["0", "0.000"],
    ["0.001"],
    ["0.0101"],
    ["1", "1.0", "1.00"],
    ["1.01"],
    ["9.99"],
    ["10"],
    ["100", "1e2"],
    ["12345678901234567890.5"],
    ["1e30"],
    ["Infinity"],
    ["NaN"],
  ]],
  ["numeric(10,2)", [["-1.50"], ["0"], ["0.01"], ["2", "2.00"], ["10"]]],
  ["text", [[""], ["A"], ["a"], ["a\x01"], ["aa"], ["ab"], ["b"], ["é"], ["\ud7ff"], ["\ue000"], ["\uffff"], [
    "😀",
  ]]],
  ["char(4)", [["", "  "], ["a", "a  "], ["a b"], ["b"]]],
  ["uuid", [["00000000-0000-0000-0000-000000000001"], ["f0000000-0000-0000-0000-000000000000"]]],
  ["bytea", [["\\x"], ["\\x00"], ["\\x0000"], ["\\x0001"], ["\\x01"], ["\\xff"]]],
  ["date", [["-infinity"], ["0044-03-15 BC"], ["1999-12-31"], ["2000-01-01"], ["2000-01-02"], ["infinity"]]],
  ["timestamp", [["-infinity"], ["0044-03-15 BC"], ["1999-12-31 23:59:59.999999"], ["2000-01-01"], [
    "294276-12-31",
  ], [
    "infinity",
  ]]],
  ["time", [["00:00"], ["00:00:00.000001"], ["24:00"]]],
  ["interval", [["-1 mon"], ["-1 day", "-24:00:00"], ["0"], ["1 day", "24:00:00"], ["1 mon", "30 days"], [
    "1 year",
  ]]],
  ["integer[]", [["{}"], ["{1}"], ["[2:2]={1}"], ["{1,1}"], ["{{1,1}}"], ["{1,2}"], ["{1,NULL}"], ["{2}"]]],
  ["text[]", [["{}"], ['{""}'], ["{a}"], ["{a,b}"], ["{ab}"]]],
  ["jsonb", [
    ["[]"],
    ["null"],
    ['"a"'],
    ['"b"'],
    ["1", "1.0"],
    ["2"],
    ["false"],
    ["true"],
    ["[1]", "[1.0]"],
    ["[2]"],
    ["[1, 1]"],
    ["{}"],
    ['{"a": 1}'],
    ['{"b": 1}'],
    ['{"a": 1, "b": 2}'],
  ]],
];

function typeOf(name: string): SqlType {
  const type = parseTypeText(name);
  assert.ok(type !== undefined, name);
  return type;
}

Deno.test("compareValues(), hashKey() and sortKey() agree", () => {
  for (const [name, groups] of ORDERED) {
    const type = typeOf(name);
    const values = groups.flatMap((texts, group) =>
      texts.map((text) => ({ group, text, value: parseText(type, text) }))
    );
    for (const a of values) {
      for (const b of values) {
        const expected = Math.sign(a.group - b.group);
        const label = `${name}: ${a.text} and ${b.text}`;
        assert.equal(compareValues(type, a.value, b.value), expected, label);
        // A Map takes -0 for 0, as `===` does.
        const sameKey = new Set([hashKey(type, a.value), hashKey(type, b.value)]).size === 1;
        assert.equal(sameKey, expected === 0, label);
        const [left, right] = [sortKey([type], [a.value]), sortKey([type], [b.value])];
        assert.equal(left < right ? -1 : left > right ? 1 : 0, expected, label);
        const [leftDown, rightDown] = [
          sortKey([type], [a.value], [true]),
          sortKey([type], [b.value], [true]),
        ];
        assert.equal(
          leftDown < rightDown ? 1 : leftDown > rightDown ? -1 : 0,
          expected,
          `${label} descending`,
        );
      }
    }
  }
});

Deno.test("sortKey() keeps to bytes and joins columns in order", () => {
  const types = [typeOf("text"), typeOf("integer")];
  const rows: SqlValue[][] = [["", 5], ["a", -1], ["a", 2], ["a", null], ["a\x00", -5], ["aé", 0], ["b", 0], [
    null,
    1,
  ]];
  const keys = rows.map((row) => sortKey(types, row));
  assert.deepEqual([...keys].sort(), keys);
  for (const key of keys) assert.ok([...key].every((character) => character.charCodeAt(0) < 256));
  for (const row of rows) {
    assert.ok(sortKey(types, row).startsWith(sortKey(types.slice(0, 1), row.slice(0, 1))));
  }
});

Deno.test("sortKey() places nulls where asked, in either direction", () => {
  const type = [typeOf("integer")];
  for (const descending of [false, true]) {
    for (const nullsFirst of [false, true]) {
      const empty = sortKey(type, [null], [descending], [nullsFirst]);
      for (const value of [-2147483648, 0, 2147483647]) {
        assert.equal(empty < sortKey(type, [value], [descending], [nullsFirst]), nullsFirst);
      }
    }
  }
});

Deno.test("compositeHashKey() tells rows apart", () => {
  const types = [typeOf("text"), typeOf("text")];
  assert.notEqual(compositeHashKey(types, ["a", "bc"]), compositeHashKey(types, ["ab", "c"]));
  assert.notEqual(compositeHashKey(types, [null, ""]), compositeHashKey(types, ["", null]));
  assert.equal(compositeHashKey(types, [null, "x"]), compositeHashKey(types, [null, "x"]));
});
