/**
 * Hostile clients against the real `lang mcp`: what they send is answered with an error or not at all, and the server
 * goes on for the others.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { LANG, withHttpServer, withPackage } from "./served.ts";

interface Answer {
  readonly id: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: {
    readonly isError?: boolean;
    readonly content?: readonly { readonly text: string }[];
    readonly contents?: unknown;
  };
}

/** A package whose program never ends. */
const ENDLESS = {
  "project.toml": 'name = "endless"\nversion = "0.1.0"\n',
  "src/main.lang": "pub fn main(_args: List[String]) -> Int {\n  while true {}\n  0\n}\n",
};

/** Sends lines to `lang mcp` on its standard input, and ends that. */
async function talk(folder: string, lines: readonly string[], parameters: readonly string[] = []) {
  const [command = "", ...rest] = LANG;
  const child = new Deno.Command(command, {
    args: [...rest, "mcp", folder, ...parameters],
    env: { NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const stderr = new Response(child.stderr).text();
  let text = "";
  const expected = lines.filter((line) => !line.includes('"notifications/')).length;
  const answered = () => text.split("\n").length > expected;
  const reading = (async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value;
      // What is still to be answered when the input ends is not answered.
      if (answered()) await writer.close().catch(() => {});
    }
  })();
  for (const line of lines) await writer.write(new TextEncoder().encode(`${line}\n`));
  await reading;
  const { code } = await child.status;
  const answers = text.split("\n").filter((line) => line !== "").map((line): Answer => JSON.parse(line));
  return { code, answers, stderr: await stderr };
}

function request(id: number | string, method: string, params: unknown = {}): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

const INITIALIZE = request("first", "initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
});

function call(id: number, name: unknown, values: unknown): string {
  return request(id, "tools/call", { name, arguments: values });
}

Deno.test("hostile lines are answered with errors, and nothing outside of the package is read or written", async () => {
  await withPackage(async (folder) => {
    const inner = `${folder}/inner`;
    const secret = "fn secret() -> Int { 4_127_995 }\n";
    await Deno.mkdir(`${inner}/src`, { recursive: true });
    await Deno.rename(`${folder}/project.toml`, `${inner}/project.toml`);
    await Deno.rename(`${folder}/src/main.lang`, `${inner}/src/main.lang`);
    await Deno.writeTextFile(`${folder}/secret.lang`, secret);
    await Deno.symlink(`${folder}/secret.lang`, `${inner}/src/linked.lang`);
    await Deno.symlink(folder, `${inner}/docs`);
    const lines = [
      INITIALIZE,
      "{",
      "\u0000\u0001",
      '{"jsonrpc":"2.0"}',
      "[]",
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${"x".repeat(10_000_000)}"}}`,
      request(2, "nothing/known"),
      request(3, "tools/call"),
      call(4, "nothing", {}),
      call(5, "__proto__", {}),
      call(6, 7, {}),
      call(7, "check", []),
      call(8, "check", { path: ".." }),
      call(9, "check", { path: `${folder}/secret.lang` }),
      call(10, "check", { path: "src/linked.lang" }),
      call(11, "find", { query: "secret" }),
      call(12, "fmt", { path: "src/../../secret.lang" }),
      call(13, "check", { files: { "src/../../secret.lang": "" } }),
      call(14, "check", { files: { "/etc/hosts": "" } }),
      request(15, "resources/read", { uri: "lang://package/src/linked.lang" }),
      request(16, "resources/read", { uri: "lang://package/docs/secret.lang" }),
      request(17, "resources/read", { uri: "file:///etc/passwd" }),
      request(18, "resources/read", { uri: `lang://package/${"a/".repeat(50_000)}` }),
      request(19, "prompts/get", { name: "write_game", arguments: { idea: "x".repeat(100_000) } }),
      request(20, "completion/complete", {
        ref: { type: "ref/resource", uri: "lang://package/{+path}" },
        argument: { name: "path", value: "secret" },
      }),
      call(21, "check", {}),
    ];
    const { code, answers } = await talk(inner, lines);
    strictEqual(code, 0);
    strictEqual(answers.length, lines.length);
    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    strictEqual(answers.filter(({ id, error }) => id === null && error !== undefined).length, 5);
    for (let id = 2; id <= 19; id++) {
      const answer = byId.get(id);
      const { error, result } = answer ?? {};
      if (id === 11) continue;
      ok(error !== undefined || result?.isError === true, `${id}: ${JSON.stringify(answer)}`);
    }
    match(byId.get(11)?.result?.content?.[0]?.text ?? "", /nothing found/);
    ok(!JSON.stringify(answers).includes("4_127_995"));
    deepStrictEqual(byId.get(20)?.result, { completion: { values: [], total: 0, hasMore: false } });
    strictEqual(byId.get(21)?.result?.isError, undefined);
    strictEqual(await Deno.readTextFile(`${folder}/secret.lang`), secret);
  });
});

