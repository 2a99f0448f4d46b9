/** A session with plain text results, for tests that interleave several of them. */
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import type { Session } from "../../engine/session/session.ts";

/** Opens a database in memory. */
export function memoryEngine(): Promise<Engine> {
  return Engine.open({ host: memoryHost(), directory: ":memory:" });
}

/** One client. */
export class TestClient {
  readonly session: Session;

  constructor(engine: Engine) {
    this.session = engine.openSession();
  }

  /** Runs statements; answers the last rows as `a,b;c,d`, or the tag when there are none. */
  async run(sql: string): Promise<string> {
    const sink = new RowBuffer();
    let tag = "", op = 0;
    await this.session.simple(sql, sink, (outcome) => {
      tag = outcome.tag;
      op = Math.max(op, outcome.durableOp);
    });
    await this.session.whenDurable(op);
    return sink.columns.length === 0 ? tag : sink.rows.map((row) => row.map(String).join(",")).join(";");
  }

  /** Runs statements that must fail; answers the SQLSTATE. */
  async fails(sql: string): Promise<string> {
    try {
      const result = await this.run(sql);
      return `succeeded with ${result}`;
    } catch (error) {
      return error instanceof Error && "code" in error ? String(error.code) : String(error);
    }
  }
}

/** Runs a test with four clients of a database in memory, which the first of them has set up. */
export async function withClients(
  setup: string,
  test: (a: TestClient, b: TestClient, c: TestClient, d: TestClient) => Promise<void>,
  open: () => Promise<Engine> = memoryEngine,
): Promise<void> {
  const engine = await open();
  try {
    const client = () => new TestClient(engine);
    const a = client();
    await a.run(setup);
    await test(a, client(), client(), client());
  } finally {
    await engine.close();
  }
}

/** Whether a promise is still waiting after other work had its turn. */
export async function isWaiting(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(() => false, () => false);
  const later = new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 20));
  return await Promise.race([settled, later]);
}
