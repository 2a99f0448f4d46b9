/** A database in memory with the schema that the catalog tests look at, and rows of statements run in one session. */
import { type Database, open } from "../../mod.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import type { Session } from "../../engine/session/session.ts";
import { formatText } from "../../engine/types/text_io.ts";

/** The text of a file in `statements/`. */
export function statementFile(name: string): string {
  return Deno.readTextFileSync(new URL(`statements/${name}`, import.meta.url));
}

/** A new database with the tables of `statements/schema.sql`. */
export async function catalogDatabase(): Promise<Database> {
  const database = await open(":memory:");
  for (const statement of statementFile("schema.sql").trim().split("\n")) await database.execute(statement);
  return database;
}

/** Runs one statement and answers its rows as psql shows them unaligned: columns apart by `|`, NULL as nothing. */
export async function rowsOf(session: Session, sql: string): Promise<string[]> {
  const sink = new RowBuffer();
  await session.execute(session.prepare(sql, []), [], sink);
  const options = session.evaluation.textOptions;
  return sink.rows.map((row) =>
    row.map((value, index) => {
      const type = sink.columns[index]?.type;
      return value === null || type === undefined ? "" : formatText(type, value, options);
    }).join("|")
  );
}
