/** A private PostgreSQL server as a peer that takes many statements at once over one connection. */
import { message, startup } from "../../gateways/pg/testing/wire.ts";
import { RawClient } from "../pg/support/raw_client.ts";
import type { PrivatePostgresql } from "../slt/private_postgresql.ts";
import type { EdgePeer } from "./edge_oracle.ts";
import { rowsOf } from "../support/state_database.ts";
import { type Answer, answerOf, BOUND_STATEMENTS } from "./engine_answers.ts";

/** A connection to the server's first database. */
export class PipelinedPostgresql implements EdgePeer, Disposable {
  readonly #client: RawClient;

  private constructor(client: RawClient) {
    this.#client = client;
  }

  static async connect(server: PrivatePostgresql): Promise<PipelinedPostgresql> {
    const client = await RawClient.connect(server.port);
    await client.send(startup({ user: "postgres", database: "postgres" }));
    await client.until("Z");
    const peer = new PipelinedPostgresql(client);
    await peer.answers([BOUND_STATEMENTS, "SET client_min_messages = error"]);
    return peer;
  }

  async answers(statements: readonly string[]): Promise<Answer[]> {
    // The client reads while it writes, or both sides would wait for each other's buffers.
    const sent = this.#client.send(...statements.map((sql) => message("Q", sql)));
    const answers: Answer[] = [];
    for (let index = 0; index < statements.length; index++) {
      const messages = await this.#client.until("Z");
      answers.push(await answerOf(() => Promise.resolve().then(() => rowsOf(messages, null))));
    }
    await sent;
    return answers;
  }

  [Symbol.dispose](): void {
    this.#client[Symbol.dispose]();
  }
}
