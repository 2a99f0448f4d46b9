/**
 * What each op does: calls the function of the command that it wraps, and answers what that gives as lines.
 *
 * An operation gives the exit code that the command would have. It writes nothing unless asked, and never while texts
 * are laid over files.
 */
import { explain, renderExplanation } from "../../commands/explain.ts";
import { find } from "../../commands/find.ts";
import { planFix } from "../../commands/fix.ts";
import { fmt } from "../../commands/fmt.ts";
import { inspect } from "../../commands/inspect.ts";
import { type Patch, writePatches } from "../../commands/patch.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { type JsonSpan, spanToJson } from "../../diagnostics/json.ts";
import { unreachable } from "../../../engine/base/assert.ts";
import {
  type AgentPackage,
  type CheckedTexts,
  NO_TEXTS,
  OverlaidFiles,
  type Texts,
} from "./agent_package.ts";
import { type AnswerLines, fixCountOf } from "./answer.ts";
import { overlayOf } from "./package_path.ts";
import { runProgram, runTests } from "./program_operations.ts";
import { type AgentRequest, DEFAULT_COST_GAS, type RequestOf } from "./requests.ts";
import { PROTOCOL_VERSION, protocolSchema } from "./schema.ts";
import { complete, hover, references, rename, symbols } from "./symbol_operations.ts";
import { type AgentEnvironment, AgentFailure, type OpenedPackage } from "./environment.ts";

/** What a session remembers. */
export interface SessionMemory {
  /** What the last check found, of which package, and the texts that were laid over its files. */
  last: {
    readonly package: AgentPackage;
    readonly found: CheckedTexts;
    readonly overlay: Texts;
  } | null;
}

/** What an operation works with. */
export interface Operation {
  readonly environment: AgentEnvironment;
  readonly memory: SessionMemory;
  /** Ends the operation; it then fails with the signal's reason. */
  readonly signal: AbortSignal;
  readonly answer: AnswerLines;
}

/** A package and the texts that a request is about. */
export interface RequestedPackage extends OpenedPackage {
  readonly overlay: Texts;
}

/** Opens the package of a request. */
export function openFor(
  { environment }: Operation,
  request: {
    readonly path?: string | undefined;
    readonly files?: Readonly<Record<string, string>> | undefined;
  },
): RequestedPackage {
  const overlay = overlayOf(request.files);
  const opened = environment.open(request.path);
  const { file } = opened;
  if (file !== null && !overlay.has(file) && opened.package.files.read(file) === undefined) {
    throw new AgentFailure("command", `Cannot open ${opened.path}: there is no such file or folder`);
  }
  return { ...opened, overlay };
}

/** Carries out a request and gives the exit code of the command that it wraps. */
export function carryOut(
  request: Exclude<AgentRequest, { op: "cancel" }>,
  operation: Operation,
): number | Promise<number> {
  switch (request.op) {
    case "check":
      return check(request, operation);
    case "run":
      return runProgram(request, operation);
    case "test":
      return runTests(request, operation);
    case "inspect":
      return inspectPackage(request, operation);
    case "find":
      return findLines(request, operation);
    case "explain":
      return explainCode(request, operation);
    case "fmt":
      return formatSources(request, operation);
    case "fix":
      return fix(request, operation);
    case "symbols":
      return symbols(request, operation);
    case "references":
      return references(request, operation);
    case "rename":
      return rename(request, operation);
    case "hover":
      return hover(request, operation);
    case "complete":
      return complete(request, operation);
    case "schema":
      operation.answer.result("schema", { ok: true }, { schema: protocolSchema() });
      return 0;
    case "version":
      operation.answer.result("version", { ok: true }, {
        agent_protocol: PROTOCOL_VERSION,
        lang_version: operation.environment.langVersion,
      });
      return 0;
    case "halt":
      operation.answer.result("halt", { ok: true }, {});
      return 0;
    default:
      return unreachable(request);
  }
}

