/** Codes of internal errors: bugs in `lang` itself. No program should raise them. */
import type { CodePage } from "./code_page.ts";

const WHAT_TO_DO =
  "This is a bug in lang, not in your program. Please report it and attach the file that the message names: it has the version, " +
  "the command line and where lang stopped, but none of your sources. The smallest package that reproduces the bug helps most. " +
  "Undoing the last change to the sources often avoids it.";

function page(code: string, title: string, meaning: string): CodePage {
  return { code, title, severity: "error", explanation: `${meaning} ${WHAT_TO_DO}`, bad: "", fixed: [] };
}

/** Their pages, which have no programs. */
export const INTERNAL_PAGES: readonly CodePage[] = [
  page(
    "IC0001",
    "Internal error of the checker",
    "An invariant was violated while sources were parsed or checked.",
  ),
  page(
    "IC0002",
    "Internal error of the compiler",
    "The package has no errors, but it could not be compiled.",
  ),
  page(
    "IC0003",
    "Internal error of the run-time",
    "The compiled module could not be run, or did something that no module should.",
  ),
  page(
    "IC0004",
    "Internal error of the command",
    "An invariant was violated outside of checking, compiling and running.",
  ),
];
