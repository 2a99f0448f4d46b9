/** The steps of an evaluation: generated code and the interpreter count alike. */
import assert from "node:assert/strict";
import { gas } from "../../base/gas.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { checkPlace } from "../../catalog/gas_places.ts";
import { needsCounter, runCounted } from "../../sql/plan/expression_steps.ts";
import type { StoredRow } from "../../operations/effect.ts";
import type { SqlValue } from "../../types/value.ts";
import { evaluate } from "../oracle/interpret_expression.ts";
import { TestDatabase } from "../testing/fixture.ts";
import { SeededRandom } from "../testing/seeded_random.ts";
import { compileTableExpression } from "./row_completion.ts";
import { TableExpressionBinder } from "./table_expressions.ts";

const database = new TestDatabase(
  [{ name: "t", columns: ["id bigint", "s text", "b text", "n numeric", "j jsonb"], make: {}, count: 0 }],
  new SeededRandom(1),
);

/** The steps of a condition over a row. */
function steps(
  text: string,
  row: StoredRow,
): { compiled: unknown[]; interpreted: unknown[]; counted: boolean } {
  const { catalog } = database.environment as { readonly catalog: Catalog };
  const table = catalog.tables.find(({ name }) => name === "t");
  assert.ok(table !== undefined);
  const binder = new TableExpressionBinder(catalog, table);
  const expression = binder.condition(text);
  const context = database.context();
  const place = checkPlace(table, "c");
  const measured = (work: () => unknown): unknown[] => {
    gas.beginTurn();
    try {
      return [Boolean(work()), gas.spent];
    } catch (error) {
      return [(error as { code?: string }).code, gas.spent];
    }
  };
  const run = compileTableExpression(context, table, { expression, columns: binder.columns }, {
    kind: "bool",
  }, place);
  const values = new Map(binder.columns.map((column, position) => [column, row[position] as SqlValue]));
  const scope = { context, row: values, definitions: new Map(), working: new Map() };
  return {
    compiled: measured(() => run(row)),
    interpreted: measured(() => runCounted(expression, place, () => evaluate(scope, expression))),
    counted: needsCounter(expression),
  };
}

Deno.test("generated code counts the steps that the interpreter counts", () => {
  const row = (s: string): StoredRow => [1, s, s.slice(1), null, `{"a": "${s}"}`];
  for (
    const [text, counted] of [
      ["id > 0 and id * 2 + 1 < 100 or id is null", false],
      ["s = 'x' or s in ('a', 'b', 'c') or s < 'y'", false],
      ["case when id > 0 then id % 2 else id / 3 end = 1", false],
      ["length(s) < 100", true],
      ["s ~ '^[a-z]+@[a-z]+$' or s like '%x%' and upper(s) <> b", true],
      ["s = b or s > b", true],
      ["length(repeat(s, 1000)) > 0 and length(lpad(s, 1000)) = 1000", true],
      ["regexp_replace(s, '(x+x+)+y', 'z', 'g') = s", true],
      ["jsonb_path_exists(j, '$.** ? (@ starts with \"x\")')", true],
      ["j @> j and (j ->> 'a')::text = s", true],
      ["regexp_count(repeat(s, 100000), '(x+x+)+y') >= 0", true],
    ] as const
  ) {
    for (const s of ["", "x", "someone@example", "x".repeat(2000)]) {
      const { compiled, interpreted, counted: isCounted } = steps(text, row(s));
      assert.equal(isCounted, counted, text);
      if (counted) assert.deepEqual(compiled, interpreted, `${text} of ${s.length} characters`);
      else assert.equal(compiled[1], 0, text);
    }
  }
});
