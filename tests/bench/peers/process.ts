/**
 * Starting and stopping the servers that benchmarks and tests talk to: loopback only, free ports, private
 * directories.
 */
import { tmpdir } from "node:os";

const FIRST_PORT = 10_000;
const PORTS = 22_000;

/**
 * A free TCP port on loopback, below those that the system gives to whoever asks for any, and behind the one that was
 * given out last by any process of this user: nobody else gets it, also while its server has not started, or starts
 * again.
 */
export function freePort(): number {
  using last = Deno.openSync(`${tmpdir()}/last_free_port_${Deno.uid()}`, {
    create: true,
    read: true,
    write: true,
  });
  last.lockSync(true);
  const text = new Uint8Array(8);
  const before = Number(new TextDecoder().decode(text.subarray(0, last.readSync(text) ?? 0)));
  for (let port = before + 1;; port++) {
    if (port < FIRST_PORT || port >= FIRST_PORT + PORTS) port = FIRST_PORT;
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
    } catch (error) {
      if (error instanceof Deno.errors.AddrInUse) continue;
      throw error;
    }
    last.seekSync(0, Deno.SeekMode.Start);
    last.writeSync(new TextEncoder().encode(String(port)));
    return port;
  }
}

/** Waits until somebody listens; rejects after the time is over. */
export async function waitForPort(port: number, milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  for (;;) {
    try {
      const connection = await Deno.connect({ hostname: "127.0.0.1", port });
      connection.close();
      return;
    } catch (error) {
      if (!(error instanceof Deno.errors.ConnectionRefused) || performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Runs a program to its end; answers its standard output, or throws with its standard error. */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: { readonly env?: Record<string, string>; readonly cwd?: string; readonly input?: string } = {},
): Promise<string> {
  const child = new Deno.Command(command, {
    args: [...args],
    stdin: options.input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  }).spawn();
  if (options.input !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(options.input));
    await writer.close();
  }
  const output = await child.output();
  const text = new TextDecoder().decode(output.stdout);
  if (output.success) return text;
  throw new Error(
    `${command} ended with ${output.code}: ${new TextDecoder().decode(output.stderr).trim() || text.trim()}`,
  );
}

/** Where Debian keeps PostgreSQL's server programs, and the PATH. */
export function findPostgresqlProgram(name: string): string | null {
  const directories = (Deno.env.get("PATH") ?? "").split(":");
  try {
    for (const version of Deno.readDirSync("/usr/lib/postgresql")) {
      directories.push(`/usr/lib/postgresql/${version.name}/bin`);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  for (const directory of directories) {
    try {
      if (Deno.statSync(`${directory}/${name}`).isFile) return `${directory}/${name}`;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) throw error;
    }
  }
  return null;
}

/**
 * Processor time of a process, or of one of its threads, since its start, in seconds; 0 where the system is not Linux.
 */
export function processorSeconds(processId: number, threadId?: number): number {
  if (Deno.build.os !== "linux") return 0;
  const task = threadId === undefined ? "" : `/task/${threadId}`;
  const stat = Deno.readTextFileSync(`/proc/${processId}${task}/stat`);
  // The second field is the program's name in parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // Hundredths of a second: in user code, and in the kernel.
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Whether there is a file or folder. */
export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
