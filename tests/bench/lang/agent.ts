/**
 * How quickly `lang agent` answers: checks of Pong over standard input and output and over HTTP, by the real process.
 */
import { newPackageFiles } from "../../../lang/package/new_package.ts";
import { compareWorkers, type Comparison, type Scale, type Worker } from "../benchmark.ts";
import type { LanguageOptions } from "./options.ts";

/** Somebody who asks the agent and waits for each answer. */
interface Client {
  /** Sends a request and reads its answer. */
  ask(request: string): Promise<string>;
  close(): Promise<void>;
}

type Transport = "stdio" | "HTTP";

/** A measurement. */
interface Measurement {
  readonly name: string;
  readonly unit: string;
  readonly bar: string;
  readonly transport: Transport;
  measure(agent: RunningAgent, count: number): Promise<number>;
}

/** Requests of one measurement. */
const REQUESTS: Readonly<Record<Scale, number>> = { smoke: 3, full: 500 };
/** Requests that are thrown away, so that the process is warm. */
const WARM_UPS: Readonly<Record<Scale, number>> = { smoke: 1, full: 300 };

const CHECK = '{"op":"check"}';

const MEASUREMENTS: readonly Measurement[] = (["stdio", "HTTP"] as const).flatMap((transport) => [
  { name: `agent, check of Pong, ${transport}`, unit: "ms", bar: "≤ 5", transport, measure: medianTime },
  {
    name: `agent, check of Pong changed, ${transport}`,
    unit: "ms",
    bar: "≤ 5",
    transport,
    measure: changedTime,
  },
  {
    name: `agent, checks over one connection, ${transport}`,
    unit: "requests/s",
    bar: "≥ 1,000",
    transport,
    measure: rate,
  },
]);

/** Names of what {@link measureAgent} gives. */
export const AGENT_NAMES: readonly string[] = MEASUREMENTS.map(({ name }) => name);

/** Measures the agent; what is ready is told at once. */
export async function measureAgent(
  options: LanguageOptions,
  tell: (result: Comparison) => void,
): Promise<readonly Comparison[]> {
  const results: Comparison[] = [];
  for (const measurement of MEASUREMENTS) {
    const agent = await startAgent(options, measurement.transport);
    try {
      const worker: Worker = {
        name: "lang",
        prepare: async () => {
          for (let count = 0; count < WARM_UPS[options.scale]; count++) await answered(agent.client);
          await measurement.measure(agent, WARM_UPS[options.scale]);
        },
        measure: () => measurement.measure(agent, REQUESTS[options.scale]),
      };
      const result = await compareWorkers(measurement, [worker], options.rounds);
      tell(result);
      results.push(result);
    } finally {
      await agent.stop();
    }
  }
  return results;
}

async function answered(client: Client): Promise<void> {
  const answer = await client.ask(CHECK);
  if (!answer.includes('"ok":true')) throw new Error(`Cannot measure the agent: ${answer}`);
}

async function medianTime({ client }: RunningAgent, count: number): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const start = performance.now();
    await answered(client);
    times.push(performance.now() - start);
  }
  return middleOf(times);
}

/** A number of one body is another before each check. */
async function changedTime({ client, folder }: RunningAgent, count: number): Promise<number> {
  const path = `${folder}/src/main.lang`;
  const text = await Deno.readTextFile(path);
  const times: number[] = [];
  for (let index = 0; index < count / 5; index++) {
    await Deno.writeTextFile(path, text.replace("Ball.serve(1.0,", `Ball.serve(1.0${index % 10},`));
    const start = performance.now();
    await answered(client);
    times.push(performance.now() - start);
  }
  await Deno.writeTextFile(path, text);
  return middleOf(times);
}

async function rate({ client }: RunningAgent, count: number): Promise<number> {
  const start = performance.now();
  for (let index = 0; index < count; index++) await answered(client);
  return Math.round(count * 1000 / (performance.now() - start));
}

function middleOf(times: readonly number[]): number {
  return times.toSorted((left, right) => left - right)[times.length >> 1] ?? 0;
}

interface RunningAgent {
  readonly folder: string;
  readonly client: Client;
  stop(): Promise<void>;
}

async function startAgent({ binary }: LanguageOptions, transport: Transport): Promise<RunningAgent> {
  const folder = await Deno.makeTempDir({ prefix: "lang-bench-agent-" });
  for (const [path, text] of newPackageFiles("pong", "game")) {
    const place = `${folder}/${path}`;
    await Deno.mkdir(place.slice(0, place.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(place, text);
  }
  const sources = new URL("../../../cli/lang.ts", import.meta.url).pathname;
  const [command = "", ...args] = binary === null
    ? [Deno.execPath(), "run", "-A", "--no-check", sources]
    : [await Deno.realPath(binary)];
  const options = transport === "HTTP" ? ["--transport", "http", "--port", "0"] : [];
  const child = new Deno.Command(command, {
    args: [...args, "agent", ...options],
    cwd: folder,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const client = transport === "HTTP" ? await httpClient(child) : stdioClient(child);
  return {
    folder,
    client,
    stop: async () => {
      await client.close();
      if (transport === "HTTP") child.kill("SIGTERM");
      await child.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

function stdioClient(child: Deno.ChildProcess): Client {
  const writer = child.stdin.getWriter();
  const reader = new AnswerReader(child.stdout.getReader());
  const stderr = child.stderr.cancel();
  return {
    ask: async (request) => {
      await writer.write(new TextEncoder().encode(`${request}\n`));
      return await reader.until((text) => /^\{"kind":"done".*\}\n/m.test(text));
    },
    close: async () => {
      await writer.close();
      await reader.cancel();
      await stderr;
    },
  };
}

async function httpClient(child: Deno.ChildProcess): Promise<Client> {
  await child.stdin.close();
  const told = new AnswerReader(child.stderr.getReader());
  // What is downloaded is named before it.
  const text = await told.until((text) => /:\d+\n/.test(text));
  const [, port] = /:(\d+)\n/.exec(text) ?? [];
  if (port === undefined) throw new Error(`Cannot measure the agent: ${text}`);
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  connection.setNoDelay(true);
  const reader = new AnswerReader(connection.readable.getReader());
  return {
    ask: async (request) => {
      const head =
        `POST /v1/agent HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: ${request.length}\r\n\r\n`;
      await connection.write(new TextEncoder().encode(head + request));
      return await reader.until((text) => {
        const [, length] = /\r\nContent-Length: (\d+)\r\n/i.exec(text) ?? [];
        const body = text.indexOf("\r\n\r\n");
        return length !== undefined && body >= 0 && text.length >= body + 4 + Number(length);
      });
    },
    close: async () => {
      await reader.cancel();
      await told.cancel();
      await child.stdout.cancel();
    },
  };
}

/** Reads one answer after the other; answers are in ASCII. */
class AnswerReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>) {
    this.#reader = reader;
  }

  async until(isWhole: (text: string) => boolean): Promise<string> {
    let text = "";
    while (!isWhole(text)) {
      const { done, value } = await this.#reader.read();
      if (done) throw new Error(`Cannot measure the agent: it ended with ${JSON.stringify(text)}`);
      text += new TextDecoder().decode(value);
    }
    return text;
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}
