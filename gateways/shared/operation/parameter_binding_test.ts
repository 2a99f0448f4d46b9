/** What a client may send for a parameter of a type, at the type's ends. */
import { deepEqual as equal, throws } from "node:assert/strict";
import type { SqlType } from "../../../engine/types/sql_type.ts";
import type { StoredValue } from "../../../engine/types/stored_value.ts";
import { checkedValue } from "./parameter_binding.ts";

Deno.test("checkedValue() takes dates and times up to their ends, and refuses those beyond with 22008", () => {
  const last = 9_223_371_331_199_999_999n, first = -211_813_488_000_000_000n;
  const cases: [
    SqlType["kind"] & ("date" | "time" | "timestamp" | "timestamptz"),
    StoredValue[],
    StoredValue[],
  ][] = [
    ["date", [-2_451_545, 2_145_031_948, Infinity, -Infinity], [-2_451_546, 2_145_031_949, 2_147_483_493]],
    ["time", [0, 86_400_000_000], [-1, 86_400_000_001]],
    ["timestamp", [first, last, Infinity], [first - 1n, last + 1n, 2n ** 63n - 1n]],
    ["timestamptz", [first, last, -Infinity], [first - 1n, last + 1n]],
  ];
  for (const [kind, taken, refused] of cases) {
    for (const value of taken) equal(checkedValue({ kind }, value), value);
    for (const value of refused) {
      throws(() => checkedValue({ kind }, value), { code: "22008" }, `${kind} ${value}`);
    }
    for (const value of [0.5, NaN, "x"]) throws(() => checkedValue({ kind }, value), { code: "22P03" });
  }
  equal(checkedValue({ kind: "timestamp" }, 7n), 7);
  throws(() => checkedValue({ kind: "time" }, Infinity), { code: "22P03" });
});
