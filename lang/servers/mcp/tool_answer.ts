/**
 * From the lines of an agent's answer to what a tool gives: one object for programs, with a schema made of the
 * validators of the lines, and a text.
 *
 * A request that could not be carried out is an error of the tool. A package with errors, or a test that fails, is
 * none: the tool did what it is for, and `ok` says what it found.
 */
import * as z from "zod";
import { LANG_LIMITS } from "../../limits.ts";
import { LINES, type ResultFields, RESULTS } from "../agent/lines.ts";
import { type AnsweredDiagnostic, type AnsweredPatch, type AnswerParts, toolText } from "./tool_text.ts";
import type { ToolOp } from "./tools.ts";

/** Which lines the answer to an op may have beside its result. */
const PARTS: Readonly<
  Record<ToolOp, { readonly diagnostics?: true; readonly patches?: true; readonly output?: true }>
> = {
  check: { diagnostics: true },
  fix: { patches: true },
  explain: {},
  test: { diagnostics: true, output: true },
  run: { diagnostics: true, output: true },
  inspect: { diagnostics: true },
  find: {},
  fmt: { patches: true },
  symbols: {},
  references: {},
  rename: { patches: true },
  hover: {},
  complete: {},
};

const made = new Map<ToolOp, z.ZodObject>();

/** The validator of what a tool gives. */
export function outputOf(op: ToolOp): z.ZodObject {
  let schema = made.get(op);
  if (schema === undefined) {
    const { diagnostics, patches, output } = PARTS[op];
    schema = RESULTS[op].omit({ kind: true, id: true, op: true }).extend({
      ...(diagnostics ? { diagnostics: z.array(LINES.envelope.omit({ kind: true, id: true })) } : {}),
      ...(patches
        ? {
          patches: z.array(LINES.patch.omit({ kind: true, id: true })).describe(
            "changes that were not written",
          ),
        }
        : {}),
      ...(output
        ? {
          stdout: z.string().describe(
            "what the program wrote to its standard output; of tests, their report",
          ),
          stderr: z.string().describe("what it wrote to its standard error"),
        }
        : {}),
    });
    made.set(op, schema);
  }
  return schema;
}

/** What a tool gives. */
export interface ToolAnswer {
  readonly text: string;
  /** Null when the request could not be carried out. */
  readonly value: Readonly<Record<string, unknown>> | null;
}

/** The summary, as far as it is the same for all ops. */
interface ResultLine {
  readonly kind: "result";
  readonly id?: unknown;
  readonly ok: boolean;
}

type Line = z.infer<typeof LINES["log" | "envelope" | "patch" | "error" | "done"]> | ResultLine;

/** Makes a tool's answer of the lines of an agent's. */
export function toolAnswer<Name extends ToolOp>(op: Name, lines: readonly string[]): ToolAnswer {
  const diagnostics: AnsweredDiagnostic[] = [];
  const patches: AnsweredPatch[] = [];
  const output = { stdout: "", stderr: "" };
  let result: Readonly<Record<string, unknown>> & { readonly ok: boolean } = { ok: false };
  for (const text of lines) {
    const line = decoded(text);
    switch (line.kind) {
      case "error":
        return {
          text: line.hint === undefined ? line.message : `${line.message}\n${line.hint}`,
          value: null,
        };
      case "log":
        output[line.stream] += line.text;
        break;
      case "envelope":
        diagnostics.push(withoutFrame(line));
        break;
      case "patch":
        patches.push(withoutFrame(line));
        break;
      case "result":
        result = withoutFrame(line);
        break;
      case "done":
    }
  }
  const { op: _op, ...fields }: Readonly<Record<string, unknown>> = result;
  const has = PARTS[op];
  const value = {
    ...fields,
    ...(has.diagnostics ? { diagnostics } : {}),
    ...(has.patches ? { patches } : {}),
    ...(has.output ? output : {}),
  };
  const parts: AnswerParts = { ok: result.ok, diagnostics, patches, ...output };
  return { text: shortened(toolText(op, resultFields<Name>(fields), parts)), value };
}

/** A line that this program made; tests hold them against the validators. */
function decoded(line: string): Line {
  return JSON.parse(line) as Line;
}

/** The same of the fields of a result. */
function resultFields<Name extends ToolOp>(fields: unknown): ResultFields[Name] {
  return fields as ResultFields[Name];
}

function withoutFrame<Framed extends { readonly kind: string; readonly id?: unknown }>(
  { kind: _kind, id: _id, ...rest }: Framed,
): Omit<Framed, "kind" | "id"> {
  return rest;
}

function shortened(text: string): string {
  if (text.length <= LANG_LIMITS.mcpTextLength) return text;
  return `${text.slice(0, LANG_LIMITS.mcpTextLength)}\n… and ${
    text.length - LANG_LIMITS.mcpTextLength
  } characters more; ask for less, by \`path\`, \`filter\`, \`top\` or \`max_diagnostics\`\n`;
}
