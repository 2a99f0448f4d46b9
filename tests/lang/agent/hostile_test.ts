/**
 * Hostile clients of `lang agent`: whatever they send, they get a clear error, others are served, memory stays
 * bounded, and nothing outside of the package is read or written.
 */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { SeededRandom } from "../../../engine/base/random.ts";
import {
  agent,
  answersOf,
  GOOD,
  only,
  post,
  readAnswer,
  talk,
  withAgent,
  withPackage,
  writeFiles,
} from "./agent_client.ts";

const MEBIBYTE = 1024 * 1024;

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** A package beside which there is something that is nobody's business. */
async function withSecret(
  work: (place: { readonly folder: string; readonly secret: string }) => Promise<void>,
): Promise<void> {
  await withPackage({}, async (parent) => {
    await writeFiles(`${parent}/package`, GOOD);
    const secret = 'pub fn secret() -> Int { "s3cr3t" }\n';
    await writeFiles(parent, {
      "secret.lang": secret,
      "other/project.toml": GOOD["project.toml"] ?? "",
      "other/src/main.lang": secret,
    });
    await work({ folder: `${parent}/package`, secret });
    strictEqual(await Deno.readTextFile(`${parent}/secret.lang`), secret);
    strictEqual(await Deno.readTextFile(`${parent}/other/src/main.lang`), secret);
    deepStrictEqual([...Deno.readDirSync(parent)].map(({ name }) => name).sort(), [
      "other",
      "package",
      "secret.lang",
    ]);
  });
}

Deno.test("hostile: a line of 10 MB ends the session with an error, on each transport", async () => {
  await withPackage(GOOD, async (folder) => {
    const long = `{"op":"version","x":"${"a".repeat(10 * MEBIBYTE)}"}\n`;
    for (const options of [{}, { singleShot: true }]) {
      const { code, lines } = await agent(folder, bytes(long + '{"op":"version"}\n'), options);
      deepStrictEqual([code, only(lines, "error")["code"]], [2, "too_large"]);
    }
    await withAgent(folder, { transport: "unix", socket: `${folder}/s` }, async (path) => {
      const lines = readAnswer(await talk(await Deno.connect({ transport: "unix", path }), long));
      strictEqual(only(lines, "error")["code"], "too_large");
      // Without any line break, too.
      const endless = readAnswer(
        await talk(await Deno.connect({ transport: "unix", path }), " ".repeat(9 * MEBIBYTE)),
      );
      strictEqual(only(endless, "error")["code"], "too_large");
      ok(
        (await talk(await Deno.connect({ transport: "unix", path }), '{"op":"version"}\n')).includes(
          '"exit_code":0',
        ),
      );
    });
    await withAgent(folder, {}, async (address) => {
      strictEqual((await post(address, "/v1/agent", long)).status, 413);
      strictEqual((await post(address, "/v1/agent/batch", long)).status, 413);
    });
  });
});

Deno.test("hostile: what is no request is answered as a protocol error", async () => {
  await withPackage(GOOD, async (folder) => {
    const deep = 200_000;
    const lines = [
      "[".repeat(deep) + "]".repeat(deep),
      `{"op":"check","files":${'{"a":'.repeat(deep)}1${"}".repeat(deep)}}`,
      `${'{"op":'.repeat(deep)}`,
      '{"op":"__proto__"}',
      '{"op":"constructor"}',
      '{"op":"toString"}',
      '{"op":["check"]}',
      '{"op":"check"} {"op":"check"}',
      '{"op":"check","op":1}',
      "\u0000",
      '{"op":"' + "x".repeat(MEBIBYTE) + '"}',
      '{"op":"check","id":"' + "x".repeat(2_000) + '"}',
      "NaN",
      "'check'",
    ];
    for (const line of lines) {
      const { code, lines } = await agent(folder, [line]);
      strictEqual(code, 2, line.slice(0, 80));
      deepStrictEqual(lines.map((each) => each.kind), ["error", "done"], line.slice(0, 80));
      ok(String(only(lines, "error")["message"]).length < 600, line.slice(0, 80));
    }
    const latin = await agent(
      folder,
      new Uint8Array([...bytes('{"op":"check","path":"'), 0xe9, ...bytes('"}\n')]),
    );
    deepStrictEqual([latin.code, only(latin.lines, "error")["message"]], [
      2,
      "Cannot read the request: it is not UTF-8",
    ]);
    // Own properties with strange names are data.
    const strange = await agent(folder, [
      '{"op":"check","__proto__":{"path":"/"},"files":{"__proto__":"x"}}',
    ]);
    strictEqual(strange.lines.at(-1)?.kind, "done");
    strictEqual(Object.hasOwn(Object.prototype, "path"), false);
  });
});

