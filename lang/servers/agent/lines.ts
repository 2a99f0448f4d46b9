/**
 * The lines that `lang agent` answers, each as a validator that also describes itself.
 *
 * An answer is any number of `log`, `envelope` and `patch` lines, then one `result` or `error`, then `done`. Nothing
 * in them depends on clock, process id, absolute path or the order of a hash table.
 */
import * as z from "zod";
import { type Op, OPS, REQUEST_ID } from "./requests.ts";

const ID = { id: REQUEST_ID.optional().describe("the request's id") };

const SPAN = z.object({
  file: z.string(),
  line: z.int(),
  column: z.int(),
  length: z.int(),
  byte_start: z.int(),
  byte_end: z.int(),
}).describe(
  "a place: lines and columns from 1, columns and length in code points, offsets in bytes of UTF-8",
);

const SEVERITY = z.enum(["error", "warning", "info"]);

const ENVELOPE = {
  code: z.string().describe("two letters and four digits; explain says what it means"),
  severity: SEVERITY,
  title: z.string(),
  message: z.string(),
  span: SPAN,
  labels: z.array(z.object({ span: SPAN, message: z.string() })),
  hint: z.string().optional(),
  expected: z.string().optional(),
  actual: z.string().optional(),
  fixes: z.array(z.object({
    index: z.int().describe("what fix takes as alternative"),
    title: z.string(),
    applicability: z.enum(["safe", "maybe", "placeholder"]),
    edits: z.array(z.object({ span: SPAN, text: z.string() })),
  })),
  see_also: z.array(z.string()),
};

/** Codes of `error` lines. */
export const ERROR_CODES = [
  "bad_json",
  "bad_request",
  "unknown_op",
  "too_large",
  "unsupported_transport",
  "outside_package",
  "command",
  "canceled",
  "busy",
  "unauthorized",
  "forbidden",
  "not_found",
  "method_not_allowed",
  "timeout",
  "internal",
] as const;

/** What kind of failure an `error` line tells. */
export type ErrorCode = typeof ERROR_CODES[number];

const PLACED = z.object({ span: SPAN });

const SHORT_DIAGNOSTIC = z.object({ code: z.string(), severity: SEVERITY, message: z.string(), span: SPAN });

const TRAP = z.looseObject({
  kind: z.string().describe("timeout, gas and output are the request's limits"),
  message: z.string(),
}).describe("why the program was stopped, and where");

const SYMBOL: z.ZodType = z.lazy(() =>
  z.object({
    name: z.string(),
    kind: z.string(),
    signature: z.string(),
    documentation: z.string().nullable(),
    module: z.string(),
    public: z.boolean(),
    span: SPAN,
    children: z.array(SYMBOL),
  })
).meta({ id: "symbol" });

const REPORTED = {
  truncated: z.int().describe("how many diagnostics max_diagnostics left out"),
};

/** Fields of `result` lines beside those that all have. */
const RESULT_FIELDS = {
  check: { path: z.string(), ...REPORTED },
  run: {
    ...REPORTED,
    has_run: z.boolean(),
    exit_code: z.int(),
    trap: TRAP.nullable(),
  },
  test: {
    ...REPORTED,
    passed: z.int(),
    failed: z.int(),
    tests: z.array(z.looseObject({ name: z.string(), isPassed: z.boolean() })),
    updated: z.array(z.string()).describe("sources with new snapshots"),
  },
  inspect: {
    ...REPORTED,
    report: z.looseObject({ name: z.string() }).nullable(),
  },
  find: {
    hits: z.array(z.object({ file: z.string(), line: z.int(), text: z.string() })),
    total: z.int(),
    truncated: z.int().describe("how many hits top left out"),
  },
  explain: {
    code: z.string(),
    title: z.string(),
    severity: SEVERITY,
    explanation: z.string(),
    bad: z.string().describe("a program that raises it"),
    fixed: z.array(z.object({ title: z.string(), program: z.string() })),
  },
  fmt: { files: z.int(), changed: z.array(z.string()), written: z.boolean() },
  fix: {
    ...REPORTED,
    code: z.string(),
    alternative: z.int(),
    written: z.boolean(),
    changed: z.array(z.string()).describe("files that changed, or would"),
    fixed: z.array(z.object({ title: z.string(), span: SPAN })),
    left: z.int().describe("diagnostics of the code that stay"),
    gone: z.array(SHORT_DIAGNOSTIC).describe("diagnostics that the fix takes away"),
    came: z.array(SHORT_DIAGNOSTIC).describe("diagnostics that it brings"),
  },
  symbols: { symbols: z.array(SYMBOL), total: z.int(), truncated: z.int() },
  references: {
    name: z.string().nullable(),
    symbol_kind: z.string().nullable(),
    references: z.array(z.object({ ...PLACED.shape, definition: z.boolean(), write: z.boolean() })),
  },
  rename: {
    written: z.boolean(),
    changed: z.array(z.string()),
    reason: z.string().nullable().describe("why it cannot be renamed"),
  },
  hover: {
    hover: z.object({
      span: SPAN,
      name: z.string(),
      kind: z.string(),
      signature: z.string(),
      type: z.string().nullable(),
      effects: z.array(z.string()).nullable(),
      documentation: z.string().nullable(),
      module: z.string().nullable(),
      definition: SPAN.nullable(),
    }).nullable(),
  },
  complete: {
    span: SPAN.nullable(),
    items: z.array(z.object({
      label: z.string(),
      kind: z.string(),
      detail: z.string(),
      documentation: z.string().nullable(),
      text: z.string(),
      snippet: z.boolean(),
      edits: z.array(z.object({ span: SPAN, text: z.string() })),
    })),
    total: z.int(),
    truncated: z.int(),
  },
  cancel: { canceled: z.boolean().describe("whether there was such a request") },
  schema: { schema: z.looseObject({}) },
  version: { agent_protocol: z.string(), lang_version: z.string() },
  halt: {},
} satisfies Readonly<Record<Op, z.core.$ZodLooseShape>>;

