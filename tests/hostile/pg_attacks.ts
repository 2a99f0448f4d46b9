/** Hostile clients of the PostgreSQL protocol. */
import { deepStrictEqual as same, match, ok, strictEqual as equal } from "node:assert/strict";
import {
  bind,
  concat,
  errorFields,
  fields,
  message,
  messagesOf,
  type ServerMessage,
  startup,
} from "../../gateways/pg/testing/wire.ts";
import { RawClient } from "../pg/support/raw_client.ts";
import type { Attack } from "./attacks.ts";

const query = (text: string): Uint8Array => message("Q", text);
const MEBIBYTE = 1 << 20;
const BATCH = 1000;

function codesOf(messages: readonly ServerMessage[]): string[] {
  return messages.filter(({ type }) => type === "E").map((each) => errorFields(each)["C"] ?? "");
}

async function ask(client: RawClient, text: string): Promise<string[]> {
  await client.send(query(text));
  return codesOf(await client.until("Z"));
}

/** Sends many messages, each answered up to ReadyForQuery; counts the errors by code. */
async function flood(
  client: RawClient,
  count: number,
  make: (index: number) => Uint8Array,
): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (let from = 0; from < count; from += BATCH) {
    const size = Math.min(BATCH, count - from);
    await client.send(...Array.from({ length: size }, (_, index) => make(from + index)));
    for (let answered = 0; answered < size; answered++) {
      for (const code of codesOf(await client.until("Z"))) found[code] = (found[code] ?? 0) + 1;
    }
  }
  return found;
}

