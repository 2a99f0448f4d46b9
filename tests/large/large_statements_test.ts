/**
 * Large statements answer rightly, or are refused for their depth; what they cost is counted where it could be their
 * square.
 */
import assert from "node:assert/strict";
import { type Database, DatabaseError, open } from "../../mod.ts";
import {
  DEEP_SHAPES,
  JOIN_SHAPES,
  type LargeStatement,
  SETUP,
  type StatementShape,
  WIDE_SHAPES,
} from "./statement_shapes.ts";

async function withTable(work: (database: Database) => Promise<void>): Promise<void> {
  await using database = await open(":memory:");
  for (const statement of SETUP) await database.execute(statement);
  await work(database);
}

async function answer(database: Database, { sql, parameters }: LargeStatement): Promise<number> {
  if (sql.startsWith("INSERT")) return (await database.execute(sql, parameters)).rowCount ?? 0;
  const [row] = await database.query(sql, parameters);
  return Number(Object.values(row ?? {})[0]);
}

for (const [name, shape] of Object.entries(WIDE_SHAPES)) {
  Deno.test(`a statement answers rightly with 1500 terms: ${name}`, async () => {
    await withTable(async (database) => {
      for (const terms of [1, 6, 1500]) {
        const statement = shape(terms);
        assert.equal(await answer(database, statement), statement.expected, `${terms} terms`);
      }
    });
  });
}

/** The SQLSTATE that refuses the statement; null when it answers, and rightly. */
async function refusal(database: Database, statement: LargeStatement): Promise<string | null> {
  try {
    assert.equal(await answer(database, statement), statement.expected);
    return null;
  } catch (error) {
    if (error instanceof DatabaseError) return error.code;
    throw error;
  }
}

for (const [name, shape] of Object.entries(DEEP_SHAPES)) {
  Deno.test(`a deep statement answers rightly or is refused with 54001: ${name}`, async () => {
    await withTable(async (database) => {
      assert.equal(await refusal(database, shape(5)), null);
      for (const terms of [60, 240, 1500]) {
        const code = await refusal(database, shape(terms));
        assert.ok(code === null || code === "54001", `${terms} terms: ${code}`);
      }
    });
  });
}

function checkJoin(name: string, shape: StatementShape): void {
  Deno.test(`a join answers rightly with 10, 33 and 64 tables: ${name}`, async () => {
    await withTable(async (database) => {
      for (const tables of [10, 33, 64]) {
        const statement = shape(tables);
        assert.equal(await answer(database, statement), statement.expected, `${tables} tables`);
      }
    });
  });
}

for (const [name, shape] of Object.entries(JOIN_SHAPES)) checkJoin(name, shape);
