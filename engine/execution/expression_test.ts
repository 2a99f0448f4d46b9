/** Random expressions and predicates: compiled code against the interpreter. */
import assert from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import type { PlannedStatement } from "../sql/plan/plan.ts";
import { accelerate } from "./testing/accelerate.ts";
import { corpusDatabase } from "./testing/corpus.ts";
import { SeededRandom } from "./testing/seeded_random.ts";

/** Writes random SQL expressions over the columns of `t`. */
class ExpressionWriter {
  readonly #random: SeededRandom;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  condition(depth: number): string {
    const random = this.#random;
    if (depth <= 0) return this.#comparison();
    switch (random.below(9)) {
      case 0:
        return `(${this.condition(depth - 1)} and ${this.condition(depth - 1)})`;
      case 1:
        return `(${this.condition(depth - 1)} or ${this.condition(depth - 1)})`;
      case 2:
        return `not (${this.condition(depth - 1)})`;
      case 3:
        return `(${this.condition(depth - 1)}) is ${
          random.pick(["true", "not true", "false", "not false", "unknown", "not unknown"])
        }`;
      case 4:
        return `${this.integer(depth - 1)} ${random.pick(["in", "not in"])} (${this.integer(0)}, ${
          this.integer(depth - 1)
        }, ${random.pick(["null", "3", "a"])})`;
      case 5:
        return `(case when ${this.condition(depth - 1)} then ${
          this.condition(depth - 1)
        } when ok then null else ${this.condition(depth - 1)} end)`;
      case 6:
        return `coalesce(${this.condition(depth - 1)}, ${this.condition(depth - 1)})`;
      case 7:
        return `(${this.integer(depth - 1)} is ${random.pick(["", "not "])}distinct from ${
          this.integer(depth - 1)
        })`;
      default:
        return this.#comparison();
    }
  }

  #comparison(): string {
    const random = this.#random;
    const operator = random.pick(["=", "<>", "<", "<=", ">", ">="]);
    switch (random.below(8)) {
      case 0:
        return "ok";
      case 1:
        return `${this.text(1)} ${operator} ${this.text(1)}`;
      case 2:
        return `s like ${random.pick(["'x%'", "'%o%'", "'_y'", "null"])}`;
      case 3:
        return `${random.pick(["a", "b", "s", "f", "ok", "d"])} is ${random.pick(["", "not "])}null`;
      case 4:
        return `f ${operator} ${random.pick(["1.5::float8", "'NaN'::float8", "a::float8", "f"])}`;
      case 5:
        return `d ${operator} ${random.pick(["0", "12.5", "a", "d / 2", "-0.005"])}`;
      case 6:
        return `s ${random.pick(["=", "<>"])} ${random.pick(["'x'", "'äö'", "''", "upper(s)"])}`;
      default:
        return `${this.integer(1)} ${operator} ${this.integer(1)}`;
    }
  }

  integer(depth: number): string {
    const random = this.#random;
    if (depth <= 0) return random.pick(["a", "id", "b", "3", "5", "null::bigint", "length(s)"]);
    switch (random.below(7)) {
      case 0:
        return `(${this.integer(depth - 1)} ${random.pick(["+", "-", "*"])} ${this.integer(depth - 1)})`;
      case 1:
        return `coalesce(${this.integer(depth - 1)}, ${this.integer(depth - 1)})`;
      case 2:
        return `case when ${this.condition(depth - 1)} then ${this.integer(depth - 1)} else ${
          this.integer(depth - 1)
        } end`;
      case 3:
        return `nullif(${this.integer(depth - 1)}, ${this.integer(depth - 1)})`;
      case 4:
        return `${random.pick(["greatest", "least"])}(${this.integer(depth - 1)}, ${
          this.integer(depth - 1)
        })`;
      case 5:
        return `(${this.integer(depth - 1)} / ${random.pick(["2", "a", "nullif(a, 0)"])})`;
      default:
        return this.integer(0);
    }
  }

  text(depth: number): string {
    const random = this.#random;
    if (depth <= 0) return random.pick(["s", "'x'", "'äö'", "null::text", "a::text"]);
    switch (random.below(4)) {
      case 0:
        return `(${this.text(depth - 1)} || ${this.text(depth - 1)})`;
      case 1:
        return `coalesce(${this.text(depth - 1)}, ${this.text(depth - 1)})`;
      case 2:
        return `case when ${this.condition(depth - 1)} then ${this.text(depth - 1)} end`;
      default:
        return this.text(0);
    }
  }
}

function outcome(run: () => string[][]): unknown {
  try {
    return run().map((row) => row.join("|")).sort();
  } catch (error) {
    // Which of several errors comes first depends on the order of evaluation, which SQL leaves open.
    if (error instanceof DatabaseError) return "error";
    throw error;
  }
}

Deno.test("random conditions and expressions agree with the interpreter", () => {
  const random = new SeededRandom(2024);
  const writer = new ExpressionWriter(random);
  const database = corpusDatabase(3, 40);
  let compared = 0;
  for (let round = 0; round < 200; round++) {
    const text = random.pick([
      () => `select id from t where ${writer.condition(3)}`,
      () => `select id, ${writer.condition(3)}, ${writer.integer(2)} from t`,
      () => `select id, ${writer.text(2)} from t where ${writer.condition(2)} and ${writer.condition(2)}`,
      () =>
        `select ${writer.integer(1)} k, count(*), count(*) filter (where ${
          writer.condition(2)
        }) from t group by 1`,
      () =>
        `select t.id, x.xid from t left join (select id as xid, id, a as xa, s as xs from t where ${
          writer.condition(1)
        }) x on x.xa = t.a and x.xs <> t.s`,
    ])();
    let planned: PlannedStatement;
    try {
      planned = database.plan(text, false);
    } catch (error) {
      // Combinations without a common type, such as a comparison of a bigint and a numeric with no operator.
      if (error instanceof DatabaseError) continue;
      throw error;
    }
    for (const each of [planned, { ...planned, plan: accelerate(planned.plan) }]) {
      const expected = outcome(() => database.interpreted(each));
      const actual = outcome(() => database.compiled(each));
      // Where the interpreter meets an error, compiled code may have skipped it; it never raises one of its own.
      if (expected === "error") continue;
      assert.deepEqual(actual, expected, text);
      compared++;
    }
  }
  assert.ok(compared > 150, `only ${compared} of the random statements ran`);
});
