/**
 * A client of a simulated engine that believes nothing before it is durable, as the gateways do: what it is told,
 * rows it has read as well as acknowledgements, goes into the account of what must outlive every crash.
 */
import { DatabaseError } from "../../engine/base/errors.ts";
import type { SeededRandom } from "../../engine/base/random.ts";
import type { SimulatedHost } from "../../engine/host/simulated_host.ts";
import type { OpNumber } from "../../engine/operations/effect.ts";
import type { Engine } from "../../engine/session/engine.ts";
import type { CopyFormat, CopyTarget } from "../../engine/statements/outcome.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import type { Session } from "../../engine/session/session.ts";
import type { SqlValue } from "../../engine/types/value.ts";
import type { LogModel } from "./log_model.ts";

/** The node has stopped, as it must after a failed write; nothing more can be asked of it. */
export class NodeStopped extends Error {
  override readonly name = "NodeStopped";
}

/** Rows for COPY … FROM STDIN, in pieces. */
class CopyingSink extends RowBuffer {
  readonly #pieces: readonly string[];
  readonly #pause: () => Promise<void>;

  constructor(pieces: readonly string[], pause: () => Promise<void>) {
    super();
    this.#pieces = pieces;
    this.#pause = pause;
  }

  override async copyIn(_format: CopyFormat, target: CopyTarget): Promise<void> {
    for (const piece of this.#pieces) {
      await target.write(new TextEncoder().encode(piece));
      await this.#pause();
    }
  }
}

/** Where a client lives. */
export interface ClientPlace {
  readonly host: SimulatedHost;
  readonly engine: Engine;
  readonly model: LogModel;
  readonly random: SeededRandom;
}

/**
 * A client of a simulated engine that believes nothing before it is durable, as the gateways do: what it is told,
 * rows it has read as well as acknowledgements, goes into the account of what must outlive every crash.
 */
export class SimulatedClient {
  readonly session: Session;
  readonly random: SeededRandom;
  readonly engine: Engine;
  readonly #host: SimulatedHost;
  readonly #model: LogModel;

  constructor({ host, engine, model, random }: ClientPlace) {
    this.#host = host;
    this.#model = model;
    this.engine = engine;
    this.random = random;
    this.session = engine.openSession();
  }

  /** Runs statements; answers the rows once they, and what they tell of, are durable. */
  run(sql: string): Promise<SqlValue[][]> {
    return this.#run(sql, new RowBuffer());
  }

  /** Runs COPY … FROM STDIN with data that comes in pieces. */
  async copyIn(sql: string, pieces: readonly string[]): Promise<void> {
    await this.#run(sql, new CopyingSink(pieces, () => this.pause()));
  }

  async #run(sql: string, sink: RowBuffer): Promise<SqlValue[][]> {
    let op = 0;
    await this.session.simple(sql, sink, (outcome) => op = Math.max(op, outcome.durableOp));
    await this.believe(op);
    return sink.rows;
  }

  /** Waits until an op is durable, and counts on it from then on. */
  async believe(op: number): Promise<void> {
    await this.engine.whenDurable(op as OpNumber);
    // What is read was durable, or the answer would have waited.
    this.#model.tell(Math.max(op, this.engine.durableOp));
    this.#host.trace(`told ${op}`);
  }

  /** Lets others have their turn, for nothing or for a while. */
  async pause(): Promise<void> {
    const kind = this.random.below(4);
    if (kind === 0) return;
    if (kind === 1) return await this.#host.timers.yieldToLoop();
    const delay = this.random.below(400);
    await new Promise<void>((resolve) => void this.#host.timers.setTimer(delay, resolve));
  }

  /**
   * Runs some work that may lose against other clients or against the disk; answers whether it did not. A block that it
   * leaves open is rolled back.
   */
  async attempt(work: () => Promise<void>, expected: readonly string[]): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (this.engine.isFailed) throw new NodeStopped("the node has stopped", { cause: error });
      if (!(error instanceof DatabaseError) || !expected.includes(error.code)) throw error;
      if (this.session.block !== null) await this.run("ROLLBACK");
      return false;
    }
  }
}
