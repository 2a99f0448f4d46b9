/**
 * `lang serve`: builds the package of a page, serves it on the loopback address, and with `--watch` builds again
 * after each change.
 *
 * Exit codes: 0 ended by Ctrl-C; 1 the program has errors (without `--watch`); 2 the compiler has failed, manifest,
 * `web/` or its page are missing, or the port cannot be had.
 */
import { CommandError } from "../../../../lang/commands/command_error.ts";
import { Workspace } from "../../../../lang/commands/workspace.ts";
import type { BuildAttempt } from "../../../../lang/servers/serve/build_page.ts";
import { BuildKeeper, type Update } from "../../../../lang/servers/serve/build_keeper.ts";
import { Bursts, type Timer } from "../../../../lang/servers/serve/bursts.ts";
import { Site } from "../../../../lang/servers/serve/site.ts";
import { type Context, showDiagnostics } from "../../shared/context.ts";
import { DiskFiles } from "../../shared/disk_files.ts";
import { reportInternalError } from "../../shared/internal_report.ts";
import { DevServer } from "./dev_server.ts";
import { openPage } from "./open_page.ts";
import { PackageWatcher } from "./package_watcher.ts";
import { WebFolder } from "./web_folder.ts";

/** What is asked of `serve`. */
export interface ServeOptions {
  /** The package's folder. */
  readonly root: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly isWatched: boolean;
  /** Whether the page is opened in the browser. */
  readonly opens: boolean;
}

/** Serves until it is told to end. */
export async function servePackage(context: Context, options: ServeOptions): Promise<void> {
  const { root, port, isWatched } = options;
  requirePage(root);
  const files = new WebFolder(root);
  const site = new Site({ files, isWatched });
  const keeper = new BuildKeeper({
    workspace: new Workspace(new DiskFiles(root)),
    site,
    ports: {
      files,
      webFingerprint: () => files.fingerprint(),
      now: () => Date.now(),
      elapsed: () => performance.now(),
    },
    prefix: crypto.randomUUID().slice(0, 8),
  });
  const first = await keeper.update();
  if (first !== null && !reportFirst(context, first.attempt, isWatched)) return;

  await using server = new DevServer({ site, port, greeting: () => JSON.stringify(keeper.message) });
  const { terminal } = context;
  terminal.write(`serving ${server.address}${isWatched ? " and watching for changes" : ""} (Ctrl-C ends)\n`);
  const bursts = new Bursts(timer, async () => {
    const update = await keeper.update();
    if (update === null) return;
    server.sockets.send("events", JSON.stringify(update.message));
    if (update.reloads) server.sockets.send("reload", "reload");
    reportUpdate(context, update);
  });
  using watcher = isWatched ? new PackageWatcher(root, () => bursts.change()) : null;
  // What was saved between the build and the first watch.
  if (watcher !== null) bursts.change();
  if (options.opens) openPage(context, server.address);
  await endOfService();
  bursts.stop();
  terminal.write("\n");
}

/** Refuses a folder without what every page has. */
function requirePage(root: string): void {
  for (const path of ["project.toml", "web", "web/index.html"]) {
    let info: Deno.FileInfo | null = null;
    try {
      info = Deno.statSync(`${root}/${path}`);
    } catch (error) {
      const isMissing = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
      if (!isMissing) throw error;
    }
    const isRight = path === "web" ? info?.isDirectory : info?.isFile;
    if (isRight === true) continue;
    throw new CommandError(
      `Cannot serve the package: there is no ${path === "web" ? "folder web/" : path} in ${root}`,
      "`lang new NAME` writes a game with its page.",
    );
  }
}

/** Tells how the first build went, and whether there is anything to serve. */
function reportFirst(context: Context, attempt: BuildAttempt, isWatched: boolean): boolean {
  reportAttempt(context, attempt);
  if (attempt.kind === "built" || isWatched) return true;
  context.exitCode = attempt.kind === "errors" ? 1 : 2;
  return false;
}

function reportAttempt(context: Context, attempt: BuildAttempt): void {
  if (attempt.kind !== "failed") return showDiagnostics(context, attempt.diagnostics);
  const { terminal } = context;
  const { message, fault } = attempt;
  if (fault !== null) return reportInternalError(terminal, ["serve"], fault.thrown);
  terminal.writeError(`${terminal.errorStyle("error", "error")}: ${message}\n`);
}

function reportUpdate(context: Context, { attempt, isCompiled, milliseconds }: Update): void {
  const { terminal } = context;
  if (!isCompiled) {
    terminal.write("the page has changed\n");
    return;
  }
  reportAttempt(context, attempt);
  const outcome = attempt.kind === "built" ? "built" : "not built: the last good build stays";
  terminal.write(`${outcome}, ${milliseconds} ms\n`);
}

const timer: Timer = {
  now: () => performance.now(),
  after(milliseconds, work) {
    const number = setTimeout(work, milliseconds);
    return () => clearTimeout(number);
  },
};

/** Comes to its end with Ctrl-C, or when the system asks. */
async function endOfService(): Promise<void> {
  const signals: readonly Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM"];
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of signals) Deno.addSignalListener(signal, resolve);
  await promise;
  for (const signal of signals) Deno.removeSignalListener(signal, resolve);
}
