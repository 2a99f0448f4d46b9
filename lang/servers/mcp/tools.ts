/**
 * The tools of the Model Context Protocol: the ops of `lang agent`, told so that a model knows which to take.
 *
 * Their arguments are validated, and described as JSON Schema, by the validators of the agent's requests; only what
 * belongs to the other protocol, `op` and `id`, is left out, and arguments that no tool knows are refused, so that a
 * misspelt one is never silently ignored.
 */
import type * as z from "zod";
import { type Op, REQUESTS } from "../agent/requests.ts";

/** Ops that are tools. */
export type ToolOp = Exclude<Op, "cancel" | "schema" | "version" | "halt">;

/** One tool. */
export interface LangTool {
  readonly op: ToolOp;
  readonly title: string;
  readonly description: string;
  /** Whether it leaves everything as it is, whatever its arguments. */
  readonly isReadOnly: boolean;
  /** Whether it may overwrite or take away what was there. */
  readonly isDestructive: boolean;
  /** Whether asking twice does no more than asking once. */
  readonly isIdempotent: boolean;
}

const READS = { isReadOnly: true, isDestructive: false, isIdempotent: true } as const;
const WRITES = { isReadOnly: false, isDestructive: true, isIdempotent: true } as const;

/** All tools, those first that one takes first. */
export const TOOLS: readonly LangTool[] = [
  {
    op: "check",
    title: "Check the package",
    description:
      "Reports all errors and warnings of the package at once, in every file, in milliseconds: what was expected, what was found, where, and fixes to choose from. Call it after every change, and before `test` or `run`. `files` tries texts that are not saved. `ok` is false when there is an error; warnings leave it true.",
    ...READS,
  },
  {
    op: "fix",
    title: "Apply a suggested fix",
    description:
      "Applies one of the fixes that `check` suggested to the diagnostics of one code: `code` is the diagnostic's, `alternative` the fix's `index`. Answers the change as a diff; with `write` it changes the files, and refuses a file that changed since it was checked. Prefer fixes whose applicability is `safe`; a `placeholder` has to be completed by hand.",
    ...WRITES,
  },
  {
    op: "explain",
    title: "Explain a code",
    description:
      "Explains a diagnostic's code: why it is an error, a program that raises it, and the program after each fix. Call it when a diagnostic alone does not say what to do.",
    ...READS,
  },
  {
    op: "test",
    title: "Run the tests",
    description:
      "Runs the package's tests, properties and documentation examples, each in a fresh memory, and says which failed and where, with both sides of what was compared. `filter` picks some by name. Properties take the same arguments again for the same `seed`. `update` writes new snapshots into the sources. Stopped after `timeout` seconds.",
    ...WRITES,
  },
  {
    op: "run",
    title: "Run the program",
    description:
      "Builds a command and runs its `main` with `args`; answers what it wrote, its exit code, and where it trapped. Only for packages with a `main`; a game has none, test its functions instead. Stopped after `timeout` seconds or 1 MiB of output. The program reads `stdin`, reads and writes files of the package's folder alone, and finds the same clock and random values each time.",
    isReadOnly: false,
    isDestructive: true,
    isIdempotent: false,
  },
  {
    op: "inspect",
    title: "Inspect the package",
    description:
      "Shows the modules of the package, with signatures, effects and documentation of all exports, its imports, and sizes. With `cost`, what each function costs in gas: a bound as a formula, and what the tests measured. Call it first in a package that you do not know.",
    ...READS,
  },
  {
    op: "find",
    title: "Find a text",
    description:
      "Finds lines that contain a text, in the sources and in the Markdown files under docs/. Lowercase letters match capitals as well. For names, `references` is exact and this is not.",
    ...READS,
  },
  {
    op: "fmt",
    title: "Format the sources",
    description:
      "Formats the sources, or one file by `path`. It writes the files; with `check` it returns the changes as diffs instead. Only layout changes; comments stay.",
    ...WRITES,
  },
  {
    op: "symbols",
    title: "List declarations",
    description:
      "Lists the declarations of the package, or of the file `path`, with kinds, signatures and positions. `query` keeps those whose names contain its letters in this order.",
    ...READS,
  },
  {
    op: "references",
    title: "Find all uses of a name",
    description:
      "Finds every reference to the name at a position (line and column from 1), and its definition, by meaning and not by text.",
    ...READS,
  },
  {
    op: "rename",
    title: "Rename everywhere",
    description:
      "Renames the name at a position (line and column from 1) in all files; refuses names that would clash or change what the program means. Answers the change as diffs; with `write` it changes the files.",
    ...WRITES,
  },
  {
    op: "hover",
    title: "Describe a position",
    description:
      "Returns type, effects, documentation and definition of the expression or name at a position (line and column from 1). Works in files with errors.",
    ...READS,
  },
  {
    op: "complete",
    title: "Complete at a position",
    description:
      "Returns completions at a position (line and column from 1): names in scope, fields and methods of the value before a dot, modules. Use it to learn what a type offers; `files` takes a text that is not finished.",
    ...READS,
  },
];

const made = new Map<ToolOp, z.ZodObject>();

/** The validator of a tool's arguments. */
export function argumentsOf(op: ToolOp): z.ZodObject {
  let schema = made.get(op);
  if (schema === undefined) {
    const request: z.ZodObject = REQUESTS[op];
    schema = request.omit({ op: true, id: true }).strict();
    made.set(op, schema);
  }
  return schema;
}
