/**
 * What is told of an error of `lang` itself: a code with a page, and a file with what a report needs, but no trace
 * on the terminal.
 */
import { InternalError, ProgramError } from "../../../lang/diagnostics/internal_error.ts";
import { version } from "../../shared/version.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Says that `lang` made an error, and where the details are; of one that the program turned out to have, what it is.
 */
export function reportInternalError(
  terminal: Terminal,
  parameters: readonly string[],
  thrown: unknown,
): void {
  const style = terminal.errorStyle;
  if (thrown instanceof ProgramError) {
    terminal.writeError(
      `${style("error", `error[${thrown.code}]`)}${style("strong", `: ${thrown.message}`)}\n` +
        `${style("info", "hint")}: \`lang explain ${thrown.code}\` says more.\n`,
    );
    return;
  }
  const error = thrown instanceof InternalError ? thrown : new InternalError("other", thrown);
  const path = writeReport(error, parameters);
  const sent = path === null ? "" : ` and send ${path}`;
  terminal.writeError(
    `${style("error", `error[${error.code}]`)}${style("strong", ": a bug in lang, not in your program")}\n` +
      `  ${firstLine(error.message)}\n` +
      `${style("info", "hint")}: Please report it${sent}; \`lang explain ${error.code}\` says more.\n`,
  );
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

/** The file's path, or null where none can be written. */
function writeReport(error: InternalError, parameters: readonly string[]): string | null {
  const { cause } = error;
  const text = [
    `lang ${version}, Deno ${Deno.version.deno}, ${Deno.build.os} ${Deno.build.arch}`,
    `command: lang ${parameters.join(" ")}`,
    `code: ${error.code}`,
    cause instanceof Error ? cause.stack ?? cause.message : error.stack ?? error.message,
    "",
  ].join("\n");
  try {
    const path = Deno.makeTempFileSync({ prefix: `lang-${error.code}-`, suffix: ".txt" });
    Deno.writeTextFileSync(path, text);
    return path;
  } catch {
    // The message on the terminal is what is left.
    return null;
  }
}
