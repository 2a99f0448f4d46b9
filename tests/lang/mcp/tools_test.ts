/** The tools in this process: the protocol's own client, two linked transports, and a package in memory. */
import { match, ok, strictEqual } from "node:assert/strict";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { createServer } from "../../../lang/servers/mcp/server.ts";
import { memoryEnvironment } from "./memory_environment.ts";
import { textOf, tour, TOURED } from "./tour.ts";

/** A client of a package in memory. */
async function withClient(
  sources: Readonly<Record<string, string>>,
  work: (client: Client, read: (path: string) => string | undefined) => Promise<void>,
): Promise<void> {
  using environment = memoryEnvironment(sources);
  const [left, right] = InMemoryTransport.createLinkedPair();
  const server = createServer(environment);
  const client = new Client({ name: "test", version: "1" });
  await Promise.all([server.connect(right), client.connect(left)]);
  try {
    await work(client, (path) => environment.files.read(path));
  } finally {
    await client.close();
    await server.close();
  }
}

Deno.test("every tool, resource and prompt does what it says", async () => {
  await withClient(TOURED, async (client, read) => {
    match(client.getInstructions() ?? "", /lang:\/\/language/);
    await tour(client);
    match(read("src/main.lang") ?? "", /let _unused = 1/);
    match(read("src/main.lang") ?? "", /pub fn twice\(/);
  });
});

const ENDLESS = {
  "src/main.lang": `pub fn main(_args: List[String]) -> Int uses Log {
  var count = 0
  print("begun")
  while true { count = count +% 1 }
  count
}

test "never ends" {
  var count = 0
  while count < 2 { count = count * 1 }
}
`,
};

Deno.test("a call that takes long is canceled by its caller, tells of its progress, and keeps nobody else waiting", async () => {
  await withClient(ENDLESS, async (client) => {
    const stop = new AbortController();
    const told = Promise.withResolvers<string | undefined>();
    const run = client.callTool({ name: "run", arguments: { timeout: 15 } }, {
      signal: stop.signal,
      onprogress: ({ progress, message }) => {
        if (progress > 0) told.resolve(message);
      },
    }).then(() => "answered", (error: Error) => error.name === "AbortError" ? "canceled" : String(error));
    match(await told.promise ?? "", /^Run the program: 1 s$/);
    strictEqual((await client.callTool({ name: "check", arguments: {} })).isError, undefined);
    stop.abort(new DOMException("enough", "AbortError"));
    ok(/canceled|enough/.test(await run), await run);
    // Programs run one after the other, so this one ends by its own limit only because the other one has ended.
    const result = await client.callTool({ name: "run", arguments: { timeout: 0.2 } });
    match(textOf(result), /begun\n[^]*stopped after 0\.2 seconds[^]*exit code 1\n$/);
  });
});

Deno.test("limits of time and gas end tests that do not, as failures", async () => {
  await withClient(ENDLESS, async (client) => {
    const slow = await client.callTool({ name: "test", arguments: { timeout: 0.2 } });
    strictEqual(slow.isError, undefined);
    match(textOf(slow), /0 passed, 1 failed/);
    const costly = await client.callTool({ name: "test", arguments: { gas: 10_000 } });
    match(textOf(costly), /gas/);
  });
});

Deno.test("a text is cut where a model would drown in it, and what is structured is whole", async () => {
  const source = "pub fn main() -> Int { 1 }\n" +
    Array.from({ length: 400 }, (_, index) => `fn f${index}() -> Int { ${index} + "${index}" }\n`).join("");
  await withClient({ "src/main.lang": source }, async (client) => {
    const result = await client.callTool({ name: "check", arguments: {} });
    const text = textOf(result);
    ok(text.length < 61_000, String(text.length));
    match(text, /characters more; ask for less/);
    const { diagnostics }: Readonly<Record<string, unknown>> = Object(result.structuredContent);
    ok(Array.isArray(diagnostics) && diagnostics.length >= 400);
    const few = await client.callTool({ name: "check", arguments: { max_diagnostics: 2 } });
    match(textOf(few), /\d+ more that are not shown/);
  });
});

Deno.test("arguments of very many parts are refused before they are looked at", async () => {
  await withClient(TOURED, async (client) => {
    const args = Array.from({ length: 20_000 }, String);
    const result = await client.callTool({ name: "run", arguments: { args } });
    strictEqual(result.isError, true);
    match(textOf(result), /more than the maximum/);
  });
});

Deno.test("a package that is not there is told, and served when it comes", async () => {
  using environment = memoryEnvironment({});
  environment.files.remove("project.toml");
  const { text, value } = await environment.tools.call("check", {}, new AbortController().signal);
  strictEqual(value, null);
  match(text, /no project\.toml/);
  environment.files.write("project.toml", TOURED["project.toml"] ?? "");
  environment.files.write("src/main.lang", TOURED["src/main.lang"] ?? "");
  strictEqual((await environment.tools.call("check", {}, new AbortController().signal)).value?.["ok"], true);
});
