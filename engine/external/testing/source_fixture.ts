/** A database in memory whose external sources may read from a fault server. */
import { DatabaseError } from "../../base/errors.ts";
import { denoWeb } from "../../host/deno_web.ts";
import type { Host } from "../../host/host.ts";
import { memoryHost } from "../../host/memory_host.ts";
import type { Web } from "../../host/web.ts";
import type { Engine } from "../../session/engine.ts";
import type { Session } from "../../session/session.ts";
import { openEngineForTest } from "../../sharding/shards_for_test.ts";
import { RowBuffer } from "../../statements/row_buffer.ts";
import { formatText } from "../../types/text_io.ts";
import { AllowedHosts } from "../address_guard.ts";
import { ATTEMPT_LIMITS } from "../attempts.ts";
import type { Caps } from "../content.ts";
import { externalSources } from "../external_sources.ts";
import { SOURCE_LIMITS } from "../limits.ts";
import { FaultServer } from "./fault_server.ts";

const DIRECTORY = "/database";

/** How a statement ended. */
export interface Ran {
  readonly tag: string;
  readonly notices: readonly string[];
  /** Values in their text form, NULL as null. */
  readonly rows: readonly (readonly (string | null)[])[];
}

/** A host of memory that does not wait between attempts. */
function hurriedHost(): Host {
  const host = memoryHost();
  const { timers } = host;
  const { attempts, firstPauseMicroseconds } = ATTEMPT_LIMITS;
  const pauses = Array.from({ length: attempts }, (_, index) => firstPauseMicroseconds * 2 ** index);
  return {
    ...host,
    timers: {
      yieldToLoop: () => timers.yieldToLoop(),
      endOfTurn: () => timers.endOfTurn(),
      close: () => timers.close(),
      clearTimer: (timer) => timers.clearTimer(timer),
      repeat: (period, callback) => timers.repeat(period, callback),
      setTimer: (delay, callback) => timers.setTimer(pauses.includes(delay) ? 0 : delay, callback),
    },
  };
}

/** See the file's head. */
export class SourceFixture implements AsyncDisposable {
  readonly engine: Engine;
  readonly session: Session;
  readonly server: FaultServer;
  /** Where the host keeps the database. */
  readonly directory = DIRECTORY;
  readonly #closes: boolean;

  private constructor(engine: Engine, server: FaultServer, closes: boolean) {
    this.#closes = closes;
    this.engine = engine;
    this.session = engine.openSession();
    this.server = server;
  }

  /** Opens both. `web` replaces parts of the web port. */
  static async open(
    options: {
      readonly caps?: Partial<Caps>;
      readonly web?: Partial<Web>;
      readonly allowed?: readonly string[];
      /** A host of memory unless given; whoever gives one may close the engine. */
      readonly host?: Host;
      readonly shardCount?: number;
    } = {},
  ): Promise<SourceFixture> {
    const server = new FaultServer();
    const external = externalSources({
      features: ["external-sources", "external-sources-tls"],
      web: { ...denoWeb(), ...options.web },
      allowed: new AllowedHosts(options.allowed ?? [`127.0.0.1:${server.port}`]),
      caps: { ...SOURCE_LIMITS, ...options.caps },
    });
    const engine = await openEngineForTest({
      host: options.host ?? hurriedHost(),
      directory: DIRECTORY,
      external,
    });
    return new SourceFixture(engine, server, options.host === undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closes) await this.engine.close();
    await this.server[Symbol.asyncDispose]();
  }

  /** Runs a statement. */
  async run(sql: string, session: Session = this.session): Promise<Ran> {
    const sink = new RowBuffer();
    let tag = "", notices: readonly string[] = [];
    await session.simple(sql, sink, (outcome) => {
      tag = outcome.tag;
      notices = outcome.notices.map((notice) => notice.message);
    });
    return {
      tag,
      notices,
      rows: sink.rows.map((row) =>
        row.map((value, index) => {
          const column = sink.columns[index];
          return value === null || column === undefined ? null : formatText(column.type, value);
        })
      ),
    };
  }

  /** The error that a statement raises. */
  async failure(sql: string, session: Session = this.session): Promise<DatabaseError> {
    try {
      const { tag } = await this.run(sql, session);
      throw new Error(`${sql} should fail, not answer ${tag}`);
    } catch (thrown) {
      if (thrown instanceof DatabaseError) return thrown;
      throw thrown;
    }
  }
}
