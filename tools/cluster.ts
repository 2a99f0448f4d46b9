/**
 * `deno task cluster [--members 3|5] [--data DIR] [--first-ports BINARY,HTTP,PG]`: a cluster on this machine, from the
 * sources, for trying out. `docs/cluster.md` has a tour of it.
 *
 * Each member has its own ports and folder; where a port is in use, all members take later ones. The console takes
 * `kill`, `stop` and `start` with a member's number, or `primary`, or nothing for all of them, and `quit`; the members
 * go on where they were when it is started again on the same folder.
 */
import { parseArgs } from "node:util";
import { projectRoot } from "./project.ts";

const HOST = "127.0.0.1";
const FIRST_PORTS = "7878,6533,5432";
const PORTS_APART = 10;

interface Ports {
  readonly binary: number;
  readonly http: number;
  readonly pg: number;
}

interface RunningMember {
  readonly child: Deno.ChildProcess;
}

/** Runs the cluster until `quit`, the end of the input or Ctrl-C; answers the exit code. */
async function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      members: { type: "string", default: "3" },
      data: { type: "string", default: "cluster-data" },
      "first-ports": { type: "string", default: FIRST_PORTS },
    },
  });
  const count = Number(values.members);
  const [binary, http, pg] = values["first-ports"].split(",").map(Number);
  if ((count !== 3 && count !== 5) || !binary || !http || !pg) {
    console.error("Usage: deno task cluster [--members 3|5] [--data DIR] [--first-ports BINARY,HTTP,PG]");
    return 2;
  }
  const ports = freePorts({ binary, http, pg }, count);
  const indices = Array.from({ length: count }, (_, index) => index);
  const peers = indices.map((index) => `${HOST}:${ports.binary + index}`).join(",");
  const running = new Map<number, RunningMember>();
  const say = (line: string) => console.log(line);

  const start = (index: number): void => {
    if (running.has(index)) return say(`member ${index} runs`);
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", `${projectRoot}/cli/dbd.ts`, "--replica", String(index), "--peers", peers],
        ...["--pg-addr", `${HOST}:${ports.pg + index}`, "--http-addr", `${HOST}:${ports.http + index}`],
        ...[`${HOST}:${ports.binary + index}`, `${values.data}/${index}`],
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
  void untilPrimary(ports, count).then((primary) => {
    say(`ready: member ${primary} is the primary`);
    for (const line of instructions(ports, peers)) say(line);
  });
  Deno.addSignalListener("SIGINT", () => void endAll().then(() => Deno.exit(0)));
  for await (const line of lines(Deno.stdin.readable)) {
    const [command = "", which = ""] = line.trim().split(/\s+/);
    if (command === "quit") break;
    if (command === "") continue;
    const chosen = which === "primary"
      ? [await untilPrimary(ports, count)]
      : indices.filter((index) =>
        which === String(index) || which === "" && running.has(index) !== (command === "start")
      );
    const act = ACTIONS[command];
    if (act === undefined || (chosen.length === 0 && which !== "")) {
      say(
        "kill, stop or start, with the number of a member, with primary, or alone for all of them; or quit",
      );
    } else for (const member of chosen) act === "start" ? start(member) : end(member, act);
  }
  await endAll();
  return 0;
}

const ACTIONS: Readonly<Record<string, Deno.Signal | "start">> = {
  start: "start",
  kill: "SIGKILL",
  stop: "SIGTERM",
};

/** Ports of which as many as there are members are free in a row. */
function freePorts(first: Ports, count: number): Ports {
  const areFree = (port: number): boolean => {
    const listeners: Deno.TcpListener[] = [];
    try {
      for (let next = port; next < port + count; next++) {
        listeners.push(Deno.listen({ hostname: HOST, port: next }));
      }
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.AddrInUse) return false;
      throw error;
    } finally {
      for (const listener of listeners) listener.close();
    }
  };
  const find = (from: number): number => {
    let port = from;
    while (!areFree(port)) port += PORTS_APART;
    return port;
  };
  return { binary: find(first.binary), http: find(first.http), pg: find(first.pg) };
}

/** The member that serves clients, which is waited for. */
async function untilPrimary(ports: Ports, count: number): Promise<number> {
  for (;;) {
    for (let index = 0; index < count; index++) {
      try {
        const health = await (await fetch(`http://${HOST}:${ports.http + index}/v1/health`)).json();
        if (health.role === "primary") return index;
      } catch {
        // It does not run, or not yet.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function instructions(ports: Ports, addresses: string): string[] {
  return [
    "any member takes clients. From another terminal:",
    `  psql -h ${HOST} -p ${ports.pg + 1} -U db`,
    `  curl http://${HOST}:${
      ports.http + 2
    }/v1/sql -H 'Content-Type: text/plain' -d 'SELECT 6 * 7 AS answer'`,
    `  deno task dbcli --addrs ${addresses} 'SELECT 6 * 7 AS answer'`,
    `  deno task dbcli --addrs ${addresses} status`,
    "Here: kill (as kill -9 does), stop and start, each with 0, 1, … or primary; quit",
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
