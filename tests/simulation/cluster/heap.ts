/**
 * A table of a simulated cluster whose rows one client replaces, or changes, and adds to, in transactions so large that
 * they are staged and cut: the rows of one transaction are there, all of them, and no other ones.
 */
import { deepStrictEqual, ok } from "node:assert/strict";
import type { SeededRandom } from "../../../engine/base/random.ts";
import { requestError } from "./cluster_clients.ts";
import type { PgConnection } from "./cluster_clients.ts";

/** Rows that a load keeps at most. */
const MAX_KEPT_ROWS = 1500;
const EMPTY = { rows: 0, bytes: 0 };

/** See the head of the file. */
export class Heap {
  /** Load, rows, and their text, of each load that is there. */
  readonly contents: string;
  readonly #table: string;
  /** Rows after each load, and the bytes of their text; null: it was refused. Load 0 is the empty table. */
  readonly #loads: ({ readonly rows: number; readonly bytes: number } | null)[] = [EMPTY];
  /** The newest that was acknowledged. */
  #acknowledged = 0;
  #nextId = 1;

  constructor(table: string) {
    this.#table = table;
    this.contents = `SELECT load, count(*), sum(length(v)) FROM ${this.#table} GROUP BY load`;
  }

  /** The statements that make the table. */
  get definition(): readonly string[] {
    const table = this.#table;
    return [
      `CREATE TABLE ${table} (id int PRIMARY KEY, load int NOT NULL, v text)`,
      `CREATE INDEX ON ${table} (load)`,
    ];
  }

  /** One transaction; false: the connection is gone. */
  async load(connection: PgConnection, random: SeededRandom): Promise<boolean> {
    // Loads are much work for the simulation.
    await new Promise((resolve) => setTimeout(resolve, random.between(200, 2500)));
    const number = this.#loads.length;
    await connection.query("BEGIN");
    const before = this.check(await connection.query(this.contents), "its client", this.#acknowledged);
    const keeps = before.rows > 0 && before.rows < MAX_KEPT_ROWS && random.below(2) === 0;
    await connection.query(
      keeps ? `UPDATE ${this.#table} SET load = ${number}` : `DELETE FROM ${this.#table}`,
    );
    let { rows, bytes } = keeps ? before : EMPTY;
    for (let count = random.between(2, 5); count > 0; count--) {
      const added = random.between(200, 500), v = "z".repeat(random.between(60, 160));
      const lines = Array.from({ length: added }, () => `${this.#nextId++}\t${number}\t${v}\n`);
      await connection.copyIn(`COPY ${this.#table} FROM STDIN`, lines.join(""));
      rows += added;
      bytes += added * v.length;
    }
    this.#loads.push({ rows, bytes });
    try {
      await connection.query("COMMIT");
    } catch (error) {
      if (requestError(error).isKnown) this.#loads[number] = null;
      throw error;
    }
    this.#acknowledged = number;
    return true;
  }

  /** Throws where that is not what one load has left, `least` or a later one; answers which. */
  check(
    contents: readonly (readonly unknown[])[],
    who: string,
    least = 0,
  ): { readonly rows: number; readonly bytes: number } {
    ok(contents.length <= 1, `${who} sees several loads of ${this.#table}: ${contents.join("; ")}`);
    const [load = 0, rows, bytes] = (contents[0] ?? [0, 0, 0]).map(Number);
    const expected = this.#loads[load];
    ok(
      expected !== undefined && expected !== null && load >= least,
      `${who} sees load ${load} of ${this.#table}, of ${this.#loads.length}, behind ${least}`,
    );
    deepStrictEqual({ rows, bytes }, expected, `load ${load} of ${this.#table}, as ${who} sees it`);
    return expected;
  }

  /** The newest load that must be there. */
  get acknowledged(): number {
    return this.#acknowledged;
  }
}
