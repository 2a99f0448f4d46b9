/** What `lang agent` does with its options. */
import { parseRecording, replay } from "../../../../lang/servers/agent/recording.ts";
import { CommandError } from "../../../../lang/commands/command_error.ts";
import type { Context } from "../../shared/context.ts";
import { messageOf } from "../../shared/disk_files.ts";
import { isLoopbackHost } from "../../shared/loopback_guard.ts";
import { FolderEnvironment } from "./folder_environment.ts";
import { serveHttp } from "./http_transport.ts";
import { failureLines } from "./line_service.ts";
import { Recorder } from "./recorder.ts";
import { serveSingleShot, serveStdio, type StandardStreams } from "./stdio_transport.ts";
import { serveUnix } from "./unix_transport.ts";

/** The command line. */
export interface AgentOptions {
  readonly singleShot?: boolean;
  readonly transport: string;
  readonly port: string;
  readonly socket?: string;
  readonly listen?: string;
  readonly authToken?: string;
  readonly record?: string;
  readonly replay?: string;
}

/** What the process is, for tests. */
export interface AgentProcess {
  readonly folder: string;
  readonly os: string;
  readonly streams: StandardStreams;
  /** Calls back when the process is asked to end, and gives how to forget that. */
  onStop(stop: () => void): () => void;
}

const USAGE = 2;

/** Runs the agent and gives its exit code. */
export async function runAgent(
  options: AgentOptions,
  { terminal }: Pick<Context, "terminal">,
  process: AgentProcess,
): Promise<number> {
  const { transport } = options;
  const refuse = (message: string): number => {
    terminal.write(`${failureLines("unsupported_transport", message).split("\n", 1)[0]}\n`);
    return USAGE;
  };
  if (options.replay !== undefined) return await runReplay(options.replay, terminal, process);
  if (transport !== "stdio" && transport !== "http" && transport !== "unix") {
    return refuse(
      `Cannot serve: there is no transport ${JSON.stringify(transport)}; known are stdio, http, unix`,
    );
  }
  if (options.singleShot === true && transport !== "stdio") {
    throw new CommandError("Cannot use --single-shot: it works with the transport stdio only");
  }
  if (transport === "unix" && process.os === "windows") {
    return refuse("Cannot serve: there are no Unix sockets on Windows; take the transport http");
  }
  using environment = new FolderEnvironment(process.folder);
  using recorder = options.record === undefined ? null : new Recorder(options.record);
  switch (transport) {
    case "stdio":
      return options.singleShot === true
        ? await serveSingleShot(environment, process.streams, recorder)
        : await serveStdio(environment, process.streams, recorder);
    case "http": {
      const address = httpAddress(options);
      const server = await serveHttp(environment, { ...address, token: options.authToken ?? null, recorder });
      const shown = address.hostname.includes(":") ? `[${address.hostname}]` : address.hostname;
      terminal.writeError(`listening on http://${shown}:${server.port}\n`);
      return await untilStopped(server, process);
    }
    case "unix": {
      const path = options.listen ?? options.socket;
      if (path === undefined || path === "") {
        throw new CommandError("Cannot serve: the transport unix needs --socket PATH or --listen PATH");
      }
      const server = serveUnix(path, environment, recorder);
      terminal.writeError(`listening on ${path}\n`);
      return await untilStopped(server, process);
    }
  }
}

async function untilStopped(
  server: { readonly finished: Promise<void>; close(): void },
  process: AgentProcess,
): Promise<number> {
  const forget = process.onStop(() => server.close());
  try {
    await server.finished;
    return 0;
  } finally {
    forget();
  }
}

function httpAddress({ listen, port, authToken }: AgentOptions) {
  const { hostname, port: number } = listen === undefined
    ? { hostname: "127.0.0.1", port: portOf("--port", port) }
    : splitAddress(listen);
  if (authToken === "") throw new CommandError("Cannot use --auth-token: it is empty");
  const isLoopback = isLoopbackHost(hostname.includes(":") ? `[${hostname}]` : hostname) ||
    /^127(\.\d{1,3}){3}$/.test(hostname);
  if (!isLoopback && authToken === undefined) {
    throw new CommandError(
      `Cannot listen on ${hostname}: other machines reach this address, so it needs --auth-token`,
      "Without a token the agent listens on 127.0.0.1 only.",
    );
  }
  return { hostname, port: number, isLoopback };
}

function splitAddress(listen: string): { readonly hostname: string; readonly port: number } {
  const [, six, name, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d+)$/.exec(listen) ?? [];
  const hostname = six ?? name;
  if (hostname === undefined || port === undefined) {
    throw new CommandError(
      `Cannot listen on ${JSON.stringify(listen)}: it is not of the form HOST:PORT`,
      "For example 127.0.0.1:8889 or [::1]:8889.",
    );
  }
  return { hostname, port: portOf("--listen", port) };
}

function portOf(name: string, text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new CommandError(`Cannot use ${name} "${text}": it is no port from 0 to 65535`);
}

async function runReplay(
  path: string,
  terminal: Context["terminal"],
  process: AgentProcess,
): Promise<number> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(Deno.readFileSync(path));
  } catch (error) {
    const reason = error instanceof TypeError ? "it is not UTF-8" : messageOf(error);
    throw new CommandError(`Cannot read the recording ${path}: ${reason}`);
  }
  const recorded = parseRecording(text);
  using environment = new FolderEnvironment(process.folder, { isDry: true });
  const drifts = await replay(recorded, environment);
  for (const { number, request, recorded, now } of drifts) {
    const at = recorded.findIndex((line, index) => line !== now[index]);
    const index = at < 0 ? recorded.length : at;
    terminal.write(
      `request ${number} drifts: ${shortened(request)}\n` +
        `  recorded: ${shortened(recorded[index] ?? "(no such line)")}\n` +
        `  now:      ${shortened(now[index] ?? "(no such line)")}\n`,
    );
  }
  terminal.write(`${recorded.length} requests replayed, ${drifts.length} drifted\n`);
  return drifts.length === 0 ? 0 : 1;
}

function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text.trimEnd();
}
