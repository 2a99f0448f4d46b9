/** What indexes and joins answer stays so in statements that are planned in pieces. */
import { match, notStrictEqual, strictEqual } from "node:assert/strict";
import { Pieces } from "../../base/pieces.ts";
import { visitPlan } from "../plan/traverse.ts";
import { explainPlan } from "./explain_plan.ts";
import { environmentOf, plan } from "./fixture_for_test.ts";
import { longTerms } from "./long_terms.ts";

const environment = environmentOf([
  { name: "t", columns: ["id int", "b int", "c text"], primaryKey: ["id"], rows: 100_000 },
  { name: "u", columns: ["id int", "b int", "c text"], primaryKey: ["id"], rows: 100_000 },
]);

/** The plan of a statement whose lists of three terms are long, made in pieces of one term. */
function planned(text: string) {
  const { leastCount } = longTerms;
  longTerms.leastCount = 3;
  try {
    const pieces = new Pieces(() => 0);
    for (;;) {
      const made = pieces.run(0, () => plan({ ...environment, pieces }, text));
      if (made !== null) return made.value;
    }
  } finally {
    longTerms.leastCount = leastCount;
  }
}

Deno.test("withLongTerms() leaves what indexes and joins answer", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["SELECT * FROM t WHERE id IN (1 + 1, 2 + 2, 3::int)", /^Row Lookup[^]*id IN/],
    ["SELECT * FROM t WHERE id = 1 + 1 OR id = 2 + 2 OR id = 3 + 3", /^Row Lookup[^]*id IN/],
    ["SELECT * FROM t WHERE id = ANY (ARRAY[1 + 1, 2 + 2, 3 + 3])", /^Row Lookup/],
    ["SELECT * FROM t WHERE id = 7 AND b > 1 AND b < 9 AND c > 'a'", /^Row Lookup[^]*long_and/],
    [
      "SELECT * FROM t, u WHERE t.b = u.b AND t.c < u.c OR t.b = u.b AND t.c = 'a' OR t.b = u.b AND t.id < u.id",
      /Hash Join[^]*long_or/,
    ],
    ["SELECT * FROM t WHERE b > 5 OR c = 'x' OR id < 3", /long_or/],
    ["SELECT * FROM t WHERE b > random() OR c = 'x' OR id < 3", /random/],
  ];
  for (const [text, expected] of cases) match(explainPlan(planned(text).plan).join("\n"), expected);
});

Deno.test("withLongTerms() gives no two expressions one name", () => {
  const names: string[] = [];
  const { plan } = planned(`SELECT CASE WHEN b > 1 THEN 1 WHEN b > 2 THEN 2 WHEN b > 3 THEN 3 END,
    CASE WHEN b > 1 THEN 1 WHEN b > 2 THEN 2 WHEN b > 3 THEN 4 END FROM t`);
  visitPlan(plan, { expression: (each) => void (each.kind === "call" && names.push(each.function.name)) });
  const long = names.filter((name) => name.startsWith("long_"));
  strictEqual(long.length, 2);
  notStrictEqual(long[0], long[1]);
});
