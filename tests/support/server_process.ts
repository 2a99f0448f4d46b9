/** The real server as a process of its own, whose log says when it is ready and where it listens. */

/** A running server. */
export class ServerProcess {
  readonly child: Deno.ChildProcess;
  /** Where {@link startEmpty} keeps the data folder; else empty. */
  directory = "";
  #log = "";
  readonly #reading: Promise<void>;

  private constructor(child: Deno.ChildProcess, ready: PromiseWithResolvers<void>) {
    this.child = child;
    this.#reading = this.#read(ready);
  }

  /** Starts it and waits until it is ready. Rejects when it ends before. */
  static async start(program: string, parameters: readonly string[]): Promise<ServerProcess> {
    const child = new Deno.Command(program, {
      args: [...parameters],
      env: { NO_COLOR: "1" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const ready = Promise.withResolvers<void>();
    const server = new ServerProcess(child, ready);
    await ready.promise;
    return server;
  }

  /** Starts it on free ports with an empty database, which goes when it is ended; `before` comes before its flags. */
  static async startEmpty(
    program: string,
    { before = [], flags = [] }: { readonly before?: readonly string[]; readonly flags?: readonly string[] } =
      {},
  ): Promise<ServerProcess> {
    const directory = await Deno.makeTempDir({ prefix: "server-" });
    const any = "127.0.0.1:0";
    const parameters = [...before, "--http-addr", any, "--pg-addr", any, ...flags, any, `${directory}/data`];
    const server = await ServerProcess.start(program, parameters);
    server.directory = directory;
    return server;
  }

  /** What it has said on standard error. */
  get log(): string {
    return this.#log;
  }

  /** Where a listener is, such as `PostgreSQL protocol`; empty when it is not there. */
  addressOf(listener: string): string {
    return new RegExp(`^dbd: ${listener} on (\\S+)$`, "m").exec(this.#log)?.[1] ?? "";
  }

  /** The port of a listener. */
  portOf(listener: string): number {
    return Number(this.addressOf(listener).split(":").at(-1));
  }

  /** Ends it, unless it has ended by itself, and waits until it is gone. */
  async end(signal: Deno.Signal): Promise<void> {
    try {
      this.child.kill(signal);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    await this.child.status;
    await this.#reading;
    if (this.directory !== "") await Deno.remove(this.directory, { recursive: true });
  }

  async #read(ready: PromiseWithResolvers<void>): Promise<void> {
    for await (const text of this.child.stderr.pipeThrough(new TextDecoderStream())) {
      this.#log += text;
      if (/^dbd: ready$/m.test(this.#log)) ready.resolve();
    }
    ready.reject(new Error(`dbd has ended: ${this.#log}`));
  }
}