Deno.test("hostile: paths that lead out of the package are refused, in every field that has one", async () => {
  await withSecret(async ({ folder }) => {
    const paths = [
      "..",
      "../secret.lang",
      "../other",
      "src/../../secret.lang",
      "src/..",
      "./../other",
      "/etc/passwd",
      "/",
      `${folder}/../secret.lang`,
      `${folder}x`,
      "C:\\secret.lang",
      "C:/secret.lang",
      "..\\secret.lang",
      "src\\..\\..\\secret.lang",
      "\0",
      "src//main.lang",
      "a/".repeat(600),
    ];
    for (const path of paths) {
      const place = { path, line: 1, column: 1 };
      const requests = [
        ...["check", "run", "test", "inspect", "fmt", "symbols"].map((op) => ({ op, path })),
        { op: "find", query: "s3cr3t", path },
        { op: "fix", code: "TY0001", path, write: true },
        ...["references", "hover", "complete"].map((op) => ({ op, ...place })),
        { op: "rename", ...place, new_name: "x", write: true },
        { op: "check", files: { [path]: "x" } },
        { op: "find", query: "s3cr3t", files: { [path]: "x" } },
      ];
      const { lines, stdout } = await agent(folder, requests);
      const answers = answersOf(lines);
      strictEqual(answers.length, requests.length);
      for (const [index, answer] of answers.entries()) {
        strictEqual(only(answer, "error")["code"], "outside_package", JSON.stringify(requests[index]));
      }
      ok(!stdout.includes("s3cr3t"));
    }
    // What looks like an escape to a browser is a name here.
    const { lines } = await agent(folder, [{ op: "check", path: "%2e%2e/secret.lang" }]);
    match(String(only(lines, "error")["message"]), /there is no such file/);
  });
});

Deno.test("hostile: links that lead out of the package are not followed", async () => {
  await withSecret(async ({ folder, secret }) => {
    await Deno.symlink("../../secret.lang", `${folder}/src/linked.lang`);
    await Deno.symlink("../../other", `${folder}/src/folder`);
    await Deno.symlink("../other/src", `${folder}/docs/more`);
    const { stdout, lines } = await agent(folder, [
      { op: "check" },
      { op: "find", query: "s3cr3t" },
      { op: "fmt" },
      { op: "check", path: "src/linked.lang" },
      { op: "check", path: "src/folder" },
      { op: "check", path: "src/folder/src/main.lang" },
      { op: "fix", code: "TY0001", write: true, path: "src/linked.lang" },
    ]);
    ok(!stdout.includes("s3cr3t"));
    const [check = [], find = [], , ...refused] = answersOf(lines);
    strictEqual(only(check, "result")["ok"], true);
    strictEqual(only(find, "result")["total"], 0);
    for (const answer of refused) strictEqual(only(answer, "error")["code"], "outside_package");
    // The folder of the sources itself, and the manifest.
    await Deno.rename(`${folder}/src`, `${folder}/old`);
    await Deno.symlink("../other/src", `${folder}/src`);
    const linked = await agent(folder, [{ op: "check" }, { op: "fmt" }, { op: "find", query: "s3cr3t" }, {
      op: "check",
      path: "src/main.lang",
    }]);
    ok(!linked.stdout.includes("s3cr3t"), linked.stdout);
    await Deno.remove(`${folder}/src`);
    await Deno.rename(`${folder}/old`, `${folder}/src`);
    await Deno.remove(`${folder}/project.toml`);
    await Deno.symlink("../other/project.toml", `${folder}/project.toml`);
    const manifest = await agent(folder, [{ op: "check" }]);
    strictEqual(only(manifest.lines, "done")["exit_code"], 2, manifest.stdout);
    ok(secret !== "");
  });
});

