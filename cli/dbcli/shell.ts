/**
 * The interactive shell: lines with editing and history, statements in as many lines as one likes, Ctrl-C to break off
 * a running statement or to throw away what was typed, Ctrl-D to leave.
 *
 * History is kept in `$XDG_STATE_HOME/db/dbcli_history` (`~/.local/state` unless set), readable by its owner only.
 */
import { createInterface } from "node:readline";
import process from "node:process";
import { includeFile } from "./script.ts";
import { isQuit, runCommand } from "./shell_commands.ts";
import type { StatementRunner } from "./statement_runner.ts";
import { type Piece, StatementSplitter } from "./statement_splitter.ts";

const HISTORY_LINES = 1000;

/** Runs the shell until it is left. */
export async function runShell(runner: StatementRunner, version: string): Promise<void> {
  const historyPath = historyFile();
  const lines = new LineQueue();
  const shell = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: true,
    historySize: HISTORY_LINES,
    history: readHistory(historyPath),
    removeHistoryDuplicates: true,
  });
  const splitter = new StatementSplitter({ endsBeforeKeyword: false });
  let history: readonly string[] | null = null;
  let isRunning = false;
  shell.on("history", (all: string[]) => {
    history = all;
  });
  shell.on("line", (line) => lines.push(line));
  shell.on("close", () => lines.end());
  shell.on("SIGINT", () => {
    if (isRunning) {
      runner.client.cancel();
      return;
    }
    splitter.clear();
    lines.push(null);
  });
  runner.terminal.out(`dbcli ${version}, server ${runner.client.serverVersion}. \\? lists the commands.\n`);
  const prompt = (): void => {
    shell.setPrompt(promptText(runner, splitter.isOpen));
    shell.prompt();
  };
  const copyData = async function* (): AsyncGenerator<string> {
    for (;;) {
      shell.setPrompt(">> ");
      shell.prompt();
      const line = await lines.next();
      if (line === undefined || line === "\\.") return;
      if (line !== null) yield `${line}\n`;
    }
  };
  const run = async (piece: Piece): Promise<boolean> => {
    if (piece.kind === "statement") {
      await runner.run(piece.text, copyData);
      return true;
    }
    const outcome = await runCommand(piece.text, { runner, copySource: copyData });
    if (outcome === "quit") return false;
    if (typeof outcome === "object") {
      await includeFile(outcome.include, runner, { keepGoing: false, depth: 1 });
    }
    return true;
  };
  try {
    for (;;) {
      prompt();
      const line = await lines.next();
      if (line === undefined) break;
      if (line === null) {
        runner.terminal.out("\n");
        continue;
      }
      if (!splitter.isOpen && isQuit(line)) break;
      isRunning = true;
      for (const piece of splitter.line(line)) {
        if (!await run(piece)) return;
      }
      isRunning = false;
    }
  } finally {
    shell.close();
    if (history !== null) writeHistory(historyPath, history);
  }
}

function promptText(runner: StatementRunner, isOpen: boolean): string {
  const mark = runner.client.status === "block" ? "*" : runner.client.status === "failed" ? "!" : "";
  return `db${isOpen ? "-" : "="}${mark}> `;
}

/** Lines that were entered and not read yet; null is Ctrl-C, undefined the end. */
class LineQueue {
  readonly #lines: (string | null)[] = [];
  #waiting: ((line: string | null | undefined) => void) | null = null;
  #hasEnded = false;

  push(line: string | null): void {
    if (this.#waiting === null) {
      this.#lines.push(line);
      return;
    }
    const resolve = this.#waiting;
    this.#waiting = null;
    resolve(line);
  }

  end(): void {
    this.#hasEnded = true;
    this.#waiting?.(undefined);
  }

  next(): Promise<string | null | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#waiting = resolve);
  }
}

function historyFile(): string | null {
  const state = Deno.env.get("XDG_STATE_HOME");
  const home = Deno.env.get("HOME");
  if (state !== undefined && state.startsWith("/")) return `${state}/db/dbcli_history`;
  return home === undefined ? null : `${home}/.local/state/db/dbcli_history`;
}

function readHistory(path: string | null): string[] {
  if (path === null) return [];
  try {
    return Deno.readTextFileSync(path).split("\n").filter((line) => line !== "").reverse();
  } catch (error) {
    // The first time there is none; an unreadable one is no reason not to start.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return [];
    throw error;
  }
}

function writeHistory(path: string | null, newestFirst: readonly string[]): void {
  if (path === null) return;
  try {
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    Deno.writeTextFileSync(path, [...newestFirst].reverse().map((line) => `${line}\n`).join(""), {
      mode: 0o600,
    });
  } catch (error) {
    // A history that cannot be kept is no reason to fail.
    if (!(error instanceof Deno.errors.PermissionDenied) && !(error instanceof Deno.errors.NotFound)) {
      throw error;
    }
  }
}
