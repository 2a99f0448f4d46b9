/**
 * `lang serve` by the rows of its specification: flags, routes, the reload event, exit codes, limits. Each test is
 * named after its row; clients are raw sockets, `npm:ws`, and curl where it is installed. Servers are the compiled
 * program.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import WebSocket from "ws";
import { isInstalled, reportNotRun } from "../../tools/not_run.ts";
import { copyPackage, type Package, TEMPLATE } from "../lang/browser/game_page.ts";
import { rawRequest } from "../lang/serve/raw_http.ts";
import { runHere, runLang, ServeProcess, within } from "../lang/serve/serve_process.ts";
import { until } from "../support/until.ts";

/** Starts a server for Pong, gives it to the rows, and ends it. */
function withServer(
  name: string,
  parameters: readonly string[],
  work: (context: Deno.TestContext, server: ServeProcess, pong: Package) => Promise<void>,
): void {
  Deno.test(name, async (context) => {
    await using pong = await copyPackage(TEMPLATE);
    await fill(pong.folder);
    await using server = await ServeProcess.start(pong.folder, parameters);
    await work(context, server, pong);
  });
}

const ASSETS: Readonly<Record<string, string>> = {
  "a.js": "text/javascript; charset=utf-8",
  "a.css": "text/css; charset=utf-8",
  "a.json": "application/json",
  "a.svg": "image/svg+xml",
  "a.png": "image/png",
  "a.jpg": "image/jpeg",
  "a.txt": "text/plain; charset=utf-8",
  "a.md": "text/markdown; charset=utf-8",
  "a.html": "text/html; charset=utf-8",
  "a.mjs": "text/javascript; charset=utf-8",
  "a.js.map": "application/json",
  "a.wasm": "application/wasm",
  "a.woff2": "font/woff2",
  "a.woff": "font/woff",
  "a.ttf": "font/ttf",
  "a.otf": "font/otf",
  "a.mp3": "audio/mpeg",
  "a.ogg": "audio/ogg",
  "a.wav": "audio/wav",
  "a.m4a": "audio/mp4",
  "a.flac": "audio/flac",
  "a.webp": "image/webp",
  "a.avif": "image/avif",
  "a.gif": "image/gif",
  "a.ico": "image/x-icon",
  "a.mp4": "video/mp4",
  "a.webm": "video/webm",
  "a.webmanifest": "application/manifest+json",
  "a.glb": "model/gltf-binary",
  "A.PNG": "image/png",
  "unknown.xyz": "application/octet-stream",
  "without": "application/octet-stream",
  "levels/one two.json": "application/json",
  "ä.txt": "text/plain; charset=utf-8",
};

async function fill(folder: string): Promise<void> {
  await Deno.mkdir(`${folder}/web/levels`);
  for (const path of Object.keys(ASSETS)) {
    await Deno.writeTextFile(`${folder}/web/${path}`, `contents of ${path}`);
  }
  await Deno.mkdir(`${folder}/web/.hidden`);
  await Deno.writeTextFile(`${folder}/web/.hidden/key`, "secret");
  await Deno.writeTextFile(`${folder}/web/.env`, "secret");
  await Deno.writeTextFile(`${folder}/secret.txt`, "secret");
}

/** A client of the official package; what it hears. */
class Client {
  readonly socket: WebSocket;
  readonly frames: { readonly text: string; readonly isBinary: boolean }[] = [];
  #wake = Promise.withResolvers<void>();

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data, isBinary) => {
      this.frames.push({ text: String(data), isBinary });
      this.#wake.resolve();
      this.#wake = Promise.withResolvers();
    });
  }

  static async connect(port: number, path: string): Promise<Client> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
    const client = new Client(socket);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return client;
  }

  async frame(fits: (text: string) => boolean = () => true): Promise<string> {
    for (let index = 0;;) {
      const woken = this.#wake.promise;
      for (; index < this.frames.length; index++) {
        const { text = "" } = this.frames[index] ?? {};
        if (fits(text)) return text;
      }
      await within(woken, `a frame; ${this.frames.length} came`);
    }
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.socket.once("close", resolve));
    this.socket.close();
    await within(closed, "the end of a WebSocket");
  }
}