/** Whether one of them is an error. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === "error");
}

function check(request: RequestOf<"check">, operation: Operation): number {
  const opened = openFor(operation, request);
  const found = opened.package.check(opened.package.read(opened.overlay));
  operation.memory.last = { package: opened.package, found, overlay: opened.overlay };
  const all = found.checked.diagnostics;
  const diagnostics = opened.file === null ? all : all.filter((each) => each.file.path === opened.file);
  const truncated = operation.answer.envelopes(diagnostics, {
    maximum: request.max_diagnostics,
    withSource: request.include_source,
  });
  const ok = !hasErrors(diagnostics);
  operation.answer.result("check", {
    ok,
    diagnosticsCount: diagnostics.length,
    fixCount: fixCountOf(diagnostics),
  }, { path: opened.path, truncated });
  return ok ? 0 : 1;
}

async function inspectPackage(request: RequestOf<"inspect">, operation: Operation): Promise<number> {
  const opened = openFor(operation, request);
  const workspace = opened.package.workspaceOf(opened.package.read(opened.overlay));
  const { diagnostics, report } = await inspect(workspace, {
    cost: request.cost ?? false,
    gas: request.gas ?? DEFAULT_COST_GAS,
    meter: operation.environment.meter,
    signal: operation.signal,
  });
  const truncated = operation.answer.envelopes(diagnostics, { maximum: request.max_diagnostics });
  operation.answer.result("inspect", {
    ok: report !== null,
    diagnosticsCount: diagnostics.length,
    fixCount: fixCountOf(diagnostics),
  }, { truncated, report: report === null ? null : { ...report } });
  return report === null ? 1 : 0;
}

function findLines(request: RequestOf<"find">, operation: Operation): number {
  const opened = openFor(operation, request);
  const { query, top } = request;
  const { hits, total } = find({ files: new OverlaidFiles(opened.package.files, opened.overlay) }, {
    query,
    ...(top === undefined ? {} : { top }),
    file: opened.file,
  });
  operation.answer.result("find", { ok: true }, {
    hits: hits.map(({ file, line, text }) => ({ file, line, text })),
    total,
    truncated: total - hits.length,
  });
  return 0;
}

function explainCode(request: RequestOf<"explain">, { answer }: Operation): number {
  const explanation = explain(request.code);
  const { code, title, severity, explanation: text, bad } = explanation.page;
  answer.log("stdout", renderExplanation(explanation));
  answer.result("explain", { ok: true }, {
    code,
    title,
    severity,
    explanation: text,
    bad,
    fixed: explanation.fixed.map(({ title, program }) => ({ title, program })),
  });
  return 0;
}

function formatSources(request: RequestOf<"fmt">, operation: Operation): number {
  const opened = openFor(operation, request);
  const isCheck = request.check ?? false;
  if (!isCheck) refuseOverlay(opened, "fmt", "with `check`, the change is answered as patches.");
  const workspace = opened.package.workspaceOf(opened.package.read(opened.overlay));
  const { patches, fileCount } = fmt(workspace, { file: opened.file, check: true });
  if (isCheck) { for (const patch of patches) operation.answer.patch(patch); }
  else writePatches(opened.package.files, patches);
  const ok = !isCheck || patches.length === 0;
  operation.answer.result("fmt", { ok }, {
    files: fileCount,
    changed: patches.map(({ path }) => path),
    written: !isCheck && patches.length > 0,
  });
  return ok ? 0 : 1;
}

/** Refuses to write what was made of texts that are not on disk. */
export function refuseOverlay({ overlay }: RequestedPackage, op: string, hint: string): void {
  if (overlay.size === 0) return;
  throw new AgentFailure("command", `Cannot write what ${op} changes: the request lays texts over files`, {
    hint: `Save them first; ${hint}`,
  });
}

function fix(request: RequestOf<"fix">, operation: Operation): number {
  const { memory, answer } = operation;
  const opened = openFor(operation, request);
  if (request.write === true) {
    refuseOverlay(opened, "fix", "without `write`, the change is answered as patches.");
  }
  const known = opened.overlay.size === 0 && memory.last?.package === opened.package ? memory.last : null;
  if (request.write === true && known !== null) requireOnDisk(opened, known);
  const before = known?.found ?? opened.package.check(opened.package.read(opened.overlay));
  // Texts that are only tried here are no check of the session.
  if (known === null && opened.overlay.size === 0) {
    memory.last = { package: opened.package, found: before, overlay: NO_TEXTS };
  }
  const alternative = request.alternative ?? 0;
  const plan = planFix(before.checked.diagnostics, {
    code: request.code,
    alternative,
    file: opened.file,
    line: request.line ?? null,
  });
  const { patches, fixed, left } = plan;
  const isWritten = request.write === true && patches.length > 0;
  if (isWritten) writePatches(opened.package.files, patches);
  else for (const patch of patches) answer.patch(patch);
  const after = opened.package.check(isWritten ? opened.package.read() : patched(before.texts, patches));
  if (isWritten) memory.last = { package: opened.package, found: after, overlay: NO_TEXTS };
  const maximum = request.max_diagnostics ?? Infinity;
  const gone = without(before.checked.diagnostics, after.checked.diagnostics);
  const came = without(after.checked.diagnostics, before.checked.diagnostics);
  answer.result("fix", {
    ok: fixed.length > 0,
    diagnosticsCount: after.checked.diagnostics.length,
    fixCount: fixed.length,
  }, {
    truncated: Math.max(0, gone.length - maximum) + Math.max(0, came.length - maximum),
    code: request.code.toUpperCase(),
    alternative,
    written: isWritten,
    changed: patches.map(({ path }) => path),
    fixed: fixed.map(({ diagnostic, fix }) => ({ title: fix.title, span: placeOf(diagnostic) })),
    left: left.length,
    gone: gone.slice(0, maximum).map(shortDiagnostic),
    came: came.slice(0, maximum).map(shortDiagnostic),
  });
  return fixed.length > 0 ? 0 : 1;
}

/** Refuses to write by what a check found that read other texts than the files have. */
function requireOnDisk(
  { package: { files } }: RequestedPackage,
  { found: { texts }, overlay }: NonNullable<SessionMemory["last"]>,
): void {
  const path = [...overlay.keys()].find((each) => texts.has(each) && texts.get(each) !== files.read(each));
  if (path === undefined) return;
  throw new AgentFailure(
    "command",
    `Cannot write what fix changes: the last check read another text of ${path} than the file has`,
    { hint: "Save the texts of `files` first, or check again without them." },
  );
}

function patched(texts: Texts, patches: readonly Patch[]): Texts {
  const changed = new Map(texts);
  for (const { path, after } of patches) changed.set(path, after);
  return changed;
}

/** Those of the left that are not on the right, wherever they stand now. */
function without(left: readonly Diagnostic[], right: readonly Diagnostic[]): readonly Diagnostic[] {
  const counts = new Map<string, number>();
  const key = ({ code, file, message }: Diagnostic) => JSON.stringify([code, file.path, message]);
  for (const each of right) counts.set(key(each), (counts.get(key(each)) ?? 0) + 1);
  return left.filter((each) => {
    const count = counts.get(key(each)) ?? 0;
    if (count > 0) counts.set(key(each), count - 1);
    return count === 0;
  });
}

/** A diagnostic's place as JSON has it. */
function placeOf({ file, span }: Diagnostic): JsonSpan {
  return spanToJson(file, span);
}

function shortDiagnostic(diagnostic: Diagnostic) {
  const { code, severity, message } = diagnostic;
  return { code, severity, message, span: placeOf(diagnostic) };
}
