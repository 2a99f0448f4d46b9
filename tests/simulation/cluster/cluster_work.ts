/**
 * What clients of a simulated cluster do, and what they know of it: each kind of client in its own way, at whichever
 * member, until it is told to stop.
 */
import { assertDefined } from "../../../engine/base/assert.ts";
import { SeededRandom } from "../../../engine/base/random.ts";
import type { OperationClient } from "../../../gateways/binary/client.ts";
import { isLinearizable, type RegisterOperation } from "../../cluster/register_history.ts";
import { type BankFigures, bankTables, noFigures, runBank } from "../../isolation/bank.ts";
import { checkHistory } from "../../isolation/check_history.ts";
import { History } from "../../isolation/history.ts";
import { listAppendTables, ListAppendWorkload } from "../../isolation/list_append.ts";
import { connectBinary, forWorkload, HttpClient, PgConnection, requestError } from "./cluster_clients.ts";
import { Heap } from "./heap.ts";
import type { StreamNetwork } from "./simulated_sockets.ts";

/** The kinds of clients; a seed has one of each unless it is shrunk. */
export const CLIENT_KINDS = ["http", "binary", "lists", "bank", "mixed", "follower"] as const;
/** Two more, in some seeds: transactions that are staged, one while the other waits. */
export const LOAD_KINDS = ["load", "another load"] as const;
/** One of them. */
export type ClientKind = (typeof CLIENT_KINDS | typeof LOAD_KINDS)[number];

const REGISTERS = 3;
const LARGE_ROWS = 1200;

/** The statements that make the tables. */
const TABLES: readonly string[] = [
  "CREATE TABLE t (id int PRIMARY KEY, client int, v text, made timestamptz DEFAULT now())",
  "CREATE TABLE counter (id int PRIMARY KEY, n int NOT NULL)",
  "INSERT INTO counter VALUES (0, 0), (1, 0)",
  "CREATE TABLE register (k int PRIMARY KEY, v int NOT NULL)",
  `INSERT INTO register SELECT n, 0 FROM generate_series(0, ${REGISTERS - 1}) n`,
  "CREATE SEQUENCE numbers",
  "CREATE TABLE numbered (n bigint NOT NULL, client int)",
  "CREATE TABLE loaded (batch int NOT NULL, id int NOT NULL, v text)",
  ...listAppendTables,
  ...bankTables,
];

/** What work needs of its world. */
export interface WorkSurroundings {
  readonly streams: StreamNetwork;
  readonly members: number;
  /** Microseconds. */
  now(): number;
  fail(error: unknown): void;
}

/** See the head of the file. */
export class ClusterWork {
  readonly progress = new Map<ClientKind, number>();
  isOver = false;
  /** Nothing goes wrong any more: there is less to be seen. */
  isCalm = false;
  /** By counter: changes that were acknowledged, and whether one has no answer yet. */
  readonly counters = [{ acknowledged: 0, isOpen: false }, { acknowledged: 0, isOpen: false }];
  /** Rows that are there, and those that may be; all others must not. */
  readonly rows = new Set<number>();
  readonly unknownRows = new Set<number>();
  /** By batch of COPY: whether it was acknowledged, and its rows. */
  readonly batches = new Map<number, { isAcknowledged: boolean; readonly rows: number }>();
  /** A table for each kind of load that there is. */
  readonly heaps = new Map<ClientKind, Heap>();
  readonly figures: BankFigures = noFigures();
  acknowledged = 0;
  readonly #surroundings: WorkSurroundings;
  readonly #seed: number;
  readonly #history = new History();
  readonly #lists: ListAppendWorkload;
  readonly #registers: RegisterOperation[][] = Array.from({ length: REGISTERS }, () => []);
  #value = 0;
  #nextRow = 0;
  #nextTable = 0;

  constructor(seed: number, surroundings: WorkSurroundings) {
    this.#seed = seed;
    this.#surroundings = surroundings;
    this.#lists = new ListAppendWorkload(this.#history, { seed, keys: 3, appendsPerKey: 12 });
  }

  /** Makes the tables that the kinds need; resolves when they are there. */
  async prepare(kinds: readonly ClientKind[]): Promise<void> {
    for (const [index, kind] of LOAD_KINDS.entries()) {
      if (kinds.includes(kind)) this.heaps.set(kind, new Heap(`heap_${index}`));
    }
    const { streams, members } = this.#surroundings;
    const client = await connectBinary(streams, members, { clientId: "f".repeat(32), first: 0 });
    const heaps = [...this.heaps.values()].flatMap(({ definition }) => definition);
    for (const sql of [...TABLES, ...heaps]) await client.execute(sql);
    await client.close();
  }

