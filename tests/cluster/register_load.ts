/**
 * Clients that read and write registers at any member, and the record of what they saw; for histories that must be
 * linearizable.
 */
import { connectPg, type SqlClient } from "../support/clients.ts";
import { type SeededRandom, seededRandom } from "../support/random.ts";
import type { ClusterProcesses, MemberProcess } from "./cluster_processes.ts";
import { isLinearizable, type RegisterOperation } from "./register_history.ts";

const REGISTERS = 6;
/** A client that hears nothing for so long gives its connection up: the outcome of a write is unknown then. */
const PATIENCE_MILLISECONDS = 3000;

/** What the clients did. */
export interface RegisterFigures {
  readonly reads: number;
  readonly writes: number;
  readonly unknown: number;
}

/** See the head of the file. */
export class RegisterLoad {
  readonly #cluster: ClusterProcesses;
  readonly #histories: RegisterOperation[][] = Array.from({ length: REGISTERS }, () => []);
  #value = 0;
  #isOver = false;
  #clients: Promise<void>[] = [];

  private constructor(cluster: ClusterProcesses) {
    this.#cluster = cluster;
  }

  /** Makes the registers, and starts so many clients. */
  static async start(cluster: ClusterProcesses, clients: number, seed: number): Promise<RegisterLoad> {
    const load = new RegisterLoad(cluster);
    const first = await connectPg(await cluster.primary());
    await first.query("CREATE TABLE register (k int PRIMARY KEY, v int NOT NULL)");
    await first.query(`INSERT INTO register SELECT n, 0 FROM generate_series(0, ${REGISTERS - 1}) n`);
    await first.close();
    load.#clients = Array.from({ length: clients }, (_, client) => load.#work(seededRandom(seed + client)));
    return load;
  }

  /** Ends the clients; rejects when a history is not linearizable. */
  async finish(): Promise<RegisterFigures> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    for (const [register, history] of this.#histories.entries()) {
      if (isLinearizable(history)) continue;
      const shown = history.toSorted((a, b) => a.start - b.start).map(({ kind, value, start, end }) =>
        `${kind} ${value} ${start.toFixed(1)}-${end.toFixed(1)}`
      );
      throw new Error(`register ${register} is not linearizable:\n${shown.join("\n")}`);
    }
    const all = this.#histories.flat();
    return {
      reads: all.filter(({ kind }) => kind === "read").length,
      writes: all.filter(({ kind, end }) => kind === "write" && end !== Infinity).length,
      unknown: all.filter(({ end }) => end === Infinity).length,
    };
  }

  async #work(random: SeededRandom): Promise<void> {
    const { members } = this.#cluster;
    while (!this.#isOver) {
      const member = members[random.below(members.length)] as MemberProcess;
      let client: SqlClient;
      try {
        client = await within(connectPg(member));
      } catch {
        await pause(20);
        continue;
      }
      try {
        for (let count = 0; count < 50 && !this.#isOver; count++) {
          await this.#operate(client, random);
          await pause(random.below(8));
        }
      } catch {
        // The connection has ended, or the member does not answer: another one.
      }
      // One that hangs would not close.
      void client.close();
    }
  }

  async #operate(client: SqlClient, random: SeededRandom): Promise<void> {
    const register = random.below(REGISTERS);
    const history = this.#histories[register] as RegisterOperation[];
    const start = performance.now();
    if (random.below(2) === 0) {
      const rows = await within(client.query("SELECT v FROM register WHERE k = $1", [register]));
      history.push({ kind: "read", value: Number(rows[0]?.v), start, end: performance.now() });
      return;
    }
    const value = ++this.#value;
    try {
      await within(client.query("UPDATE register SET v = $1 WHERE k = $2", [value, register]));
      history.push({ kind: "write", value, start, end: performance.now() });
    } catch (error) {
      history.push({ kind: "write", value, start, end: Infinity });
      throw error;
    }
  }
}

async function within<T>(promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer")), PATIENCE_MILLISECONDS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => {});
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
