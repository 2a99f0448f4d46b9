/**
 * `deno task cluster [--members 3|5] [--data DIR]`: a cluster on this machine, from the sources, for trying out.
 *
 * Each member has its own ports and folder. The console takes `kill N`, `stop N`, `start N` and `quit`; the members go
 * on where they were when it is started again on the same folder.
 */
import { parseArgs } from "node:util";
import { projectRoot } from "./project.ts";

const HOST = "127.0.0.1";
const FIRST_PORTS = { binary: 7878, http: 6533, pg: 5432 };

interface RunningMember {
  readonly child: Deno.ChildProcess;
}

/** Runs the cluster until `quit`, the end of the input or Ctrl-C; answers the exit code. */
async function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...parameters],
    options: { members: { type: "string", default: "3" }, data: { type: "string", default: "cluster-data" } },
  });
  const count = Number(values.members);
  if (count !== 3 && count !== 5) {
    console.error("Usage: deno task cluster [--members 3|5] [--data DIR]");
    return 2;
  }
  const indices = Array.from({ length: count }, (_, index) => index);
  const peers = indices.map((index) => `${HOST}:${FIRST_PORTS.binary + index}`).join(",");
  const running = new Map<number, RunningMember>();
  const say = (line: string) => console.log(line);

  const start = (index: number): void => {
    if (running.has(index)) return say(`member ${index} runs`);
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", `${projectRoot}/cli/dbd.ts`, "--replica", String(index), "--peers", peers],
        ...[
          "--pg-addr",
          `${HOST}:${FIRST_PORTS.pg + index}`,
          "--http-addr",
          `${HOST}:${FIRST_PORTS.http + index}`,
        ],
        ...[`${HOST}:${FIRST_PORTS.binary + index}`, `${values.data}/${index}`],
      ],
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    running.set(index, { child });
    void (async () => {
      let rest = "";
      for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) say(`[${index}] ${line}`);
      }
    })();
    void child.status.then(({ code, signal }) => {
      running.delete(index);
      say(`[${index}] ended (${signal ?? code}); start it again: start ${index}`);
    });
  };
  const end = (index: number, signal: Deno.Signal): void => {
    const member = running.get(index);
    if (member === undefined) return say(`member ${index} does not run`);
    member.child.kill(signal);
  };
  const endAll = async (): Promise<void> => {
    const ended = [...running.values()].map(({ child }) => child.status);
    for (const { child } of running.values()) child.kill("SIGTERM");
    await Promise.all(ended);
  };

  await Deno.mkdir(values.data, { recursive: true });
  for (const index of indices) start(index);
  for (const line of instructions(count)) say(line);
  Deno.addSignalListener("SIGINT", () => void endAll().then(() => Deno.exit(0)));
  for await (const line of lines(Deno.stdin.readable)) {
    const [command = "", index = ""] = line.trim().split(/\s+/);
    if (command === "quit") break;
    const member = indices.find((each) => String(each) === index);
    if (command === "") continue;
    else if (member === undefined) say("kill N, stop N, start N (N is the number of a member), or quit");
    else if (command === "start") start(member);
    else if (command === "kill") end(member, "SIGKILL");
    else if (command === "stop") end(member, "SIGTERM");
    else say(`unknown command "${command}": kill N, stop N, start N, or quit`);
  }
  await endAll();
  return 0;
}

function instructions(count: number): string[] {
  const addresses = Array.from({ length: count }, (_, index) => `${HOST}:${FIRST_PORTS.binary + index}`).join(
    ",",
  );
  return [
    `${count} members; any of them takes clients. From another terminal:`,
    `  psql -h ${HOST} -p ${FIRST_PORTS.pg + 1} -U db`,
    `  deno task dbcli --addrs ${addresses} 'SELECT 6 * 7 AS answer'`,
    `  deno task dbcli --addrs ${addresses} status`,
    "Here: kill N (as kill -9 does), stop N, start N, quit",
  ];
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const found = (rest + text).split("\n");
    rest = found.pop() ?? "";
    yield* found;
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