withServer("lang serve: routes", [], async (context, server, pong) => {
  const { port } = server;
  const read = (path: string) => Deno.readFile(`${pong.folder}/${path}`);

  await context.step("GET / serves web/index.html as text/html; charset=utf-8", async () => {
    const { status, headers, body } = await rawRequest(port, "/");
    assert.deepEqual([status, headers.get("content-type")], [200, "text/html; charset=utf-8"]);
    // Without --watch the page is as it is on disk.
    assert.deepEqual(body, await read("web/index.html"));
  });

  await context.step(
    "GET /<asset> serves web/<asset>, its content type derived from the extension",
    async () => {
      for (const [path, type] of Object.entries(ASSETS)) {
        const { status, headers, text } = await rawRequest(port, `/${encodeURI(path)}`);
        assert.deepEqual(
          [status, headers.get("content-type"), text],
          [200, type, `contents of ${path}`],
          path,
        );
        assert.equal(headers.get("x-content-type-options"), "nosniff");
      }
    },
  );

  await context.step(
    "GET /main.wasm serves the built wasm as application/wasm, Cache-Control: no-cache",
    async () => {
      const { status, headers, body } = await rawRequest(port, "/main.wasm");
      assert.deepEqual([status, headers.get("content-type"), headers.get("cache-control")], [
        200,
        "application/wasm",
        "no-cache",
      ]);
      assert.deepEqual(body, await read("target/main.wasm"));
      const map = await rawRequest(port, "/main.wasm.map");
      assert.deepEqual([map.status, map.headers.get("content-type")], [200, "application/json"]);
      assert.equal(JSON.parse(map.text).version, 3);
    },
  );

  await context.step(
    "GET /_reload is a WebSocket upgrade: Sec-WebSocket-Accept is base64 of SHA-1 of key and magic string",
    async () => {
      const key = "dGhlIHNhbXBsZSBub25jZQ==";
      using connection = await Deno.connect({ hostname: "127.0.0.1", port });
      const head =
        `GET /_reload HTTP/1.1\r\nHost: localhost:${port}\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n` +
        `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`;
      await connection.write(new TextEncoder().encode(head));
      const buffer = new Uint8Array(4096);
      const count = await connection.read(buffer) ?? 0;
      const answer = new TextDecoder().decode(buffer.subarray(0, count));
      const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      assert.equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "the example of RFC 6455, section 1.3");
      assert.match(answer, /^HTTP\/1\.1 101 /);
      assert.match(answer, new RegExp(`\r\nsec-websocket-accept: ${accept.replaceAll("+", "\\+")}\r\n`, "i"));
      assert.match(answer, /\r\nupgrade: websocket\r\n/i);
    },
  );

  await context.step("GET /_reload without a right handshake is refused", async () => {
    const right = {
      "connection": "Upgrade",
      "upgrade": "websocket",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-version": "13",
    };
    const status = async (headers: Record<string, string>, method = "GET") => {
      const answer = await rawRequest(port, "/_reload", { method, headers });
      return [
        answer.status,
        answer.headers.get("sec-websocket-version") ?? answer.headers.get("allow") ?? null,
      ];
    };
    assert.deepEqual(await status({}), [426, null]);
    assert.deepEqual(await status({ ...right, "sec-websocket-version": "8" }), [426, "13"]);
    assert.deepEqual(await status({ ...right, "sec-websocket-key": "short" }), [400, null]);
    assert.deepEqual(await status({ ...right, "sec-websocket-key": "" }), [400, null]);
    assert.deepEqual(await status(right, "POST"), [405, "GET"]);
    assert.deepEqual(await status({ ...right, origin: "http://evil.example" }), [403, null]);
  });

  await context.step("any path containing .. is 403 forbidden, whatever the method", async () => {
    const targets = [
      "/..",
      "/../secret.txt",
      "/a..b",
      "/%2e%2e/secret.txt",
      "/%2E./secret.txt",
      "/..%2fsecret.txt",
    ];
    targets.push("/%252e%252e/secret.txt", "/..%5csecret.txt", "/..\\secret.txt", "/%c0%ae%c0%ae/secret.txt");
    targets.push(`http://127.0.0.1:${port}/../secret.txt`, "/_reload/..", "/main.wasm/..");
    for (const target of targets) {
      for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
        assert.equal((await rawRequest(port, target, { method })).status, 403, `${method} ${target}`);
      }
    }
  });

  await context.step("unknown path is 404 not found, whatever the method", async () => {
    const targets = [
      "/nothing",
      "/levels",
      "/levels/",
      "/index.html/",
      "/.env",
      "/.hidden/key",
      "//a.js",
      "/web/a.js",
    ];
    targets.push(
      "/%00",
      "/%ff",
      "/secret.txt",
      "/project.toml",
      "/src/main.lang",
      "/a.js/",
      "/./a.js",
      `/${"x".repeat(5000)}`,
    );
    for (const target of targets) {
      for (const method of ["GET", "POST"]) {
        const { status, text } = await rawRequest(port, target, { method });
        assert.deepEqual([status, text.includes("secret")], [404, false], `${method} ${target}`);
      }
    }
  });

  await context.step("what is there answers GET and HEAD, anything else is 405", async () => {
    for (const target of ["/", "/a.js", "/main.wasm"]) {
      const whole = await rawRequest(port, target);
      const head = await rawRequest(port, target, { method: "HEAD" });
      assert.deepEqual([head.status, head.body.length], [200, 0], target);
      for (const name of ["content-length", "content-type", "etag", "last-modified", "accept-ranges"]) {
        assert.equal(head.headers.get(name), whole.headers.get(name), `${target} ${name}`);
      }
      assert.equal(head.headers.get("content-length"), String(whole.body.length));
      for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"]) {
        const refused = await rawRequest(port, target, { method });
        assert.deepEqual(
          [refused.status, refused.headers.get("allow")],
          [405, "GET, HEAD"],
          `${method} ${target}`,
        );
      }
    }
  });

  await context.step("versions and ranges: ETag, Last-Modified, 304, 206, 416", async () => {
    const whole = await rawRequest(port, "/a.mp3");
    const etag = whole.headers.get("etag") ?? "";
    assert.match(etag, /^"[0-9a-f]{24}"$/);
    assert.ok(!Number.isNaN(Date.parse(whole.headers.get("last-modified") ?? "")));
    const ask = async (headers: Record<string, string>) => {
      const { status, text, headers: answered } = await rawRequest(port, "/a.mp3", { headers });
      return [status, text, answered.get("content-range") ?? null];
    };
    assert.deepEqual(await ask({ "if-none-match": etag }), [304, "", null]);
    assert.deepEqual(await ask({ "range": "bytes=0-7" }), [206, "contents", "bytes 0-7/17"]);
    assert.deepEqual(await ask({ "range": "bytes=-3" }), [206, "mp3", "bytes 14-16/17"]);
    assert.deepEqual((await ask({ "range": "bytes=17-" }))[0], 416);
    const several = await rawRequest(port, "/a.mp3", { headers: { range: "bytes=0-1,15-16" } });
    assert.match(several.headers.get("content-type") ?? "", /^multipart\/byteranges/);
    assert.match(several.text, /\r\n\r\nco\r\n[^]*\r\n\r\np3\r\n--/);
    assert.equal(several.headers.get("content-length"), String(several.body.length));
    // Saved again within the same moment, with the same length: another version.
    await Deno.writeTextFile(`${pong.folder}/web/a.mp3`, "CONTENTS of a.mp3");
    const changed = await rawRequest(port, "/a.mp3", { headers: { "if-none-match": etag } });
    assert.deepEqual([changed.status, changed.text], [200, "CONTENTS of a.mp3"]);
  });

  await context.step("files larger than what is kept are sent in parts, whole and by ranges", async () => {
    const size = 33 * 1024 * 1024 + 5;
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size; at += 4093) bytes[at] = at % 251;
    await Deno.writeFile(`${pong.folder}/web/large.bin`, bytes);
    const response = await fetch(`${server.address}large.bin`);
    assert.equal(response.headers.get("content-length"), String(size));
    assert.match(response.headers.get("etag") ?? "", /^W\//);
    const digest = (of: Uint8Array) => createHash("sha256").update(of).digest("hex");
    assert.equal(digest(new Uint8Array(await response.arrayBuffer())), digest(bytes));
    const part = await rawRequest(port, "/large.bin", { headers: { range: `bytes=${size - 8186}-` } });
    assert.deepEqual([part.status, part.headers.get("content-length")], [206, "8186"]);
    assert.deepEqual(part.body, bytes.slice(size - 8186));
  });

  await context.step("links are followed within the package and nowhere else", async () => {
    await Deno.symlink("a.js", `${pong.folder}/web/inner.js`);
    await Deno.symlink("/etc/hostname", `${pong.folder}/web/outer.txt`);
    await Deno.symlink("/etc", `${pong.folder}/web/etc`);
    await Deno.symlink("loop", `${pong.folder}/web/loop`);
    assert.equal((await rawRequest(port, "/inner.js")).text, "contents of a.js");
    for (const target of ["/outer.txt", "/etc/hostname", "/etc/passwd", "/loop"]) {
      assert.equal((await rawRequest(port, target)).status, 404, target);
    }
  });

  await context.step("a foreign Host or Origin gets 403", async () => {
    const status = async (headers: Record<string, string>) =>
      (await rawRequest(port, "/a.js", { headers })).status;
    for (const host of ["evil.example", "127.0.0.1.evil.example", `evil.example:${port}`]) {
      assert.equal(await status({ host }), 403, host);
    }
    for (
      const origin of [
        "http://evil.example",
        "null",
        `https://127.0.0.1:${port}`,
        `http://127.0.0.1:${port + 1}`,
      ]
    ) {
      assert.equal(await status({ origin }), 403, origin);
    }
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
      assert.equal(await status({ host }), 200);
    }
    assert.equal(await status({ origin: `http://127.0.0.1:${port}` }), 200);
    const { headers } = await rawRequest(port, "/a.js");
    assert.ok(![...headers.keys()].some((name) => name.startsWith("access-control-")), "no CORS headers");
  });

  await context.step("curl: paths as they are, ranges, conditions", async () => {
    if (!await isInstalled("curl")) return reportNotRun("curl talks to lang serve", "curl is not installed");
    const curl = async (...parameters: string[]) => {
      const args = [
        "-s",
        "-o",
        "/dev/null",
        "-w",
        "%{http_code} %{size_download}",
        "--path-as-is",
        ...parameters,
      ];
      return new TextDecoder().decode(
        (await new Deno.Command("curl", { args, stdout: "piped" }).output()).stdout,
      );
    };
    assert.equal(await curl(`${server.address}../secret.txt`), "403 34");
    assert.equal(await curl("-r", "0-3", `${server.address}a.js`), "206 4");
    assert.equal(await curl("-C", "5", `${server.address}a.js`), "206 11");
    assert.equal(await curl("-I", `${server.address}a.js`), "200 0");
    assert.equal(await curl("--http2-prior-knowledge", `${server.address}nothing`), "404 10");
  });

  await context.step("it listens on 127.0.0.1 only", async () => {
    const others = Deno.networkInterfaces().filter(({ family, address }) =>
      family === "IPv4" && address !== "127.0.0.1"
    );
    for (const { address } of [...others, { address: "127.0.0.2" }]) {
      await assert.rejects(Deno.connect({ hostname: address, port }), Deno.errors.ConnectionRefused, address);
    }
  });
});