Deno.test("hostile: a program that is run stays in the package, and knows nothing of this process", async () => {
  await withSecret(async ({ folder }) => {
    const main = `use host.process
use std.time

pub fn main(args: List[String]) -> Int uses Input, Log, Store, Time {
  for path in args {
    match process.read_text_file(path) {
      Ok(text) => print("read {path}: {text}")
      Err(why) => print("no {path}: {why}")
    }
    match process.write_file(path, "overwritten".to_bytes()) {
      Ok(_) => print("wrote {path}")
      Err(why) => print("not written {path}: {why}")
    }
  }
  print("home {process.environment("HOME")} input {process.read_text()} now {time.now()}")
  0
}
`;
    await writeFiles(folder, { "src/main.lang": main, "data.txt": "inside" });
    await Deno.symlink("../secret.lang", `${folder}/link`);
    await Deno.symlink("../new.lang", `${folder}/dangling`);
    await Deno.symlink("../other", `${folder}/elsewhere`);
    await new Deno.Command("mkfifo", { args: [`${folder}/pipe`] }).output();
    const args = [
      "pipe",
      "../secret.lang",
      `${folder}/../secret.lang`,
      "link",
      "dangling",
      "elsewhere/src/main.lang",
      "elsewhere/new.txt",
      "/etc/hostname",
      ".",
      "",
      "a\\b",
    ];
    const { lines, stdout } = await agent(folder, [{ op: "run", args, stdin: "typed" }, {
      op: "run",
      args: ["./data.txt"],
    }]);
    const [hostile = [], honest = []] = answersOf(lines);
    const text = String(only(hostile, "log")["text"]);
    strictEqual(only(hostile, "result")["ok"], true, stdout);
    ok(!text.includes("s3cr3t") && !/^(read|wrote)/m.test(text), text);
    match(text, /home None input typed now 0/);
    match(String(only(honest, "log")["text"]), /^read \.\/data\.txt: inside\nwrote \.\/data\.txt\n/);
    strictEqual(await Deno.readTextFile(`${folder}/data.txt`), "overwritten");
  });
});

Deno.test("hostile: a program that writes without end is stopped", async () => {
  const main = `pub fn main(_args: List[String]) -> Int uses Log {
  while true { print("again and again and again") }
  0
}

test "prints" {
  while true { print("again and again and again") }
}
`;
  await withPackage({ ...GOOD, "src/main.lang": main }, async (folder) => {
    const record = `${folder}/r.ndjson`;
    const { lines } = await agent(folder, [{ op: "run", timeout: 15 }], { record });
    strictEqual(String(only(lines, "log")["text"]).length, MEBIBYTE);
    const tested = await agent(folder, [{ op: "test", timeout: 15 }]);
    match(JSON.stringify(only(tested.lines, "result")["tests"]), /"kind":"output"/);
    match(JSON.stringify(only(lines, "result")["trap"]), /"kind":"output"/);
    strictEqual((await agent(folder, [], { replay: record })).code, 0);
  });
});

