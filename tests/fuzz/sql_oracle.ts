/**
 * Random statements whose answers are compared: between several ways in which the database can find them, and with a
 * peer.
 *
 * A round has a schema, random rows and a number of statements. Modifications are tried in a transaction, the
 * contents of the changed tables are compared, and half of them are kept. What differs is shrunk to a small statement
 * and reported with the seed.
 */
import { memoryHost } from "../../engine/host/memory_host.ts";
import { largeValues } from "../../engine/execution/codegen/large_calls.ts";
import { WorkersForTest } from "../../engine/parallel/workers_for_test.ts";
import { Database, engineOf } from "../../engine/session/database.ts";
import { Engine } from "../../engine/session/engine.ts";
import { open } from "../../mod.ts";
import { type SeededRandom, seededRandom } from "../support/random.ts";
import { Choices, shrink } from "./choices.ts";
import { type Answer, answerOf, BOUND_STATEMENTS, EngineAnswers, isTooLarge } from "./engine_answers.ts";
import { anyValue, wideNames, wideTypes } from "./wide_types.ts";
import {
  type Dialect,
  type GeneratedStatement,
  type GeneratedTable,
  type GeneratedType,
  StatementGenerator,
} from "./statement_generator.ts";

/** Another database that is asked the same. */
export interface Peer {
  readonly name: string;
  run(sql: string, types: readonly GeneratedType[]): Promise<(string | null)[][]>;
  /** Whether an error of the database under test is one that the peer cannot have. */
  excuses(error: string): boolean;
}

/** What makes it the plan's choice which expressions are computed for which rows. */
const CHOICE =
  /\b(JOIN|WHERE|CASE|AND|OR|LIMIT|HAVING|FILTER|UNION|INTERSECT|EXCEPT|EXISTS|IN|ANY|ALL|LATERAL|WITH|DISTINCT|BETWEEN)\b|coalesce|greatest|least|NULL AS/i;

