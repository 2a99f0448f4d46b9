/**
 * `lang mcp`, compiled as it ships: the protocol's own client, old and new, lists and calls every tool on both
 * transports.
 */
import { match, rejects, strictEqual } from "node:assert/strict";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { withHttpServer, withPackage } from "../lang/mcp/served.ts";
import { textOf, tour } from "../lang/mcp/tour.ts";

const { lang } = await compiledPrograms();

/** Ways in which clients begin: as those of 2025 do, with `initialize`, and as those of 2026 do, without a session. */
const ERAS = { "of 2025": "legacy", "of 2026": { pin: "2026-07-28" } } as const;

type Era = keyof typeof ERAS;

/** Connects a client, lets it work, and closes it. */
async function withClient(
  era: Era,
  transport: Transport,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: ERAS[era] } });
  await client.connect(transport);
  try {
    await work(client);
  } finally {
    await client.close();
  }
}

function overStandardStreams(folder: string): StdioClientTransport {
  return new StdioClientTransport({ command: lang, args: ["mcp", folder], stderr: "ignore" });
}

for (const era of ["of 2025", "of 2026"] as const) {
  Deno.test(`a client ${era} lists and calls every tool over standard streams`, async () => {
    await withPackage(async (folder) => {
      await withClient(era, overStandardStreams(folder), tour);
      match(await Deno.readTextFile(`${folder}/src/main.lang`), /pub fn twice\(/);
    });
  });

  Deno.test(`a client ${era} lists and calls every tool over HTTP, and calls are canceled`, async () => {
    await withPackage(async (folder) => {
      const { code, said } = await withHttpServer([lang, "mcp", folder], async ({ url }) => {
        await withClient(era, new StreamableHTTPClientTransport(url), async (client) => {
          await tour(client);
          await cancelRun(client, folder);
        });
      });
      strictEqual(code, 0, said);
      match(await Deno.readTextFile(`${folder}/src/main.lang`), /var count/);
    });
  });
}

/** Starts a program that never ends, hears of its progress, cancels it, and runs another one. */
async function cancelRun(client: Client, folder: string): Promise<void> {
  const endless =
    "pub fn main(_args: List[String]) -> Int {\n  var count = 0\n  while true { count = count +% 1 }\n  count\n}\n";
  await Deno.writeTextFile(`${folder}/src/main.lang`, endless);
  const stop = new AbortController();
  const begun = Promise.withResolvers<void>();
  const run = client.callTool({ name: "run", arguments: { timeout: 600 } }, {
    signal: stop.signal,
    onprogress: ({ progress }) => {
      if (progress > 0) begun.resolve();
    },
  });
  const failed = rejects(run);
  await begun.promise;
  stop.abort();
  await failed;
  // Requests of a session run one after the other, so this one is answered only because the other one ended.
  const result = await client.callTool({ name: "run", arguments: { timeout: 0.1 } });
  match(textOf(result), /stopped after 0\.1 seconds/);
}

Deno.test("a token is asked of every request, and taken", async () => {
  await withPackage(async (folder) => {
    await withHttpServer([lang, "mcp", folder, "--auth-token", "secret"], async ({ url }) => {
      const connect = (token: string) =>
        withClient(
          "of 2025",
          new StreamableHTTPClientTransport(url, {
            requestInit: { headers: { Authorization: `Bearer ${token}` } },
          }),
          async (client) => strictEqual((await client.listTools()).tools.length > 10, true),
        );
      await connect("secret");
      await rejects(connect("wrong"));
    });
  });
});
