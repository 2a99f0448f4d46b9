/**
 * Members of a cluster as processes on this machine: each with its own ports and folder, which outlive its kills.
 */
import pg from "pg";
import { assert } from "../../engine/base/assert.ts";
import { freePort } from "../bench/peers/process.ts";

/** What a server says of a mistake of its own. */
const BUG =
  /internal error|AssertionError|TypeError|RangeError|panicked|differs from the group|^\s+at .*:\d+:\d+/m;

/** A server. */
export interface ServerProgram {
  /** The compiled server, or what runs its sources. */
  readonly dbd: string;
  /** What comes in front of the server's flags. */
  readonly programArguments?: readonly string[];
}

/** How to start a cluster. */
export interface ClusterOptions extends ServerProgram {
  readonly memberCount: number;
  readonly flags?: readonly string[];
  /** Makes a member's directory what it is to be, before the member starts. */
  readonly prepare?: (directory: string) => Promise<void>;
  /** What each member dials in the place of the others' addresses, by index; their own unless given. */
  readonly peersOf?: (index: number, addresses: readonly string[]) => readonly string[];
}

/** What `/v1/health` says of a member. */
export interface MemberHealth {
  readonly role: string;
  readonly view: number;
  readonly op_number: number;
  /** The active version of the cluster, and the newest that the member speaks; releases before say neither. */
  readonly cluster_version?: number;
  readonly spoken_version?: number;
}

/** One member, running or not. */
export class MemberProcess {
  readonly index: number;
  readonly directory: string;
  readonly binaryPort: number;
  readonly httpPort: number;
  readonly port: number;
  readonly host = "127.0.0.1";
  /** What runs from the next start on. */
  program: ServerProgram;
  readonly #flags: readonly string[];
  #child: Deno.ChildProcess | null = null;
  #log = "";
  readonly #bugs: string[] = [];
  #peakMebibytes = 0;

  constructor(index: number, ports: MemberPorts, directory: string, options: ClusterOptions, peers: string) {
    this.index = index;
    this.directory = directory;
    this.binaryPort = ports.binary;
    this.httpPort = ports.http;
    this.port = ports.pg;
    const address = (port: number) => `127.0.0.1:${port}`;
    this.program = options;
    this.#flags = [
      ...["--replica", String(index), "--peers", peers],
      ...["--pg-addr", address(ports.pg), "--http-addr", address(ports.http)],
      ...(options.flags ?? []),
      address(ports.binary),
      directory,
    ];
  }

  get isRunning(): boolean {
    return this.#child !== null;
  }

  /** The number of the process that runs. */
  get processId(): number {
    assert(this.#child !== null, `member ${this.index} runs`);
    return this.#child.pid;
  }

  /** Everything it has said on standard error in all its lives; the last of it. */
  get log(): string {
    return this.#log;
  }

  /** What its program is started with. */
  get parameters(): readonly string[] {
    return [...this.program.programArguments ?? [], ...this.#flags];
  }

  start(): void {
    assert(this.#child === null, `member ${this.index} runs`);
    const child = this.#child = new Deno.Command(this.program.dbd, {
      args: [...this.parameters],
      env: { NO_COLOR: "1" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    void (async () => {
      for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
        this.#log = (this.#log + text).slice(-20_000);
        if (BUG.test(text)) this.#bugs.push(text);
      }
    })();
    void child.status.then(({ code, signal }) => {
      if (this.#child !== child) return;
      this.#bugs.push(`member ${this.index} has ended by itself (${signal ?? code}):\n${this.#log}`);
      this.#child = null;
    });
  }

  /** What it has said of mistakes of its own, and that it has ended when nobody had stopped it. */
  get bugs(): readonly string[] {
    return this.#bugs;
  }

  /** The largest resident memory that any of its lives has had, in MiB; 0 where the system does not say. */
  peakMebibytes(): number {
    this.#peakMebibytes = Math.max(this.#peakMebibytes, this.#memory("VmHWM") ?? 0);
    return Math.round(this.#peakMebibytes);
  }

  /** Its resident memory now; null where the system does not say. */
  mebibytes(): number | null {
    return this.#memory("VmRSS");
  }

  /** How long its main thread has waited for a processor in all; null where the system does not say. */
  waitedMilliseconds(): number | null {
    const nanoseconds = this.#ofSystem("schedstat")?.split(" ")[1];
    return nanoseconds === undefined ? null : Number(nanoseconds) / 1e6;
  }

  #memory(name: string): number | null {
    const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(this.#ofSystem("status") ?? "")?.[1];
    return kibibytes === undefined ? null : Number(kibibytes) / 1024;
  }

  /** What the system says of the process. */
  #ofSystem(file: "status" | "schedstat"): string | null {
    if (this.#child === null || Deno.build.os !== "linux") return null;
    try {
      return Deno.readTextFileSync(`/proc/${this.#child.pid}/${file}`);
    } catch (error) {
      // It has just ended.
      if (error instanceof Deno.errors.NotFound) return null;
      throw error;
    }
  }

  /** A connection that reads what this member has; to be ended. */
  async follower(): Promise<pg.Client> {
    const { host, port } = this;
    const options = "-c read_from=follower";
    const client = new pg.Client({ host, port, user: "test", database: "test", options });
    client.on("error", () => undefined);
    await client.connect();
    return client;
  }

  /** What it answers to statements over HTTP. */
  sql(body: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(`http://${this.host}:${this.httpPort}/v1/sql`, {
      method: "POST",
      headers: { "Content-Type": "text/plain", ...headers },
      body,
    });
  }

  /** Sends a signal, and waits for the end if it ends the process; answers the exit code then. */
  async stop(signal: "SIGTERM" | "SIGKILL"): Promise<number> {
    const child = this.#child;
    if (child === null) return 0;
    this.peakMebibytes();
    this.#child = null;
    child.kill(signal);
    return (await child.status).code;
  }

  /** Stops the process from running, or lets it go on. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child?.kill(signal);
  }

  /** What it says of itself; null when it does not answer within a second. */
  async health(): Promise<MemberHealth | null> {
    const text = await this.#get("health");
    return text === null ? null : JSON.parse(text);
  }

  /** The value of a metric, by its name and labels; null when it does not answer. */
  async metric(name: string): Promise<number | null> {
    return (await this.metrics(""))?.get(name) ?? null;
  }

  /** All metrics whose names begin so, without that beginning; null when it does not answer. */
  async metrics(beginning: string): Promise<Map<string, number> | null> {
    const text = await this.#get("metrics");
    if (text === null) return null;
    const lines = text.split("\n").filter((line) => line.startsWith(beginning) && line.includes(" "));
    return new Map(lines.map((line) => {
      const space = line.lastIndexOf(" ");
      return [line.slice(beginning.length, space), Number(line.slice(space + 1))];
    }));
  }

  async #get(path: string): Promise<string | null> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.httpPort}/v1/${path}`, {
        signal: AbortSignal.timeout(1000),
      });
      return await response.text();
    } catch {
      return null;
    }
  }
}

