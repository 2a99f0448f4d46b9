/**
 * `dbd [LISTEN_ADDR] [DATA_DIR]`, the database server, `dbd verify [DATA_DIR]` and `dbd health [HTTP_ADDR]`.
 *
 * Exit codes: 0 it was stopped, 1 it could not start or go on (one line on standard error says what to do), 2 bad
 * usage. What happens while it runs is logged on standard error, one line each.
 */
import { denoHost } from "../engine/host/deno_host.ts";
import type { VersionRange } from "../engine/catalog/cluster_version.ts";
import { features } from "./features.ts";
import { version } from "./shared/version.ts";
import { StartError } from "./dbd/start_error.ts";
import { runServer } from "./dbd/run_server.ts";
import { oneLine } from "./dbd/start_server.ts";
import { health } from "./dbd/health.ts";
import { verify, verifyAgainst } from "./dbd/verify.ts";
import { helpText, readCommand, UsageError } from "./dbd/settings.ts";

function write(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
}

function log(line: string): void {
  try {
    // Lines to be copied stand for themselves.
    write(Deno.stderr, line.startsWith(" ") ? `${line}\n` : `dbd: ${line}\n`);
  } catch (error) {
    // Whoever read the log is gone; the server is not.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

/** Runs the program and answers its exit code; `release`: which versions of a cluster it speaks, if not its own. */
export async function main(
  parameters: readonly string[],
  release: { readonly versions?: VersionRange } = {},
): Promise<number> {
  try {
    const command = readCommand({
      parameters,
      environment: Deno.env.toObject(),
      features: features.enabled,
      readFile: (path) => Deno.readTextFileSync(path),
    });
    switch (command.kind) {
      case "help":
        write(Deno.stdout, helpText(version, features.enabled));
        return 0;
      case "version":
        write(Deno.stdout, `dbd ${version}\n`);
        return 0;
      case "verify": {
        const world = { host: denoHost(), print: (line: string) => write(Deno.stdout, `${line}\n`) };
        const { dataDirectory, against } = command;
        return against === null
          ? await verify(dataDirectory, world)
          : await verifyAgainst(dataDirectory, against, world);
      }
      case "health":
        return await health(command, { print: (line) => write(Deno.stdout, `${line}\n`) });
      case "run":
        return await runServer(command.settings, {
          features,
          version,
          ...release,
          log,
          onStopSignal: (listener) => {
            for (const signal of ["SIGTERM", "SIGINT"] as const) {
              Deno.addSignalListener(signal, () => listener(signal));
            }
          },
          onReloadSignal: (listener) => {
            if (Deno.build.os !== "windows") Deno.addSignalListener("SIGHUP", listener);
          },
          exit: (code) => Deno.exit(code),
        });
    }
  } catch (error) {
    if (error instanceof UsageError) {
      log(`${oneLine(error.message)} (see dbd --help)`);
      return 2;
    }
    if (error instanceof StartError) {
      log(oneLine(error.message));
      return 1;
    }
    throw error;
  }
}

/** Runs the program as a process of its own, which what nobody has caught ends with one line. */
export async function run(parameters: readonly string[]): Promise<number> {
  const stopOnBug = (error: unknown): void => {
    log(`stopped by an error of the program itself: ${error instanceof Error ? error.stack : String(error)}`);
    Deno.exit(1);
  };
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    stopOnBug(event.error);
  });
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    stopOnBug(event.reason);
  });
  return await main(parameters).catch((error: unknown) => {
    stopOnBug(error);
    return 1;
  });
}

if (import.meta.main) Deno.exit(await run(Deno.args));
