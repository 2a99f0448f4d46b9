/**
 * One shell that runs block after block of commands, as a person with one terminal would: variables, functions and
 * background jobs live on from block to block.
 *
 * Job control is on, so that each background job is a process group of its own. Every block is read from a file, and
 * its commands get an empty standard input. Limits: a block that takes longer than the time limit fails; when the
 * session is closed its jobs are killed.
 */

/** How to start a shell. */
export interface ShellSessionOptions {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** What a block did. */
export interface BlockResult {
  /** The exit code of its last command. */
  readonly code: number;
  readonly stdout: string;
  /** What was written to standard error meanwhile, by background jobs too. */
  readonly stderr: string;
}

const timeLimitMilliseconds = 120_000;

/**
 * One shell that runs block after block of commands, as a person with one terminal would: variables, functions and
 * background jobs live on from block to block.
 */
export class ShellSession implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #folder: string;
  readonly #pumps: Promise<void>[];
  #blocks = 0;
  #stdout = "";
  #stderr = "";
  #notify: () => void = () => undefined;
  #ended = false;

  private constructor(folder: string, { directory, environment }: ShellSessionOptions) {
    this.#folder = folder;
    this.#child = new Deno.Command("bash", {
      args: ["--noprofile", "--norc"],
      cwd: directory,
      env: { ...environment },
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#pumps = [
      this.#pump(this.#child.stdout, (text) => this.#stdout += text),
      this.#pump(this.#child.stderr, (text) => this.#stderr += text),
    ];
  }

  /** Starts a shell. */
  static async start(options: ShellSessionOptions): Promise<ShellSession> {
    const session = new ShellSession(await Deno.makeTempDir({ prefix: "shell-" }), options);
    await session.#send(
      `set -m; trap 'for job in $(jobs -p); do kill -9 -- "-$job"; done 2>/dev/null' EXIT`,
    );
    return session;
  }

  /** Everything that was written to standard error so far. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Runs a block to its end; background jobs that it starts go on. */
  async run(block: string): Promise<BlockResult> {
    const number = ++this.#blocks;
    const path = `${this.#folder}/block_${number}.sh`;
    await Deno.writeTextFile(path, `${block}\n`);
    const [stdoutStart, stderrStart] = [this.#stdout.length, this.#stderr.length];
    await this.#send(`source '${path}' < /dev/null; printf '\\n@@end ${number} %s@@\\n' "$?"`);
    const pattern = new RegExp(`\\n@@end ${number} (\\d+)@@\\n`);
    const match = await this.#until(() => pattern.exec(this.#stdout), `the end of:\n${block}`);
    return {
      code: Number(match[1]),
      stdout: this.#stdout.slice(stdoutStart, match.index),
      stderr: this.#stderr.slice(stderrStart),
    };
  }

  /** Waits until standard error, from a position on, matches. */
  waitForStderr(pattern: RegExp, from: number): Promise<RegExpExecArray> {
    return this.#until(() => pattern.exec(this.#stderr.slice(from)), String(pattern));
  }

  /** Ends the shell and kills its jobs. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close().catch(() => undefined);
    const late = setTimeout(() => this.#child.kill("SIGKILL"), 10_000);
    await this.#child.status;
    clearTimeout(late);
    await Promise.all(this.#pumps);
    await Deno.remove(this.#folder, { recursive: true });
  }

  async #send(line: string): Promise<void> {
    await this.#writer.write(new TextEncoder().encode(`${line}\n`));
  }

  async #pump(stream: ReadableStream<Uint8Array>, add: (text: string) => void): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      add(decoder.decode(chunk, { stream: true }));
      this.#notify();
    }
    this.#ended = true;
    this.#notify();
  }

  async #until<T>(find: () => T | null, what: string): Promise<T> {
    const end = performance.now() + timeLimitMilliseconds;
    for (;;) {
      const found = find();
      if (found !== null) return found;
      const rest = end - performance.now();
      if (this.#ended || rest <= 0) {
        const reason = this.#ended ? "the shell ended" : "the time is over";
        throw new Error(`${reason} before ${what}\n--- standard error:\n${this.#stderr.slice(-4000)}`);
      }
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        this.#notify = resolve;
        timer = setTimeout(resolve, rest);
      });
      clearTimeout(timer);
    }
  }
}
