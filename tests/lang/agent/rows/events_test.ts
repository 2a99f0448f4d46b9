/** Rows of document 2, sections 5 to 9: authentication, lines, errors, limits, versions. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { agent, BAD, GOOD, only, post, talk, withAgent, withPackage } from "../agent_client.ts";

Deno.test("HTTP agent transport: with `--auth-token`, every request must carry `Authorization: Bearer <token>`; a missing or wrong token gets 401. Without the flag no check is made.", async () => {
  await withPackage(GOOD, async (folder) => {
    await withAgent(folder, { authToken: "a b" }, async (address) => {
      const ask = (authorization?: string) =>
        post(address, "/v1/agent", { op: "version" }, authorization === undefined ? {} : { authorization });
      for (const wrong of [undefined, "Bearer", "Bearer ", "Bearer a", "Bearer a bc", "Basic a b", "a b"]) {
        const { status, headers, lines } = await ask(wrong);
        deepStrictEqual([status, headers.get("www-authenticate")], [401, "Bearer"], String(wrong));
        deepStrictEqual([only(lines, "error")["code"], only(lines, "done")["exit_code"]], [
          "unauthorized",
          2,
        ]);
      }
      strictEqual((await ask("Bearer a b")).status, 200);
      strictEqual((await ask("bearer a b")).status, 200);
    });
    await withAgent(folder, {}, async (address) => {
      strictEqual(
        (await post(address, "/v1/agent", { op: "version" }, { authorization: "Bearer x" })).status,
        200,
      );
    });
  });
});

Deno.test("The token option is ignored under the stdio and unix transports.", async () => {
  await withPackage(GOOD, async (folder) => {
    strictEqual((await agent(folder, [{ op: "version" }], { authToken: "t" })).code, 0);
    const unix = { transport: "unix", socket: `${folder}/s`, authToken: "t" };
    await withAgent(folder, unix, async (path) => {
      ok(
        (await talk(await Deno.connect({ transport: "unix", path }), '{"op":"version"}\n')).includes(
          '"exit_code":0',
        ),
      );
    });
  });
});

Deno.test("`log` | captured output of the wrapped command", async () => {
  const source = `use host.process

pub fn main(_args: List[String]) -> Int uses Log {
  process.write("one ")
  print("two")
  process.write("three\\n")
  0
}
`;
  await withPackage({ ...GOOD, "src/main.lang": source }, async (folder) => {
    const { stdout } = await agent(folder, [{ op: "run" }]);
    strictEqual(stdout.split("\n")[0], '{"kind":"log","stream":"stdout","text":"one two\\nthree\\n"}');
  });
});

Deno.test("`envelope` | one diagnostic: fields `code`, `severity`, and more", async () => {
  await withPackage(BAD, async (folder) => {
    const { lines } = await agent(folder, [{ op: "check" }]);
    const envelope = only(lines, "envelope");
    deepStrictEqual([envelope["code"], envelope["severity"]], ["NM0001", "error"]);
    deepStrictEqual(envelope["span"], {
      file: "src/main.lang",
      line: 3,
      column: 3,
      length: 6,
      byte_start: 61,
      byte_end: 67,
    });
    ok(Array.isArray(envelope["fixes"]) && envelope["fixes"].length === 1);
  });
});

Deno.test("`result` | summary: `op`, `ok` (boolean), `diagnostics_count`, `fix_count`", async () => {
  await withPackage(BAD, async (folder) => {
    const { lines } = await agent(folder, [{ op: "check" }]);
    const { op, ok: isRight, diagnostics_count, fix_count } = only(lines, "result");
    deepStrictEqual({ op, isRight, diagnostics_count, fix_count }, {
      op: "check",
      isRight: false,
      diagnostics_count: 1,
      fix_count: 1,
    });
  });
});

Deno.test("`patch` | candidate diff from a `fix` without `write`; the file is not changed", async () => {
  await withPackage(BAD, async (folder) => {
    const { lines } = await agent(folder, [{ op: "fix", code: "NM0001" }]);
    const { path, diff } = only(lines, "patch");
    strictEqual(path, "src/main.lang");
    strictEqual(await Deno.readTextFile(`${folder}/src/main.lang`), BAD["src/main.lang"]);
    // The system's own tool takes it.
    await Deno.writeTextFile(`${folder}/fix.diff`, String(diff));
    const { code, stderr } = await new Deno.Command("git", { args: ["apply", "fix.diff"], cwd: folder })
      .output();
    strictEqual(code, 0, new TextDecoder().decode(stderr));
    strictEqual(
      await Deno.readTextFile(`${folder}/src/main.lang`),
      BAD["src/main.lang"]?.replace("doubel", "double"),
    );
    const written = await agent(folder, [{ op: "fix", code: "LI0001", write: true }]);
    deepStrictEqual(written.lines.map((line) => line.kind), ["result", "done"]);
  });
});

Deno.test("`done` | `exit_code` (integer); last line of a response stream", async () => {
  await withPackage(BAD, async (folder) => {
    for (
      const request of [{ op: "check" }, { op: "version" }, { op: "run" }, { op: "explain", code: "?" }, "{"]
    ) {
      const { lines } = await agent(folder, [request]);
      strictEqual(lines.at(-1)?.kind, "done");
      ok(Number.isInteger(lines.at(-1)?.["exit_code"]));
    }
  });
});

Deno.test("`error` | one-line envelope for a protocol-level failure", async () => {
  await withPackage(GOOD, async (folder) => {
    const { stdout } = await agent(folder, ['{"op":"chekc","id":"a"}']);
    strictEqual(
      stdout,
      '{"kind":"error","id":"a","message":"Cannot take the request: there is no op \\"chekc\\"; did you mean check?","code":"unknown_op"}\n' +
        '{"kind":"done","id":"a","exit_code":2}\n',
    );
  });
});

Deno.test("Agent exit codes: 0 all requests succeeded; 1 at least one wrapped op exited nonzero (diagnostics, failed test); 2 protocol error (bad JSON, unknown op, unsupported transport).", async () => {
  const failing = `${GOOD["src/main.lang"]}\ntest "fails" {\n  expect(double(1) == 1)\n}\n`;
  await withPackage({ ...GOOD, "src/main.lang": failing }, async (folder) => {
    const codeOf = async (requests: readonly (string | object)[]) => (await agent(folder, requests)).code;
    strictEqual(await codeOf([{ op: "check" }, { op: "version" }, { op: "halt" }]), 0);
    strictEqual(await codeOf([{ op: "test" }, { op: "check" }]), 1);
    strictEqual(await codeOf([{ op: "run", args: ["x"] }, { op: "check" }]), 1);
    strictEqual(await codeOf([{ op: "explain", code: "nothing" }, { op: "check" }]), 1);
    strictEqual(await codeOf([{ op: "test" }, "bad"]), 2);
    strictEqual(await codeOf([{ op: "unknown" }]), 2);
    strictEqual((await agent(folder, [], { transport: "none" })).code, 2);
  });
  await withPackage(BAD, async (folder) => strictEqual((await agent(folder, [{ op: "check" }])).code, 1));
  // A missing manifest is no protocol error.
  await withPackage({ "notes.txt": "" }, async (folder) => {
    const { code, lines } = await agent(folder, [{ op: "check" }, { op: "version" }]);
    deepStrictEqual([code, only(lines, "error")["code"]], [1, "command"]);
    strictEqual((await agent(folder, [{ op: "check" }], { singleShot: true })).code, 2);
  });
});

Deno.test("Replay exit codes: 0 every response matched; 1 drift; 2 read or parse error.", async () => {
  await withPackage(GOOD, async (folder) => {
    const path = `${folder}/r.ndjson`;
    const codeOf = async (text: string): Promise<number | string> => {
      await Deno.writeTextFile(path, text);
      return await agent(folder, [], { replay: path }).then(
        ({ code }) => code,
        (error: Error) => error.message,
      );
    };
    const { stdout } = await agent(folder, [{ op: "version" }]);
    const entry = { request: '{"op":"version"}', response: stdout.trimEnd().split("\n") };
    strictEqual(await codeOf(`${JSON.stringify(entry)}\n`), 0);
    strictEqual(await codeOf(""), 0);
    strictEqual(await codeOf(JSON.stringify({ ...entry, response: entry.response.slice(1) })), 1);
    strictEqual(await codeOf(JSON.stringify({ ...entry, response: [...entry.response, ""] })), 1);
    match(String(await codeOf("{")), /line 1 is not JSON/);
    match(String(await codeOf('{"request":1,"response":[]}')), /line 1 is not of the form/);
    match(
      await agent(folder, [], { replay: `${folder}/none` }).then(String, (error: Error) => error.message),
      /Cannot read the recording/,
    );
  });
});

Deno.test("the unix transport on Windows prints a one-line `error` envelope and exits 2", async () => {
  await withPackage(GOOD, async (folder) => {
    const { code, stdout, stderr } = await agent(folder, [], {
      transport: "unix",
      socket: `${folder}/s`,
      os: "windows",
    });
    deepStrictEqual([code, stderr], [2, ""]);
    match(stdout, /^\{"kind":"error",.*"code":"unsupported_transport"\}\n$/);
  });
});

Deno.test("Agent HTTP routes carry the prefix `/v1`.", async () => {
  await withPackage(GOOD, async (folder) => {
    await withAgent(folder, {}, async (address) => {
      for (const path of ["/agent", "/", "/v1", "/v2/agent", "/v1/agent/", "/V1/agent"]) {
        strictEqual((await post(address, path, { op: "version" })).status, 404, path);
      }
      strictEqual((await post(address, "/v1/agent?query", { op: "version" })).status, 200);
    });
  });
});

Deno.test("Recorded sessions serve as regression fixtures: replay fails when the wire output changes.", async () => {
  await withPackage(BAD, async (folder) => {
    const record = `${folder}/r.ndjson`;
    await agent(folder, [{ op: "check" }, { op: "fix", code: "NM0001", write: true }, { op: "check" }], {
      record,
    });
    await Deno.writeTextFile(`${folder}/src/main.lang`, BAD["src/main.lang"] ?? "");
    // Replaying changes nothing, so that it can be done again.
    for (let time = 0; time < 2; time++) {
      const { code, stdout } = await agent(folder, [], { replay: record });
      strictEqual(code, 0, stdout);
      strictEqual(await Deno.readTextFile(`${folder}/src/main.lang`), BAD["src/main.lang"]);
    }
    const text = await Deno.readTextFile(record);
    await Deno.writeTextFile(record, text.replace("Cannot find", "Could not find"));
    strictEqual((await agent(folder, [], { replay: record })).code, 1);
  });
});
