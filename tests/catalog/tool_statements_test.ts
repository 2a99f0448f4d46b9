/**
 * The catalog queries that psql, pg_dump and JavaScript's query builders and mappers (postgres.js, Kysely, Knex,
 * Sequelize, TypeORM) were seen to send, each with the number of rows that PostgreSQL 15 answers for the same schema.
 * A star is where the number depends on what is built in.
 */
import { engineOf } from "../../engine/session/database.ts";
import { deepStrictEqual as equal } from "node:assert/strict";
import { catalogDatabase, rowsOf, statementFile } from "./catalog_database.ts";

interface ToolStatement {
  readonly rows: string;
  readonly sql: string;
}

function statementsOf(file: string): ToolStatement[] {
  return statementFile(file).split(/^-- rows: /m).slice(1).map((part) => {
    const lineEnd = part.indexOf("\n");
    return { rows: part.slice(0, lineEnd).trim(), sql: part.slice(lineEnd + 1).trim().replace(/;$/, "") };
  });
}

for (const tool of ["psql", "pg_dump", "drivers"]) {
  Deno.test(`the catalog answers the queries of ${tool} with as many rows as PostgreSQL`, async () => {
    await using database = await catalogDatabase();
    const session = engineOf(database).openSession({ user: "db", database: "db" });
    if (tool === "pg_dump") await rowsOf(session, "SET search_path = ''");
    for (const { rows, sql } of statementsOf(`${tool}.sql`)) {
      const answered = await rowsOf(session, sql).catch((error) => {
        throw new Error(`${error.message} in: ${sql}`);
      });
      if (rows !== "*") equal(answered.length, Number(rows), sql);
    }
    session.close();
  });
}
