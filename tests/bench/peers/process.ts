/**
 * Starting and stopping the servers that benchmarks and tests talk to: loopback only, free ports, private
 * directories.
 */

/** Ports that this process has given out: whoever has one may not listen on it yet. */
const given = new Set<number>();

/**
 * A free TCP port on loopback, below those that the system gives to whoever asks for any: a server that is started
 * again finds it free still.
 */
export function freePort(): number {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    if (given.has(port)) continue;
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      given.add(port);
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
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
