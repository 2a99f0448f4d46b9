/** Codes of the manifest, `project.toml`, and of the package's folder. */
import { type CodePage, program } from "./code_page.ts";

/** Their pages; programs are manifests. */
export const PACKAGE_PAGES: readonly CodePage[] = [
  {
    code: "PK0001",
    title: "The manifest is no TOML",
    severity: "error",
    explanation:
      "A manifest is written in TOML: one key in a line, `=`, a value; texts stand in quotes. See toml.io for all of it.",
    bad: program`
      name = "pong
      version = "0.1.0"
    `,
    fixed: [],
  },
  {
    code: "PK0002",
    title: "The package has no name",
    severity: "error",
    explanation:
      "Every package has a name, by which others find it. Write `name` at the top of `project.toml`.",
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
    title: "A value of the wrong type",
    severity: "error",
    explanation: "The key wants a text, and something else stands there. Texts stand in quotes.",
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
    title: "Not a name of a package",
    severity: "error",
    explanation:
      "Names of packages become parts of file names, addresses and modules, so they begin with a small letter and have small letters, digits, `_` and `-` only.",
    bad: program`
      name = "My Game"
    `,
    fixed: [program`
      name = "my_game"
    `],
  },
  {
    code: "PK0005",
    title: "Not a version",
    severity: "error",
    explanation:
      "Versions follow semver.org: three numbers, `1.4.0`, the first for changes that break others, the second for additions, the third for repairs.",
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
    explanation: "The key means nothing in a manifest; it may be misspelt.",
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
