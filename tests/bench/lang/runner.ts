/**
 * The process that runs one language's programs: `runner.ts wasm FOLDER` takes `FOLDER/NAME.wasm`, `runner.ts js
 * FOLDER` imports `FOLDER/NAME.js`. It answers requests, a line of JSON each, with a line of JSON; see
 * `language_peer.ts`. Time is taken around the one call.
 */
import { TextLineStream } from "../peers/text_lines.ts";
import type { RunAnswer, RunRequest } from "./language_peer.ts";

type Run = (size: number) => unknown;

async function load(kind: string, folder: string, name: string): Promise<Run> {
  if (kind === "js") {
    const module = await import(`${folder}/${name}.js`);
    return module.run;
  }
  const module = new WebAssembly.Module(await Deno.readFile(`${folder}/${name}.wasm`));
  const instance = new WebAssembly.Instance(module, {
    env: {
      abort: () => {
        throw new Error(`${name} aborted`);
      },
    },
  });
  const { run } = instance.exports;
  if (typeof run !== "function") throw new Error(`Cannot run ${name}: it exports no function of that name`);
  return (size) => run(size);
}

async function main([kind = "", folder = ""]: readonly string[]): Promise<void> {
  const runs = new Map<string, Run>();
  const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
  const output = new TextEncoder();
  for await (const line of lines) {
    const { program, size } = JSON.parse(line) as RunRequest;
    const run = runs.get(program) ?? await load(kind, folder, program);
    runs.set(program, run);
    const start = performance.now();
    const value = run(size);
    const answer: RunAnswer = { answer: Number(value), milliseconds: performance.now() - start };
    await Deno.stdout.write(output.encode(JSON.stringify(answer) + "\n"));
  }
}

await main(Deno.args);
