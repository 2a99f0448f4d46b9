/** Rows of document 2, section 4: ops and what they wrap, the Unix transport, the routes of HTTP. */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { runProgram } from "../../../../cli/lang/program.ts";
import { Terminal } from "../../../../cli/lang/shared/terminal.ts";
import {
  agent,
  answersOf,
  BAD,
  GOOD,
  only,
  post,
  startAgent,
  talk,
  withAgent,
  withPackage,
} from "../agent_client.ts";

/** What a command for people prints. */
async function command(parameters: readonly string[]) {
  let stdout = "";
  const stream = {
    writeSync: (bytes: Uint8Array) => {
      stdout += new TextDecoder().decode(bytes);
      return bytes.length;
    },
    isTerminal: () => false,
  };
  const code = await runProgram(
    parameters,
    new Terminal(stream, { ...stream, writeSync: (bytes) => bytes.length }),
  );
  return { code, stdout };
}

const MISTAKES = {
  ...BAD,
  "src/second.lang": 'pub fn f() -> Int {\n  let a = 1\n  "text"\n}\n\nfn g( {\n',
};

Deno.test("check | `lang check --format json`", async () => {
  for (const files of [GOOD, BAD, MISTAKES]) {
    await withPackage(files, async (folder) => {
      const human = await command(["check", folder, "--format", "json"]);
      const { code, lines } = await agent(folder, [{ op: "check" }]);
      strictEqual(code, human.code);
      const envelopes = lines.filter((line) => line.kind === "envelope").map((line) => {
        const { kind: _, ...envelope } = line;
        return envelope;
      });
      // The same fields in the same order.
      strictEqual(JSON.stringify(envelopes), JSON.stringify(JSON.parse(human.stdout).diagnostics));
    });
  }
});

Deno.test("run | `lang run`", async () => {
  await withPackage(GOOD, async (folder) => {
    const human = await command(["run", folder, "--format", "json", "--", "a", "b"]);
    const { lines } = await agent(folder, [{ op: "run", args: ["a", "b"] }]);
    strictEqual(only(lines, "log")["text"], JSON.parse(human.stdout).stdout);
    strictEqual(only(lines, "done")["exit_code"], human.code);
    strictEqual(human.code, 2);
  });
});

Deno.test("test | `lang test [--eval]`", async () => {
  const source = `${GOOD["src/main.lang"]}
test "wrong" {
  expect(double(2) == 5)
}

eval "good" threshold 0.5 {
  case "one" => true
}
`;
  await withPackage({ ...GOOD, "src/main.lang": source }, async (folder) => {
    for (const isEval of [false, true]) {
      const human = await command([
        "test",
        folder,
        "--seed",
        "0",
        "--format",
        "json",
        ...isEval ? ["--eval"] : [],
      ]);
      const { lines } = await agent(folder, [{ op: "test", eval: isEval }]);
      strictEqual(
        JSON.stringify(only(lines, "result")["tests"]),
        JSON.stringify(JSON.parse(human.stdout).tests),
      );
      strictEqual(only(lines, "done")["exit_code"], human.code);
      strictEqual(human.code, isEval ? 0 : 1);
    }
  });
});

Deno.test("inspect | `lang inspect [--cost]`", async () => {
  await withPackage(GOOD, async (folder) => {
    for (const cost of [false, true]) {
      const human = JSON.parse(
        (await command(["inspect", folder, "--format", "json", ...cost ? ["--cost"] : []])).stdout,
      );
      const { lines } = await agent(folder, [{ op: "inspect", cost }]);
      const { ok: _, diagnostics: __, ...report } = human;
      deepStrictEqual(only(lines, "result")["report"], report);
      strictEqual(report.cost !== null, cost);
    }
  });
});

Deno.test("find | substring search across source files and markdown files under `docs/`", async () => {
  await withPackage({ ...GOOD, "web/page.txt": "double" }, async (folder) => {
    const { lines } = await agent(folder, [{ op: "find", query: "Call double" }, {
      op: "find",
      query: "double",
      top: 2,
    }]);
    const [one = [], two = []] = answersOf(lines);
    deepStrictEqual(only(one, "result")["hits"], [{
      file: "docs/guide.md",
      line: 3,
      text: "Call double to double.",
    }]);
    const result = only(two, "result");
    deepStrictEqual([result["total"], result["truncated"]], [5, 3]);
  });
});

Deno.test("explain | `lang explain`", async () => {
  await withPackage(GOOD, async (folder) => {
    const human = await command(["explain", "MX0001"]);
    const { lines } = await agent(folder, [{ op: "explain", code: "MX0001" }]);
    strictEqual(only(lines, "log")["text"], human.stdout);
  });
});

Deno.test("fmt | `lang fmt`", async () => {
  await withPackage(
    { ...GOOD, "src/main.lang": "pub   fn main( _args: List[String] ) -> Int { 0 }\n" },
    async (folder) => {
      const read = () => Deno.readTextFile(`${folder}/src/main.lang`);
      const before = await read();
      const checked = await agent(folder, [{ op: "fmt", check: true }]);
      strictEqual(checked.code, 1);
      strictEqual(only(checked.lines, "patch")["path"], "src/main.lang");
      strictEqual(await read(), before);
      const { code, lines } = await agent(folder, [{ op: "fmt" }]);
      strictEqual(code, 0);
      deepStrictEqual(only(lines, "result")["changed"], ["src/main.lang"]);
      const after = await read();
      ok(after !== before);
      strictEqual((await command(["fmt", folder, "--check"])).code, 0);
    },
  );
});

