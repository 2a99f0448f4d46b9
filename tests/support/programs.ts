/**
 * Starting client programs against a server: what goes in, what comes out, how it ended.
 */
import { run } from "../../tools/project.ts";

/** What a program left behind. */
export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How to start a program. */
export interface ProgramOptions {
  /** Given on standard input; none when absent. */
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether the own environment is left out. */
  readonly clearEnvironment?: boolean;
  readonly directory?: string;
}

/** Runs a program to its end; a code other than 0 is for the caller to judge. */
export async function runProgram(
  program: string,
  parameters: readonly string[],
  { input, environment = {}, clearEnvironment = false, directory }: ProgramOptions = {},
): Promise<ProgramResult> {
  const child = new Deno.Command(program, {
    args: [...parameters],
    env: { NO_COLOR: "1", ...environment },
    clearEnv: clearEnvironment,
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
    ...(directory === undefined ? {} : { cwd: directory }),
  }).spawn();
  const [output] = await Promise.all([
    child.output(),
    input === undefined ? undefined : feed(child.stdin, input),
  ]);
  const decoder = new TextDecoder();
  return { code: output.code, stdout: decoder.decode(output.stdout), stderr: decoder.decode(output.stderr) };
}

/** As {@link runProgram}, but answers the standard output and throws when the program fails. */
export async function outputOf(
  program: string,
  parameters: readonly string[],
  options: ProgramOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, parameters, options);
  if (code === 0) return stdout;
  throw new Error(`${program} ${parameters.join(" ")} ended with ${code}: ${stderr.trim() || stdout.trim()}`);
}

/** A program may end before it has read everything, which its exit code tells better than the broken pipe. */
async function feed(stdin: WritableStream<Uint8Array>, input: string): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

/** The folder in which Deno keeps packages, so that programs with an empty home need no network. */
export async function denoCacheFolder(): Promise<string> {
  const { stdout } = await run(Deno.execPath(), ["info", "--json"]);
  return (JSON.parse(stdout) as { readonly denoDir: string }).denoDir;
}
