/** Colors of what is written to a terminal, and plain text for everything else. */

/** What a piece of text is. */
export type Role = "error" | "warning" | "info" | "success" | "strong" | "quiet" | "add" | "remove";

/** Writes pieces of text in their colors. */
export type Style = (role: Role, text: string) => string;

const CODES: Readonly<Record<Role, string>> = {
  error: "1;31",
  warning: "1;33",
  info: "1;36",
  success: "1;32",
  strong: "1",
  quiet: "2",
  add: "32",
  remove: "31",
};

/** Without colors. */
export const plainStyle: Style = (_role, text) => text;

/** With the colors of ANSI terminals (ECMA-48). */
export const colorStyle: Style = (role, text) => text === "" ? "" : `\x1b[${CODES[role]}m${text}\x1b[0m`;
