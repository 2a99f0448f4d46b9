/**
 * The edge table in the storage states: neither what its rows went through nor the way to ask for them may change an
 * answer.
 */
import { type Keeping, type Way, WITH_ADDED_COLUMNS } from "../support/storage_states.ts";
import { StateDatabase } from "../support/state_database.ts";
import { type Answer, answerOf } from "./engine_answers.ts";
import type { EdgeStatement } from "./edge_statements.ts";
import { createEdgeTable, type EdgeTable, insertEdgeRows, sqlName } from "./edge_tables.ts";

/** A database that holds the table in a state. */
export class EdgeDatabase implements AsyncDisposable {
  readonly #database: StateDatabase;
  readonly #around: ReturnType<Keeping["start"]>;

  private constructor(database: StateDatabase, keeping: Keeping) {
    this.#database = database;
    this.#around = keeping.start();
  }

  static async make(keeping: Keeping, table: EdgeTable): Promise<EdgeDatabase> {
    const database = await StateDatabase.open();
    const made = new EdgeDatabase(database, keeping);
    if (keeping === WITH_ADDED_COLUMNS) {
      await addColumns(database, table);
      return made;
    }
    const [create = "", ...inserts] = partsOf(table);
    const change = async (sql: string) => void await made.#around(database, sql, () => database.run(sql));
    // What a transaction writes is not all that it sees.
    if (keeping.isShared) await change(create);
    else for (const sql of [create, inserts.shift() ?? "", "CHECKPOINT"]) await database.run(sql);
    for (const sql of inserts) await change(sql);
    await change("UPDATE e SET c1 = c1, c2 = c2 WHERE id % 7 = 1");
    return made;
  }

  /** The answer to a statement that is asked in a way. */
  async answer(statement: EdgeStatement, way: Way): Promise<Answer> {
    return await answerOf(() =>
      this.#around(this.#database, statement.sql, () => way.ask(this.#database, statement))
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database[Symbol.asyncDispose]();
  }
}

/** Creates the table and fills it, by thirds. */
function partsOf(table: EdgeTable): string[] {
  const third = Math.ceil(table.rows.length / 3);
  const parts = [0, 1, 2].flatMap((part) => insertEdgeRows(table, part * third, (part + 1) * third));
  return [createEdgeTable(table), ...parts];
}

/** Segments lack all columns but the key; the first row's values are the defaults. */
async function addColumns(database: StateDatabase, table: EdgeTable): Promise<void> {
  await database.run("CREATE TABLE e (id int PRIMARY KEY)");
  await database.run(`INSERT INTO e SELECT i FROM generate_series(1, ${table.rows.length}) AS g(i)`);
  await database.checkpoint();
  const literal = (text: string | null) => text === null ? "NULL" : `'${text.replaceAll("'", "''")}'`;
  for (const [index, { name, type }] of table.columns.entries()) {
    const first = table.rows[0]?.[index] ?? null;
    await database.run(`ALTER TABLE e ADD COLUMN ${name} ${sqlName(type)} DEFAULT ${literal(first)}`);
    const byText = new Map<string | null, number[]>();
    for (const [at, row] of table.rows.entries()) {
      const text = row[index] ?? null;
      if (text !== first) byText.set(text, [...byText.get(text) ?? [], at + 1]);
    }
    for (const [text, ids] of byText) {
      await database.run(`UPDATE e SET ${name} = ${literal(text)} WHERE id IN (${ids.join(", ")})`);
    }
  }
}
