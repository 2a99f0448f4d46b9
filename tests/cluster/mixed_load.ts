/**
 * The load of a cluster under faults: clients of all four protocols at random members, and what must hold of what they
 * were told, whatever happens to the members.
 *
 * - Registers, read by key, by statements and by the protocols' own operations: linearizable, one by one.
 * - Transactions over append-only lists (`tests/isolation/list_append.ts`): strictly serializable.
 * - A bank (`tests/isolation/bank.ts`): its sum in every read.
 * - Counters under sequence numbers, repeated until there is an answer: each number once.
 * - Rows, orders, loads by COPY, definitions (`tests/e2e/kill_workload.ts`): what was acknowledged is there.
 *
 * Only what the documents allow may fail: 40001, 40003, 57P01, 57P03, and connections that break.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { connect } from "../../mod.ts";
import {
  type Account,
  codeOf,
  createTables,
  figuresOf,
  isLostConnection,
  type KillFigures,
  newAccount,
  verify,
  work,
} from "../e2e/kill_workload.ts";
import { bankTables, noFigures, runBank } from "../isolation/bank.ts";
import { checkHistory } from "../isolation/check_history.ts";
import { failureKind } from "../isolation/connections.ts";
import { History } from "../isolation/history.ts";
import { listAppendTables, ListAppendWorkload } from "../isolation/list_append.ts";
import { connectPg, connectPostgres, type SqlClient } from "../support/clients.ts";
import { type SeededRandom, seededRandom } from "../support/random.ts";
import type { ClusterProcesses, MemberProcess } from "./cluster_processes.ts";
import { connectMember, type MemberClient, ONCE_PROTOCOLS, PROTOCOLS } from "./member_clients.ts";
import { isLinearizable, type RegisterOperation } from "./register_history.ts";

const REGISTERS = 6;
/** After so many writes there are new registers, so that histories stay short. */
const WRITES_AN_AGE = 400;
/** A client goes to another member after so much work. */
const WORK_AT_A_MEMBER = 40;

/** Beside other work a cluster may be starved for longer than the client's own time allows. */
const RECONNECT_MILLISECONDS = 150_000;

const LAST_ATTEMPT = 20;
const USEFUL_MILLISECONDS = 60_000;

/** What a client does. */
const KINDS = ["register", "list", "bank", "once", "rows"] as const;

/** What the clients did. */
export interface LoadFigures extends KillFigures {
  readonly reads: number;
  readonly writes: number;
  /** Writes to registers whose outcome nobody knows. */
  readonly unknownWrites: number;
  /** Transactions over lists. */
  readonly listTransactions: number;
  readonly unknownTransactions: number;
  readonly bankTransfers: number;
  readonly sums: number;
  /** Increments under sequence numbers, and how often one had to be repeated. */
  readonly once: number;
  readonly repeated: number;
  /** The longest time in which no change was acknowledged to a counter or register. */
  readonly longestSilenceMilliseconds: number;
}

/** What a client of PostgreSQL's protocol meets when its member or the primary goes. */
function isFailover(error: unknown): boolean {
  return isLostConnection(error) || ["ended", "lost", "disconnected"].includes(failureKind(error)) ||
    codeOf(error) === "CONNECT_TIMEOUT";
}

function addressesOf({ members }: ClusterProcesses): string[] {
  return members.map(({ host, binaryPort }) => `${host}:${binaryPort}`);
}

/** Does it with a client of the primary, and again when that changes meanwhile: a starved machine makes it. */
export async function atPrimary<C extends { close(): Promise<unknown> }>(
  cluster: ClusterProcesses,
  connect: (primary: MemberProcess) => Promise<C>,
  work: (client: C) => Promise<unknown>,
): Promise<void> {
  for (let attempt = 0;; attempt++) {
    let client: C | null = null;
    try {
      client = await connect(await cluster.primary());
      await work(client);
      return;
    } catch (error) {
      if (!isFailover(error) || attempt === LAST_ATTEMPT) throw error;
      await pause(500);
    } finally {
      await client?.close();
    }
  }
}

/** See the head of the file. */
export class MixedLoad {
  readonly #cluster: ClusterProcesses;
  readonly #registers = new Map<number, RegisterOperation[]>();
  readonly #history = new History();
  readonly #lists: ListAppendWorkload;
  readonly #bank = noFigures();
  readonly #accounts: Account[] = [];
  #servedAt = performance.now();
  #acknowledged = 0;
  #longestSilence = 0;
  /** Since it was last taken. */
  #silence = 0;
  #value = 0;
  #once = 0;
  #repeated = 0;
  #isOver = false;
  #failure: unknown = null;
  #clients: Promise<unknown>[] = [];

  private constructor(cluster: ClusterProcesses, seed: number) {
    this.#cluster = cluster;
    this.#lists = new ListAppendWorkload(this.#history, { seed, keys: 8, appendsPerKey: 60 });
  }

