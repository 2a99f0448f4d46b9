/** The real `lang mcp`, and packages in folders of their own, for tests. */
import { fileURLToPath } from "node:url";
import { TOURED } from "./tour.ts";

const PROGRAM = fileURLToPath(new URL("../../../cli/lang.ts", import.meta.url));

/** What starts `lang` from its sources. */
export const LANG: readonly string[] = [Deno.execPath(), "run", "-A", "--no-check", PROGRAM];

/** Writes a package into a new folder, and takes the folder away afterwards. */
export async function withPackage(
  work: (folder: string) => Promise<void>,
  sources: Readonly<Record<string, string>> = TOURED,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "lang-mcp-" });
  try {
    for (const [path, text] of Object.entries(sources)) {
      await Deno.mkdir(`${folder}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${folder}/${path}`, text);
    }
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A server over HTTP. */
export interface HttpServed {
  readonly port: number;
  readonly url: URL;
}

/** Starts a `lang mcp` with `--http 0`, and ends it as Ctrl-C does; gives its exit code and what it said. */
export async function withHttpServer(
  commandLine: readonly string[],
  work: (served: HttpServed) => Promise<void>,
): Promise<{ readonly code: number; readonly said: string }> {
  const [command = "", ...parameters] = commandLine;
  const child = new Deno.Command(command, {
    args: [...parameters, "--http", "0"],
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let said = "";
  const reading = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let part = await reading.read(); !part.done; part = await reading.read()) {
      said += part.value;
      if (said.includes("\n")) break;
    }
    const port = Number(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/.exec(said)?.[1]);
    if (!Number.isInteger(port)) throw new Error(`Cannot start the server: ${said}`);
    const rest = (async () => {
      for (let part = await reading.read(); !part.done; part = await reading.read()) said += part.value;
    })();
    await work({ port, url: new URL(`http://127.0.0.1:${port}/mcp`) });
    child.kill("SIGINT");
    const { code } = await child.status;
    await rest;
    return { code, said };
  } catch (error) {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
    await child.status;
    throw error;
  }
}
