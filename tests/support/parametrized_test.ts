/** Literals that become parameters, and those that must not. */
import { deepStrictEqual as same } from "node:assert/strict";
import { parametrized } from "./parametrized.ts";

function check(sql: string, text: string, parameters: readonly string[]): void {
  same(parametrized(sql), { text, parameters }, sql);
}

Deno.test("parametrized() replaces the literals to the right of an operator", () => {
  check("SELECT a + 1, b < 2.5", "SELECT a + $1::integer, b < $2::numeric", ["1", "2.5"]);
  check("x = 'it''s' AND y<>3000000000", "x = $1 AND y<>$2::bigint", ["it's", "3000000000"]);
  check("(a) - 5", "(a) - $1::integer", ["5"]);
  check("a * -5, -2147483648, f(-1), ORDER BY -1", "a * -5, -2147483648, f(-1), ORDER BY -1", []);
  check("n::numeric(3,-2), 'a=1', \"b=2\" -- = 3", "n::numeric(3,-2), 'a=1', \"b=2\" -- = 3", []);
  check("LIMIT 3 OFFSET 2", "LIMIT 3 OFFSET 2", []);
});
