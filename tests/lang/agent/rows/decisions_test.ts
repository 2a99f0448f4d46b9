/** Rows of the decisions beyond document 2. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  agent,
  answersOf,
  BAD,
  GOOD,
  only,
  post,
  startAgent,
  withAgent,
  withPackage,
} from "../agent_client.ts";

const ENDLESS = {
  ...GOOD,
  "src/main.lang": `use host.process

pub fn main(_args: List[String]) -> Int uses Log {
  process.write("begun")
  var n = 0
  while true { n = (n + 1) % 7 }
  n
}

test "endless" {
  var n = 0
  while true { n = (n + 1) % 7 }
}

test "quick" {
  expect(1 == 1)
}
`,
};

Deno.test("Any request may carry `id`, echoed on every line of its answer", async () => {
  await withPackage(BAD, async (folder) => {
    for (const id of ["a", "", 0, -1.5, 7]) {
      const { lines } = await agent(folder, [
        { op: "check", id },
        { op: "fix", code: "NM0001", id },
        { op: "explain", code: "?", id },
        { op: "nothing", id },
      ]);
      strictEqual(answersOf(lines).length, 4);
      ok(lines.every((line) => line["id"] === id));
    }
    strictEqual((await agent(folder, [{ op: "version", id: null }])).code, 2);
    strictEqual((await agent(folder, [{ op: "version", id: {} }])).code, 2);
  });
});

Deno.test("`files: {path: text}` overlays unsaved sources", async () => {
  await withPackage(GOOD, async (folder) => {
    const files = {
      "src/main.lang": "pub fn main(_args: List[String]) -> Int {\n  3\n}\n",
      "src/new.lang": "fn f( {\n",
    };
    const { lines, code } = await agent(folder, [
      { op: "check", files },
      { op: "run", files: { "src/main.lang": files["src/main.lang"] } },
      { op: "find", query: "fn f(", files },
      { op: "fmt", check: true, files: { "src/main.lang": "fn  f() {}" } },
      { op: "check", path: "src/new.lang", files },
      { op: "fmt", files },
      { op: "check" },
    ]);
    const [check = [], run = [], find = [], fmt = [], one = [], refused = [], again = []] = answersOf(lines);
    strictEqual(code, 1);
    strictEqual(only(check, "result")["ok"], false);
    strictEqual(only(run, "done")["exit_code"], 3);
    strictEqual(only(find, "result")["total"], 1);
    strictEqual(only(fmt, "patch")["path"], "src/main.lang");
    strictEqual(only(one, "result")["path"], "src/new.lang");
    match(String(only(refused, "error")["message"]), /lays texts over files/);
    strictEqual(only(again, "result")["ok"], true);
    strictEqual(await Deno.readTextFile(`${folder}/src/main.lang`), GOOD["src/main.lang"]);
  });
});

Deno.test("`max_diagnostics`, and a `truncated` count so that silence never reads as success", async () => {
  const files = {
    ...GOOD,
    "src/main.lang":
      "pub fn main(_a: List[String]) -> Int {\n  one\n}\nfn b() -> Int { two }\nfn c() -> Int { three }\n",
  };
  await withPackage(files, async (folder) => {
    for (const [maximum, shown] of [[0, 0], [2, 2], [3, 3], [9, 3]] as const) {
      const { lines, code } = await agent(folder, [{ op: "check", max_diagnostics: maximum }]);
      strictEqual(code, 1);
      strictEqual(lines.filter((line) => line.kind === "envelope").length, shown);
      const { diagnostics_count, truncated } = only(lines, "result");
      deepStrictEqual([diagnostics_count, truncated], [3, 3 - shown]);
    }
  });
});

Deno.test("`check` also answers `result` with `path`", async () => {
  await withPackage({
    "pong/project.toml": GOOD["project.toml"] ?? "",
    "pong/src/main.lang": GOOD["src/main.lang"] ?? "",
  }, async (folder) => {
    const paths = ["pong", "./pong/", "pong/src/main.lang", `${folder}/pong`];
    const { lines } = await agent(folder, paths.map((path) => ({ op: "check", path })));
    deepStrictEqual(answersOf(lines).map((answer) => only(answer, "result")["path"]), [
      "pong",
      "pong",
      "pong/src/main.lang",
      "pong",
    ]);
  });
  await withPackage(GOOD, async (folder) => {
    // A package is found from within it.
    const { lines } = await agent(`${folder}/src`, [{ op: "check" }]);
    strictEqual(only(lines, "result")["path"], ".");
    // A file that is not there is no file without errors.
    const missing = await agent(folder, [{ op: "check", path: "src/missing.lang" }]);
    match(String(only(missing.lines, "error")["message"]), /there is no such file/);
  });
});

Deno.test("`find` takes `query` (required) and `top` (10), and answers `hits` `[{file, line, text}]`", async () => {
  const many = Array.from({ length: 30 }, (_, index) => `// needle ${index}\n`).join("");
  await withPackage({ ...GOOD, "src/many.lang": many }, async (folder) => {
    const { lines } = await agent(folder, [{ op: "find", query: "needle" }, {
      op: "find",
      query: "needle",
      top: 3,
    }, { op: "find" }]);
    const [ten = [], three = [], missing = []] = answersOf(lines);
    const hits = only(ten, "result")["hits"];
    ok(Array.isArray(hits) && hits.length === 10);
    deepStrictEqual(hits[0], { file: "src/many.lang", line: 1, text: "// needle 0" });
    deepStrictEqual([only(three, "result")["total"], only(three, "result")["truncated"]], [30, 27]);
    match(String(only(missing, "error")["message"]), /`query` is missing/);
  });
});

Deno.test("`run` and `test` `path`, `args`, `filter`, `eval`", async () => {
  await withPackage(GOOD, async (folder) => {
    const { lines } = await agent(folder, [
      { op: "run", path: ".", args: ["é", "", "a b"] },
      { op: "test", path: "src/main.lang", filter: "doub" },
      { op: "test", filter: "nothing of the kind" },
    ]);
    const [run = [], test = [], none = []] = answersOf(lines);
    strictEqual(only(run, "log")["text"], "é\n\na b\n");
    deepStrictEqual([only(test, "result")["passed"], only(none, "result")["passed"]], [1, 0]);
  });
});

Deno.test("`patch` carries a unified diff and the SHA-256 of the file it was made for; `write` refuses a file that changed", async () => {
  await withPackage(BAD, async (folder) => {
    const { lines } = await agent(folder, [{ op: "fix", code: "NM0001" }]);
    strictEqual(
      only(lines, "patch")["sha256"],
      createHash("sha256").update(BAD["src/main.lang"] ?? "").digest("hex"),
    );
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const say = (request: object) => writer.write(new TextEncoder().encode(`${JSON.stringify(request)}\n`));
    const running = agent(folder, readable);
    await say({ op: "check" });
    await say({ op: "version" });
    await Deno.writeTextFile(`${folder}/src/main.lang`, `// changed\n${BAD["src/main.lang"]}`);
    await say({ op: "fix", code: "NM0001", write: true });
    await say({ op: "check" });
    await say({ op: "fix", code: "NM0001", write: true });
    await writer.close();
    const [, , refused = [], , written = []] = answersOf((await running).lines);
    deepStrictEqual(refused.map((line) => line.kind), ["error", "done"]);
    strictEqual(only(written, "result")["written"], true);
    match(await Deno.readTextFile(`${folder}/src/main.lang`), /^\/\/ changed\n[^]*double\(2\)/);
  });
});

Deno.test("`write` refuses when the file is not the one that the session's last `check` read: texts that a check had laid over files", async () => {
  await withPackage({ ...BAD, "src/more.lang": "pub fn more() -> Int { 1 }\n" }, async (folder) => {
    const bad = BAD["src/main.lang"] ?? "";
    const fixed = bad.replace("doubel", "double");
    const moved = `\n\n${bad}`;
    const fix = { op: "fix", code: "NM0001" };
    const { lines } = await agent(folder, [
      { op: "check", files: { "src/main.lang": moved } },
      fix,
      { ...fix, write: true },
      { op: "check", files: { "src/more.lang": "pub fn more() -> Int { 2 }\n" } },
      { ...fix, write: true },
      // What is tried by a fix is no check of the session.
      { op: "check" },
      { ...fix, files: { "src/main.lang": fixed } },
      { ...fix, write: true },
    ]);
    const [, preview = [], other = [], , beside = [], , tried = [], written = []] = answersOf(lines);
    strictEqual(only(preview, "patch")["sha256"], createHash("sha256").update(moved).digest("hex"));
    match(String(only(other, "error")["message"]), /another text of src\/main.lang than the file has/);
    match(String(only(beside, "error")["message"]), /another text of src\/more.lang than the file has/);
    strictEqual(only(tried, "result")["ok"], false);
    strictEqual(only(written, "result")["written"], true);
    strictEqual(await Deno.readTextFile(`${folder}/src/main.lang`), fixed);
    // Texts that the files have by now are theirs.
    const saved = await agent(folder, [
      { op: "check", files: { "src/main.lang": fixed } },
      { op: "fix", code: "LI0001", write: true },
    ]);
    strictEqual(only(answersOf(saved.lines)[1] ?? [], "result")["written"], true);
  });
});

Deno.test('`error` is `{kind: "error", message, code}`. Every answer ends with `done`, also after an `error`. A missing or wrongly typed field is a protocol error', async () => {
  await withPackage(GOOD, async (folder) => {
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ op: "explain" }, /`code` is missing/],
      [{ op: "explain", code: 1 }, /`code` is a number, not a text/],
      [{ op: "fix", write: true }, /`code` is missing/],
      [{ op: "fix", code: "TY0001", write: "yes" }, /`write` is a text, not true or false/],
      [
        { op: "fix", code: "TY0001", alternative: 1.5 },
        /`alternative` is a number with a fraction, not a whole number/,
      ],
      [{ op: "fix", code: "TY0001", alternative: -1 }, /`alternative` is -1, less than 0/],
      [{ op: "check", path: null }, /`path` is null, not a text/],
      [{ op: "check", files: [] }, /`files` is a list, not an object/],
      [{ op: "check", files: { "src/main.lang": 1 } }, /`files.src\/main.lang` is a number, not a text/],
      [{ op: "run", args: "a" }, /`args` is a text, not a list/],
      [{ op: "run", args: [1] }, /`args.0` is a number, not a text/],
      [{ op: "run", timeout: 0 }, /`timeout` is 0, less than/],
      [{ op: "hover", path: "src/main.lang", line: 0, column: 1 }, /`line` is 0, less than 1/],
    ];
    for (const [request, message] of wrong) {
      const { code, lines } = await agent(folder, [request, { op: "version" }]);
      deepStrictEqual([code, lines.map((line) => line.kind)], [2, ["error", "done"]]);
      const { code: name, message: text } = only(lines, "error");
      strictEqual(name, "bad_request");
      match(String(text), message);
      await withAgent(
        folder,
        {},
        async (address) => strictEqual((await post(address, "/v1/agent", request)).status, 400),
      );
    }
    // Fields that mean nothing are reported, not refused.
    const { lines } = await agent(folder, [{ op: "check", wirte: true, also: 1 }]);
    deepStrictEqual(only(lines, "result")["ignored"], ["also", "wirte"]);
  });
});

Deno.test("`schema` answers in `result.schema`, `version` in `result.agent_protocol` and `result.lang_version`", async () => {
  await withPackage(GOOD, async (folder) => {
    const { lines } = await agent(folder, [{ op: "schema" }]);
    const schema = JSON.parse(JSON.stringify(only(lines, "result")["schema"]));
    strictEqual(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
    const { $defs } = schema;
    deepStrictEqual($defs.fix_request.required, ["op", "code"]);
    deepStrictEqual($defs.find_request.required, ["op", "query"]);
    deepStrictEqual($defs.done_line.required, ["kind", "exit_code"]);
    // Every reference leads somewhere.
    for (const [, name] of JSON.stringify(schema).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)) {
      ok(name !== undefined && name in $defs, String(name));
    }
    deepStrictEqual($defs.request.anyOf.length, 17);
  });
});

Deno.test('A recording line is `{"request": "<the line as it came>", "response": ["<line>", …]}`, unparsable requests included', async () => {
  await withPackage(GOOD, async (folder) => {
    const record = `${folder}/r.ndjson`;
    await agent(folder, [' {"op" : "version"} ', { op: "check" }, "not json"], { record });
    const lines = (await Deno.readTextFile(record)).trimEnd().split("\n").map((line) => JSON.parse(line));
    deepStrictEqual(lines.map((line) => [line.request, line.response.length]), [[' {"op" : "version"} ', 2], [
      '{"op":"check"}',
      2,
    ], ["not json", 2]]);
    ok(!(await Deno.readTextFile(record)).includes(folder));
    strictEqual((await agent(folder, [], { replay: record })).code, 0);
  });
});

Deno.test("a foreign Host or Origin gets 403", async () => {
  await withPackage(GOOD, async (folder) => {
    await withAgent(folder, {}, async (address) => {
      const port = Number(address.slice(address.lastIndexOf(":") + 1));
      const status = async (head: string): Promise<string> => {
        const connection = await Deno.connect({ hostname: "127.0.0.1", port });
        const body = '{"op":"version"}';
        const request =
          `POST /v1/agent HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
        await connection.write(new TextEncoder().encode(request));
        const text = await new Response(connection.readable).text();
        return text.slice(9, 12);
      };
      const own = `127.0.0.1:${port}`;
      for (const host of [own, `localhost:${port}`, `[::1]:${port}`, "LOCALHOST"]) {
        strictEqual(await status(`Host: ${host}\r\n`), "200", host);
      }
      for (const host of ["example.org", `example.org:${port}`, "127.0.0.1.example.org", "10.0.0.1", ""]) {
        strictEqual(await status(`Host: ${host}\r\n`), "403", host);
      }
      strictEqual(await status(""), "403");
      strictEqual(await status(`Host: ${own}\r\nOrigin: http://${own}\r\n`), "200");
      for (const origin of ["http://example.org", "null", `https://${own}`, "http://localhost:1"]) {
        strictEqual(await status(`Host: ${own}\r\nOrigin: ${origin}\r\n`), "403", origin);
      }
    });
  });
});

Deno.test("a non-loopback `--listen` needs `--auth-token`", async () => {
  await withPackage(GOOD, async (folder) => {
    for (const listen of ["0.0.0.0:0", "[::]:0"]) {
      await rejects(startAgent(folder, { listen }), /needs --auth-token/);
    }
    await withAgent(folder, { listen: "0.0.0.0:0", authToken: "t" }, async (address) => {
      const local = address.replace("0.0.0.0", "127.0.0.1");
      // Other machines know it by other names; who knows the token is nobody's page.
      const ask = (authorization: string) => post(local, "/v1/agent", { op: "version" }, { authorization });
      deepStrictEqual([(await ask("")).status, (await ask("Bearer t")).status], [401, 200]);
    });
    // All of 127.0.0.0/8 is this machine.
    await withAgent(folder, { listen: "127.0.0.2:0" }, async (address) => {
      strictEqual((await post(address, "/v1/agent", { op: "version" })).status, 200);
    });
  });
});

Deno.test("bodies are capped at 8 MiB (413)", async () => {
  await withPackage(GOOD, async (folder) => {
    await withAgent(folder, {}, async (address) => {
      const padded = (length: number) => `{"op":"version","id":"x"${" ".repeat(length - 25)}}`;
      strictEqual((await post(address, "/v1/agent", padded(8 * 1024 * 1024))).status, 200);
      const { status, lines } = await post(address, "/v1/agent", padded(8 * 1024 * 1024 + 1));
      deepStrictEqual([status, only(lines, "error")["code"]], [413, "too_large"]);
      // Also when nobody says beforehand how long it is.
      const stream = new Blob([padded(9 * 1024 * 1024)]).stream();
      const streamed = await fetch(`${address}/v1/agent`, { method: "POST", body: stream });
      strictEqual(streamed.status, 413);
      await streamed.body?.cancel();
      strictEqual((await post(address, "/v1/agent", { op: "version" })).status, 200);
    });
  });
});

Deno.test("cancellation: `inspect` with `cost`, whose tests run elsewhere", async () => {
  const source = `fn turn(n: Int) -> Int {
  var sum = 0
  for i in 0..n { sum = (sum + i) % 7 }
  sum
}

property "long" (_n: Int) {
  expect(turn(2000000000) >= 0)
}
`;
  await withPackage({ ...GOOD, "src/long.lang": source }, async (folder) => {
    await withAgent(folder, {}, async (address) => {
      let isAnswered = false;
      const request = { op: "inspect", cost: true, gas: 1_000_000_000, id: 6 };
      const measured = post(address, "/v1/agent", request).finally(() => isAnswered = true);
      for (let isCanceled = false; !isCanceled && !isAnswered;) {
        // Meanwhile others are answered; that it has begun by then is nearly sure.
        for (let count = 0; count < 5; count++) await post(address, "/v1/agent", { op: "version" });
        const { lines } = await post(address, "/v1/agent", { op: "cancel", request: 6 });
        isCanceled = only(lines, "result")["canceled"] === true;
      }
      strictEqual(only((await measured).lines, "error")["code"], "canceled");
      const quick = await post(address, "/v1/agent", { op: "inspect", cost: true, gas: 1000 });
      strictEqual(only(quick.lines, "result")["ok"], true);
    });
  });
});

Deno.test("cancellation: a request `cancel` with the id stops them", async () => {
  await withPackage(ENDLESS, async (folder) => {
    const record = `${folder}/r.ndjson`;
    const { code, lines } = await agent(folder, [
      { op: "run", id: "r", timeout: 15 },
      { op: "test", id: "t", timeout: 15 },
      { op: "cancel", id: "c", request: "t" },
      { op: "cancel", id: "r" },
      { op: "cancel", id: "c2", request: "nothing" },
      { op: "version" },
    ], { record });
    const [run = [], test = [], first = [], second = [], third = [], version = []] = answersOf(lines);
    strictEqual(code, 1);
    for (const answer of [run, test]) {
      deepStrictEqual([only(answer, "error")["code"], only(answer, "done")["exit_code"]], ["canceled", 1]);
    }
    deepStrictEqual([first, second, third].map((answer) => only(answer, "result")["canceled"]), [
      true,
      true,
      false,
    ]);
    strictEqual(only(version, "result")["ok"], true);
    strictEqual((await agent(folder, [], { replay: record })).code, 0);
    // Over HTTP it comes in another request.
    await withAgent(folder, {}, async (address) => {
      const running = post(address, "/v1/agent", { op: "run", id: 5, timeout: 15 });
      for (let isCanceled = false; !isCanceled;) {
        const { lines } = await post(address, "/v1/agent", { op: "cancel", request: 5 });
        isCanceled = only(lines, "result")["canceled"] === true;
      }
      strictEqual(only((await running).lines, "error")["code"], "canceled");
    });
  });
});

Deno.test("limits on time and gas for `run` and `test`", async () => {
  await withPackage(ENDLESS, async (folder) => {
    const { lines } = await agent(folder, [
      { op: "run", timeout: 0.2 },
      { op: "run", gas: 10_000 },
      { op: "test", timeout: 0.2 },
      { op: "test", gas: 10_000 },
    ]);
    const [slow = [], spent = [], slowTest = [], spentTest = []] = answersOf(lines);
    for (const [answer, kind] of [[slow, "timeout"], [spent, "gas"]] as const) {
      const trap = only(answer, "result")["trap"];
      ok(typeof trap === "object" && trap !== null && "kind" in trap && trap.kind === kind, kind);
      // What it wrote before is not lost.
      deepStrictEqual([only(answer, "log")["text"], only(answer, "done")["exit_code"]], ["begun", 1]);
    }
    for (const answer of [slowTest, spentTest]) {
      deepStrictEqual([only(answer, "result")["passed"], only(answer, "result")["failed"]], [1, 1]);
    }
  });
});

Deno.test("symbol look-ups (`symbols`, `references`, `rename`, `hover`, `complete`)", async () => {
  await withPackage(GOOD, async (folder) => {
    // `double` in its declaration.
    const place = { path: "src/main.lang", line: 4, column: 8 };
    const { lines, code } = await agent(folder, [
      { op: "symbols", query: "double" },
      { op: "references", ...place },
      { op: "hover", ...place },
      { op: "rename", ...place, new_name: "twice" },
      { op: "complete", path: "src/main.lang", line: 10, column: 13 },
      { op: "rename", ...place, new_name: "main" },
      { op: "hover", path: "src/main.lang", line: 99, column: 1 },
      { op: "rename", ...place, new_name: "twice", write: true },
      { op: "check" },
    ]);
    const [
      symbols = [],
      references = [],
      hover = [],
      rename = [],
      complete = [],
      refused = [],
      nowhere = [],
      written = [],
      check = [],
    ] = answersOf(lines);
    strictEqual(code, 1);
    match(
      JSON.stringify(only(symbols, "result")["symbols"]),
      /"name":"double".*"signature":"(pub )?fn double\(n: Int\) -> Int"/,
    );
    const found = only(references, "result")["references"];
    ok(Array.isArray(found) && found.length === 2);
    match(JSON.stringify(only(hover, "result")["hover"]), /Doubles a number/);
    match(String(only(rename, "patch")["diff"]), /\+pub fn twice\(n: Int\)/);
    match(JSON.stringify(only(complete, "result")["items"]), /"label":"write"/);
    ok(typeof only(refused, "result")["reason"] === "string");
    match(String(only(nowhere, "error")["message"]), /no such place/);
    strictEqual(only(written, "result")["written"], true);
    strictEqual(only(check, "result")["ok"], true);
    match(await Deno.readTextFile(`${folder}/src/main.lang`), /expect\(twice\(2\) == 4\)/);
  });
});