withServer("lang serve --watch", ["--watch"], async (context, server, pong) => {
  const { port } = server;
  const source = `${pong.folder}/src/main.lang`;
  const text = await Deno.readTextFile(source);
  const reload = await Client.connect(port, "/_reload");
  const events = await Client.connect(port, "/_events");
  const count = () => reload.frames.length;
  const state = (name: string, more = "") =>
    events.frame((frame) => frame.includes(`"state":"${name}"`) && frame.includes(more));
  /** As most editors save: all at once, so that nobody reads half of it. */
  const save = async (path: string, contents: string) => {
    await Deno.writeTextFile(`${pong.folder}/saved.tmp`, contents);
    await Deno.rename(`${pong.folder}/saved.tmp`, path);
  };
  const reset = () => {
    events.frames.length = 0;
    reload.frames.length = 0;
  };

  await context.step(
    "the reload client is in the served page, and neither on disk nor in target/",
    async () => {
      const { text: page } = await rawRequest(port, "/");
      assert.match(page, /<head><script>\n[^]*\/_reload/);
      assert.equal(page, (await rawRequest(port, "/index.html")).text);
      assert.match((await rawRequest(port, "/a.html")).text, /^<script>[^]*contents of a\.html$/);
      for (const path of ["web/index.html", "target/main.wasm", "target/main.wasm.map"]) {
        assert.ok(!(await Deno.readTextFile(`${pong.folder}/${path}`)).includes("_reload"), path);
      }
    },
  );

  await context.step(
    "--watch: after a successful rebuild each /_reload client gets one text frame, `reload`",
    async () => {
      const second = await Client.connect(port, "/_reload");
      reset();
      await save(source, text.replace("ball_radius, bright", "ball_radius, dim"));
      const { version, reload: kind, milliseconds } = JSON.parse(await state("built"));
      assert.deepEqual([kind, typeof version, typeof milliseconds], ["module", "string", "number"]);
      await Promise.all([reload.frame(), second.frame()]);
      assert.deepEqual(reload.frames, [{ text: "reload", isBinary: false }]);
      assert.deepEqual(second.frames, reload.frames);
      await second.close();
    },
  );

  await context.step("a burst of saves builds once", async () => {
    reset();
    for (let count = 0; count < 20; count++) await save(source, `${text}// ${count}\n`);
    await save(source, `${text}\nfn last_of_the_burst() -> Int { 1 }\n`);
    await reload.frame();
    // Another change afterwards shows that nothing more came of the burst.
    const builds = () => events.frames.filter(({ text: frame }) => frame.includes('"state":"built"')).length;
    const before = builds();
    assert.ok(before <= 2, `${before} builds`);
    await save(source, text);
    await events.frame(() => builds() === before + 1);
    // Each build is told by both, and not at the same moment.
    await until(() => count() === before + 1, () => `${before + 1} reloads, and not ${count()}`);
  });

  await context.step(
    "a failed build keeps the last good one and tells of the errors; no reload is sent",
    async () => {
      await state("built");
      const good = (await rawRequest(port, "/main.wasm")).body;
      reset();
      await save(source, text.replace("state.ticks += 1", "state.ticks += true"));
      const message = JSON.parse(await state("failed"));
      assert.deepEqual([message.reload, message.isBuilt, message.truncated, message.title], [
        null,
        true,
        0,
        "1 error",
      ]);
      const [diagnostic] = message.diagnostics;
      assert.deepEqual([diagnostic.severity, diagnostic.span.file], ["error", "src/main.lang"]);
      const report = message.report.map(([, piece]: [string, string]) => piece).join("");
      assert.match(report, /\n *\d+ \| +state\.ticks \+= true\n *\| .*\^\^/);
      await server.line(/^not built: the last good build stays, \d+ ms$/);
      await until(() => server.errors.includes(report), "the same at the terminal");
      assert.deepEqual((await rawRequest(port, "/main.wasm")).body, good);
      assert.deepEqual(await Deno.readFile(`${pong.folder}/target/main.wasm`), good);
      assert.equal(count(), 0);
      // Who comes now hears of it as well.
      const late = await Client.connect(port, "/_events");
      const first = JSON.parse(await late.frame());
      assert.deepEqual([first.state, first.isFirst, first.reload], ["failed", true, null]);
      await late.close();
    },
  );

  await context.step("the next good build clears the errors", async () => {
    reset();
    await save(source, text);
    const message = JSON.parse(await state("built"));
    // The very build that the page still has.
    assert.deepEqual([message.reload, message.diagnostics], [null, []]);
    assert.equal(await reload.frame(), "reload");
  });

  await context.step("--watch covers web/: a changed asset loads the page again", async () => {
    reset();
    await Deno.writeTextFile(`${pong.folder}/web/levels/new.json`, "{}");
    assert.equal(JSON.parse(await state("built")).reload, "page");
    assert.equal(await reload.frame(), "reload");
    assert.equal((await rawRequest(port, "/levels/new.json")).text, "{}");
  });

  await context.step(
    "--watch covers project.toml, also when it is replaced or missing for a while",
    async () => {
      const manifest = `${pong.folder}/project.toml`;
      const before = await Deno.readTextFile(manifest);
      reset();
      await Deno.writeTextFile(`${manifest}.new`, before.replace('"0.1.0"', '"one"'));
      await Deno.rename(`${manifest}.new`, manifest);
      assert.equal(JSON.parse(await state("failed")).diagnostics[0].code, "PK0005");
      reset();
      await Deno.remove(manifest);
      assert.equal(JSON.parse(await state("failed", "no project.toml")).title, "The package cannot be built");
      reset();
      await save(manifest, before);
      await state("built");
    },
  );

  await context.step("--watch covers src/, also new modules, and a folder that comes back", async () => {
    reset();
    await Deno.mkdir(`${pong.folder}/src/deep`);
    await Deno.writeTextFile(`${pong.folder}/src/deep/wrong.lang`, "fn wrong( {\n");
    assert.equal(JSON.parse(await state("failed")).diagnostics[0].span.file, "src/deep/wrong.lang");
    reset();
    await Deno.rename(`${pong.folder}/src`, `${pong.folder}/away`);
    await state("failed", "no sources");
    await Deno.remove(`${pong.folder}/away/deep`, { recursive: true });
    reset();
    await Deno.rename(`${pong.folder}/away`, `${pong.folder}/src`);
    await state("built");
    reset();
    await save(source, `${text}\nfn broken() -> Int { "" }\n`);
    await state("failed", "TY");
    reset();
    await save(source, text);
    await state("built");
  });

  await context.step("--watch notices packages that were fetched", async () => {
    reset();
    const manifest = `${pong.folder}/project.toml`;
    const before = await Deno.readTextFile(manifest);
    await save(manifest, `${before}\n[dependencies]\nfx = "^1"\n`);
    await save(source, `use fx\n${text}\nfn from_package() -> Int { fx.value() }\n`);
    await state("failed", "MD0001");
    reset();
    await Deno.mkdir(`${pong.folder}/.lang/packages/fx-1.0.0/src`, { recursive: true });
    await Deno.writeTextFile(
      `${pong.folder}/.lang/packages/fx-1.0.0/src/main.lang`,
      "pub fn value() -> Int { 1 }\n",
    );
    const record = {
      format: 1,
      manifest: "",
      lock: "",
      direct: { fx: "1.0.0" },
      packages: [{
        name: "fx",
        version: "1.0.0",
        folder: ".lang/packages/fx-1.0.0",
        dependencies: {},
        files: { "src/main.lang": "" },
      }],
    };
    await Deno.writeTextFile(`${pong.folder}/.lang/packages.json`, JSON.stringify(record));
    await state("built");
    reset();
    await save(manifest, before);
    await save(source, text);
    await state("built");
  });

  await context.step("saving what was there already builds nothing", async () => {
    reset();
    await save(source, text);
    await save(source, `${text}fn more() -> Int { 2 }\n`);
    await state("built");
    assert.equal(events.frames.length, 1);
  });

  await reload.close();
  await events.close();
});