  /** Makes the tables, and starts so many clients. */
  static async start(cluster: ClusterProcesses, clients: number, seed: number): Promise<MixedLoad> {
    const load = new MixedLoad(cluster, seed);
    // It repeats what a busy machine lets fail.
    await using first = await connect({ addresses: addressesOf(cluster) });
    const query = (sql: string) => first.query(sql);
    await query("CREATE TABLE register (k int PRIMARY KEY, v int NOT NULL)");
    await query("CREATE TABLE once (id int PRIMARY KEY, value int NOT NULL)");
    for (const sql of [...listAppendTables, ...bankTables]) await query(sql);
    await createTables({ query }, clients);
    load.#clients = Array.from({ length: clients }, (_, client) => {
      const kind = KINDS[client % KINDS.length] ?? "register";
      return load.#live(kind, client, seededRandom(seed * 31 + client)).catch((error: unknown) => {
        load.#failure ??= new Error(`client ${client} (${kind})`, { cause: error });
        load.#isOver = true;
      });
    });
    return load;
  }

  /** Changes of registers and counters that were acknowledged so far. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** The longest time without a change of a counter or register since this was asked last. */
  takeSilence(): number {
    const silence = Math.max(this.#silence, performance.now() - this.#servedAt);
    this.#silence = 0;
    return silence;
  }

  /** Why a client has given up; null: none has. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Waits until each kind of client has done something: faults may have left a starved machine no time for it. */
  async untilUseful(): Promise<void> {
    const end = performance.now() + USEFUL_MILLISECONDS;
    const isUseful = (): boolean => {
      const registers = [...this.#registers.values()].flat();
      const answered = (wanted: string): number =>
        registers.filter(({ kind, end }) => kind === wanted && end !== Infinity).length;
      const { rows } = figuresOf(this.#accounts);
      const counts = [
        answered("read"),
        answered("write"),
        this.#bank.transfers,
        this.#bank.sums,
        this.#once,
        rows,
      ];
      return Math.min(...counts) > 5 && this.#history.transactions.length > 50;
    };
    while (!isUseful() && this.#failure === null && performance.now() < end) await pause(100);
  }

  /** Ends the clients, and rejects when anything is not as it was promised. */
  async finish(): Promise<LoadFigures> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    if (this.#failure !== null) throw this.#failure;
    this.#checkRegisters();
    deepStrictEqual(this.#bank.wrong, []);
    const cluster = this.#cluster;
    await atPrimary(cluster, connectPg, (last) => verify(last, this.#accounts, 0));
    const connectReader = (primary: MemberProcess) => connectMember(primary, "pg simple");
    await atPrimary(cluster, connectReader, (reader) => this.#lists.readEverything(reader));
    const { anomalies, committed, unknown } = checkHistory(this.#history.transactions);
    deepStrictEqual(anomalies.map(({ text }) => text), []);
    const registers = [...this.#registers.values()].flat();
    return {
      reads: registers.filter(({ kind }) => kind === "read").length,
      writes: registers.filter(({ kind, end }) => kind === "write" && end !== Infinity).length,
      unknownWrites: registers.filter(({ end }) => end === Infinity).length,
      listTransactions: committed,
      unknownTransactions: unknown,
      bankTransfers: this.#bank.transfers,
      sums: this.#bank.sums,
      once: this.#once,
      repeated: this.#repeated,
      longestSilenceMilliseconds: Math.round(this.#longestSilence),
      ...figuresOf(this.#accounts),
    };
  }

  /** A change was acknowledged. */
  #served(): void {
    const now = performance.now();
    this.#silence = Math.max(this.#silence, now - this.#servedAt);
    this.#longestSilence = Math.max(this.#longestSilence, this.#silence);
    this.#servedAt = now;
    this.#acknowledged++;
  }

  #checkRegisters(): void {
    for (const [register, history] of this.#registers) {
      if (isLinearizable(history)) continue;
      const shown = history.toSorted((a, b) => a.start - b.start).map(({ kind, value, start, end, by }) =>
        `${kind} ${value} ${start.toFixed(1)}-${end.toFixed(1)} ${by}`
      );
      throw new Error(`register ${register} is not linearizable:\n${shown.join("\n")}`);
    }
  }

  async #live(kind: typeof KINDS[number], client: number, random: SeededRandom): Promise<void> {
    if (kind === "once") return await this.#countOnce(client, random);
    if (kind === "rows") return await this.#workOnRows(client, random);
    while (!this.#isOver) {
      const at = random.pick(this.#cluster.members);
      let connection: MemberClient;
      try {
        connection = await connectMember(at, random.pick(PROTOCOLS));
      } catch (error) {
        if (failureKind(error) === "other") throw error;
        await pause(20);
        continue;
      }
      try {
        let count = 0;
        const enough = () => this.#isOver || ++count > WORK_AT_A_MEMBER;
        if (kind === "list") await this.#lists.run(connection, client, enough);
        else if (kind === "bank") await runBank(connection, this.#bank, { seed: random.below(1e9), enough });
        else await this.#useRegisters(connection, at.index, random, enough);
      } catch (error) {
        throw new Error(`${connection.protocol} at member ${at.index}`, { cause: error });
      } finally {
        // One that hangs would not close.
        void connection.close();
      }
    }
  }

  async #useRegisters(
    connection: MemberClient,
    member: number,
    random: SeededRandom,
    enough: () => boolean,
  ): Promise<void> {
    while (!enough()) {
      const register = Math.floor(this.#value / WRITES_AN_AGE) * REGISTERS + random.below(REGISTERS);
      let history = this.#registers.get(register);
      if (history === undefined) this.#registers.set(register, history = []);
      const start = performance.now();
      const by = `${connection.protocol} at ${member}`;
      const isById = random.below(2) === 0;
      const value = random.below(2) === 0 ? ++this.#value : null;
      try {
        if (value !== null) {
          await connection.query(
            `INSERT INTO register VALUES (${register}, ${value}) ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v`,
          );
          history.push({ kind: "write", value, start, end: performance.now(), by });
          this.#served();
        } else {
          const read = isById
            ? await connection.byId("register", "v", register)
            : (await connection.query(`SELECT v FROM register WHERE k = ${register}`))[0]?.[0];
          history.push({
            kind: "read",
            value: Number(read ?? 0),
            start,
            end: performance.now(),
            by: `${by}${isById ? " by id" : ""}`,
          });
        }
      } catch (error) {
        const kind = failureKind(error);
        if (kind === "other" || kind === "lost") throw error;
        if (value !== null && kind === "disconnected") {
          history.push({ kind: "write", value, start, end: Infinity, by });
        }
        // Over HTTP the next request may go well.
        return;
      }
      await pause(random.below(8));
    }
  }

  /** The project's client waits for a primary, but not for the first member of all that answers. */
  async #connect(): ReturnType<typeof connect> {
    for (;;) {
      try {
        return await connect({
          addresses: addressesOf(this.#cluster),
          reconnectTimeoutMilliseconds: RECONNECT_MILLISECONDS,
        });
      } catch (error) {
        if (codeOf(error) !== "08000") throw error;
        await pause(20);
      }
    }
  }

  /** Raises a counter, each time under the next sequence number, and repeats what was not answered anywhere else. */
  async #countOnce(client: number, random: SeededRandom): Promise<void> {
    const { members } = this.#cluster;
    const protocol = ONCE_PROTOCOLS[Math.floor(client / KINDS.length) % ONCE_PROTOCOLS.length] ?? "binary";
    const sql =
      `INSERT INTO once VALUES (${client}, 1) ON CONFLICT (id) DO UPDATE SET value = once.value + 1 RETURNING value`;
    if (protocol === "binary") {
      // The project's client does it by itself.
      await using own = await this.#connect();
      for (let value = 1; !this.#isOver; value++, this.#once++) {
        const start = performance.now();
        try {
          strictEqual((await own.query(sql))[0]?.value, value, "a counter of connect()");
        } catch (error) {
          const seconds = [
            performance.now() - start,
            performance.now() - this.#servedAt,
            this.#longestSilence,
          ]
            .map((each) => (each / 1000).toFixed(1));
          throw new Error(
            `connect() gave up after ${seconds[0]} s; others were served ${seconds[1]} s ago, and not for ${
              seconds[2]
            } s at most`,
            { cause: error },
          );
        }
        this.#served();
      }
      return;
    }
    const clientId = crypto.randomUUID().replaceAll("-", "");
    let connection: MemberClient | null = null;
    for (let sequence = 1n; !this.#isOver; sequence++, this.#once++) {
      let answer: string | null | undefined;
      while (answer === undefined) {
        try {
          connection ??= await connectMember(random.pick(members), protocol);
          answer = (await connection.once?.({ clientId, sequence }, sql))?.[0]?.[0];
          this.#served();
          ok(answer !== undefined, "a counter has a value");
        } catch (error) {
          if (!["ended", "disconnected"].includes(failureKind(error))) throw error;
          this.#repeated++;
          void connection?.close();
          connection = null;
          await pause(20);
        }
      }
      strictEqual(answer, String(sequence), `a counter over ${protocol}`);
      if (random.below(WORK_AT_A_MEMBER) === 0) {
        await connection?.close();
        connection = null;
      }
    }
    await connection?.close();
  }

  async #workOnRows(client: number, random: SeededRandom): Promise<void> {
    const account = newAccount(client);
    this.#accounts.push(account);
    while (!this.#isOver) {
      const member = random.pick(this.#cluster.members);
      let connection: SqlClient;
      try {
        connection = await (random.below(2) === 0 ? connectPg(member) : connectPostgres(member));
      } catch (error) {
        if (!isFailover(error)) throw error;
        await pause(20);
        continue;
      }
      const stop = setInterval(() => {
        if (this.#isOver) void connection.close();
      }, 50);
      try {
        await work(connection, account, random, isFailover);
      } finally {
        clearInterval(stop);
      }
    }
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
