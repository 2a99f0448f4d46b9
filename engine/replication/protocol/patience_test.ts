/** When members become patient, and when they forget that. */
import { strictEqual } from "node:assert/strict";
import { Patience } from "./patience.ts";

Deno.test("Patience grows with short views to a bound, and goes with one that lasts", () => {
  const patience = new Patience();
  let now = 0;
  const view = (milliseconds: number, end: "lost" | "handedOver" = "lost") => {
    patience.begun(now);
    now += milliseconds;
    patience[end](now);
    return patience.factor(now);
  };
  patience.lost(now);
  strictEqual(patience.factor(now), 1);
  strictEqual(view(9_999), 2);
  strictEqual(view(500, "handedOver"), 2);
  strictEqual(view(9_000), 4);
  strictEqual(view(9_000), 4);
  patience.begun(now);
  strictEqual(patience.factor(now + 9_999), 4);
  strictEqual(patience.factor(now + 10_000), 2);
  strictEqual(patience.factor(now + 20_000), 1);
  strictEqual(patience.factor(now + 1e9), 1);
  strictEqual(view(11_000), 2);
  strictEqual(view(30_000), 1);
});
