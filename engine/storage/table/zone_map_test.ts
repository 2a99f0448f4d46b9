/** Which blocks a predicate skips: exactly those that cannot hold a row, as far as the zone tells. */
import { equal } from "node:assert/strict";
import type { StoredValue } from "../../operations/effect.ts";
import type { ZonePredicate } from "../access/readable_table.ts";
import type { SegmentColumnDescription } from "./segment_format.ts";
import { zoneAdmits } from "./zone_map.ts";

const ROWS = 10;

interface Zone {
  readonly nulls?: number;
  readonly numbers?: readonly [minimum: number, maximum: number];
  readonly texts?: readonly [low: string, high: string, isCut: boolean];
}

function columnOf({ nulls = 0, numbers, texts }: Zone): SegmentColumnDescription {
  const zones = {
    nullCounts: new Uint16Array([nulls]),
    minima: new Float64Array(numbers === undefined ? [] : [numbers[0]]),
    maxima: new Float64Array(numbers === undefined ? [] : [numbers[1]]),
    lows: texts === undefined ? [] : [texts[0]],
    highs: texts === undefined ? [] : [texts[1]],
    cut: new Uint8Array(texts === undefined ? [] : [Number(texts[2])]),
  };
  return { zones } as unknown as SegmentColumnDescription;
}

/** The operators that may hold for a row of the zone. */
function admitted(zone: Zone, value: StoredValue): string {
  const operators: ZonePredicate["operator"][] = ["<", "<=", "=", ">=", ">"];
  return operators.filter((operator) => zoneAdmits(columnOf(zone), 0, ROWS, { columnId: 1, operator, value }))
    .join(" ");
}

Deno.test("zoneAdmits() skips blocks whose numbers are all on the other side", () => {
  const numbers = [5, 9] as const;
  equal(admitted({ numbers }, 4), ">= >");
  equal(admitted({ numbers }, 5), "<= = >= >");
  equal(admitted({ numbers }, 7), "< <= = >= >");
  equal(admitted({ numbers }, 9), "< <= = >=");
  equal(admitted({ numbers }, 10), "< <=");
  equal(admitted({ numbers }, 9007199254740993n), "< <=");
  equal(admitted({ numbers }, -9007199254740993n), ">= >");
  equal(admitted({}, 4), "< <= = >= >");
});

Deno.test("zoneAdmits() takes NaN for greater than every number", () => {
  const withNaN = [5, NaN] as const;
  equal(admitted({ numbers: withNaN }, 100), "< <= = >= >");
  equal(admitted({ numbers: withNaN }, 5), "<= = >= >");
  equal(admitted({ numbers: withNaN }, 4), ">= >");
  equal(admitted({ numbers: [5, 9] }, NaN), "< <=");
  equal(admitted({ numbers: withNaN }, NaN), "< <= = >= >");
});

Deno.test("zoneAdmits() compares texts by code point, and a cut bound by its beginning", () => {
  const texts = ["b", "d", false] as const;
  equal(admitted({ texts }, "a"), ">= >");
  equal(admitted({ texts }, "b"), "<= = >= >");
  equal(admitted({ texts }, "c"), "< <= = >= >");
  equal(admitted({ texts }, "d"), "< <= = >= >");
  equal(admitted({ texts }, "da"), "< <=");
  equal(admitted({ texts: ["b", "d", true] }, "da"), "< <= = >= >");
  equal(admitted({ texts: ["b", "d", true] }, "e"), "< <=");
  equal(admitted({ texts: ["a", "\uffff", false] }, "\u{1f600}"), "< <=");
  equal(admitted({}, "a"), "< <= = >= >");
});

Deno.test("zoneAdmits() counts NULLs, which no comparison is true for", () => {
  const test = (operator: ZonePredicate["operator"], nulls: number, value: StoredValue = 5) =>
    zoneAdmits(columnOf({ nulls, numbers: [5, 5] }), 0, ROWS, { columnId: 1, operator, value });
  equal(test("is null", 0), false);
  equal(test("is null", 1), true);
  equal(test("is not null", ROWS - 1), true);
  equal(test("is not null", ROWS), false);
  equal(test("=", ROWS), false);
  equal(test("=", ROWS - 1), true);
  equal(test("=", 0, null), false);
  equal(test("<=", 0, null), false);
  equal(test("=", 0, new Uint8Array(1)), true);
});
