/** PostgreSQL's server programs as this machine has them, run by a user that they accept, in a temporary directory. */
import { findPostgresqlProgram, runProgram, waitForPort } from "./process.ts";

const START_MILLISECONDS = 20_000;

/** See the head of the file. */
export class PostgresqlPrograms {
  readonly directory: string;
  readonly #paths: ReadonlyMap<string, string>;
  /** The server refuses to run as root; Debian's package has made a user for it. */
  readonly #isRoot = Deno.uid() === 0;
  readonly #children: Deno.ChildProcess[] = [];

  private constructor(directory: string, paths: ReadonlyMap<string, string>) {
    this.directory = directory;
    this.#paths = paths;
  }

  /** null when one of them, besides those that every server needs, is not installed. */
  static async find(...names: readonly string[]): Promise<PostgresqlPrograms | null> {
    const paths = new Map<string, string>();
    for (const name of ["initdb", "postgres", ...names]) {
      const path = findPostgresqlProgram(name);
      if (path === null) return null;
      paths.set(name, path);
    }
    const programs = new PostgresqlPrograms(await Deno.makeTempDir({ prefix: "postgresql-" }), paths);
    await programs.own(programs.directory);
    return programs;
  }

  /** Gives a file or folder, with what is in it, to the server. */
  async own(path: string): Promise<void> {
    if (this.#isRoot) await runProgram("chown", ["-R", "postgres:postgres", path]);
  }

  /** Runs a program to its end. */
  async run(name: string, args: readonly string[]): Promise<void> {
    await runProgram(...this.#command(name, args), { cwd: this.directory });
  }

  /** Makes a cluster of databases in a folder. */
  async initialize(folder: string): Promise<void> {
    await Deno.mkdir(folder, { recursive: true });
    await this.own(folder);
    await this.run("initdb", [
      "-D",
      folder,
      "-U",
      "postgres",
      "-A",
      "trust",
      "--locale=C.UTF-8",
      "-E",
      "UTF8",
    ]);
  }

  /** Starts a server on a folder, and waits until it lets clients in. */
  async start(folder: string, port: number, settings: readonly string[]): Promise<void> {
    const all = ["listen_addresses=127.0.0.1", `unix_socket_directories=${this.directory}`, ...settings];
    const [command, args] = this.#command("postgres", [
      ...["-D", folder, "-p", String(port)],
      ...all.flatMap((each) => ["-c", each]),
    ]);
    const quiet = { stdin: "null", stdout: "null", stderr: "null" } as const;
    this.#children.push(new Deno.Command(command, { args, cwd: this.directory, ...quiet }).spawn());
    await waitForPort(port, START_MILLISECONDS);
    await untilAccepted(port);
  }

  /** Stops all servers, the last first, and removes everything. */
  async stop(): Promise<void> {
    for (const child of this.#children.toReversed()) {
      child.kill("SIGINT");
      await child.status;
    }
    await Deno.remove(this.directory, { recursive: true });
  }

  #command(name: string, args: readonly string[]): [string, string[]] {
    const path = this.#paths.get(name) ?? name;
    return this.#isRoot
      ? ["setpriv", ["--reuid=postgres", "--regid=postgres", "--clear-groups", path, ...args]]
      : [path, [...args]];
  }
}

/** It listens a while before it lets anybody in. */
async function untilAccepted(port: number): Promise<void> {
  const program = findPostgresqlProgram("pg_isready");
  for (let attempt = 0; program !== null && attempt < 200; attempt++) {
    const { success } = await new Deno.Command(program, {
      args: ["-q", "-h", "127.0.0.1", "-p", String(port)],
    }).output();
    if (success) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
