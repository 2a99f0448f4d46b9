/** A private PostgreSQL server as a peer of random statements. */
import { SQLSTATE } from "../../mod.ts";
import type { ClosableLogicDatabase } from "../slt/private_postgresql.ts";
import type { Peer } from "./sql_oracle.ts";

/** A database of the server. */
export class PostgresqlPeer implements Peer {
  readonly name = "PostgreSQL";
  readonly #database: ClosableLogicDatabase;

  constructor(database: ClosableLogicDatabase) {
    this.#database = database;
  }

  run(sql: string): Promise<(string | null)[][]> {
    return this.#database.run(sql);
  }

  /** Some joins PostgreSQL does not plan. */
  excuses(error: string): boolean {
    return error === SQLSTATE.featureNotSupported;
  }
}
