/** Rows of document 2, section 4: flags of `lang agent`. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { Command } from "commander";
import { addAgentCommand } from "../../../../cli/lang/agent_command.ts";
import { Terminal } from "../../../../cli/lang/shared/terminal.ts";
import { agent, GOOD, post, startAgent, talk, withAgent, withPackage } from "../agent_client.ts";

/** The option of the real command line. */
function option(name: string) {
  const program = new Command();
  addAgentCommand(program, { terminal: new Terminal(), programArguments: [], started: 0, exitCode: 0 });
  const [command] = program.commands;
  const found = command?.options.find((each) => each.long === name);
  ok(found !== undefined, `no option ${name}`);
  return found;
}

Deno.test("`--single-shot` | off | read exactly one JSON object from stdin, run it, exit (stdio only)", async () => {
  strictEqual(option("--single-shot").defaultValue, undefined);
  await withPackage(GOOD, async (folder) => {
    const { code, lines } = await agent(folder, ['{"op":\n"version"}'], { singleShot: true });
    deepStrictEqual([code, lines.map((line) => line.kind)], [0, ["result", "done"]]);
    for (const transport of ["http", "unix"]) {
      await rejects(agent(folder, [], { singleShot: true, transport }), /--single-shot/);
    }
  });
});

Deno.test("`--transport` | `stdio` | one of `stdio`, `http`, `unix`", async () => {
  strictEqual(option("--transport").defaultValue, "stdio");
  await withPackage(GOOD, async (folder) => {
    const { code, stdout } = await agent(folder, [], { transport: "pigeon" });
    strictEqual(code, 2);
    const error = JSON.parse(stdout);
    deepStrictEqual([error.kind, error.code], ["error", "unsupported_transport"]);
    strictEqual(stdout.split("\n").length, 2);
  });
});

Deno.test("`--port <N>` | 8889 | HTTP shortcut for `--listen 127.0.0.1:<N>`", async () => {
  strictEqual(option("--port").defaultValue, "8889");
  await withPackage(GOOD, async (folder) => {
    await withAgent(folder, { port: "0" }, async (address) => {
      match(address, /^http:\/\/127\.0\.0\.1:\d+$/);
      const port = address.slice(address.lastIndexOf(":") + 1);
      await rejects(startAgent(folder, { port }), new RegExp(`Cannot listen on port ${port} .*in use`));
    });
    for (const port of ["65536", "-1", "x", ""]) await rejects(startAgent(folder, { port }), /no port/);
  });
});

Deno.test("`--socket <PATH>` | none | unix shortcut for `--listen <PATH>`", async () => {
  strictEqual(option("--socket").defaultValue, undefined);
  await withPackage(GOOD, async (folder) => {
    await withAgent(folder, { transport: "unix", socket: `${folder}/s` }, async (path) => {
      strictEqual(path, `${folder}/s`);
      const text = await talk(await Deno.connect({ transport: "unix", path }), '{"op":"version"}\n');
      ok(text.includes('"agent_protocol":"1.0"'));
    });
    await rejects(startAgent(folder, { transport: "unix" }), /needs --socket/);
  });
});

Deno.test("`--listen <ADDR>` | none | `host:port` for HTTP, a path for unix; wins over `--port` and `--socket`", async () => {
  strictEqual(option("--listen").defaultValue, undefined);
  await withPackage(GOOD, async (folder) => {
    await withAgent(folder, { listen: "localhost:0", port: "1" }, async (address) => {
      strictEqual((await post(address, "/v1/agent", { op: "version" })).status, 200);
    });
    const unix = { transport: "unix", listen: `${folder}/a`, socket: `${folder}/b` };
    await withAgent(folder, unix, (path) => {
      strictEqual(path, `${folder}/a`);
      return Promise.resolve();
    });
    await rejects(startAgent(folder, { listen: "here" }), /HOST:PORT/);
    await rejects(startAgent(folder, { listen: "0.0.0.0:0" }), /needs --auth-token/);
  });
});

Deno.test("`--auth-token <T>` | off | Bearer token required on every HTTP request", async () => {
  strictEqual(option("--auth-token").defaultValue, undefined);
  await withPackage(GOOD, async (folder) => {
    await withAgent(folder, { authToken: "secret" }, async (address) => {
      for (const path of ["/v1/agent", "/v1/agent/batch", "/v1/agent/version", "/nowhere"]) {
        strictEqual((await post(address, path, { op: "version" })).status, 401, path);
      }
      const right = { authorization: "Bearer secret" };
      strictEqual((await post(address, "/v1/agent", { op: "version" }, right)).status, 200);
    });
  });
});

Deno.test("`--record <PATH>` | off | append every (request, response) pair to this NDJSON file; works on every transport", async () => {
  strictEqual(option("--record").defaultValue, undefined);
  await withPackage(GOOD, async (folder) => {
    const record = `${folder}/session.ndjson`;
    const request = '{ "op":"version" }';
    await agent(folder, [request, "{"], { record });
    await agent(folder, [request], { record, singleShot: true });
    await withAgent(folder, { record }, async (address) => {
      await post(address, "/v1/agent", request);
      await post(address, "/v1/agent/batch", `${request}\n${request}\n`);
    });
    await withAgent(folder, { record, transport: "unix", socket: `${folder}/s` }, async (path) => {
      await talk(await Deno.connect({ transport: "unix", path }), `${request}\n`);
    });
    const lines = (await Deno.readTextFile(record)).trimEnd().split("\n").map((line) => JSON.parse(line));
    // As the line came, with its line break in single-shot mode.
    deepStrictEqual(
      lines.map((line) => [line.request.trimEnd(), line.response.length, line.session]),
      [
        [request, 2, undefined],
        ["{", 2, undefined],
        [request, 2, 1],
        [request, 2, 2],
        [request, 2, 3],
        [request, 2, 3],
        [request, 2, 4],
      ],
    );
    deepStrictEqual(Object.keys(lines[0]), ["request", "response"]);
    strictEqual((await agent(folder, [], { replay: record })).code, 0);
    // An editor may have taken away the last line break.
    await Deno.writeTextFile(record, (await Deno.readTextFile(record)).trimEnd());
    await agent(folder, [request], { record });
    match((await agent(folder, [], { replay: record })).stdout, /^8 requests replayed, 0 drifted$/m);
  });
});

Deno.test("`--replay <PATH>` | off | re-run each recorded request against a fresh session and compare each live response byte for byte with the recorded one", async () => {
  strictEqual(option("--replay").defaultValue, undefined);
  await withPackage(GOOD, async (folder) => {
    const record = `${folder}/session.ndjson`;
    const requests = [
      { op: "check", id: 1 },
      { op: "run", args: ["x"] },
      { op: "test" },
      { op: "inspect" },
      { op: "fmt", check: true },
      { op: "schema" },
      { op: "symbols" },
    ];
    await agent(folder, requests, { record });
    strictEqual((await agent(folder, [], { replay: record })).code, 0);
    // In another folder.
    await withPackage(GOOD, async (other) => {
      strictEqual((await agent(other, [], { replay: record })).code, 0);
      await Deno.writeTextFile(`${other}/src/main.lang`, `${GOOD["src/main.lang"]}\nfn more() {}\n`);
      const drifted = await agent(other, [], { replay: record });
      strictEqual(drifted.code, 1);
      match(drifted.stdout, /request 1 drifts: /);
      match(drifted.stdout, /7 requests replayed, [1-7] drifted\n$/);
    });
  });
});
