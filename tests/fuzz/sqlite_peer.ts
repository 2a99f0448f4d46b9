/** SQLite in this process as a peer of random statements. */
import { DatabaseSync } from "node:sqlite";
import { DatabaseError, SQLSTATE } from "../../mod.ts";
import type { Peer } from "./sql_oracle.ts";
import type { GeneratedType } from "./statement_generator.ts";

/** An empty SQLite database. */
export class SqlitePeer implements Peer {
  readonly name = "SQLite";
  readonly #database = new DatabaseSync(":memory:");

  constructor() {
    this.#database.exec("PRAGMA case_sensitive_like = ON");
  }

  run(sql: string, types: readonly GeneratedType[]): Promise<(string | null)[][]> {
    try {
      if (!/^(SELECT|WITH)| RETURNING /.test(sql)) {
        this.#database.exec(sql);
        return Promise.resolve([]);
      }
      const statement = this.#database.prepare(sql);
      statement.setReadBigInts(true);
      // Columns of a generated query have names of their own, or are those of a table: objects keep their order.
      const rows = statement.all().map((row) => Object.values(row));
      return Promise.resolve(rows.map((row) => row.map((value, index) => shown(value, types[index]))));
    } catch (error) {
      if (error instanceof Error && /overflow/.test(error.message)) {
        return Promise.reject(new DatabaseError(SQLSTATE.numericValueOutOfRange, error.message));
      }
      if (error instanceof Error && /^UNIQUE/.test(error.message)) {
        return Promise.reject(new DatabaseError(SQLSTATE.uniqueViolation, error.message));
      }
      return Promise.reject(error);
    }
  }

  /** SQLite computes with floating point where integers overflow. */
  excuses(error: string): boolean {
    return error === SQLSTATE.numericValueOutOfRange;
  }

  close(): void {
    this.#database.close();
  }
}

function shown(value: unknown, type: GeneratedType | undefined): string | null {
  if (value === null) return null;
  if (type === "bool") return value === 0n ? "f" : "t";
  return String(value);
}
