/**
 * The requests of `lang agent`, each as a validator that also describes itself: the server reads requests with them,
 * the op `schema` prints them as JSON Schema, and the tools of the Model Context Protocol take theirs from here.
 *
 * Fields that no validator knows are let through and named in `result.ignored`. A missing or wrongly typed field is a
 * protocol error.
 */
import * as z from "zod";
import { LANG_LIMITS } from "../../limits.ts";

/** What may name a request. */
export const REQUEST_ID = z.union([z.string().max(1024), z.number()]);

/** A name of a request. */
export type RequestId = z.infer<typeof REQUEST_ID>;

/** Gas that a test may use when `inspect` measures, and nobody says how much. */
export const DEFAULT_COST_GAS = 100_000_000;
/** Seconds that a program has when nobody says. */
export const DEFAULT_SECONDS = 10;

const COMMON = {
  id: REQUEST_ID.optional().describe("any text or number; echoed on every line of the answer"),
};

const PACKAGE = {
  path: z.string().optional().describe(
    "the package's folder, or a file of it such as src/main.lang; relative to the agent's working folder (default: its package)",
  ),
  files: z.record(z.string(), z.string()).optional().describe(
    "texts of unsaved files by path in the package, used instead of the files on disk",
  ),
};

const BUDGET = {
  max_diagnostics: z.int().min(0).optional().describe(
    "return at most this many diagnostics; result.truncated counts the others (default: all)",
  ),
};

const LIMITS = {
  timeout: z.number().min(0.001).max(LANG_LIMITS.maximumRequestSeconds).optional().describe(
    `seconds after which the program, or each test, is stopped (default ${DEFAULT_SECONDS})`,
  ),
  gas: z.int().min(1).optional().describe("stop when this much gas is used (default: no limit)"),
  seed: z.int().optional().describe("seed of random values (default 0)"),
};

const PLACE = {
  path: z.string().describe("a source of the package: src/main.lang"),
  files: PACKAGE.files,
  line: z.int().min(1).describe("line of the position, from 1"),
  column: z.int().min(1).describe("column of the position, from 1, in code points"),
};

const CODE = z.string().describe("code of a diagnostic, such as TY0001");
const TOP = z.int().min(1).max(10_000).optional();

/** The validator of each op's request. */
export const REQUESTS = {
  check: z.looseObject({
    op: z.literal("check"),
    ...COMMON,
    ...PACKAGE,
    ...BUDGET,
    include_source: z.boolean().optional().describe("add to each diagnostic the lines of its source"),
  }).describe("Report all errors and warnings of a package, in every file, with fixes."),
  run: z.looseObject({
    op: z.literal("run"),
    ...COMMON,
    ...PACKAGE,
    ...BUDGET,
    args: z.array(z.string()).optional().describe("arguments of main"),
    stdin: z.string().optional().describe("what the program reads as its standard input (default: nothing)"),
    ...LIMITS,
  }).describe("Build a command and run its main; the answer has what it wrote and its exit code."),
  test: z.looseObject({
    op: z.literal("test"),
    ...COMMON,
    ...PACKAGE,
    ...BUDGET,
    filter: z.string().optional().describe("only tests whose module and name contain the text"),
    eval: z.boolean().optional().describe("run the eval blocks instead"),
    update: z.boolean().optional().describe("update the snapshots of expect_snapshot in the sources"),
    ...LIMITS,
  }).describe("Run the tests, properties and examples of a package."),
  inspect: z.looseObject({
    op: z.literal("inspect"),
    ...COMMON,
    ...PACKAGE,
    ...BUDGET,
    cost: z.boolean().optional().describe("what functions cost in gas: bounds, and what the tests used"),
    gas: z.int().min(1).optional().describe(
      `gas that each test may use when cost is measured (default ${DEFAULT_COST_GAS})`,
    ),
  }).describe("Show the modules, public API, effects, imports and sizes of a package."),
  find: z.looseObject({
    op: z.literal("find"),
    ...COMMON,
    ...PACKAGE,
    query: z.string().min(1).describe("text to search for; case-sensitive if it has capitals"),
    top: TOP.describe("so many lines at most (default 10)"),
  }).describe("Find lines of the sources and of the Markdown files under docs/ that hold a text."),
  explain: z.looseObject({ op: z.literal("explain"), ...COMMON, code: CODE })
    .describe(
      "Say what a diagnostic's code means, with a program that raises it and the program after each fix.",
    ),
  fmt: z.looseObject({
    op: z.literal("fmt"),
    ...COMMON,
    ...PACKAGE,
    check: z.boolean().optional().describe("write nothing; answer what would change as patches"),
  }).describe("Bring the sources of a package, or one of them, into the one style."),
  fix: z.looseObject({
    op: z.literal("fix"),
    ...COMMON,
    ...PACKAGE,
    ...BUDGET,
    code: CODE,
    alternative: z.int().min(0).optional().describe("index of the suggested fix, from 0 (default 0)"),
    line: z.int().min(1).optional().describe("only diagnostics on this line"),
    write: z.boolean().optional().describe("change the files; otherwise the change is answered as patches"),
  }).describe(
    "Apply a suggested fix to the diagnostics of a code, as the last check reported them. Previews unless write is true.",
  ),
  symbols: z.looseObject({
    op: z.literal("symbols"),
    ...COMMON,
    ...PACKAGE,
    query: z.string().optional().describe("only names that contain these letters in this order"),
    top: TOP.describe("at most this many declarations (default 1000)"),
  }).describe("List the declarations of a package or of one file."),
  references: z.looseObject({ op: z.literal("references"), ...COMMON, ...PLACE })
    .describe("Find all references to the name at a position, with its definition."),
  rename: z.looseObject({
    op: z.literal("rename"),
    ...COMMON,
    ...PLACE,
    new_name: z.string().min(1).describe("the new name"),
    write: z.boolean().optional().describe("change the files; otherwise the change is answered as patches"),
  }).describe("Rename the name at a position everywhere. Previews unless write is true."),
  hover: z.looseObject({ op: z.literal("hover"), ...COMMON, ...PLACE })
    .describe("Return type, effects, documentation and definition of the expression or name at a position."),
  complete: z.looseObject({
    op: z.literal("complete"),
    ...COMMON,
    ...PLACE,
    top: TOP.describe("at most this many items (default 100)"),
  }).describe("Return completions at a position."),
  cancel: z.looseObject({
    op: z.literal("cancel"),
    ...COMMON,
    request: REQUEST_ID.optional().describe(
      "id of the request to stop; when it is left out, the cancel's own id names it",
    ),
  }).describe("Stop a request that runs or waits."),
  schema: z.looseObject({ op: z.literal("schema"), ...COMMON })
    .describe("Answer the JSON Schema of every request and line."),
  version: z.looseObject({ op: z.literal("version"), ...COMMON })
    .describe("Answer the versions of protocol and toolchain."),
  halt: z.looseObject({ op: z.literal("halt"), ...COMMON }).describe("End the session."),
} as const;

/** What can be asked for. */
export type Op = keyof typeof REQUESTS;

/** All of them, in the order of the schema. */
export const OPS = Object.keys(REQUESTS).filter(isOp);

/** Whether the text names an op. */
export function isOp(text: string): text is Op {
  return Object.hasOwn(REQUESTS, text);
}

/** A request of an op, as its validator gives it. */
export type RequestOf<Name extends Op> = z.infer<typeof REQUESTS[Name]>;

/** Any request. */
export type AgentRequest = { readonly [Name in Op]: RequestOf<Name> }[Op];