  /** Starts clients; they go on until {@link isOver}. */
  start(kinds: readonly ClientKind[]): void {
    for (const kind of kinds) {
      this.progress.set(kind, 0);
      const random = new SeededRandom(this.#seed * 31 + [...CLIENT_KINDS, ...LOAD_KINDS].indexOf(kind));
      const work = {
        http: () => this.#http(random),
        binary: () => this.#binary(random),
        lists: () => this.#overPg(kind, random, (connection) => this.#runLists(connection)),
        bank: () => this.#overPg(kind, random, (connection) => this.#runBank(connection, random)),
        mixed: () => this.#overPg(kind, random, (connection) => this.#mixed(connection, random)),
        follower: () => this.#follower(random),
        "load": () => this.#load(kind, random),
        "another load": () => this.#load(kind, random),
      }[kind];
      work().catch((error) => this.#surroundings.fail(error));
    }
  }

  /** Throws what the records show to be wrong. `last`: a connection to read everything a last time. */
  async check(last: PgConnection): Promise<void> {
    await this.#lists.readEverything(last);
    const { anomalies } = checkHistory(this.#history.transactions);
    if (anomalies[0] !== undefined) throw new Error(`lists: ${anomalies[0].name}: ${anomalies[0].text}`);
    for (const [register, history] of this.#registers.entries()) {
      if (isLinearizable(history)) continue;
      const shown = history.toSorted((a, b) => a.start - b.start).map(({ kind, value, start, end }) =>
        `${kind} ${value} ${start}-${end}`
      );
      throw new Error(`register ${register} is not linearizable:\n${shown.join("\n")}`);
    }
    if (this.figures.wrong[0] !== undefined) throw new Error(`bank: ${this.figures.wrong[0]}`);
  }

  #rest(random: SeededRandom): Promise<void> {
    return pause(random.between(1, this.isCalm ? 1500 : random.below(4) === 0 ? 800 : 250));
  }

  #did(kind: ClientKind): void {
    this.acknowledged++;
    this.progress.set(kind, (this.progress.get(kind) ?? 0) + 1);
  }

  // --- PostgreSQL's protocol ---

  async #overPg(
    kind: ClientKind,
    random: SeededRandom,
    work: (connection: PgConnection) => Promise<boolean>,
  ): Promise<void> {
    const { streams, members } = this.#surroundings;
    while (!this.isOver) {
      await pause(random.between(5, 60));
      let connection: PgConnection;
      try {
        connection = await PgConnection.open(streams, random.below(members));
      } catch (error) {
        requestError(error);
        continue;
      }
      try {
        while (!this.isOver && !connection.isGone && await work(connection)) {
          this.#did(kind);
          await this.#rest(random);
        }
      } catch (error) {
        requestError(error);
      }
      await connection.close();
    }
  }

