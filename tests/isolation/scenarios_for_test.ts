/** Scenarios of three clients around ALTER TABLE: a table, what stops statements, and a restart at the end. */
import { strictEqual } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import type { CopyFormat, CopyTarget } from "../../engine/statements/outcome.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import { TestClient } from "./client_for_test.ts";

/** Runs a test on rows 1 to 3, whose `n` are 10, 20 and 30; a second engine must have the same at the end. */
export function scenario(
  name: string,
  test: (a: TestClient, b: TestClient, c: TestClient) => Promise<void>,
): void {
  Deno.test(`ADD COLUMN: ${name}`, async () => {
    const options = { host: memoryHost(), directory: "data" };
    let engine = await Engine.open(options);
    const clients = [new TestClient(engine), new TestClient(engine), new TestClient(engine)] as const;
    await clients[0].run(
      "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL, s text); CREATE UNIQUE INDEX t_s ON t (s);" +
        "INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')",
    );
    await test(...clients);
    const tables = [];
    for (const table of ["t", "parent", "child"]) tables.push(await rowsOf(clients[2], table));
    await engine.close();
    engine = await Engine.open(options);
    const reader = new TestClient(engine);
    for (const table of ["t", "parent", "child"]) strictEqual(await rowsOf(reader, table), tables.shift());
    await engine.close();
  });
}

async function rowsOf(client: TestClient, table: string): Promise<string> {
  try {
    return await client.run(`SELECT * FROM ${table} ORDER BY 1`);
  } catch {
    return "no table";
  }
}

/** All rows. */
export const ALL = "SELECT * FROM t ORDER BY id";

/** COPY t FROM STDIN with this much data, and something that happens before its second line. */
export async function copy(
  client: TestClient,
  command: string,
  lines: readonly string[],
  between: () => Promise<unknown> = () => Promise.resolve(),
) {
  class Source extends RowBuffer {
    override async copyIn(_format: CopyFormat, target: CopyTarget): Promise<void> {
      for (const [index, line] of lines.entries()) {
        if (index === 1) await between();
        await target.write(new TextEncoder().encode(line + "\n"));
      }
    }
  }
  await client.session.simple(command, new Source(), () => {});
}

/** A client's statements stop where they let others in, from this time on; others and the engine's own work go on. */
export function stopped(
  client: TestClient,
  from = 1,
): { readonly reached: Promise<void>; readonly go: () => void } {
  const { environment } = client.session;
  const { nextSlice } = environment;
  const reached = Promise.withResolvers<void>(), gate = Promise.withResolvers<void>();
  let times = 0;
  environment.nextSlice = (took) => {
    if (++times !== from) return nextSlice(took);
    reached.resolve();
    return gate.promise;
  };
  const go = (): void => {
    environment.nextSlice = nextSlice;
    gate.resolve();
  };
  return { reached: reached.promise, go };
}
