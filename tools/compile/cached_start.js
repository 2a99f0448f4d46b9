// Starts a program whose functions were compiled when the executable was made, or a thread of it, which the end of this
// module's address names: the code, and what the engine made of it, are in one file next to this one.
import process from "node:process";
import { Script } from "node:vm";

/** By name: offset and length in that file. */
const parts = "@PARTS@";
const folder = import.meta.dirname;

function read(name) {
  const [offset, length] = parts[name];
  using file = Deno.openSync(`${folder}/@PROGRAM@.data`);
  file.seekSync(offset, Deno.SeekMode.Start);
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const count = file.readSync(bytes.subarray(at));
    if (count === null) throw new Error("Cannot start @PROGRAM@: its data file is cut short");
    at += count;
  }
  return bytes;
}

function require(name) {
  // commander loads it to start executables for commands, which this program has none of; loading takes milliseconds.
  if (name === "node:child_process") return {};
  const found = process.getBuiltinModule(name);
  // Packages ask for others that may be there, and go on without them when that raises an error.
  if (found === undefined) throw new Error(`Cannot find module "${name}"`);
  return found;
}

/** A module that is kept packed, because it is large and seldom needed. */
async function loadPacked(name) {
  const stream = new Blob([read(name)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const text = await new Response(stream).text();
  return await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
}

const thread = new URL(import.meta.url).hash.slice(1);
const [code, cache] = thread === "" ? ["code", "cache"] : [thread, `${thread}_cache`];
const source = new TextDecoder().decode(read(code));
// Without the engine's own form, or when it is of another engine, the code is compiled anew.
const cachedData = parts[cache] === undefined ? undefined : read(cache);
const script = new Script(source, { filename: thread === "" ? "@PROGRAM@.js" : `${thread}.js`, cachedData });
const module = { exports: {} };
const recorder = globalThis[Symbol.for("db.recorder")];
script.runInThisContext()(require, module, module.exports, {
  loadPacked,
  importModule: (name) => import(name),
  addressOf: (name) => recorder?.addressOf(name) ?? `${import.meta.url}#${name}`,
});
if (recorder !== undefined) await recorder.record(script, module.exports.main);
else if (thread === "") {
  const { main, run = main } = module.exports;
  Deno.exit(await run(Deno.args));
}
