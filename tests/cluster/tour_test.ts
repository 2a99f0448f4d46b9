/**
 * Takes the tour of `docs/cluster.md` as it is written: what is typed into the first terminal goes to the console of
 * `deno task cluster`, the rest to one shell, and what a block prints is what the page shows.
 *
 * Both are the project's tasks, on ports of their own; without psql or curl their blocks are left out, and reported.
 */
import { ok, strictEqual } from "node:assert/strict";
import { projectRoot } from "../../tools/project.ts";
import { isInstalled, reportNotRun } from "../../tools/not_run.ts";
import { blocksOf, matchesOutput, sectionOf } from "../support/document_blocks.ts";
import { ShellSession } from "../support/shell_session.ts";

const START_COMMAND = "npx -y deno@2.9.6 task cluster\n";
const CLIENT_COMMAND = "npx -y deno@2.9.6 task --quiet dbcli";
const TIME_LIMIT_MILLISECONDS = 30_000;

/** The first terminal. */
class Console implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<void>;
  text = "";

  constructor(directory: string, firstPorts: readonly number[]) {
    const child = this.#child = new Deno.Command(Deno.execPath(), {
      args: [
        ...[
          "run",
          "-A",
          "--no-check",
          `${projectRoot}/tools/cluster.ts`,
          "--data",
          `${directory}/cluster-data`,
        ],
        ...["--first-ports", firstPorts.join(",")],
      ],
      env: { NO_COLOR: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#input = child.stdin.getWriter();
    this.#reading = (async () => {
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) this.text += text;
    })();
  }

  async type(text: string): Promise<void> {
    await this.#input.write(new TextEncoder().encode(text));
  }

  async shows(pattern: RegExp, from = 0): Promise<void> {
    const end = performance.now() + TIME_LIMIT_MILLISECONDS;
    while (!pattern.test(this.text.slice(from))) {
      if (performance.now() > end) throw new Error(`the cluster does not say ${pattern}:\n${this.text}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.type("quit\n");
    await this.#input.close();
    await this.#child.status;
    await this.#reading;
  }
}

/** Where the members look for free ports first: below those that the system gives to others. */
function firstPorts(): readonly number[] {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const first = 20_000 + listener.addr.port % 10_000;
  listener.close();
  return [first, first + 100, first + 200];
}

Deno.test("docs/cluster.md: the tour, on a cluster of this machine", async () => {
  const page = await Deno.readTextFile(`${projectRoot}/docs/cluster.md`);
  const directory = await Deno.makeTempDir({ prefix: "cluster-tour-" });
  const programs = new Map<string, boolean>();
  for (const name of ["psql", "curl"]) programs.set(name, await isInstalled(name));
  try {
    await using cluster = new Console(directory, firstPorts());
    await cluster.shows(/^ready: .*[^]*quit$/m);
    await using shell = await ShellSession.start({
      directory,
      environment: { PATH: Deno.env.get("PATH") ?? "", HOME: directory, LANG: "C.UTF-8", NO_COLOR: "1" },
    });
    const ports = /--addrs \S+?:(\d+),.*?$/m.exec(cluster.text)?.[1];
    const http = /HTTP on http:\S+:(\d+)$/gm, pg = /PostgreSQL protocol on \S+:(\d+)$/gm;
    const least = (pattern: RegExp) =>
      Math.min(...[...cluster.text.matchAll(pattern)].map(([, port]) => Number(port)));
    const moved = [[7878, Number(ports)], [6533, least(http)], [5432, least(pg)]] as const;
    const onPorts = (text: string) =>
      text.replaceAll(/\b(78[78]\d|653\d|543\d)\b/g, (written) => {
        const [from, to] = moved.find(([first]) => Math.abs(Number(written) - first) < 3) ?? [0, 0];
        return String(Number(written) - from + to);
      });
    // dbcli from the project's folder: the shell is in one of its own.
    const client = `${Deno.execPath()} run -A --no-check ${projectRoot}/cli/dbcli.ts`;
    for (const block of blocksOf(sectionOf(page, "## A tour of ten minutes"))) {
      const place = `docs/cluster.md: ${block.text}`;
      const { expected } = block;
      if (block.language === "console") {
        const from = cluster.text.length;
        await cluster.type(block.text);
        const [command = ""] = block.text.split(" ");
        await cluster.shows(command.startsWith("start") ? /dbd: ready/ : /ended/, from);
        continue;
      }
      strictEqual(block.language, "sh");
      if (block.text === START_COMMAND) {
        ok(expected !== null && matchesOutput(cluster.text, expected), cluster.text);
        continue;
      }
      const missing = [...programs].find(([name, isThere]) => !isThere && block.text.includes(`${name} `));
      if (missing !== undefined) {
        reportNotRun(place, `${missing[0]} is not installed`);
        continue;
      }
      const typed = onPorts(block.text).replaceAll(CLIENT_COMMAND, client);
      const { code, stdout, stderr } = await shell.run(typed);
      strictEqual(code, 0, `${place}\n${stdout}\n${stderr}\n${cluster.text}`);
      // Tables are as wide as their ports.
      const plain = (text: string) => text.replaceAll(/ +/g, " ").replaceAll(/-+/g, "-");
      ok(
        expected === null || matchesOutput(plain(stdout), plain(onPorts(expected))),
        `${place}\n--- printed:\n${stdout}\n--- the page says:\n${
          onPorts(expected ?? "")
        }\n${stderr}\n${cluster.text}`,
      );
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