Deno.test("lang serve: exit codes", async (context) => {
  await using pong = await copyPackage(TEMPLATE);
  const serve = (...parameters: string[]) =>
    runHere(["serve", "--port", "0", "--manifest-dir", pong.folder, ...parameters]);
  const source = `${pong.folder}/src/main.lang`;
  const text = await Deno.readTextFile(source);

  for (const signal of Deno.build.os === "windows" ? [] : ["SIGINT", "SIGTERM"] as const) {
    await context.step(`0: clean shutdown (${signal}), also with pages connected`, async () => {
      await using server = await ServeProcess.start(pong.folder, ["--watch"]);
      const client = await Client.connect(server.port, "/_reload");
      const closed = new Promise<number>((resolve) => client.socket.once("close", resolve));
      assert.equal(await server.end(signal), 0);
      assert.equal(await closed, 1001);
    });
  }

  await context.step("1: frontend build error in the package (diagnostics printed)", async () => {
    await Deno.writeTextFile(source, text.replace("state.ticks += 1", "state.ticks += true"));
    const { code, stdout, stderr } = await serve();
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /error\[TY\d{4}\][^]*src\/main\.lang:\d+:\d+[^]*\^\^[^]*1 error/);
  });

  await context.step("1: a package without the entry points of a page", async () => {
    await Deno.writeTextFile(source, "pub fn main() -> Int { 0 }\n");
    const { code, stderr } = await serve();
    assert.equal(code, 1);
    assert.match(stderr, /error\[TY0043\]/);
    await Deno.writeTextFile(source, text);
  });

  await context.step("2: backend build error", async () => {
    // Types that grow by way of an interface pass the checker and stop the compiler.
    const grows = [
      "interface Area { fn area(self: Self) -> Int }",
      "type Box[T] = { inner: T }",
      "type Dot = { n: Int }",
      "fn Box.area[T: Area](self: Box[T]) -> Int { total(Box { inner: self }) }",
      "fn total[T: Area](x: T) -> Int { x.area() }",
      "fn Dot.area(self: Dot) -> Int { self.n }",
      "pub fn grown() -> Int { total(Box { inner: Dot { n: 1 } }) }",
    ].join("\n");
    await Deno.writeTextFile(source, `${text}\n${grows}\n`.replace("ticks: 0,", "ticks: grown(),"));
    const { code, stdout, stderr } = await serve();
    assert.deepEqual([code, stdout], [2, ""], stderr);
    assert.match(stderr, /error\[TY0048\]: Cannot compile `Box`/);
    await Deno.writeTextFile(source, text);
  });

  await context.step("2: bind failure, naming the port", async () => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    const { code, stderr } = await runHere(["serve", "--manifest-dir", pong.folder, "--port", String(port)]);
    assert.equal(code, 2);
    assert.ok(stderr.includes(`Cannot listen on 127.0.0.1:${port}: the port is in use`), stderr);
  });

  for (
    const [what, path] of [
      ["missing web/index.html", "web/index.html"],
      ["missing web/", "web"],
      ["missing manifest", "project.toml"],
    ] as const
  ) {
    await context.step(`2: ${what}`, async () => {
      await Deno.remove(`${pong.folder}/${path}`, { recursive: true });
      for (const more of [[], ["--watch"]]) {
        const { code, stderr } = await serve(...more);
        assert.equal(code, 2);
        assert.match(stderr, new RegExp(`there is no (folder )?${path.replace(".", "\\.")}`));
      }
    });
  }

  await context.step("2: bad usage", async () => {
    for (
      const parameters of [
        ["--port", "x"],
        ["--port", "-1"],
        ["--port", "65536"],
        ["--nonsense"],
        ["--port"],
        ["extra"],
      ]
    ) {
      const { code, stderr } = await runHere(["serve", ...parameters]);
      assert.equal(code, 2, `${parameters} ${stderr}`);
    }
  });
});

