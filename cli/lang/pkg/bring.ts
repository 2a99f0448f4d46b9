/** Fetches what a package uses before it is built. */
import { ensurePackages } from "../../../registry/client/ready.ts";
import { openSession } from "../../../registry/client/project.ts";
import { denoHost } from "../../../registry/host/deno_host.ts";
import { RegistryError } from "../../../registry/registry_error.ts";
import { version } from "../../shared/version.ts";
import type { Context } from "../shared/context.ts";
import { TerminalReporter } from "./reporter.ts";
import { reportFailure } from "./run.ts";

/** Fetches what is missing; false when that failed and was reported. */
export async function bringPackages(
  context: Context,
  root: string,
  format: "human" | "json",
): Promise<boolean> {
  const reporter = new TerminalReporter(context.terminal);
  try {
    await ensurePackages(
      openSession({ host: denoHost(reporter, version), root: root.replaceAll("\\", "/") }),
    );
    return true;
  } catch (error) {
    reporter.clear();
    if (!(error instanceof RegistryError)) throw error;
    // What is wrong in the manifest is reported with its span by the next reader.
    if (error.code === "bad-manifest") return true;
    reportFailure(context, error, format);
    return false;
  } finally {
    reporter.clear();
  }
}