  /** A few transactions; false: the connection is gone. */
  async #runLists(connection: PgConnection): Promise<boolean> {
    const before = this.#lists.count;
    return await this.#lists.run(forWorkload(connection), 1, () => this.#lists.count > before);
  }

  #load(kind: ClientKind, random: SeededRandom): Promise<void> {
    const heap = assertDefined(this.heaps.get(kind), kind);
    return this.#overPg(kind, random, (connection) => heap.load(connection, random));
  }

  async #runBank(connection: PgConnection, random: SeededRandom): Promise<boolean> {
    const { figures } = this;
    const before = figures.transfers + figures.sums + figures.lost;
    return await runBank(forWorkload(connection), figures, {
      seed: random.u32(),
      enough: () => figures.transfers + figures.sums + figures.lost > before,
    });
  }

  async #mixed(connection: PgConnection, random: SeededRandom): Promise<boolean> {
    const query = (sql: string) => connection.query(sql);
    switch (random.below(12)) {
      case 0:
      case 1:
        await this.#insert(query, 1 + random.below(3));
        break;
      case 2:
      case 3:
        await this.#useSavepoint(connection);
        break;
      case 4:
        await this.#define(connection, random);
        break;
      case 5:
        await query("CREATE TEMP TABLE IF NOT EXISTS own (a int)");
        await query("INSERT INTO own VALUES (1)");
        break;
      case 6:
        await query("INSERT INTO numbered VALUES (nextval('numbers'), 4)");
        break;
      default:
        await this.#register(random, query);
    }
    return true;
  }

  async #useSavepoint(connection: PgConnection): Promise<void> {
    const [undone, kept] = [++this.#nextRow, ++this.#nextRow];
    await connection.query("BEGIN");
    await connection.query("SAVEPOINT s");
    await connection.query(`INSERT INTO t (id, client, v) VALUES (${undone}, 4, 'undone')`);
    await connection.query("ROLLBACK TO SAVEPOINT s");
    await connection.query(`INSERT INTO t (id, client, v) VALUES (${kept}, 4, 'kept')`);
    await this.#expectRows([kept], () => connection.query("COMMIT"));
  }

  async #define(connection: PgConnection, random: SeededRandom): Promise<void> {
    const name = `made_${++this.#nextTable}`;
    await connection.query(`CREATE TABLE ${name} (a int PRIMARY KEY, b text)`);
    await connection.query(`INSERT INTO ${name} SELECT n, 'text ' || n FROM generate_series(1, 20) n`);
    if (random.below(2) === 0) await connection.query(`ALTER TABLE ${name} ADD COLUMN c int DEFAULT 7`);
    if (random.below(2) === 0) await connection.query(`CREATE INDEX ON ${name} (b)`);
    if (random.below(2) === 0) await connection.query(`DROP TABLE ${name}`);
  }

  // --- things that several protocols do ---

  async #insert(query: (sql: string) => Promise<unknown>, count: number): Promise<void> {
    const first = this.#nextRow + 1;
    this.#nextRow += count;
    const ids = Array.from({ length: count }, (_, at) => first + at);
    await this.#expectRows(
      ids,
      () =>
        query(
          `INSERT INTO t (id, client, v) SELECT n, 1, repeat('x', n % 90) FROM generate_series(${first}, ${
            first + count - 1
          }) n`,
        ),
    );
  }

  /** The rows hold when the request is answered, and may hold when nobody knows. */
  async #expectRows(ids: readonly number[], send: () => Promise<unknown>): Promise<void> {
    for (const id of ids) this.unknownRows.add(id);
    try {
      await send();
    } catch (error) {
      if (requestError(error).isKnown) {
        for (const id of ids) this.unknownRows.delete(id);
      }
      throw error;
    }
    for (const id of ids) {
      this.unknownRows.delete(id);
      this.rows.add(id);
    }
  }

  async #register(
    random: SeededRandom,
    query: (sql: string) => Promise<readonly (readonly unknown[])[]>,
  ): Promise<void> {
    const k = random.below(REGISTERS);
    const history = this.#registers[k] as RegisterOperation[];
    const start = this.#surroundings.now();
    if (random.below(2) === 0) {
      const [row] = await query(`SELECT v FROM register WHERE k = ${k}`);
      history.push({ kind: "read", value: Number(row?.[0]), start, end: this.#surroundings.now() });
      return;
    }
    const value = ++this.#value;
    try {
      await query(`UPDATE register SET v = ${value} WHERE k = ${k}`);
      history.push({ kind: "write", value, start, end: this.#surroundings.now() });
    } catch (error) {
      if (!requestError(error).isKnown) history.push({ kind: "write", value, start, end: Infinity });
      throw error;
    }
  }

  #openCounter(id: 0 | 1): { acknowledged: number; isOpen: boolean } {
    return this.counters[id] as { acknowledged: number; isOpen: boolean };
  }

  // --- HTTP ---

  async #http(random: SeededRandom): Promise<void> {
    const { streams, members } = this.#surroundings;
    const clientId = "a".repeat(32);
    let sequence = 0;
    while (!this.isOver) {
      const client = new HttpClient(streams, random.below(members));
      try {
        for (let count = random.below(12); count >= 0 && !this.isOver; count--) {
          const query = async (sql: string) => (await client.sql(sql)).map((row) => Object.values(row));
          const choice = random.below(9);
          if (choice < 3) await this.#register(random, query);
          else if (choice < 5) await this.#insert(query, 1);
          else {
            // An open request is repeated as it was, wherever, until it is answered.
            const counter = this.#openCounter(0);
            if (!counter.isOpen) sequence++;
            counter.isOpen = true;
            const [row] = await client.sql("UPDATE counter SET n = n + 1 WHERE id = 0 RETURNING n", {
              once: { clientId, sequence },
            });
            counter.isOpen = false;
            expectEqual(Number(row?.n), ++counter.acknowledged, "counter 0, as HTTP has it");
          }
          this.#did("http");
          await this.#rest(random);
        }
      } catch (error) {
        // What is wrong with the statement itself is an answer, which is kept: the next request may be another one.
        if (/^(40001|40P01|XX001)$/.test(requestError(error).code)) this.#openCounter(0).isOpen = false;
        await pause(random.between(5, 100));
      }
      client.close();
    }
  }

  // --- the binary protocol ---

  async #binary(random: SeededRandom): Promise<void> {
    const { streams, members } = this.#surroundings;
    const counter = this.#openCounter(1);
    for (let life = 0; !this.isOver; life++) {
      let client: OperationClient;
      try {
        const clientId = `b${life.toString(16).padStart(31, "0")}`;
        client = await connectBinary(streams, members, { clientId, first: random.below(members) });
      } catch (error) {
        requestError(error);
        await pause(100);
        continue;
      }
      const query = async (sql: string) => (await client.execute(sql)).values();
      try {
        while (!this.isOver) {
          switch (random.below(8)) {
            case 0:
            case 1: {
              // What its client repeats holds once; 40003: its connection was lost for too long.
              counter.isOpen = true;
              const [row] = await query("UPDATE counter SET n = n + 1 WHERE id = 1 RETURNING n");
              counter.isOpen = false;
              expectEqual(
                Number(row?.[0]),
                ++counter.acknowledged,
                "counter 1, as the binary protocol has it",
              );
              break;
            }
            case 2:
              await this.#insert(query, random.below(10) === 0 ? LARGE_ROWS : 3);
              break;
            case 3:
              if (random.below(4) === 0) await this.#copy(client, random);
              break;
            case 4:
              await query("INSERT INTO numbered VALUES (nextval('numbers'), 1)");
              break;
            default:
              await this.#register(random, query);
          }
          this.#did("binary");
          await this.#rest(random);
        }
      } catch (error) {
        const { code, isKnown } = requestError(error);
        // Its client repeats it until there is an answer.
        if (counter.isOpen && code === "40003") throw error;
        if (isKnown) counter.isOpen = false;
      }
      await client.close();
      await pause(50);
    }
  }

  async #copy(client: OperationClient, random: SeededRandom): Promise<void> {
    const batch = this.batches.size + 1;
    const rows = random.below(6) === 0 ? 5 * LARGE_ROWS : random.between(1, 400);
    const record = { isAcknowledged: false, rows };
    this.batches.set(batch, record);
    const text = "y".repeat(random.between(10, 200));
    function* lines(): Generator<string> {
      for (let id = 0; id < rows; id++) yield `${batch}\t${id}\t${text}\n`;
    }
    await client.copyIn("COPY loaded FROM STDIN", lines());
    record.isAcknowledged = true;
  }

  // --- reads from followers ---

  async #follower(random: SeededRandom): Promise<void> {
    const { streams, members } = this.#surroundings;
    while (!this.isOver) {
      await pause(random.between(20, 200));
      const member = random.below(members);
      let connection: PgConnection | null = null;
      try {
        connection = await PgConnection.open(streams, member, "follower");
        let seen = [0, 0];
        for (let count = 0; count < 20 && !this.isOver; count++) {
          const now = (await connection.query("SELECT n FROM counter ORDER BY id")).map(([n]) => Number(n));
          for (const [id, n] of now.entries()) {
            const known = this.counters[id]?.acknowledged ?? 0;
            if (n < (seen[id] ?? 0)) throw new Error(`counter ${id} went back to ${n} at follower ${member}`);
            if (n > known + 1) throw new Error(`follower ${member} shows counter ${id} at ${n} of ${known}`);
          }
          seen = now;
          const [[sum] = []] = await connection.query("SELECT sum(balance) FROM bank");
          // Its rows come after its table.
          if (sum !== null && Number(sum) !== 100_000) {
            this.figures.wrong.push(`follower ${member} has ${sum}`);
          }
          for (const heap of this.heaps.values()) {
            heap.check(await connection.query(heap.contents), `follower ${member}`);
          }
          this.#did("follower");
          await this.#rest(random);
        }
      } catch (error) {
        // A follower may be behind the tables.
        if (!isUndefinedTable(error)) requestError(error);
      }
      await connection?.close();
    }
  }
}

function isUndefinedTable(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "42P01";
}

function expectEqual(found: number, expected: number, what: string): void {
  if (found !== expected) throw new Error(`${what}: ${found} instead of ${expected}`);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