/** Sends bytes on a new connection and answers the code that it is closed with. */
async function closedWith(port: number, ...bytes: readonly Uint8Array[]): Promise<string | undefined> {
  using client = await RawClient.connect(port);
  await client.send(...bytes);
  return codesOf(messagesOf(await client.rest()))[0];
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Hostile clients of the PostgreSQL protocol. */
export const PG_ATTACKS: readonly Attack[] = [
  {
    name: "pg: a client that does not read the rows of a huge SELECT",
    small: 1,
    large: 32,
    grownMebibytes: 192,
    run: async ({ pgPort }, count) => {
      const clients = await Promise.all(Array.from({ length: count }, () => RawClient.start(pgPort)));
      for (const client of clients) {
        await client.send(query("SELECT repeat('x', 1000) FROM generate_series(1, 100000000)"));
      }
      await pause(1000);
      for (const client of clients) client[Symbol.dispose]();
    },
  },
  {
    name: "pg: 100 queries pipelined by a client that never reads",
    small: 1,
    large: 32,
    grownMebibytes: 192,
    run: async ({ pgPort }, count) => {
      const clients = await Promise.all(Array.from({ length: count }, () => RawClient.start(pgPort)));
      const pipeline = Array.from(
        { length: 100 },
        () => query("SELECT repeat('x', 1000) FROM generate_series(1, 100000)"),
      );
      for (const client of clients) await client.send(...pipeline);
      await pause(1000);
      for (const client of clients) client[Symbol.dispose]();
    },
  },
  {
    name: "pg: startup packets and messages of impossible lengths",
    small: 20,
    large: 5000,
    grownMebibytes: 256,
    run: async ({ pgPort }, count) => {
      for (let round = 0; round < count; round++) {
        for (const length of [0x7fffffff, -1, 0, 7, 10_001]) {
          equal(await closedWith(pgPort, fields([4, length])), "08P01");
        }
        const open = startup({ user: "test" });
        for (const length of [0x7fffffff, -1, 3, (64 << 20) + 5]) {
          equal(await closedWith(pgPort, open, Uint8Array.of(0x51), fields([4, length])), "08P01");
        }
      }
    },
  },
  {
    name: "pg: a client that sends byte by byte",
    small: 1,
    large: 50,
    grownMebibytes: 64,
    run: async ({ pgPort }, count) => {
      await Promise.all(Array.from({ length: count }, async () => {
        using client = await RawClient.connect(pgPort);
        for (const byte of concat(startup({ user: "test" }), query("SELECT 1"))) {
          await client.send(Uint8Array.of(byte));
          await pause(1);
        }
        await client.until("Z");
        equal((await client.until("Z")).map(({ type }) => type).join(""), "TDCZ");
      }));
    },
  },
  {
    name: "pg: statements with 65 535 parameter types, unknown parameters, lengths beyond the message",
    small: 3,
    large: 300,
    grownMebibytes: 256,
    run: async ({ pgPort }, count) => {
      using client = await RawClient.start(pgPort);
      const types = Uint8Array.from({ length: 4 * 65_535 }, (_, index) => index % 4 === 3 ? 23 : 0);
      const send = async (...messages: readonly Uint8Array[]): Promise<string[]> => {
        await client.send(...messages, message("S"));
        return codesOf(await client.until("Z"));
      };
      for (let round = 0; round < count; round++) {
        same(await send(message("P", "", "SELECT 1", [2, 65_535], types)), []);
        same(await send(message("P", "", "SELECT $70000", [2, 0])), ["42P02"]);
        const many = Array.from({ length: 65_535 }, (_, index) => `$${index + 1}`).join("+");
        same(await send(message("P", "", `SELECT ${many}`, [2, 0])), ["54001"]);
        for (const length of [0x7fffffff, 1e9, -2]) {
          const bound = message("B", "", "", [2, 0], [2, 1], [4, length], [2, 0]);
          same(await send(message("P", "", "SELECT $1::text", [2, 0]), bound), ["08P01"]);
        }
      }
    },
  },
  {
    name: "pg: named prepared statements without end, on one connection",
    small: 12_000,
    large: 1_000_000,
    grownMebibytes: 512,
    run: async ({ pgPort }, count) => {
      using client = await RawClient.start(pgPort);
      const found = await flood(
        client,
        count,
        (index) => concat(message("P", `s${index}`, `SELECT ${index} AS c${index}`, [2, 0]), message("S")),
      );
      same(found, { "53400": count - 10_000 });
    },
  },
  {
    name: "pg: named prepared statements without end, on many connections",
    small: 6,
    large: 100,
    grownMebibytes: 1536,
    run: async ({ pgPort }, count) => {
      const clients = await Promise.all(Array.from({ length: count }, () => RawClient.start(pgPort)));
      const refused: Record<string, number> = {};
      for (const client of clients) {
        const found = await flood(
          client,
          10_000,
          (index) => concat(message("P", `s${index}`, "SELECT 1", [2, 0]), message("S")),
        );
        for (const [code, times] of Object.entries(found)) refused[code] = (refused[code] ?? 0) + times;
      }
      same(refused, count > 5 ? { "53200": (count - 5) * 10_000 } : {});
      for (const client of clients) client[Symbol.dispose]();
      using next = await RawClient.start(pgPort);
      // What the others had is given back.
      while ((await ask(next, "PREPARE a AS SELECT 1")).length > 0) await pause(5);
    },
  },
  {
    name: "pg: portals, cursors and advisory locks without end",
    small: 12_000,
    large: 1_000_000,
    grownMebibytes: 256,
    run: async ({ pgPort }, count) => {
      using client = await RawClient.start(pgPort);
      await client.send(message("P", "s", "SELECT * FROM generate_series(1, 10)", [2, 0]), query("BEGIN"));
      await client.until("Z");
      const portals = await flood(
        client,
        count,
        (index) =>
          index % BATCH < 2 ? query("ROLLBACK; BEGIN") : concat(bind(`p${index}`, "s", []), message("S")),
      );
      same(portals, {});
      await client.send(
        ...Array.from({ length: 1001 }, (_, index) => bind(`q${index}`, "s", [])),
        message("S"),
      );
      same(codesOf(await client.until("Z")), ["53400"]);
      same(await ask(client, "ROLLBACK"), []);
      const declared = Array.from({ length: 1001 }, (_, index) => `DECLARE c${index} CURSOR FOR SELECT 1`)
        .join(";");
      same(await ask(client, `BEGIN; ${declared}`), ["53400"]);
      same(await ask(client, "ROLLBACK"), []);
      same(await ask(client, `SELECT count(pg_advisory_lock(i)) FROM generate_series(1, ${count}) i`), [
        "53200",
      ]);
    },
  },
  {
    name: "pg: savepoints without end",
    small: 10_000,
    large: 100_000,
    grownMebibytes: 384,
    run: async ({ pgPort }, count) => {
      using client = await RawClient.start(pgPort);
      same(await ask(client, "BEGIN"), []);
      same(await flood(client, count, (index) => query(`SAVEPOINT s${index}`)), {});
      same(await ask(client, "ROLLBACK"), []);
    },
  },
  {
    name: "pg: COPY of one endless line",
    small: 40,
    large: 2048,
    grownMebibytes: 1600,
    run: async ({ pgPort }, count) => {
      using client = await RawClient.start(pgPort);
      same(await ask(client, "CREATE TABLE IF NOT EXISTS endless (a text)"), []);
      await client.send(query("COPY endless FROM STDIN"));
      await client.until("G");
      const piece = message("d", new Uint8Array(MEBIBYTE).fill(0x61));
      for (let sent = 0; sent < count; sent++) await client.send(piece);
      await client.send(message("f", "enough"));
      same(codesOf(await client.until("Z")), [count > 512 ? "54000" : "57014"]);
      same(await ask(client, "SELECT count(*) FROM endless"), []);
    },
  },
  {
    name: "pg: COPY of garbage, and clients that leave in the middle of it",
    small: 20,
    large: 2000,
    grownMebibytes: 256,
    run: async ({ pgPort }, count) => {
      using steady = await RawClient.start(pgPort);
      same(await ask(steady, "CREATE TABLE IF NOT EXISTS garbage (a int, b text)"), []);
      const noise = new Uint8Array(65_536);
      for (let round = 0; round < count; round++) {
        crypto.getRandomValues(noise);
        using client = await RawClient.start(pgPort);
        await client.send(query(`COPY garbage FROM STDIN (FORMAT ${["text", "csv", "binary"][round % 3]})`));
        await client.until("G");
        await client.send(message("d", noise));
        if (round % 2 === 0) continue;
        await client.send(message("c"));
        match(codesOf(await client.until("Z"))[0] ?? "", /^22/);
      }
      await steady.send(query("SELECT count(*) FROM garbage"));
      ok((await steady.until("Z")).some(({ body }) => new TextDecoder().decode(body).endsWith("\u00010")));
    },
  },
  {
    name: "pg: deep nesting and long chains",
    small: 20_000,
    large: 300_000,
    grownMebibytes: 1024,
    run: async ({ pgPort }, count) => {
      using client = await RawClient.start(pgPort);
      const nested = (open: string, inner: string, close: string): string =>
        `SELECT ${open.repeat(count)}${inner}${close.repeat(count)}`;
      for (
        const text of [
          nested("(", "1", ")"),
          nested("NOT ", "true", ""),
          nested("- ", "1", ""),
          nested("1+", "1", ""),
          nested("CASE WHEN true THEN ", "1", " END"),
          nested("ARRAY[", "1", "]"),
          nested("(SELECT ", "1", ")"),
          `SELECT '${"[".repeat(count)}${"]".repeat(count)}'::jsonb`,
          `SELECT 1${" UNION SELECT 1".repeat(count)}`,
        ]
      ) {
        const [code] = await ask(client, text);
        match(code ?? "no error", /^54/, text.slice(0, 40));
      }
      same(await ask(client, `SELECT 1 IN (${"1,".repeat(count)}1)`), []);
    },
  },
  {
    name: "pg: more connections than there are places",
    small: 1,
    large: 20,
    grownMebibytes: 256,
    run: async ({ pgPort }, count) => {
      for (let round = 0; round < count; round++) {
        const clients = await Promise.all(Array.from({ length: 255 }, () => RawClient.start(pgPort)));
        const refused = await Promise.all(
          Array.from({ length: 30 }, () => closedWith(pgPort, startup({ user: "test" }))),
        );
        same(new Set(refused), new Set(["53300"]));
        for (const client of clients) client[Symbol.dispose]();
        await pause(100);
      }
    },
  },
  {
    name: "pg: connections opened and dropped",
    small: 1000,
    large: 100_000,
    grownMebibytes: 256,
    run: async ({ pgPort }, count) => {
      for (let done = 0; done < count; done += 50) {
        await Promise.all(Array.from({ length: 50 }, async (_, index) => {
          using client = await RawClient.connect(pgPort);
          if (index % 2 === 0) await client.send(startup({ user: "test" }));
        }));
      }
    },
  },
];
