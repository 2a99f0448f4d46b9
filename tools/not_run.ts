/**
 * How a test says that a part of it could not run on this machine, because a real peer (psql, a PostgreSQL server, a
 * browser) is not installed. The line is found by `tools/test_runner.ts`, which repeats it at the end of the run:
 * nothing is left out silently, and no test is skipped.
 */

/** Start of the line that {@link reportNotRun} writes. */
export const notRunMarker = "NOT RUN:";

/** Writes the line that names what was not run, and why. */
export function reportNotRun(what: string, why: string): void {
  console.log(`\n${notRunMarker} ${what} (${why})`);
}

/** Whether a program can be started on this machine. */
export async function isInstalled(
  program: string,
  parameters: readonly string[] = ["--version"],
): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(program, {
      args: [...parameters],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return false;
    throw error;
  }
}
