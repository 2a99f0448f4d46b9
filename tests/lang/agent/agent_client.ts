/** Drives `lang agent` for tests: in this process over its real transports, on packages in folders of their own. */
import { fail } from "node:assert/strict";
import { LINES } from "../../../lang/servers/agent/lines.ts";
import { type AgentOptions, runAgent } from "../../../cli/lang/servers/agent/agent_command.ts";
import { Terminal } from "../../../cli/lang/shared/terminal.ts";

/** One line of an answer, read. */
export type AgentLine = Readonly<Record<string, unknown>> & { readonly kind: string };

/** What a run of the agent gave. */
export interface AgentRun {
  readonly code: number;
  readonly lines: readonly AgentLine[];
  /** Exactly what was written to standard output. */
  readonly stdout: string;
  readonly stderr: string;
}

/** Reads lines, and holds each to its validator. */
export function readAnswer(text: string): AgentLine[] {
  return text.split("\n").filter((line) => line !== "").map((line) => {
    const value = JSON.parse(line);
    const kind = Object.entries(LINES).find(([name]) => name === value.kind);
    if (kind === undefined) fail(`no kind of line: ${line}`);
    const read = kind[1].safeParse(value);
    if (!read.success) fail(`${read.error.message}\n${line}`);
    return value;
  });
}

/** The answers of several requests: each ends with its `done`. */
export function answersOf(lines: readonly AgentLine[]): AgentLine[][] {
  const answers: AgentLine[][] = [[]];
  for (const line of lines) {
    answers.at(-1)?.push(line);
    if (line.kind === "done") answers.push([]);
  }
  return answers.slice(0, -1);
}

/** The only line of a kind. */
export function only(lines: readonly AgentLine[], kind: string): AgentLine {
  const found = lines.filter((line) => line.kind === kind);
  const [first] = found;
  if (first === undefined || found.length !== 1) {
    fail(`${found.length} lines of kind ${kind} in ${JSON.stringify(lines)}`);
  }
  return first;
}

/** A package that has no errors, whose tests pass, and whose program writes a line for each argument. */
export const GOOD: Readonly<Record<string, string>> = {
  "project.toml": 'name = "sample"\nversion = "0.1.0"\n',
  "src/main.lang": `use host.process

/// Doubles a number.
pub fn double(n: Int) -> Int {
  n * 2
}

pub fn main(args: List[String]) -> Int uses Log {
  for each in args {
    process.write("{each}\\n")
  }
  args.len()
}

test "double" {
  expect(double(2) == 4)
}
`,
  "docs/guide.md": "# Guide\n\nCall double to double.\n",
};

/** A package with one error, which has one fix, and a warning that shows when it is fixed. */
export const BAD: Readonly<Record<string, string>> = {
  "project.toml": GOOD["project.toml"] ?? "",
  "src/main.lang": `pub fn main(_args: List[String]) -> Int {
  let unused = 1
  doubel(2)
}

fn double(n: Int) -> Int {
  n * 2
}
`,
};

/** Makes a package in a folder of its own, and takes it away again. */
export async function withPackage(
  files: Readonly<Record<string, string>>,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const made = await Deno.makeTempDir({ prefix: "lang-agent-" });
  const folder = await Deno.realPath(made);
  try {
    await writeFiles(folder, files);
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Writes files into a folder. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(`${folder}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${folder}/${path}`, text);
  }
}

class Capture {
  text = "";
  onText: (text: string) => void = () => {};
  writeSync(bytes: Uint8Array): number {
    this.text += new TextDecoder().decode(bytes);
    this.onText(this.text);
    return bytes.length;
  }
  isTerminal(): boolean {
    return false;
  }
}

/** How the agent is run. */
export interface RunOptions extends Partial<AgentOptions> {
  readonly os?: string;
}

/** Runs the agent over standard input; requests that are objects are written as JSON. */
export async function agent(
  folder: string,
  requests: readonly (string | object)[] | Uint8Array | ReadableStream<Uint8Array>,
  options: RunOptions = {},
): Promise<AgentRun> {
  const [stdout, stderr] = [new Capture(), new Capture()];
  const input = requests instanceof ReadableStream ? requests : new Blob([
    requests instanceof Uint8Array
      ? new Uint8Array(requests)
      : requests.map((each) => `${typeof each === "string" ? each : JSON.stringify(each)}\n`).join(""),
  ]).stream();
  const { os = "linux", ...rest } = options;
  const code = await runAgent(
    { transport: "stdio", port: "8889", ...rest },
    { terminal: new Terminal(stdout, stderr) },
    {
      folder,
      os,
      streams: {
        input,
        write: (text) => {
          stdout.text += text;
          return Promise.resolve();
        },
      },
      onStop: () => () => {},
    },
  );
  return { code, stdout: stdout.text, stderr: stderr.text, lines: readLoosely(stdout.text) };
}

/** What a replay prints is for people. */
function readLoosely(text: string): AgentLine[] {
  return text.startsWith("{") ? readAnswer(text) : [];
}

/** A server of the agent. */
export interface RunningAgent {
  /** What it says that it listens on. */
  readonly address: string;
  /** Ends it, and gives its exit code. */
  stop(): Promise<number>;
}

/** Starts the agent as a server. */
export async function startAgent(folder: string, options: RunOptions): Promise<RunningAgent> {
  const [stdout, stderr] = [new Capture(), new Capture()];
  const listening = Promise.withResolvers<string>();
  stderr.onText = (text) => {
    const [, address] = /listening on (\S+)\n/.exec(text) ?? [];
    if (address !== undefined) listening.resolve(address);
  };
  let stop: () => void = () => {};
  const ended = runAgent(
    { transport: "http", port: "0", ...options },
    { terminal: new Terminal(stdout, stderr) },
    {
      folder,
      os: "linux",
      streams: { input: new Blob([]).stream(), write: () => Promise.resolve() },
      onStop: (callback) => {
        stop = callback;
        return () => {};
      },
    },
  );
  ended.catch(listening.reject);
  const address = await listening.promise;
  return {
    address,
    stop: () => {
      stop();
      return ended;
    },
  };
}

/** Runs work beside a server. */
export async function withAgent(
  folder: string,
  options: RunOptions,
  work: (address: string) => Promise<void>,
): Promise<void> {
  const running = await startAgent(folder, options);
  try {
    await work(running.address);
  } finally {
    await running.stop();
  }
}

/** An answer over HTTP. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly lines: readonly AgentLine[];
  readonly text: string;
}

/** Asks over HTTP. */
export async function post(
  address: string,
  path: string,
  body: string | object,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> {
  const response = await fetch(`${address}${path}`, {
    method: "POST",
    headers,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, lines: readAnswer(text), text };
}

/** Writes bytes to a Unix socket or port and reads all that comes back until the other side closes. */
export async function talk(
  connection: Deno.Conn,
  text: string,
  options: { readonly closesWriting?: boolean } = {},
): Promise<string> {
  const writing = (async () => {
    let rest = new TextEncoder().encode(text);
    try {
      while (rest.length > 0) rest = rest.subarray(await connection.write(rest));
      if (options.closesWriting !== false) await connection.closeWrite();
    } catch {
      // The other side has closed; what it said is read below.
    }
  })();
  const parts: Uint8Array[] = [];
  const buffer = new Uint8Array(65_536);
  try {
    for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
      parts.push(buffer.slice(0, count));
    }
  } catch {
    // A reset ends what can be read.
  }
  await writing;
  connection.close();
  return await new Blob(parts.map((part) => new Uint8Array(part))).text();
}