Deno.test("fix | check, then patch using a suggested alternative", async () => {
  await withPackage(BAD, async (folder) => {
    const { lines } = await agent(folder, [{ op: "fix", code: "NM0001", alternative: 0, write: true }]);
    const { fixed, gone, came, left } = only(lines, "result");
    deepStrictEqual(left, 0);
    ok(JSON.stringify(fixed).includes("use `double`"));
    ok(JSON.stringify(gone).includes("NM0001") && JSON.stringify(came).includes("LI0001"));
    ok((await Deno.readTextFile(`${folder}/src/main.lang`)).includes("double(2)"));
  });
});

Deno.test("halt | ends the interactive loop", async () => {
  await withPackage(GOOD, async (folder) => {
    const { code, stdout } = await agent(folder, [{ op: "halt", id: "x" }, "not reached"]);
    deepStrictEqual([code, stdout], [
      0,
      '{"kind":"result","id":"x","op":"halt","ok":true,"diagnostics_count":0,"fix_count":0}\n' +
      '{"kind":"done","id":"x","exit_code":0}\n',
    ]);
  });
});

Deno.test("Unix transport: binds a listening socket at the path; a socket file already at the path is removed first", async () => {
  await withPackage(GOOD, async (folder) => {
    const path = `${folder}/agent.sock`;
    // A socket whose listener is gone: closing removes the file under its first name only, if at all.
    const left = Deno.listen({ transport: "unix", path: `${folder}/first.sock` });
    await Deno.rename(`${folder}/first.sock`, path);
    left.close();
    strictEqual((await Deno.lstat(path)).isSocket, true);
    await withAgent(folder, { transport: "unix", socket: path }, async () => {
      strictEqual(((await Deno.lstat(path)).mode ?? 0) & 0o777, 0o600);
      ok(
        (await talk(await Deno.connect({ transport: "unix", path }), '{"op":"version"}\n')).includes("done"),
      );
    });
    await rejects(Deno.lstat(path), Deno.errors.NotFound);
    deepStrictEqual([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), [
      "docs",
      "project.toml",
      "src",
    ]);
    // Only a socket is ever removed.
    await Deno.writeTextFile(path, "precious");
    await rejects(startAgent(folder, { transport: "unix", socket: path }), /no socket/);
    strictEqual(await Deno.readTextFile(path), "precious");
    await Deno.remove(path);
    await Deno.symlink(`${folder}/project.toml`, path);
    await rejects(startAgent(folder, { transport: "unix", socket: path }), /no socket/);
    // In a folder with a long name, too; where nobody could connect, nobody is served.
    const long = `${folder}/${"f".repeat(90 - folder.length)}`;
    await Deno.mkdir(long);
    await withAgent(folder, { transport: "unix", socket: `${long}/agent.sock` }, async (path) => {
      (await Deno.connect({ transport: "unix", path })).close();
    });
    await rejects(
      startAgent(folder, { transport: "unix", socket: `${long}/${"a".repeat(30)}` }),
      /too long for a socket/,
    );
    deepStrictEqual([...Deno.readDirSync(long)], []);
  });
});

Deno.test("POST | `/v1/agent` | body: one JSON request object | NDJSON stream of output lines ending with a `done` line", async () => {
  await withPackage(BAD, async (folder) => {
    await withAgent(folder, {}, async (address) => {
      const { status, headers, lines } = await post(address, "/v1/agent", { op: "check", id: 7 });
      deepStrictEqual([status, headers.get("content-type")], [200, "application/x-ndjson"]);
      deepStrictEqual(lines.map((line) => line.kind), ["envelope", "result", "done"]);
      ok(lines.every((line) => line["id"] === 7));
      // A protocol error has a status, and the server lives on.
      strictEqual((await post(address, "/v1/agent", "{")).status, 400);
      strictEqual((await post(address, "/v1/agent", "")).status, 400);
      strictEqual((await post(address, "/v1/agent", '{"op":"version"}\n{"op":"version"}')).status, 400);
      strictEqual((await post(address, "/v1/agent", { op: "version" })).status, 200);
      const get = await fetch(`${address}/v1/agent`);
      deepStrictEqual([get.status, get.headers.get("allow")], [405, "POST"]);
      await get.body?.cancel();
    });
  });
});

Deno.test("POST | `/v1/agent/batch` | body: several NDJSON requests | NDJSON stream; session state shared across the requests", async () => {
  await withPackage(BAD, async (folder) => {
    await withAgent(folder, {}, async (address) => {
      const lines = [{ op: "check" }, { op: "fix", code: "NM0001" }].map((each) => JSON.stringify(each));
      const right = await post(address, "/v1/agent/batch", lines.join("\n"));
      deepStrictEqual([right.status, answersOf(right.lines).length], [200, 2]);
      // A batch answers no further lines behind a protocol error, or a halt.
      const wrong = await post(address, "/v1/agent/batch", [lines[0], "{", lines[1]].join("\r\n"));
      deepStrictEqual([wrong.status, answersOf(wrong.lines).length], [400, 2]);
      const halted = await post(address, "/v1/agent/batch", [lines[0], '{"op":"halt"}', "{"].join("\n"));
      deepStrictEqual([halted.status, answersOf(halted.lines).length], [200, 2]);
      deepStrictEqual((await post(address, "/v1/agent/batch", "\n")).status, 200);
    });
  });
});

Deno.test("GET | `/v1/agent/version` | none | version document", async () => {
  await withPackage(GOOD, async (folder) => {
    await withAgent(folder, {}, async (address) => {
      const response = await fetch(`${address}/v1/agent/version`);
      deepStrictEqual([response.status, response.headers.get("content-type")], [200, "application/json"]);
      deepStrictEqual(Object.keys(await response.json()), ["agent_protocol", "lang_version"]);
      const posted = await post(address, "/v1/agent/version", "{}");
      strictEqual(posted.status, 405);
      strictEqual((await post(address, "/v1/other", "{}")).status, 404);
    });
  });
});
