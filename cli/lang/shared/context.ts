/** What every command is given, and what they share: the terminal, the package, diagnostics. */
import { CommandError } from "../../../lang/commands/command_error.ts";
import { Workspace } from "../../../lang/commands/workspace.ts";
import type { Diagnostic } from "../../../lang/diagnostics/diagnostic.ts";
import { renderReport } from "../../../lang/diagnostics/human.ts";
import { CLI_LIMITS } from "../../shared/limits.ts";
import { DiskFiles } from "./disk_files.ts";
import { LoneSource } from "./lone_source.ts";
import { findPackage } from "./package_folder.ts";
import type { Terminal } from "./terminal.ts";

/** The surroundings of one command. */
export interface Context {
  readonly terminal: Terminal;
  /** What stood behind `--`. */
  readonly programArguments: readonly string[];
  /** When the command began, on the clock of `performance.now()`. */
  readonly started: number;
  /** Set by a command that fails without an error being thrown. */
  exitCode: number;
}

/** A package on disk. */
export interface OpenPackage {
  readonly workspace: Workspace;
  readonly root: string;
  /** The file that was named, relative to the root. */
  readonly file: string | null;
}

/** Opens the package of a path; a source outside of a package is one of its own. */
export function openPackage(path: string | undefined): OpenPackage {
  const { root, file, isAlone } = findPackage(path);
  const files = isAlone && file !== null ? new LoneSource({ root, file }) : new DiskFiles(root);
  return { workspace: new Workspace(files), root, file };
}

/** Shows diagnostics to people, on standard error. */
export function showDiagnostics(context: Context, diagnostics: readonly Diagnostic[]): void {
  const { terminal } = context;
  terminal.writeError(renderReport(diagnostics, { style: terminal.errorStyle }));
}

/** Whether one of them is an error. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === "error");
}

/** A whole number of an option. */
export function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new CommandError(`Cannot use ${name} "${text}": it is not a whole number`);
}

/** Milliseconds of an option in seconds; 0 is none, null. */
export function timeLimit(name: string, text: string): number | null {
  const seconds = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || seconds > CLI_LIMITS.maximumTimeoutSeconds) {
    throw new CommandError(
      `Cannot use ${name} "${text}": it is not a number of seconds from 0 to ${CLI_LIMITS.maximumTimeoutSeconds}`,
      "Use 0 for no limit.",
    );
  }
  return seconds === 0 ? null : seconds * 1000;
}

/** Gas of an option, at least 1. */
export function gasLimit(text: string): number {
  const gas = wholeNumber("--gas", text);
  if (gas < 1) throw new CommandError(`Cannot use --gas "${text}": it is below 1`);
  return gas;
}

/** How long a command may work before it says what it does. */
const PATIENCE_MILLISECONDS = 1_000;

/** Reports the current step of a command that has run for more than a second, on a terminal only. */
export function reportStep({ terminal, started }: Context, step: string): void {
  if (!terminal.isWatched || performance.now() - started < PATIENCE_MILLISECONDS) return;
  terminal.writeError(`${terminal.errorStyle("quiet", `${step} …`)}\n`);
}