Deno.test("lang serve: flags", async (context) => {
  await using pong = await copyPackage(TEMPLATE);

  await context.step(
    "--port defaults to 8000, --manifest-dir to the current directory, --watch is off",
    async () => {
      const { stdout, code } = await runHere(["serve", "--help"]);
      assert.equal(code, 0);
      assert.match(stdout, /--port <N>[^]*?\(default: "8000"\)/);
      // Whoever else holds the port, that is the one that is asked for.
      using _holder = hold(8000);
      const refused = await runLang(["serve"], pong.folder);
      assert.equal(refused.code, 2);
      assert.match(refused.stderr, /Cannot listen on 127\.0\.0\.1:8000: the port is in use/);
    },
  );

  await context.step("--manifest-dir may be relative; --port 0 takes a free one", async () => {
    const server = await ServeProcess.start(pong.folder);
    await using _server = server;
    assert.ok(server.port > 0 && server.port !== 8000);
    assert.ok(!(await rawRequest(server.port, "/")).text.includes("_reload"), "nothing is put into the page");
  });

  await context.step(
    "build settings: wasm32-web, debug, target/main.wasm in a component, whatever the manifest says",
    async () => {
      const manifest = `${pong.folder}/project.toml`;
      await Deno.writeTextFile(manifest, (await Deno.readTextFile(manifest)).replace(/target = .*\n/, ""));
      await Deno.remove(`${pong.folder}/target`, { recursive: true });
      const server = await ServeProcess.start(pong.folder);
      await using _server = server;
      const bytes = await Deno.readFile(`${pong.folder}/target/main.wasm`);
      // The preamble of a component: version 13, layer 1.
      assert.deepEqual([...bytes.subarray(0, 8)], [0, 0x61, 0x73, 0x6d, 13, 0, 1, 0]);
      const { built } = { built: await pong.build() };
      assert.deepEqual(bytes, built, "the same as a normal build for that target");
      assert.ok((await Deno.stat(`${pong.folder}/target/main.wasm.map`)).isFile, "debug");
    },
  );

  await context.step("--open opens the page in the browser", async () => {
    if (Deno.build.os !== "linux") return;
    const opened = `${pong.folder}/opened`;
    await Deno.mkdir(`${pong.folder}/bin`);
    const script = `#!/bin/sh\necho "$1" > '${opened}.new' && mv '${opened}.new' '${opened}'\n`;
    await Deno.writeTextFile(`${pong.folder}/bin/xdg-open`, script, { mode: 0o755 });
    const watcher = Deno.watchFs(pong.folder, { recursive: false });
    const path = `${pong.folder}/bin:${Deno.env.get("PATH")}`;
    const server = await ServeProcess.start(pong.folder, ["--open"], { PATH: path });
    await using _server = server;
    for await (const { paths } of watcher) if (paths.includes(opened)) break;
    assert.equal((await Deno.readTextFile(opened)).trim(), server.address);
  });
});

/** Holds a port of the loopback address, unless somebody else does. */
function hold(port: number): Disposable {
  try {
    const listener = Deno.listen({ hostname: "127.0.0.1", port });
    return { [Symbol.dispose]: () => listener.close() };
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return { [Symbol.dispose]: () => {} };
    throw error;
  }
}
