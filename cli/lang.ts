/**
 * `lang`, the toolchain command: `lang --help` lists what it does.
 *
 * Exit codes: 0 done; 1 the package has errors, a test failed, a program trapped; 2 bad usage, missing files or
 * manifest.
 */
import { runProgram } from "./lang/program.ts";
import { Terminal } from "./lang/shared/terminal.ts";

/** Runs the command and returns its exit code. */
export async function main(parameters: readonly string[]): Promise<number> {
  return await runProgram(parameters, new Terminal());
}

if (import.meta.main) Deno.exit(await main(Deno.args));
