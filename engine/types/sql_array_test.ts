/** Array values: subscripts, slices and changes. */
import assert from "node:assert/strict";
import { SqlArray } from "./sql_array.ts";
import { formatText, parseText } from "./text_io.ts";
import type { SqlType } from "./sql_type.ts";

const INTEGERS: SqlType = { kind: "array", element: { kind: "i32" } };

function array(text: string): SqlArray {
  const value = parseText(INTEGERS, text);
  assert.ok(value instanceof SqlArray);
  return value;
}

function show(value: SqlArray): string {
  return formatText(INTEGERS, value);
}

Deno.test("SqlArray.element() answers null outside the bounds", () => {
  assert.equal(array("{1,2,3}").element([2]), 2);
  assert.equal(array("{1,2,3}").element([0]), null);
  assert.equal(array("{1,2,3}").element([1, 1]), null);
  assert.equal(array("[5:7]={1,2,3}").element([6]), 2);
  assert.equal(array("{{1,2},{3,4}}").element([2, 1]), 3);
});

Deno.test("SqlArray.slice() cuts to the bounds and starts at 1", () => {
  assert.equal(show(array("{1,2,3,4}").slice([[2, 3]])), "{2,3}");
  assert.equal(show(array("{1,2,3,4}").slice([[3, undefined]])), "{3,4}");
  assert.equal(show(array("{1,2,3,4}").slice([[-5, 2]])), "{1,2}");
  assert.equal(show(array("{1,2}").slice([[5, 6]])), "{}");
  assert.equal(show(array("{{1,2,3},{4,5,6}}").slice([[1, 2], [2, 3]])), "{{2,3},{5,6}}");
  assert.equal(show(array("{{1,2},{3,4}}").slice([[2, 2]])), "{{3,4}}");
});

Deno.test("SqlArray.withElement() extends one dimension only", () => {
  assert.equal(show(array("{1,2}").withElement([4], 9)), "{1,2,NULL,9}");
  assert.equal(show(array("{1,2}").withElement([-1], 9)), "[-1:2]={9,NULL,1,2}");
  assert.equal(show(SqlArray.EMPTY.withElement([1], 9)), "{9}");
  assert.throws(() => array("{{1},{2}}").withElement([3, 1], 9), /array subscript out of range/);
});

Deno.test("SqlArray.concat(), append() and prepend() follow PostgreSQL", () => {
  assert.equal(show(array("{1}").concat(array("{2,3}"))), "{1,2,3}");
  assert.equal(show(array("{{1,2}}").concat(array("{3,4}"))), "{{1,2},{3,4}}");
  assert.equal(show(array("{1,2}").concat(array("{{3,4}}"))), "{{1,2},{3,4}}");
  assert.equal(show(array("{}").concat(array("{5}"))), "{5}");
  assert.throws(() => array("{{1,2}}").concat(array("{1}")), /cannot concatenate incompatible arrays/);
  assert.throws(
    () => array("[0:1]={1,2}").concat(array("{{3,4}}")),
    /cannot concatenate incompatible arrays/,
  );
  assert.equal(show(array("[0:1]={1,2}").concat(array("[3:3]={3}"))), "[0:2]={1,2,3}");
  assert.equal(show(array("{1}").append(2)), "{1,2}");
  assert.equal(show(array("{1}").prepend(0)), "{0,1}");
});

Deno.test("SqlArray.ofArrays() wants equal dimensions", () => {
  assert.equal(show(SqlArray.ofArrays([array("{1,2}"), array("{3,4}")])), "{{1,2},{3,4}}");
  assert.throws(() => SqlArray.ofArrays([array("{1,2}"), array("{3}")]), /matching dimensions/);
});