Deno.test("the end of the input ends the program, also while a program runs that never does", async () => {
  await withPackage(async (folder) => {
    const { code, answers } = await talk(
      folder,
      [
        INITIALIZE,
        request(1, "ping"),
        // Named so that it is not counted as one that is answered.
        call(2, "run", { timeout: 600, args: ['"notifications/'] }),
      ],
    );
    strictEqual(code, 0);
    deepStrictEqual(answers.map(({ id }) => id), ["first", 1]);
  }, ENDLESS);
});

Deno.test("Ctrl-C ends the server while streams are open and a program runs that never ends", async () => {
  await withPackage(async (folder) => {
    const open: Promise<unknown>[] = [];
    const { code, said } = await withHttpServer([...LANG, "mcp", folder], async ({ url }) => {
      const headers = {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
      };
      const begun = await fetch(url, { method: "POST", headers, body: INITIALIZE });
      await begun.text();
      const session = { ...headers, "Mcp-Session-Id": begun.headers.get("mcp-session-id") ?? "" };
      const events = await fetch(url, { headers: session });
      strictEqual(events.status, 200);
      const run = JSON.stringify({
        jsonrpc: "2.0",
        id: 2,
        method: "tools/call",
        params: { name: "run", arguments: { timeout: 600 }, _meta: { progressToken: 1 } },
      });
      const running = await fetch(url, { method: "POST", headers: session, body: run });
      const reader = (running.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
      // The program runs when a second has gone by.
      for (let text = ""; !text.includes(": 1 s");) text += (await reader.read()).value ?? "";
      open.push(events.text().catch(() => {}), reader.read().catch(() => {}));
    });
    await Promise.all(open);
    strictEqual(code, 0, said);
  }, ENDLESS);
});

Deno.test("in a folder without a package everything is listed, and tools say what is missing", async () => {
  await withPackage(async (folder) => {
    const { answers } = await talk(folder, [
      INITIALIZE,
      request(1, "tools/list"),
      request(2, "resources/list"),
      call(3, "check", {}),
      call(4, "check", { path: "games/pong" }),
      request(5, "prompts/get", { name: "mend_package" }),
    ]);
    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    match(byId.get(3)?.result?.content?.[0]?.text ?? "", /there is no project\.toml in this folder/);
    strictEqual(byId.get(3)?.result?.isError, true);
    strictEqual(byId.get(4)?.result?.isError, undefined);
    match(JSON.stringify(byId.get(5)), /There is no package here yet/);
    ok(!JSON.stringify(answers).includes(folder), "an answer names the folder");
  }, {
    "games/pong/project.toml": 'name = "pong"\nversion = "0.1.0"\n',
    "games/pong/src/main.lang": "pub fn main(_args: List[String]) -> Int { 0 }\n",
  });
});

Deno.test("usage that is wrong, a folder that is not there and a port in use end with 2 and one line that says why", async () => {
  await withPackage(async (folder) => {
    const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
      [folder, ["--http", "many"], /--http "many": it is not a whole number/],
      [folder, ["--http", "70000"], /ports are 0 to 65535/],
      [folder, ["--auth-token", "secret"], /it is for --http/],
      [folder, ["--http", "0", "--auth-token", ""], /it is empty/],
      [`${folder}/nowhere`, [], /there is no such folder/],
      [folder, ["--http", String(taken.addr.port)], /Cannot listen on port \d+: it is in use/],
    ];
    try {
      for (const [place, parameters, expected] of cases) {
        const { code, stderr } = await talk(place, [], parameters);
        strictEqual(code, 2, stderr);
        match(stderr, expected);
      }
    } finally {
      taken.close();
    }
  });
});

Deno.test("hundreds of connections that say half of something, or nothing, keep nobody else from being answered", async () => {
  await withPackage(async (folder) => {
    const { code } = await withHttpServer([...LANG, "mcp", folder], async ({ port, url }) => {
      const connections: Deno.TcpConn[] = [];
      const halves = [
        "",
        "P",
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        "\u0016\u0003\u0001\r\n\r\n",
      ];
      for (let count = 0; count < 300; count++) {
        const connection = await Deno.connect({ hostname: "127.0.0.1", port });
        await connection.write(new TextEncoder().encode(halves[count % halves.length]));
        if (count % 7 === 0) await connection.closeWrite();
        connections.push(connection);
      }
      const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
        body: INITIALIZE,
      });
      strictEqual(response.status, 200);
      match(await response.text(), /"serverInfo"/);
      for (const connection of connections) connection.close();
    });
    strictEqual(code, 0);
  });
});
