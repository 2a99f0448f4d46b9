/**
 * Random transactions over tables with foreign keys of every kind: deferred or not, with all actions, of several
 * columns, to themselves, between types; with savepoints, SET CONSTRAINTS and changes of many rows.
 *
 * A generator follows what is needed to go on, and nothing else: whether a block is open or has failed, its
 * savepoints, and which constraints are deferred now. Keys are few, so that rows meet.
 */
import type { Choices } from "./choices.ts";

/** A foreign key of the generated tables. */
export interface GeneratedKey {
  readonly name: string;
  readonly child: string;
  readonly columns: readonly string[];
  readonly parent: string;
  readonly parentColumns: readonly string[];
  readonly full: boolean;
  readonly deferrable: boolean;
  readonly initiallyDeferred: boolean;
}

/** What a statement does to the block around it. */
export type StatementRole =
  | "plain"
  | "begin"
  | "commit"
  | "rollback"
  | "savepoint"
  | "release"
  | "rollback to"
  | "constraints";

/** One generated statement. */
export interface GeneratedStatement {
  readonly sql: string;
  readonly role: StatementRole;
  /** The savepoint's name, or the constraint's (null: all). */
  readonly name: string | null;
  /** SET CONSTRAINTS … DEFERRED. */
  readonly deferred: boolean;
}

const actions = ["NO ACTION", "CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT"];
const keyTypes = ["int", "bigint", "numeric", "smallint"];
const savepointNames = ["s", "r"];
/** Keys go from 0 to one less than this. */
const KEYS = 9;

/** Which constraints are deferred, and the savepoints with what was so when they were made. */
interface Block {
  failed: boolean;
  modes: ReadonlyMap<string, boolean>;
  readonly savepoints: { readonly name: string; readonly modes: ReadonlyMap<string, boolean> }[];
}

/** Statements of one seed, one after the other; {@link answered} tells how the last one went. */
export class ForeignKeyStatements {
  readonly keys: readonly GeneratedKey[];
  /** The statements that make the tables. */
  readonly schema: readonly string[];
  readonly tables: readonly string[] = ["p", "q", "c", "d", "e"];
  readonly #choices: Choices;
  readonly #onlyChecks: boolean;
  readonly #blockPercent: number;
  #block: Block | null = null;

  /**
   * `onlyChecks`: no actions but NO ACTION, so that a row is only ever changed by its own statement. `hasTriggers`:
   * few blocks, since statements fail more often.
   */
  constructor(
    choices: Choices,
    options: { readonly onlyChecks?: boolean; readonly hasTriggers?: boolean } = {},
  ) {
    this.#choices = choices;
    this.#onlyChecks = options.onlyChecks === true;
    this.#blockPercent = options.hasTriggers === true ? 20 : 85;
    const keys: GeneratedKey[] = [];
    const key = (
      definition: Pick<GeneratedKey, "name" | "child" | "columns" | "parent" | "parentColumns">,
    ) => {
      const deferrable = choices.chance(80);
      const made: GeneratedKey = {
        ...definition,
        full: definition.columns.length > 1 && choices.chance(50),
        deferrable,
        initiallyDeferred: deferrable && choices.chance(60),
      };
      keys.push(made);
      const match = made.full ? " MATCH FULL" : "";
      const mode = deferrable ? ` DEFERRABLE${made.initiallyDeferred ? " INITIALLY DEFERRED" : ""}` : "";
      return `CONSTRAINT ${made.name} FOREIGN KEY (${made.columns.join(", ")}) REFERENCES ${made.parent} (${
        made.parentColumns.join(", ")
      })${match}${this.#action("UPDATE")}${this.#action("DELETE")}${mode}`;
    };
    const other = choices.pick(keyTypes);
    const c = [
      key({ name: "c_v", child: "c", columns: ["v"], parent: "p", parentColumns: ["id"] }),
      key({ name: "c_w", child: "c", columns: ["w"], parent: "c", parentColumns: ["id"] }),
      key({ name: "c_x", child: "c", columns: ["x"], parent: "p", parentColumns: ["u"] }),
    ];
    const d = [
      key({ name: "d_ab", child: "d", columns: ["a", "b"], parent: "q", parentColumns: ["a", "b"] }),
      key({ name: "d_c", child: "d", columns: ["c"], parent: "c", parentColumns: ["id"] }),
    ];
    const e = key({ name: "e_v", child: "e", columns: ["v"], parent: "p", parentColumns: ["id"] });
    this.keys = keys;
    const index = choices.chance(50) ? ["CREATE INDEX ON d (a, b)", "CREATE INDEX ON c (v)"] : [];
    this.schema = [
      `CREATE TABLE p (id ${choices.pick(keyTypes)} PRIMARY KEY, u ${other} UNIQUE)`,
      `CREATE TABLE q (a int, b ${other}, t text, PRIMARY KEY (b, a))`,
      `CREATE TABLE c (id int PRIMARY KEY, v int DEFAULT 1, w int DEFAULT 2, x int DEFAULT 3, ${
        c.join(", ")
      })`,
      `CREATE TABLE d (a int DEFAULT 1, b int DEFAULT 1, c bigint DEFAULT 2, t text, ${d.join(", ")})`,
      `CREATE TABLE e (id int PRIMARY KEY, v int DEFAULT 1, ${e})`,
      ...index,
      "INSERT INTO p VALUES (0, 0), (1, 1), (2, 2), (3, NULL)",
      "INSERT INTO q VALUES (0, 0), (1, 1), (0, 1), (2, 2)",
      "INSERT INTO c VALUES (0, 0, NULL, NULL), (1, 1, 1, 1), (2, 2, 1, NULL)",
      "INSERT INTO d VALUES (0, 0, 0), (1, 1, 1), (NULL, NULL, 1)",
    ];
  }

