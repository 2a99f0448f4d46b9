/**
 * A long life of a server in short: the dialect's logic tests, with their types, errors, DDL, cursors, temporary
 * tables and failed transactions, by both protocols of PostgreSQL and by HTTP, and between them large results and
 * connections that come and go. What it leaves behind in the database is dropped; what it leaves in the process is
 * what `aged` measures.
 */
import pg from "pg";
import type { Scale } from "../benchmark.ts";
import type { DbdPeer } from "../peers/dbd.ts";
import { caseFiles } from "../../slt/compare_postgresql.ts";
import { parseLogicTests } from "../../slt/logic_test_file.ts";

/** What a file's statements are run by. */
const WAYS = ["simple", "extended", "binary", "http"] as const;
type Way = typeof WAYS[number];

/** Between two files. */
const SHORT_CONNECTIONS = 10;
const LARGE_RESULT_ROWS = 20_000;
/** A statement that would wait for another one, or that has no end, is one more of those that are canceled. */
const STATEMENT_MILLISECONDS = 5_000;

/** How many a server plays before it counts as one that has lived. */
const STATEMENTS: Readonly<Record<Scale, number>> = { smoke: 120, full: 60_000 };

/** Lets a server live. */
export async function age(server: DbdPeer, scale: Scale): Promise<void> {
  await playCorpus(server, STATEMENTS[scale]);
}

/** What was played. */
interface Played {
  readonly statements: number;
  /** Those of them that ended with an error of the server. */
  readonly errors: number;
}

/** Plays statements until there were so many. */
async function playCorpus(server: DbdPeer, statements: number): Promise<Played> {
  const files = [...caseFiles()].map((file) => parseLogicTests(Deno.readTextFileSync(file), "db"));
  const total = { statements: 0, errors: 0 };
  for (let turn = 0; total.statements < statements; turn++) {
    const records = files[turn % files.length] ?? [];
    // Each file comes by another way in each pass.
    const way = WAYS[(turn + Math.floor(turn / files.length)) % WAYS.length] ?? "simple";
    const texts = records.map(({ sql }) => sql).slice(0, statements - total.statements);
    const played = await playFile(server, texts, way);
    total.statements += texts.length;
    total.errors += played;
    for (let count = 0; count < SHORT_CONNECTIONS; count++) await briefly(server, turn);
  }
  return total;
}

/** Answers how many ended with an error. */
async function playFile(server: DbdPeer, texts: readonly string[], way: Way): Promise<number> {
  const client = await connect(server);
  let errors = 0;
  const run = async (text: string): Promise<void> => {
    if (!await played(() => way === "http" ? askHttp(server, text) : ask(client, text, way))) errors++;
  };
  try {
    await client.query(`SET statement_timeout = ${STATEMENT_MILLISECONDS}`);
    for (const text of texts) await run(text);
    await run(`SELECT n, n * 1.5, 'row ' || n FROM generate_series(1, ${LARGE_RESULT_ROWS}) AS n`);
    await played(() => ask(client, "ROLLBACK", "simple"));
    await client.query("RESET ALL");
    await dropAll(client);
  } finally {
    await client.end();
  }
  return errors;
}

/** false: the server said that it failed. */
async function played(work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && "code" in error && /^[0-9A-Z]{5}$/.test(String(error.code))) return false;
    throw error;
  }
}

async function ask(client: pg.Client, text: string, way: Way): Promise<boolean> {
  const query = { text, rowMode: "array", types: { getTypeParser: () => (value: unknown) => value } };
  if (way === "simple") await client.query(query);
  else await client.query({ ...query, queryMode: "extended", binary: way === "binary" } as pg.QueryConfig);
  return true;
}

async function askHttp(server: DbdPeer, text: string): Promise<boolean> {
  const url = `http://${server.host}:${server.httpPort}/v1/sql`;
  const answer = await fetch(url, { method: "POST", headers: { "Content-Type": "text/plain" }, body: text });
  await answer.arrayBuffer();
  return answer.ok;
}

/** A connection for one statement. */
async function briefly(server: DbdPeer, turn: number): Promise<void> {
  const client = await connect(server);
  await client.query("SELECT $1::int + 1", [turn]);
  await client.end();
}

async function connect({ host, port, user, database }: DbdPeer): Promise<pg.Client> {
  const client = new pg.Client({ host, port, user, database });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** Drops what statements have made outside of temporary schemas. */
async function dropAll(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'",
  );
  for (const { nspname } of rows) {
    await client.query(`DROP SCHEMA ${client.escapeIdentifier(String(nspname))} CASCADE`);
  }
  await client.query("CREATE SCHEMA public");
}