function resultOf<Name extends Op, Fields extends z.core.$ZodLooseShape>(op: Name, fields: Fields) {
  return z.object({
    kind: z.literal("result"),
    ...ID,
    op: z.literal(op),
    ok: z.boolean(),
    diagnostics_count: z.int(),
    fix_count: z.int(),
    ...fields,
    ignored: z.array(z.string()).optional().describe("fields of the request that mean nothing"),
  });
}

/** Validators of `result` lines by op. */
export const RESULTS: Readonly<Record<Op, z.ZodObject>> = {
  check: resultOf("check", RESULT_FIELDS.check),
  run: resultOf("run", RESULT_FIELDS.run),
  test: resultOf("test", RESULT_FIELDS.test),
  inspect: resultOf("inspect", RESULT_FIELDS.inspect),
  find: resultOf("find", RESULT_FIELDS.find),
  explain: resultOf("explain", RESULT_FIELDS.explain),
  fmt: resultOf("fmt", RESULT_FIELDS.fmt),
  fix: resultOf("fix", RESULT_FIELDS.fix),
  symbols: resultOf("symbols", RESULT_FIELDS.symbols),
  references: resultOf("references", RESULT_FIELDS.references),
  rename: resultOf("rename", RESULT_FIELDS.rename),
  hover: resultOf("hover", RESULT_FIELDS.hover),
  complete: resultOf("complete", RESULT_FIELDS.complete),
  cancel: resultOf("cancel", RESULT_FIELDS.cancel),
  schema: resultOf("schema", RESULT_FIELDS.schema),
  version: resultOf("version", RESULT_FIELDS.version),
  halt: resultOf("halt", RESULT_FIELDS.halt),
};

/** What the result of an op says beside `ok` and the counts. */
export type ResultFields = {
  readonly [Name in Op]: {
    readonly [Field in keyof typeof RESULT_FIELDS[Name]]: typeof RESULT_FIELDS[Name][Field] extends z.ZodType
      ? z.infer<typeof RESULT_FIELDS[Name][Field]>
      : never;
  };
};

/** Validators of the lines by kind. */
export const LINES = {
  log: z.object({
    kind: z.literal("log"),
    ...ID,
    stream: z.enum(["stdout", "stderr"]),
    text: z.string(),
  }).describe("what the command wrote"),
  envelope: z.object({
    kind: z.literal("envelope"),
    ...ID,
    ...ENVELOPE,
    source: z.string().optional().describe("the lines of its place, with include_source"),
  }).describe("one diagnostic, as lang check --format json prints it"),
  patch: z.object({
    kind: z.literal("patch"),
    ...ID,
    path: z.string(),
    sha256: z.string().describe("SHA-256 of the file that the change was made for, in hexadecimal digits"),
    diff: z.string().describe("the change in the unified format"),
  }).describe("a change that was not written"),
  result: z.discriminatedUnion("op", [
    RESULTS.check,
    ...OPS.filter((op) => op !== "check").map((op) => RESULTS[op]),
  ]).describe("the summary"),
  error: z.object({
    kind: z.literal("error"),
    ...ID,
    message: z.string(),
    code: z.enum(ERROR_CODES),
    hint: z.string().optional(),
  }).describe("why the request could not be taken or carried out"),
  done: z.object({ kind: z.literal("done"), ...ID, exit_code: z.int().min(0).max(255) }).describe(
    "the end of the answer",
  ),
} as const;

/** What kinds of lines there are. */
export type LineKind = keyof typeof LINES;
