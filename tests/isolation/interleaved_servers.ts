/** The engine in memory, and PostgreSQL, as servers whose sessions interleave. */
import { setImmediate } from "node:timers";
import pg from "pg";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { shardInThisThread } from "../../engine/sharding/open_sharded.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import type { Engine } from "../../engine/session/engine.ts";
import type { Session } from "../../engine/session/session.ts";
import { openShardedEngine } from "../sharding/sharded_database.ts";
import type { PrivatePostgresql } from "../slt/private_postgresql.ts";
import { memoryEngine } from "./client_for_test.ts";
import type { Asked, InterleavedServer } from "./interleavings.ts";

/** Turns of the event loop after which a statement that has no answer waits for another session; over shards. */
const TURNS = 40, TURNS_OF_SHARDS = 300;

function answerOf(tag: string, rows: readonly (readonly unknown[])[]): string {
  return `${tag} ${rows.map((row) => row.map(String).join()).join(";")}`;
}

async function note(asked: Asked, answer: Promise<string>): Promise<void> {
  try {
    asked.answer = await answer;
  } catch (error) {
    asked.answer = error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}

/** See the file's head. */
export class InterleavedEngine implements InterleavedServer {
  readonly #shards: number;
  #engine: Engine | null = null;
  #sessions: Session[] = [];

  constructor(shards = 1) {
    this.#shards = shards;
  }

  async reset(sql: string, sessions: number): Promise<void> {
    await this.#engine?.close();
    this.#engine = this.#shards === 1
      ? await memoryEngine()
      : await openShardedEngine(this.#shards, shardInThisThread(memoryHost()));
    const engine = this.#engine;
    this.#sessions = Array.from({ length: sessions }, () => engine.openSession());
    await this.#run(engine.openSession(), sql);
  }

  ask(session: number, sql: string): Asked {
    const asked: Asked = { answer: null };
    void note(asked, this.#run(this.#sessions[session] as Session, sql));
    return asked;
  }

  async #run(session: Session, sql: string): Promise<string> {
    const sink = new RowBuffer();
    let tag = "", op = 0;
    await session.simple(sql, sink, (outcome) => {
      tag = outcome.tag;
      op = outcome.durableOp;
    });
    await session.whenDurable(op);
    return answerOf(tag, sink.rows);
  }

  async settle(): Promise<void> {
    const turns = this.#shards === 1 ? TURNS : TURNS_OF_SHARDS;
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Ends it. */
  async close(): Promise<void> {
    await this.#engine?.close();
  }
}

/** See the file's head. */
export class InterleavedPostgresql implements InterleavedServer {
  readonly #server: PrivatePostgresql;
  readonly #sessions: { readonly client: pg.Client; readonly processId: number }[] = [];
  #watcher: pg.Client | null = null;

  constructor(server: PrivatePostgresql) {
    this.#server = server;
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ host: "127.0.0.1", port: this.#server.port, user: "postgres" });
    client.on("error", () => {});
    await client.connect();
    // Who closes the circle is the one who looks first, as it is here.
    await client.query("SET deadlock_timeout = '3ms'; SET client_min_messages = error");
    return client;
  }

  async reset(sql: string, sessions: number): Promise<void> {
    this.#watcher ??= await this.#connect();
    for (const { client } of this.#sessions.splice(0)) await client.end();
    await this.#watcher.query(sql);
    for (let index = 0; index < sessions; index++) {
      const client = await this.#connect();
      const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
      this.#sessions.push({ client, processId: rows[0].pid });
    }
  }

  ask(session: number, sql: string): Asked {
    const asked: Asked = { answer: null };
    const answer = this.#sessions[session]?.client.query({ text: sql, rowMode: "array" }).then(
      ({ command, rowCount, rows }) => {
        const count = command === "INSERT"
          ? ` 0 ${rowCount}`
          : ["UPDATE", "DELETE", "SELECT", "MERGE"].includes(command)
          ? ` ${rowCount}`
          : "";
        return answerOf(`${command}${count}`, rows);
      },
    );
    void note(asked, answer ?? Promise.reject(new Error("no session")));
    return asked;
  }

  async settle(pending: ReadonlyMap<number, Asked>): Promise<void> {
    for (let quiet = 0; quiet < 2;) {
      const open = [...pending].filter(([, { answer }]) => answer === null);
      if (open.length === 0) return;
      const ids = open.map(([session]) => this.#sessions[session]?.processId).join();
      // Who has been given a lock does not wait, even if it has not had a processor since.
      const waiting = await this.#watcher?.query(
        `SELECT count(DISTINCT pid)::int AS n FROM pg_locks WHERE NOT granted AND pid IN (${ids})`,
      );
      const still = [...pending].filter(([, { answer }]) => answer === null).length;
      quiet = waiting?.rows[0].n === open.length && still === open.length ? quiet + 1 : 0;
      await new Promise((resolve) => setTimeout(resolve, 6));
    }
  }

  /** Ends its sessions. */
  async close(): Promise<void> {
    for (const { client } of this.#sessions) await client.end();
    await this.#watcher?.end();
  }
}
