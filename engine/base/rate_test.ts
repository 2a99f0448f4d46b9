/** Rates of what happens again and again. */
import { ok, strictEqual } from "node:assert/strict";
import { Rate } from "./rate.ts";

Deno.test("a rate is near to what happens each second, and fades when nothing does", () => {
  const rate = new Rate();
  strictEqual(rate.at(5e6), 0);
  let now = 0;
  for (; now < 60e6; now += 10_000) rate.add(2, now);
  ok(Math.abs(rate.at(now) - 200) < 3, String(rate.at(now)));
  ok(Math.abs(rate.at(now + 10e6) - 200 / Math.E) < 2, String(rate.at(now + 10e6)));
  ok(rate.at(now + 200e6) < 1e-3);
});
