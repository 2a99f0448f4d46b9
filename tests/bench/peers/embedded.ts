/**
 * Databases that live in a process of their own instead of listening: SQLite, which Deno brings along, and DuckDB and
 * PGlite, whose packages are not among the project's dependencies but come by `embedded.json` when a benchmark asks
 * for them. Time is taken inside the process, around the query alone.
 */
import { TextLineStream } from "./text_lines.ts";

/** What can be started, with the module that it needs. */
export const EMBEDDED = ["DuckDB", "SQLite", "PGlite"] as const;

/** The name of an embedded peer. */
export type EmbeddedName = typeof EMBEDDED[number];

/** A running process; requests are answered one after the other. */
export interface EmbeddedPeer {
  readonly name: EmbeddedName;
  /** Runs statements without an answer. */
  execute(sql: string): Promise<void>;
  /** Loads a file of `|`-separated rows; columns are `name type`. */
  load(table: string, file: string, columns: readonly string[]): Promise<void>;
  /** Runs a query; milliseconds until all its rows were there. */
  query(
    sql: string,
  ): Promise<{ readonly rows: readonly (readonly unknown[])[]; readonly milliseconds: number }>;
  stop(): Promise<void>;
}

/** What a worker answers. */
export type EmbeddedAnswer =
  | { readonly kind: "done"; readonly rows: readonly (readonly unknown[])[]; readonly milliseconds: number }
  | { readonly kind: "failed"; readonly message: string };

/** What a worker is asked. */
export type EmbeddedRequest =
  | { readonly kind: "execute" | "query"; readonly sql: string }
  | {
    readonly kind: "load";
    readonly table: string;
    readonly file: string;
    readonly columns: readonly string[];
  };

/**
 * Starts a peer with its data in a directory that stays, or in a temporary one; the reason when it cannot be started.
 */
export async function startEmbedded(
  name: EmbeddedName,
  kept?: string,
): Promise<EmbeddedPeer | { readonly missing: string }> {
  const directory = kept ?? await Deno.makeTempDir({ prefix: "embedded-" });
  const place = (file: string) => new URL(file, import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "--config",
      place("embedded.json"),
      "--lock",
      place("embedded.lock"),
      place("embedded_worker.ts"),
      name,
      directory,
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const errors = new Response(child.stderr).text();
  const writer = child.stdin.getWriter();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream())
    .getReader();
  const stop = async () => {
    await writer.close().catch(() => {});
    await child.status;
    if (kept === undefined) await Deno.remove(directory, { recursive: true });
  };
  const hello = await reader.read();
  if (hello.done) {
    await stop();
    return { missing: (await errors).trim().split("\n").at(-1) ?? "it does not start" };
  }
  const ask = async (request: EmbeddedRequest) => {
    await writer.write(new TextEncoder().encode(JSON.stringify(request) + "\n"));
    const line = await reader.read();
    if (line.done) throw new Error(`${name} ended: ${await errors}`);
    const answer = JSON.parse(line.value) as EmbeddedAnswer;
    if (answer.kind === "failed") throw new Error(`${name}: ${answer.message}`);
    return answer;
  };
  return {
    name,
    execute: async (sql) => {
      await ask({ kind: "execute", sql });
    },
    load: async (table, file, columns) => {
      await ask({ kind: "load", table, file, columns });
    },
    query: (sql) => ask({ kind: "query", sql }),
    stop,
  };
}
