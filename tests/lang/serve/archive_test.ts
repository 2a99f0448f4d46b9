/** `lang build --zip`: the archive of a game, as hosts take it. */
import assert from "node:assert/strict";
import { unzipSync } from "fflate";
import { WebFolder } from "../../../cli/lang/servers/serve/web_folder.ts";
import { PAGE_RUNTIME } from "../../../lang/page_runtime/page_runtime.ts";
import { copyPackage, TEMPLATE } from "../browser/game_page.ts";
import { runHere } from "./serve_process.ts";

Deno.test("lang build --release --zip: the page at the top, the module beside it, nothing else, always the same bytes", async () => {
  await using pong = await copyPackage(TEMPLATE);
  await Deno.mkdir(`${pong.folder}/web/sounds`);
  await Deno.writeFile(`${pong.folder}/web/sounds/hit.ogg`, new Uint8Array(5000).fill(7));
  await Deno.writeTextFile(`${pong.folder}/web/.secret`, "hidden");
  await Deno.writeTextFile(`${pong.folder}/web/ä.txt`, "umlaut");
  const zip = async () => {
    const { code, stdout, stderr } = await runHere(["build", pong.folder, "--release", "--zip"]);
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /^target\/main\.wasm {2}.*release\ntarget\/pong\.zip {2}[\d.]+ KiB, page and module\n$/,
    );
    return await Deno.readFile(`${pong.folder}/target/pong.zip`);
  };
  const first = await zip();
  const entries = unzipSync(first);
  assert.deepEqual(Object.keys(entries), [
    "index.html",
    "loader.js",
    "main.wasm",
    "player.js",
    "reader.js",
    "screen.js",
    "sound.js",
    "sounds/hit.ogg",
    "state.js",
    "trace.js",
    "ä.txt",
  ]);
  for (const [path, bytes] of Object.entries(entries)) {
    const source = path === "main.wasm" ? `target/${path}` : `web/${path}`;
    assert.deepEqual(bytes, new Uint8Array(await Deno.readFile(`${pong.folder}/${source}`)), path);
  }
  const page = new TextDecoder().decode(entries["index.html"]);
  assert.ok(!page.includes("_reload"), "the reload client is not in it");
  assert.ok(!/(src|href)="\//.test(page), "paths are relative");
  // The first time that the format knows, in each entry.
  const view = new DataView(first.buffer);
  assert.deepEqual([view.getUint32(0, true), view.getUint32(10, true)], [0x04034b50, 0x00210000]);

  // Other times on disk, another order of writing: the same bytes.
  await Deno.utime(`${pong.folder}/web/index.html`, 1, 1);
  await Deno.remove(`${pong.folder}/web/ä.txt`);
  await Deno.writeTextFile(`${pong.folder}/web/ä.txt`, "umlaut");
  assert.deepEqual(await zip(), first);
});

Deno.test("lang build --zip supplies the scripts of the page runtime that web/ does not have", async () => {
  await using pong = await copyPackage(TEMPLATE);
  const namesOf = async () => {
    const { code, stderr } = await runHere(["build", pong.folder, "--zip"]);
    assert.equal(code, 0, stderr);
    return unzipSync(await Deno.readFile(`${pong.folder}/target/pong.zip`));
  };
  const whole = await namesOf();
  for (const path of PAGE_RUNTIME.keys()) await Deno.remove(`${pong.folder}/web/${path}`);
  assert.deepEqual(await namesOf(), whole);
  await Deno.writeTextFile(`${pong.folder}/web/sound.js`, "export class Sound {}\n");
  assert.equal(new TextDecoder().decode((await namesOf())["sound.js"]), "export class Sound {}\n");

  const files = new WebFolder(pong.folder);
  assert.equal((await files.find("trace.js"))?.size, whole["trace.js"]?.length);
  // A page without the runtime has nothing added.
  await Deno.writeTextFile(`${pong.folder}/web/index.html`, "<p>own page</p>");
  assert.deepEqual(files.list(), ["index.html", "sound.js"]);
  assert.equal(await files.find("trace.js"), null);
});

Deno.test("lang build --zip refuses what has no page", async () => {
  await using pong = await copyPackage(TEMPLATE);
  await Deno.remove(`${pong.folder}/web/index.html`);
  const missing = await runHere(["build", pong.folder, "--zip"]);
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /Cannot make an archive: there is no web\/index\.html/);
  await Deno.writeTextFile(`${pong.folder}/src/main.lang`, "pub fn main() -> Int { 0 }\n");
  await Deno.writeTextFile(`${pong.folder}/project.toml`, 'name = "tool"\nversion = "0.1.0"\n');
  await Deno.remove(`${pong.folder}/src/physics.lang`);
  const tool = await runHere(["build", pong.folder, "--zip"]);
  assert.equal(tool.code, 2);
  assert.match(
    tool.stderr,
    /Cannot make an archive: the package is built for wasm32-wasi, not for wasm32-web/,
  );
});