Deno.test("hostile: slow, half-closed and broken connections keep nobody waiting", async () => {
  await withPackage(GOOD, async (folder) => {
    await withAgent(folder, {}, async (address) => {
      const port = Number(address.slice(address.lastIndexOf(":") + 1));
      const connect = () => Deno.connect({ hostname: "127.0.0.1", port });
      const head = `POST /v1/agent HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;
      const open: Deno.Conn[] = [];
      for (
        const text of [
          "",
          "POST",
          head,
          `${head}Content-Length: 100\r\n\r\n{"op"`,
          `${head}Transfer-Encoding: chunked\r\n\r\nffff\r\n{`,
        ]
      ) {
        const connection = await connect();
        await connection.write(bytes(text));
        open.push(connection);
      }
      strictEqual((await post(address, "/v1/agent", { op: "check" })).status, 200);
      // One that has said all of it and closed its side is answered.
      const body = '{"op":"version"}';
      const half = await talk(
        await connect(),
        `${head}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
      match(half, /^HTTP\/1\.1 200 /);
      // One that closes in the middle is not.
      const broken = await talk(await connect(), `${head}Content-Length: 100\r\n\r\n{"op"`);
      ok(!broken.includes(" 200 "), broken);
      const nonsense = await talk(await connect(), "\0\x01\x02 nonsense\r\n\r\n");
      ok(!nonsense.includes(" 200 "), nonsense);
      for (const connection of open) connection.close();
      strictEqual((await post(address, "/v1/agent", { op: "check" })).status, 200);
    });
    await withAgent(folder, { transport: "unix", socket: `${folder}/s` }, async (path) => {
      const connect = () => Deno.connect({ transport: "unix", path });
      const slow = await connect();
      await slow.write(bytes('{"op":"ver'));
      const gone = await connect();
      await gone.write(bytes('{"op":"check"}\n'.repeat(50)));
      gone.close();
      ok((await talk(await connect(), '{"op":"version"}')).includes('"exit_code":0'));
      await slow.write(bytes('sion"}\n{"op":"halt"}\n'));
      // The session's end closes the connection, though this side is open.
      strictEqual(answersOf(readAnswer(await talk(slow, "", { closesWriting: false }))).length, 2);
    });
  });
});

Deno.test("hostile: a pipe in the place of a source is refused, and nobody waits for it", async () => {
  await withPackage(GOOD, async (folder) => {
    await new Deno.Command("mkfifo", { args: [`${folder}/src/pipe.lang`, `${folder}/pipe`] }).output();
    await Deno.symlink(`${folder}/pipe`, `${folder}/src/link.lang`);
    const { lines } = await agent(folder, [
      { op: "check", path: "src/pipe.lang" },
      { op: "check", path: "src/link.lang" },
      { op: "check" },
    ]);
    const [pipe = [], link = [], whole = []] = answersOf(lines);
    for (const answer of [pipe, link]) match(String(only(answer, "error")["message"]), /it is no plain file/);
    strictEqual(only(whole, "result")["ok"], true);
  });
});

Deno.test("hostile: a name of a hundred thousand letters is a name that nobody knows", async () => {
  await withPackage(GOOD, async (folder) => {
    const files = { "src/long.lang": `fn f() -> Int {\n  ${"a".repeat(100_000)}\n}\n` };
    const { lines } = await agent(folder, [{ op: "check", files, path: "src/long.lang" }, {
      op: "symbols",
      files,
    }]);
    const [check = [], symbols = []] = answersOf(lines);
    ok(check.some((line) => line["code"] === "NM0001"));
    strictEqual(only(symbols, "result")["ok"], true);
  });
});

/** Writes now and then; fails when the other side is gone. */
async function writeUntilClosed(connection: Deno.Conn): Promise<void> {
  for (let turn = 0; turn < 100; turn++) {
    await connection.write(bytes("x"));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

Deno.test("hostile: a thousand connections at once", async () => {
  await withPackage(GOOD, async (folder) => {
    await withAgent(folder, { transport: "unix", socket: `${folder}/s` }, async (path) => {
      const connections = await Promise.all(
        Array.from({ length: 1_000 }, () => Deno.connect({ transport: "unix", path })),
      );
      await Promise.all(
        connections.map((connection, index) =>
          connection.write(bytes(index % 2 === 0 ? '{"op":"vers' : '{"op":"version"}\n'))
        ),
      );
      const answers = await Promise.all(
        connections.map((connection, index) => talk(connection, index % 2 === 0 ? 'ion"}\n' : "")),
      );
      strictEqual(answers.filter((text) => text.includes('"exit_code":0')).length, 1_000);
    });
    await withAgent(folder, {}, async (address) => {
      const port = Number(address.slice(address.lastIndexOf(":") + 1));
      const idle = await Promise.all(
        Array.from({ length: 900 }, () => Deno.connect({ hostname: "127.0.0.1", port })),
      );
      strictEqual((await post(address, "/v1/agent", { op: "version" })).status, 200);
      // Beyond the limit, connections are refused.
      const more = await Promise.all(
        Array.from({ length: 200 }, () => Deno.connect({ hostname: "127.0.0.1", port })),
      );
      const last = more.pop();
      ok(last !== undefined);
      match(await talk(last, "", { closesWriting: false }), /^HTTP\/1\.1 503 /);
      // Who was refused and stays is let go of.
      const staying = more.pop();
      ok(staying !== undefined);
      await rejects(writeUntilClosed(staying));
      for (const connection of [...idle, ...more]) connection.close();
      const again = Array.from({ length: 20 }, () => post(address, "/v1/agent", { op: "version" }));
      ok((await Promise.all(again)).every(({ status }) => status === 200));
    });
  });
});

Deno.test("hostile: many lines that never end share a budget of memory", async () => {
  await withPackage(GOOD, async (folder) => {
    await withAgent(folder, { transport: "unix", socket: `${folder}/s` }, async (path) => {
      const connections = await Promise.all(
        Array.from({ length: 16 }, () => Deno.connect({ transport: "unix", path })),
      );
      const part = new Uint8Array(6 * MEBIBYTE).fill(0x20);
      const held = connections.map(async (connection) => {
        try {
          for (let rest = part; rest.length > 0;) rest = rest.subarray(await connection.write(rest));
          return true;
        } catch {
          // It was refused and closed while it wrote.
          return false;
        }
      });
      await Promise.all(held);
      const answers = await Promise.all(
        connections.map((connection) => talk(connection, "", { closesWriting: true })),
      );
      const refused = answers.filter((text) => text.includes('"code":"busy"') || text === "").length;
      // 64 MiB hold ten of them; the others were told that it is too much, or their connection was reset.
      ok(refused >= 6, String(refused));
      ok(
        (await talk(await Deno.connect({ transport: "unix", path }), '{"op":"version"}\n')).includes(
          '"exit_code":0',
        ),
      );
    });
  });
});

Deno.test("hostile: mutated requests always get a whole answer", async () => {
  await withPackage(GOOD, async (folder) => {
    const random = new SeededRandom(7);
    const seeds = [
      { op: "check", path: "src/main.lang", include_source: true, max_diagnostics: 3, id: 1 },
      { op: "find", query: "double", top: 3 },
      { op: "fix", code: "NM0001", alternative: 1 },
      { op: "hover", path: "src/main.lang", line: 4, column: 8 },
      { op: "complete", path: "src/main.lang", line: 9, column: 13 },
      { op: "check", files: { "src/main.lang": "fn f() {}" } },
    ].map((each) => JSON.stringify(each));
    const alphabet = [
      '"',
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      "0",
      "-",
      "e",
      "null",
      "true",
      "..",
      "/",
      "\\",
      "\u0000",
      "é",
      "😀",
    ];
    for (let round = 0; round < 300; round++) {
      let line = seeds[random.below(seeds.length)] ?? "";
      for (let edits = random.below(4); edits >= 0; edits--) {
        const at = random.below(line.length + 1);
        line = line.slice(0, at) + (alphabet[random.below(alphabet.length)] ?? "") +
          line.slice(at + random.below(4));
      }
      const { code, lines } = await agent(folder, [line]);
      if (line.trim() === "") continue;
      ok([0, 1, 2].includes(code), line);
      strictEqual(answersOf(lines).length, 1, line);
      ok(lines.every((each) => each["code"] !== "internal"), line);
    }
  });
});