/** Whether every plan computes the same expressions for the same rows, so that an error is part of the answer. */
function isDetermined({ kind, sql, tablesRead }: GeneratedStatement): boolean {
  const body = sql.replace(/^SELECT \* FROM \(/, "");
  return kind === "query" && tablesRead === 1 && body.split("SELECT").length === 2 && !CHOICE.test(sql);
}

/** What a round came to. */
export interface OracleReport {
  readonly statements: number;
  /** Statements that gave rows, not errors. */
  readonly answered: number;
  /** Comparisons with the peer that took place. */
  readonly compared: number;
  /** Differences that are none: an expression failed where another plan or the peer did not compute it. */
  readonly excused: number;
  readonly failures: readonly string[];
}

/** What a round is. */
export interface OracleRound {
  readonly seed: number;
  readonly statements: number;
  readonly dialect: Dialect;
  /** Null: only the database's own ways are compared. */
  readonly peer: Peer | null;
  /** Rows a table has at most. */
  readonly rows?: number;
  /**
   * Every how many statements the database's own ways are compared as well; 1 unless given. The peer is always asked,
   * and so are two workers, and little memory.
   */
  readonly allPlansEvery?: number;
}

function makeTables(dialect: Dialect): GeneratedTable[] {
  const numeric = dialect === "postgresql"
    ? [{ name: "n", type: "numeric" as const, declared: "numeric(12,2)" }]
    : [];
  const wide = [
    { name: "a", type: "int" as const, declared: "integer" },
    ...wideTypes.map((type) => ({ name: `${type}_`, type, declared: wideNames[type] })),
  ];
  const id = { name: "id", type: "int" as const, declared: "integer PRIMARY KEY" };
  return [
    {
      name: "t0",
      columns: [
        id,
        { name: "a", type: "int", declared: "integer" },
        { name: "b", type: "int", declared: "bigint" },
        { name: "c", type: "text", declared: "text" },
        { name: "f", type: "bool", declared: "boolean" },
        ...numeric,
      ],
    },
    ...(dialect === "postgresql" ? [{ name: "t3", columns: [id, ...wide] }] : []),
    {
      name: "t1",
      columns: [
        id,
        { name: "a", type: "int", declared: "integer" },
        { name: "c", type: "text", declared: "varchar(60)" },
        ...numeric,
      ],
    },
    {
      name: "t2",
      columns: [id, { name: "b", type: "int", declared: "bigint" }, {
        name: "f",
        type: "bool",
        declared: "boolean",
      }],
    },
  ];
}

const indexes = [
  "CREATE INDEX i0 ON t0 (a)",
  "CREATE INDEX i1 ON t0 (c, a)",
  "CREATE INDEX i2 ON t1 (a, c)",
  "CREATE INDEX i3 ON t2 (b)",
  "CREATE INDEX i4 ON t0 (f, b DESC)",
  "CREATE INDEX i5 ON t0 ((a % 10))",
  "CREATE INDEX i6 ON t0 (b) WHERE f",
  "CREATE INDEX i7 ON t1 (c) WHERE a > 0",
  "CREATE INDEX i8 ON t1 (length(c), a)",
];

const wideIndexes = [
  "CREATE INDEX w0 ON t0 (n)",
  ...wideTypes.filter((type) => type !== "jsonb").map((type) => `CREATE INDEX ON t3 (${type}_, a)`),
  "CREATE INDEX w1 ON t3 ((upper(encode(bytea_, 'hex'))))",
  "CREATE INDEX w2 ON t3 (date_) WHERE interval_ IS NOT NULL",
];

/** Pools of edges that a column declared so can hold. */
const declaredPools: Readonly<Record<string, string>> = {
  "integer": "i32",
  "numeric(12,2)": "numeric(10,2)",
};

/** How a column is filled: any values, or a few of them again and again, so that it is stored in other forms. */
function columnFiller(
  random: SeededRandom,
  { type, declared }: GeneratedTable["columns"][number],
): () => string {
  const value = () => {
    if (random.below(100) < 18) return "NULL";
    const text = anyValue(type, random.pick, declaredPools[declared]);
    if (type === "int" || type === "bool") return text;
    return `'${text.replaceAll("'", "''")}'`;
  };
  if (random.below(2) === 0) return value;
  const few = Array.from({ length: 1 + random.below(4) }, value);
  return () => random.pick(few);
}

function insertions(random: SeededRandom, table: GeneratedTable, most: number): string[] {
  const count = random.below(5) === 0 ? random.below(3) : 3 + random.below(most - 2);
  const fillers = table.columns.map((column) => columnFiller(random, column));
  const rows = Array.from({ length: count }, (_, row) => {
    const values = table.columns.map(({ name }, index) => name === "id" ? `${row + 1}` : fillers[index]?.());
    return `(${values.join(", ")})`;
  });
  // Two statements: the second part stays in memory when a checkpoint comes between them.
  const middle = Math.floor(rows.length * 0.7);
  return [rows.slice(0, middle), rows.slice(middle)].map((part) =>
    part.length === 0 ? "" : `INSERT INTO ${table.name} VALUES ${part.join(", ")}`
  );
}

/** Intervals of equal length are equal, whichever units they are written in. */
function microsecondsOf(text: string): bigint {
  const [, hourSign, hours, minutes, seconds, fraction] =
    /(-?)\+?(\d+):(\d+):(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  const unit = (name: string) =>
    BigInt(new RegExp(`(-?\\+?\\d+) ${name}`).exec(text)?.[1]?.replace("+", "") ?? 0);
  const days = unit("day") + 30n * (unit("mon") + 12n * unit("year"));
  const time = ((BigInt(hours ?? 0) * 60n + BigInt(minutes ?? 0)) * 60n + BigInt(seconds ?? 0)) * 1_000_000n +
    BigInt((fraction ?? "").padEnd(6, "0"));
  return days * 86_400_000_000n + (hourSign === "-" ? -time : time);
}

/** Text of a value by which two answers are compared. */
function comparable(value: string | null, type: GeneratedType): string {
  if (value === null) return "NULL";
  if (type === "interval") return `${microsecondsOf(value)}`;
  // Which of equal numerics is kept is not determined, and with it the zeros at the end.
  if (type === "numeric") return value.includes(".") ? value.replace(/\.?0+$/, "") : value;
  // Equal numbers in JSON come in either order, too.
  if (type === "jsonb") return value.replaceAll(/(\.\d*?)0+\b/g, "$1").replaceAll(/\.(?!\d)/g, "");
  // Nor is the order in which floats are added.
  return type === "float" ? `${Number(Number(value).toPrecision(12))}` : `=${value}`;
}

function textOf(answer: Answer, statement: GeneratedStatement): string {
  if ("error" in answer) return `error ${answer.error}`;
  const rows = answer.rows.map((row) =>
    row.map((value, index) => comparable(value, statement.types[index] ?? "text")).join(" | ")
  );
  if (!statement.ordered) rows.sort();
  return rows.join("\n");
}

/** A database in memory whose files two workers can read. */
async function openWithWorkers(): Promise<{ readonly database: Database; readonly workers: WorkersForTest }> {
  const host = memoryHost();
  // They compute every call on a text, bytes or an array.
  largeValues.leastLength = -1;
  const workers = new WorkersForTest(host.disk, 2, { leastCallSteps: 0 });
  const engine = await Engine.open({ host, directory: "data", workers });
  await workers.started();
  return { database: Database.over(engine, () => engine.close()), workers };
}

/** Runs one round. */
export async function runOracle(round: OracleRound): Promise<OracleReport> {
  const oracle = new Oracle(round);
  await oracle.prepare();
  try {
    return await oracle.run();
  } finally {
    await oracle.close();
  }
}

/** Ways in which every statement is asked. */
const ALWAYS: ReadonlySet<string> = new Set(["with two workers", "in little memory"]);

class Oracle {
  readonly #round: OracleRound;
  readonly #tables: readonly GeneratedTable[];
  readonly #databases: Database[] = [];
  readonly #engines: EngineAnswers[] = [];
  #answered = 0;
  #compared = 0;
  #excusedCount = 0;
  /** The statement at hand is not asked in all of the database's own ways. */
  #asksPeerOnly = false;
  /** Whether all databases are in a transaction with changes of its own. */
  #inBlock = false;
  /** An open transaction of another session, with what its queries answered at first. */
  #reader: EngineAnswers | null = null;
  readonly #before = new Map<string, Answer>();

  constructor(round: OracleRound) {
    this.#round = round;
    this.#tables = makeTables(round.dialect);
  }

  /** The first database has indexes and a checkpoint amid its rows, the second neither. */
  async prepare(): Promise<void> {
    for (let index = 0; index < 2; index++) {
      const { database, workers } = index === 0
        ? await openWithWorkers()
        : { database: await open(":memory:"), workers: null };
      this.#databases.push(database);
      this.#engines.push(new EngineAnswers(database, workers));
    }
    await this.#engines[0]?.run("SET min_parallel_table_scan_size = 0");
    for (const engine of this.#engines) await engine.run(BOUND_STATEMENTS);
    if (this.#round.dialect === "postgresql") await this.#round.peer?.run(BOUND_STATEMENTS, []);
    const random = seededRandom(this.#round.seed);
    const first: string[] = [];
    const second: string[] = [];
    for (const table of this.#tables) {
      const columns = table.columns.map(({ name, declared }) => `${name} ${declared}`).join(", ");
      first.push(`CREATE TABLE ${table.name} (${columns})`);
      const [before, after] = insertions(random, table, this.#round.rows ?? 12);
      if (before) first.push(before);
      if (after) second.push(after);
    }
    const withIndexes = seededRandom(this.#round.seed).below(2) === 0;
    for (const sql of first) await this.#everywhere(sql);
    const all = this.#round.dialect === "postgresql" ? [...indexes, ...wideIndexes] : indexes;
    if (withIndexes) { for (const sql of all) await this.#engines[0]?.run(sql); }
    const [indexed] = this.#databases;
    if (indexed !== undefined) await engineOf(indexed).checkpoint();
    for (const sql of second) await this.#everywhere(sql);
    if (!withIndexes) { for (const sql of all) await this.#engines[0]?.run(sql); }
  }

  async close(): Promise<void> {
    for (const database of this.#databases) await database.close();
  }

  async #everywhere(sql: string): Promise<void> {
    for (const engine of this.#engines) await engine.run(sql);
    await this.#round.peer?.run(sql, []);
  }

  async run(): Promise<OracleReport> {
    const failures: string[] = [];
    for (let index = 0; index < this.#round.statements && failures.length < 3; index++) {
      await this.#surroundings(index);
      this.#asksPeerOnly = index % (this.#round.allPlansEvery ?? 1) !== 0;
      const choices = Choices.ofSeed(this.#round.seed * 100_003 + index);
      const statement = this.#generate(choices);
      const difference = await this.#differs(statement, true);
      if (difference !== null) {
        const small = await shrink(choices.record, async (record) => {
          const candidate = this.#generate(Choices.replay(record));
          const found = await this.#differs(candidate);
          return found !== null && found.kind === difference.kind;
        });
        const smallest = this.#generate(Choices.replay(small));
        const shown = await this.#differs(smallest);
        failures.push(
          `seed ${this.#round.seed}, statement ${index}: ${smallest.sql}\n${shown?.text ?? difference.text}`,
        );
      } else if (statement.kind === "modification" && index % 2 === 0) {
        await this.#keep(statement.sql);
      } else if (statement.kind === "query" && this.#reader !== null && this.#before.size < 12) {
        await this.#readBefore(statement.sql);
      }
      const moved = index % 40 === 37 ? await this.#endReader() : null;
      if (moved !== null) failures.push(`seed ${this.#round.seed}, before statement ${index}: ${moved}`);
    }
    return {
      statements: this.#round.statements,
      answered: this.#answered,
      compared: this.#compared,
      excused: this.#excusedCount,
      failures,
    };
  }

  /** Now and then: a transaction that all statements run in, another session's snapshot, a checkpoint. */
  async #surroundings(index: number): Promise<void> {
    const { seed } = this.#round;
    if (index % 30 === 8) {
      await this.#everywhere("BEGIN");
      this.#inBlock = true;
    } else if (this.#inBlock && index % 30 === 24) {
      await this.#everywhere((seed + index) % 3 === 0 ? "ROLLBACK" : "COMMIT");
      this.#inBlock = false;
    }
    const [indexed] = this.#databases;
    if (indexed === undefined) return;
    if (index % 40 === 3) {
      this.#reader = new EngineAnswers(indexed);
      await this.#reader.run(BOUND_STATEMENTS);
      await this.#reader.run("BEGIN");
      for (const { name } of this.#tables) await this.#readBefore(`SELECT * FROM ${name} ORDER BY id`);
    }
    if ((index + seed) % 17 === 0) await engineOf(indexed).checkpoint();
  }

  /** Notes what a query answers in the reader's transaction, unless it fails: that would end the transaction. */
  async #readBefore(sql: string): Promise<void> {
    const reader = this.#reader;
    if (reader === null) return;
    await reader.run("SAVEPOINT s");
    const answer = await answerOf(() => reader.run(sql));
    if ("error" in answer) await reader.run("ROLLBACK TO SAVEPOINT s");
    else this.#before.set(sql, answer);
  }

  /** Ends the reader's transaction; what changed in it meanwhile, or null. */
  async #endReader(): Promise<string | null> {
    const reader = this.#reader;
    if (reader === null) return null;
    let moved: string | null = null;
    for (const [sql, before] of this.#before) {
      await reader.run("SAVEPOINT s");
      const after = await answerOf(() => reader.run(sql));
      if (isTooLarge(after)) {
        await reader.run("ROLLBACK TO SAVEPOINT s");
        continue;
      }
      const [first, second] = [before, after].map((answer) =>
        "error" in answer ? answer.error : answer.rows.map((row) => row.join(" | ")).sort().join("\n")
      );
      if (first !== second) moved ??= `a snapshot moved: ${sql}\n--- first:\n${first}\n--- then:\n${second}`;
    }
    await reader.run("ROLLBACK");
    this.#before.clear();
    this.#reader = null;
    return moved;
  }

  /** Runs a statement so that its failure leaves the transaction around it usable. */
  async #shielded<T>(
    run: (sql: string) => Promise<unknown>,
    work: () => Promise<T>,
    undo: boolean,
  ): Promise<T> {
    if (!this.#inBlock) {
      if (!undo) return await work();
      await run("BEGIN");
      try {
        return await work();
      } finally {
        await run("ROLLBACK");
      }
    }
    await run("SAVEPOINT s");
    try {
      const result = await work();
      await run(undo ? "ROLLBACK TO SAVEPOINT s" : "RELEASE SAVEPOINT s");
      return result;
    } catch (error) {
      await run("ROLLBACK TO SAVEPOINT s");
      throw error;
    }
  }

  #generate(choices: Choices): GeneratedStatement {
    return new StatementGenerator(choices, this.#tables, this.#round.dialect).statement();
  }

  /**
   * Keeps a modification, unless the peer or one of the engines refuses it: PostgreSQL computes constants even when
   * there is no row to change, and with an index fewer rows may be computed than without.
   */
  async #keep(sql: string): Promise<void> {
    const { peer } = this.#round;
    for (const engine of this.#engines) {
      const tried = await answerOf(() =>
        this.#shielded((text) => engine.run(text), () => engine.run(sql), true)
      );
      if ("error" in tried) return;
    }
    if (peer !== null) {
      const run = (text: string) => peer.run(text, []);
      if ("error" in await answerOf(() => this.#shielded(run, () => run(sql), false))) return;
    }
    for (const each of this.#engines) await each.run(sql);
  }

  /** What differs between the answers, or null. */
  async #differs(
    statement: GeneratedStatement,
    counts = false,
  ): Promise<{ readonly kind: string; readonly text: string } | null> {
    const allWays = statement.kind === "query"
      ? this.#queryWays(statement)
      : this.#modificationWays(statement);
    const ways = this.#asksPeerOnly
      ? allWays.filter(([name], index) => index === 0 || name === this.#round.peer?.name || ALWAYS.has(name))
      : allWays;
    let base: { readonly answer: Answer; readonly text: string } | null = null;
    for (const [name, ask] of ways) {
      const answer = await answerOf(ask);
      const text = textOf(answer, statement);
      if (isTooLarge(answer)) {
        if (counts) this.#excusedCount++;
        if (base === null) return null;
        continue;
      }
      if ("error" in answer && answer.error.startsWith("crash")) {
        return { kind: `${name} crash`, text: answer.error };
      }
      if (base === null) {
        base = { answer, text };
        if ("rows" in answer && counts) this.#answered++;
        // A statement that the generator must not make: everything it makes is well-formed.
        if ("error" in answer && /^(42|0A|XX)/.test(answer.error)) return { kind: "refused", text };
        continue;
      }
      if (counts && text === base.text && name === this.#round.peer?.name) this.#compared++;
      if (text === base.text) continue;
      if (this.#excused(name, statement, base.answer, answer)) {
        if (counts) this.#excusedCount++;
        continue;
      }
      return { kind: name, text: `--- ${ways[0]?.[0]}:\n${base.text}\n--- ${name}:\n${text}` };
    }
    return null;
  }

  /** Different plans may evaluate in another order what fails; a peer may have other limits. */
  #excused(name: string, statement: GeneratedStatement, base: Answer, answer: Answer): boolean {
    const peer = this.#round.peer;
    if (name === peer?.name) {
      if ("error" in base && peer.excuses(base.error)) return true;
      if ("error" in answer && peer.excuses(answer.error)) return true;
    }
    // PostgreSQL computes what has no column even when there is no row.
    const isEmpty = [base, answer].some((each) => "rows" in each && each.rows.length === 0);
    if (isDetermined(statement) && !isEmpty) return false;
    return "error" in base && /^22/.test(base.error) || "error" in answer && /^22/.test(answer.error);
  }

  #queryWays(statement: GeneratedStatement): (readonly [string, () => Promise<(string | null)[][]>])[] {
    const [engine, plain] = this.#engines;
    const { peer } = this.#round;
    const { sql, types } = statement;
    if (engine === undefined || plain === undefined) return [];
    const asked =
      (run: (text: string, own: readonly GeneratedType[]) => Promise<(string | null)[][]>) => () =>
        this.#shielded((text) => run(text, []), () => run(sql, types), false);
    const interpreted = !this.#inBlock && statement.tablesRead <= 4 && (this.#round.rows ?? 0) <= 20;
    return [
      ["compiled", asked((text) => engine.run(text))],
      ["without indexes", asked((text) => plain.run(text))],
      [
        "with two workers",
        () => this.#shielded((text) => engine.run(text), () => engine.sharedOut(sql), false),
      ],
      ...(this.#inBlock ? [] : [
        ["in little memory", () => Promise.resolve().then(() => engine.spilled(sql))],
        ["as if tables were large", () => Promise.resolve().then(() => engine.asIfLarge(sql))],
      ] as const),
      ...(interpreted
        ? [
          ["plan as bound", () => Promise.resolve().then(() => engine.unoptimized(sql))],
          ["interpreter", () => Promise.resolve().then(() => engine.interpreted(sql, true))],
        ] as const
        : []),
      ...(peer === null ? [] : [[peer.name, asked((text, own) => peer.run(text, own))] as const]),
    ];
  }

  #modificationWays(
    statement: GeneratedStatement,
  ): (readonly [string, () => Promise<(string | null)[][]>])[] {
    const { peer } = this.#round;
    const attempt = (
      run: (sql: string, types: readonly GeneratedType[]) => Promise<(string | null)[][]>,
    ) =>
      this.#shielded((sql) => run(sql, []), async () => {
        const show = (rows: readonly (readonly (string | null)[])[], own: readonly GeneratedType[]) =>
          rows.map((row) => row.map((value, index) => comparable(value, own[index] ?? "text")));
        const returning = statement.returning ?? [];
        const returned = show(await run(statement.sql, returning), returning).map((row) => row.join(" | "));
        const contents: (string | null)[][] = returned.sort().map((row) => ["returned", row]);
        for (const table of this.#tables) {
          const own = table.columns.map(({ type }) => type);
          contents.push(...show(await run(`SELECT * FROM ${table.name} ORDER BY id`, own), own));
        }
        return contents;
      }, true);
    const [engine, plain] = this.#engines;
    if (engine === undefined || plain === undefined) return [];
    return [
      ["compiled", () => attempt((sql) => engine.run(sql))],
      ["without indexes", () => attempt((sql) => plain.run(sql))],
      ["in little memory", () => attempt((sql) => engine.runInLittle(sql))],
      ...(peer === null ? [] : [[peer.name, () => attempt((sql, own) => peer.run(sql, own))] as const]),
    ];
  }
}
