/** Codes of internal errors: mistakes of `lang` itself. No program is meant to raise them. */
import type { CodePage } from "./code_page.ts";

const WHAT_TO_DO =
  "It is a mistake of lang, not of your program, which may be right or wrong. Please report it, with the file that the message names: it has the version, " +
  "the command line and where lang stopped, and none of your sources. The smallest package that shows it helps most: take declarations out for as long as it still happens. " +
  "What stood last in the sources before it happened is often a way around it.";

function page(code: string, title: string, meaning: string): CodePage {
  return { code, title, severity: "error", explanation: `${meaning} ${WHAT_TO_DO}`, bad: "", fixed: [] };
}

/** Their pages, which have no programs. */
export const INTERNAL_PAGES: readonly CodePage[] = [
  page(
    "IC0001",
    "A mistake of the checker",
    "Something that cannot happen has happened while sources were read or checked.",
  ),
  page(
    "IC0002",
    "A mistake of the compiler",
    "The package has no mistakes, and yet no module could be made of it.",
  ),
  page(
    "IC0003",
    "A mistake of the run-time",
    "A module was made that could not be run, or did what no module should.",
  ),
  page(
    "IC0004",
    "A mistake of the command",
    "Something that cannot happen has happened outside of checking, compiling and running.",
  ),
];