  /** Whether a foreign key has an action, which may take away what another one would refuse. */
  get hasActions(): boolean {
    return this.schema.some((sql) => / ON (UPDATE|DELETE) /.test(sql));
  }

  /** Whether a block is open. */
  get hasBlock(): boolean {
    return this.#block !== null;
  }

  /** Whether a block is open that has not failed. */
  get isOpen(): boolean {
    return this.#block !== null && !this.#block.failed;
  }

  /** Whether a constraint waits for the commit now. */
  isDeferred(key: GeneratedKey): boolean {
    return this.#block?.modes.get(key.name) ?? key.initiallyDeferred;
  }

  /** The next statement. */
  next(): GeneratedStatement {
    const choices = this.#choices;
    const block = this.#block;
    if (block === null) {
      return choices.chance(this.#blockPercent)
        ? statement("BEGIN", "begin")
        : statement(this.#change(), "plain");
    }
    const newest = block.savepoints.at(-1);
    if (block.failed) {
      return newest === undefined
        ? statement("ROLLBACK", "rollback")
        : statement(`ROLLBACK TO ${newest.name}`, "rollback to", newest.name);
    }
    const turn = choices.below(100);
    if (turn < 70) return statement(this.#change(), "plain");
    if (turn < 80) return statement("COMMIT", "commit");
    if (turn < 83) return statement("ROLLBACK", "rollback");
    if (turn < 88) {
      const name = choices.pick(savepointNames);
      return statement(`SAVEPOINT ${name}`, "savepoint", name);
    }
    if (turn < 93 && newest !== undefined) {
      const name = choices.pick(block.savepoints).name;
      return choices.chance(40)
        ? statement(`RELEASE ${name}`, "release", name)
        : statement(`ROLLBACK TO ${name}`, "rollback to", name);
    }
    const deferrable = this.keys.filter((key) => key.deferrable);
    const key = choices.chance(50) || deferrable.length === 0 ? null : choices.pick(deferrable).name;
    const deferred = choices.chance(50);
    const mode = deferred ? "DEFERRED" : "IMMEDIATE";
    return { sql: `SET CONSTRAINTS ${key ?? "ALL"} ${mode}`, role: "constraints", name: key, deferred };
  }

  /** Notes whether the last statement succeeded. */
  answered({ role, name, deferred }: GeneratedStatement, succeeded: boolean): void {
    const block = this.#block;
    if (role === "begin") this.#block = { failed: false, modes: new Map(), savepoints: [] };
    else if (block === null) return;
    else if (role === "commit" || role === "rollback") this.#block = null;
    else if (!succeeded) block.failed = true;
    else if (role === "savepoint") block.savepoints.push({ name: name ?? "", modes: block.modes });
    else if (role === "release" || role === "rollback to") {
      const at = block.savepoints.findLastIndex((each) => each.name === name);
      const found = block.savepoints[at];
      block.savepoints.length = role === "release" ? at : at + 1;
      if (role === "release" || found === undefined) return;
      block.modes = found.modes;
      block.failed = false;
    } else if (role === "constraints") {
      const modes = new Map(block.modes);
      for (const key of this.keys) {
        if (key.deferrable && (name === null || name === key.name)) modes.set(key.name, deferred);
      }
      block.modes = modes;
    }
  }

  #action(event: "UPDATE" | "DELETE"): string {
    if (this.#onlyChecks) return "";
    const action = this.#choices.pick(actions);
    return action === "NO ACTION" ? "" : ` ON ${event} ${action}`;
  }

  #key(): string {
    return String(this.#choices.below(KEYS));
  }

  #optional(): string {
    return this.#choices.chance(25) ? "NULL" : this.#key();
  }

  #row(table: string): string {
    switch (table) {
      case "p":
      case "e":
        return `(${this.#key()}, ${this.#optional()})`;
      case "q":
        return `(${this.#key()}, ${this.#key()})`;
      case "c":
        return `(${this.#key()}, ${this.#optional()}, ${this.#optional()}, ${this.#optional()})`;
      default:
        return `(${this.#optional()}, ${this.#optional()}, ${this.#optional()})`;
    }
  }

  #assignments(table: string): string {
    const choices = this.#choices;
    const all: Record<string, readonly (() => string)[]> = {
      p: [() => `id = ${this.#key()}`, () => `u = ${this.#optional()}`],
      q: [() => `a = ${this.#key()}`, () => `b = ${this.#key()}`, () => `t = 'x'`],
      c: [
        () => `v = ${this.#optional()}`,
        () => `id = ${this.#key()}`,
        () => `w = ${this.#optional()}`,
        () => `x = ${this.#optional()}`,
      ],
      e: [() => `id = ${this.#key()}`, () => `v = ${this.#optional()}`],
      d: [() => `a = ${this.#optional()}`, () => `b = ${this.#optional()}`, () => `c = ${this.#optional()}`],
    };
    const list = all[table] ?? [];
    const chosen = list.filter(() => choices.chance(40));
    return (chosen.length === 0 ? [choices.pick(list)] : chosen).map((each) => each()).join(", ");
  }