interface MemberPorts {
  readonly binary: number;
  readonly http: number;
  readonly pg: number;
}

/** See the head of the file. */
export class ClusterProcesses implements AsyncDisposable {
  readonly members: readonly MemberProcess[];
  readonly #directory: string;

  private constructor(members: readonly MemberProcess[], directory: string) {
    this.members = members;
    this.#directory = directory;
  }

  /** Starts all members of a new cluster, and waits until one of them serves clients. */
  static async start(options: ClusterOptions): Promise<ClusterProcesses> {
    const directory = await Deno.makeTempDir({ prefix: "cluster-" });
    const ports = Array.from({ length: options.memberCount * 3 }, freePort);
    const portsOf = (index: number): MemberPorts => {
      const [binary, http, pg] = ports.slice(index * 3);
      assert(
        binary !== undefined && http !== undefined && pg !== undefined,
        "there are ports for all members",
      );
      return { binary, http, pg };
    };
    const indices = Array.from({ length: options.memberCount }, (_, index) => index);
    const addresses = indices.map((index) => `127.0.0.1:${portsOf(index).binary}`);
    const members = indices.map((index) => {
      const peers = options.peersOf?.(index, addresses) ?? addresses;
      return new MemberProcess(index, portsOf(index), `${directory}/${index}`, options, peers.join(","));
    });
    for (const member of options.prepare === undefined ? [] : members) {
      await Deno.mkdir(member.directory);
      await options.prepare?.(member.directory);
    }
    const cluster = new ClusterProcesses(members, directory);
    try {
      for (const member of members) member.start();
      // On a busy machine the first start takes long, of three programs at once.
      await cluster.primary();
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  /** The member that serves clients, which is waited for. */
  async primary(milliseconds = 60_000): Promise<MemberProcess> {
    const end = performance.now() + milliseconds;
    for (;;) {
      const running = this.members.filter((member) => member.isRunning);
      const all = await Promise.all(
        running.map(async (member) => ({ member, health: await member.health() })),
      );
      const primaries = all.filter(({ health }) => health?.role === "primary");
      const newest = primaries.sort((a, b) => (b.health?.view ?? 0) - (a.health?.view ?? 0))[0];
      if (newest !== undefined) return newest.member;
      if (performance.now() > end) throw new Error(`the cluster has no primary:\n${this.logs()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Waits until all members know and have applied the same op number; the latter where metrics need no token. */
  async level(milliseconds = 60_000): Promise<void> {
    const end = performance.now() + milliseconds;
    for (;;) {
      const all = await Promise.all(this.members.map((member) => member.health()));
      const applied = await Promise.all(
        this.members.map((member) => member.metric("db_cluster_applied_op_number")),
      );
      const ops = new Set([
        ...all.map((health) => health?.op_number ?? -1),
        ...applied.flatMap((op) => op ?? []),
      ]);
      if (ops.size === 1 && !ops.has(-1)) return;
      if (performance.now() > end) {
        throw new Error(`members differ: ${JSON.stringify(all)}, applied ${applied}\n${this.logs()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Waits until a member has what the primary has now. */
  async caughtUp(member: MemberProcess, milliseconds = 60_000): Promise<void> {
    const end = performance.now() + milliseconds;
    let wanted: number | null = null;
    for (;;) {
      wanted ??= (await (await this.primary(milliseconds)).health())?.op_number ?? null;
      const isNormal = await member.metric("db_cluster_is_normal") === 1;
      const applied = await member.metric("db_cluster_applied_op_number") ?? -1;
      if (wanted !== null && isNormal && applied >= wanted) return;
      if (performance.now() > end) {
        throw new Error(`member ${member.index} stays at ${applied}, below ${wanted}:\n${this.logs()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** What members have said of mistakes of their own. */
  bugs(): string[] {
    return this.members.flatMap(({ bugs }) => bugs);
  }

  /** What all members have said. */
  logs(): string {
    return this.members.map(({ index, log }) => `--- member ${index}\n${log}`).join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop("SIGKILL")));
    await Deno.remove(this.#directory, { recursive: true });
  }
}

/** Waits until the condition holds; raises with what `explain` says after a minute, unless told otherwise. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  explain: () => string,
  milliseconds = 60_000,
): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!await condition()) {
    if (performance.now() > end) throw new Error(`it does not come about:\n${explain()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
