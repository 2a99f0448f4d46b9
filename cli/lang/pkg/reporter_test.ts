/** What downloads, warnings and waits look like on a terminal, and where nobody watches. */
import { doesNotMatch, match, strictEqual } from "node:assert/strict";
import { Terminal } from "../shared/terminal.ts";
import { TerminalReporter } from "./reporter.ts";

/** A reporter and what it has written. */
function reporterOn(isTerminal: boolean) {
  const parts: string[] = [];
  const stream = {
    writeSync(bytes: Uint8Array): number {
      parts.push(new TextDecoder().decode(bytes));
      return bytes.length;
    },
    isTerminal: () => isTerminal,
  };
  const terminal = new Terminal(stream, stream);
  terminal.useColors("never");
  return { reporter: new TerminalReporter(terminal), written: () => parts.join("") };
}

Deno.test("TerminalReporter: one line for all downloads, which goes when something else is told", () => {
  const { reporter, written } = reporterOn(true);
  reporter.progress({ what: "fx 0.3.2", received: 0, total: 2048 });
  match(written(), /^\rfetching fx 0\.3\.2: 0 bytes of 2\.0 KiB$/);
  // Too soon for another line.
  for (const what of ["art 1.0.0", "noise 1.0.0", "ui 1.0.0"]) {
    reporter.progress({ what, received: 10, total: null });
  }
  match(written(), /^\rfetching fx 0\.3\.2: 0 bytes of 2\.0 KiB$/);
  reporter.warn("careful");
  match(written(), /KiB\r +\rwarning: careful\n$/);
  reporter.clear();
  match(written(), /careful\n$/);
});

Deno.test("TerminalReporter: no progress where nobody watches", () => {
  const { reporter, written } = reporterOn(false);
  reporter.progress({ what: "fx 0.3.2", received: 1, total: 2 });
  reporter.clear();
  strictEqual(written(), "");
});

Deno.test("TerminalReporter: what others have written is no command to the terminal", () => {
  const { reporter, written } = reporterOn(true);
  reporter.warn("a \u001b[31mred\u202e text\nof two lines");
  reporter.note("\u009b2J");
  reporter.progress({ what: `fx \u001b]0;title\u0007${"x".repeat(500)}`, received: 1, total: 2 });
  // deno-lint-ignore no-control-regex
  doesNotMatch(written(), /[\u001b\u0007\u009b\u202e]/);
  match(written(), /^warning: a .*\nof two lines\n/);
  match(written(), /\r[^\r\n]{20,400}$/);
});