  /** Names one row by its key, so that the order in which rows are changed does not matter. */
  #where(table: string): string {
    switch (table) {
      case "q":
        return `a = ${this.#key()} AND b = ${this.#key()}`;
      case "d":
        return this.#choices.chance(50) ? `c = ${this.#key()}` : `a = ${this.#key()}`;
      default:
        return `id = ${this.#key()}`;
    }
  }

  /** A condition for DELETE, which may take any number of rows. */
  #many(table: string): string {
    const column = table === "q" || table === "d" ? "a" : "id";
    return this.#choices.pick([this.#where(table), `${column} IN (${this.#key()}, ${this.#key()})`, "true"]);
  }

  #change(): string {
    const choices = this.#choices;
    const table = choices.pick(["c", "p", "d", "q", "e"]);
    switch (choices.below(14)) {
      case 0:
      case 1:
      case 2:
        return `INSERT INTO ${table} VALUES ${this.#row(table)}`;
      case 3:
        return `INSERT INTO ${table} VALUES ${this.#row(table)}, ${this.#row(table)}`;
      case 4:
      case 5:
      case 6:
        return `UPDATE ${table} SET ${this.#assignments(table)} WHERE ${this.#where(table)}`;
      case 7:
        return `DELETE FROM ${table} WHERE ${this.#where(table)}`;
      case 11:
        return `UPDATE ${choices.pick(["e", "c", "p"])} SET id = id + ${
          1 + choices.below(9)
        } WHERE id = ${this.#key()}`;
      case 12:
        return `INSERT INTO e VALUES ${this.#row("e")} ON CONFLICT DO NOTHING`;
      case 8:
        return `DELETE FROM ${table} WHERE ${this.#many(table)}`;
      case 9: {
        const target = table === "d" ? "c" : table;
        const arbiter = target === "q" ? "(b, a)" : "(id)";
        const action = choices.chance(60) ? `DO UPDATE SET ${this.#assignments(target)}` : "DO NOTHING";
        return `INSERT INTO ${target} VALUES ${this.#row(target)} ON CONFLICT ${arbiter} ${action}`;
      }
      case 10: {
        const matched = choices.chance(50) ? "DELETE" : `UPDATE SET ${this.#assignments("c")}`;
        return `MERGE INTO c USING (VALUES ${
          this.#row("c").replaceAll("NULL", "NULL::int")
        }) AS n (i, j, k, l) ON c.id = n.i WHEN MATCHED THEN ${matched} ` +
          "WHEN NOT MATCHED THEN INSERT VALUES (n.i, n.j, n.k, n.l)";
      }
      default: {
        const first = choices.pick(["c", "p", "q"]);
        const other = choices.pick(["p", "c", "d"].filter((each) => each !== first));
        const change = choices.chance(50)
          ? `INSERT INTO ${first} VALUES ${this.#row(first)}`
          : `DELETE FROM ${first} WHERE ${this.#where(first)}`;
        return `WITH f AS (${change} RETURNING 1) INSERT INTO ${other} VALUES ${this.#row(other)}`;
      }
    }
  }
}

function statement(sql: string, role: StatementRole, name: string | null = null): GeneratedStatement {
  return { sql, role, name, deferred: false };
}

/** A query for the rows of a key without a parent. */
export function orphansOf(key: GeneratedKey): string {
  const pairs = key.columns.map((column, index) => `r.${key.parentColumns[index]} = o.${column}`).join(
    " AND ",
  );
  const some = key.columns.map((column) => `o.${column} IS NOT NULL`);
  const mixed = `(${some.join(" OR ")}) AND NOT (${some.join(" AND ")})`;
  const missing = `${some.join(" AND ")} AND NOT EXISTS (SELECT 1 FROM ${key.parent} r WHERE ${pairs})`;
  return `SELECT count(*) FROM ${key.child} o WHERE ${key.full ? `(${mixed}) OR ` : ""}(${missing})`;
}
