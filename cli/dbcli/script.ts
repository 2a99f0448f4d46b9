/**
 * Statements from a stream of lines, run one after the other: standard input in a pipe, or a file of `\i`.
 *
 * It stops at the first error, unless `--keep-going` says otherwise. The lines behind a COPY … FROM STDIN, up to
 * `\.`, are its data.
 */
import { CLI_LIMITS } from "../shared/limits.ts";
import { fileLines } from "./file_loads.ts";
import { isQuit, runCommand } from "./shell_commands.ts";
import { isCopyIn, type StatementRunner } from "./statement_runner.ts";
import { type Piece, StatementSplitter } from "./statement_splitter.ts";

/** How a script ended. */
export type ScriptOutcome = "done" | "failed" | "quit";

/** Runs all statements. With `keepGoing` it goes on after errors, and answers `failed` all the same. */
export async function runScript(
  lines: AsyncIterable<string>,
  runner: StatementRunner,
  options: { readonly keepGoing: boolean; readonly depth?: number },
): Promise<ScriptOutcome> {
  const depth = options.depth ?? 0;
  const splitter = new StatementSplitter({ endsBeforeKeyword: true });
  const input = lines[Symbol.asyncIterator]();
  let hasFailed = false;
  const run = async (pieces: readonly Piece[]): Promise<ScriptOutcome> => {
    for (const piece of pieces) {
      const outcome = await runPiece(piece);
      if (outcome === "quit") return "quit";
      if (outcome === "done") continue;
      hasFailed = true;
      if (!options.keepGoing) return "failed";
    }
    return "done";
  };
  const runPiece = async (piece: Piece): Promise<ScriptOutcome> => {
    if (piece.kind === "statement") {
      const succeeded = await runner.run(piece.text, () => copyData(input));
      // What a failed COPY has left of its data is not to be taken for statements.
      if (!succeeded && isCopyIn(piece.text)) await skipCopyData(input);
      return succeeded ? "done" : "failed";
    }
    const outcome = await runCommand(piece.text, { runner, copySource: () => copyData(input) });
    if (typeof outcome === "string") return outcome;
    if (depth >= CLI_LIMITS.maximumIncludeDepth) {
      runner.terminal.error(
        `ERROR:  files include each other more than ${CLI_LIMITS.maximumIncludeDepth} deep\n`,
      );
      return "failed";
    }
    return await includeFile(outcome.include, runner, { keepGoing: options.keepGoing, depth: depth + 1 });
  };
  for (let next = await input.next(); next.done !== true; next = await input.next()) {
    if (isQuit(next.value) && splitter.isComplete) {
      await run(splitter.end());
      return hasFailed ? "failed" : "quit";
    }
    const outcome = await run(splitter.line(next.value));
    if (outcome !== "done") return outcome === "quit" && hasFailed ? "failed" : outcome;
  }
  const outcome = await run(splitter.end());
  return hasFailed ? "failed" : outcome;
}

/** Runs the statements of a file. */
export async function includeFile(
  path: string,
  runner: StatementRunner,
  options: { readonly keepGoing: boolean; readonly depth: number },
): Promise<ScriptOutcome> {
  let outcome: ScriptOutcome = "failed";
  const opened = await runner.attempt(path, async () => {
    outcome = await runScript(await fileLines(path), runner, options);
  });
  // Leaving a file is not leaving the program.
  return opened ? (outcome as ScriptOutcome) === "quit" ? "done" : outcome : "failed";
}

const ended = new WeakSet<AsyncIterator<string>>();

async function* copyData(input: AsyncIterator<string>): AsyncGenerator<string> {
  ended.delete(input);
  for (let next = await input.next(); next.done !== true; next = await input.next()) {
    if (next.value === "\\.") break;
    yield `${next.value}\n`;
  }
  ended.add(input);
}

/** Reads up to the end of the data, if the statement did not. */
async function skipCopyData(input: AsyncIterator<string>): Promise<void> {
  if (ended.has(input)) return;
  for (let next = await input.next(); next.done !== true && next.value !== "\\."; next = await input.next());
  ended.add(input);
}
