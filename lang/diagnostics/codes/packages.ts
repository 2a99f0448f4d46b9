/** Codes of the manifest, `project.toml`, and of the package's folder. */
import { type CodePage, program } from "./code_page.ts";

/** Their pages; programs are manifests. */
export const PACKAGE_PAGES: readonly CodePage[] = [
  {
    code: "PK0001",
    title: "Invalid TOML in the manifest",
    severity: "error",
    explanation:
      "A manifest is written in TOML: `key = value`, one per line, with strings in quotes. See toml.io for the full syntax.",
    bad: program`
      name = "pong
      version = "0.1.0"
    `,
    fixed: [],
  },
  {
    code: "PK0002",
    title: "Missing package name",
    severity: "error",
    explanation: "Every package has a name. Write `name` at the top of `project.toml`.",
    bad: program`
      version = "0.1.0"
    `,
    fixed: [program`
      name = "my_package"
      version = "0.1.0"
    `],
  },
  {
    code: "PK0003",
    title: "Value of the wrong type",
    severity: "error",
    explanation: "The key expects a string. Strings are in quotes.",
    bad: program`
      name = "pong"
      version = 1.0
    `,
    fixed: [program`
      name = "pong"
      version = "1.0"
    `],
  },
  {
    code: "PK0004",
    title: "Invalid package name",
    severity: "error",
    explanation:
      "Package names become parts of file names, addresses and modules, so they begin with a lower-case letter and contain only lower-case letters, digits, `_` and `-`.",
    bad: program`
      name = "My Game"
    `,
    fixed: [program`
      name = "my_game"
    `],
  },
  {
    code: "PK0005",
    title: "Invalid version",
    severity: "error",
    explanation:
      "Versions follow semver.org: three numbers, such as `1.4.0`, for breaking changes, additions and fixes.",
    bad: program`
      name = "pong"
      version = "1.0"
    `,
    fixed: [program`
      name = "pong"
      version = "1.0.0"
    `],
  },
  {
    code: "PK0006",
    title: "Unknown target",
    severity: "error",
    explanation:
      "A package is built for `wasm32-web` (a game in a page), `wasm32-wasi` (a command) or `wasm32-db` (functions of the database).",
    bad: program`
      name = "pong"
      target = "wasm32-wbe"
    `,
    fixed: [program`
      name = "pong"
      target = "wasm32-web"
    `],
  },
  {
    code: "PK0007",
    title: "Unknown key",
    severity: "warning",
    explanation: "A manifest has no such key; it may be misspelled.",
    bad: program`
      name = "pong"
      desciption = "a game of two paddles"
    `,
    fixed: [program`
      name = "pong"
      description = "a game of two paddles"
    `],
  },
];
