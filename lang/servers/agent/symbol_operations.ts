/** Look-ups of symbols: declarations, uses, renaming, what stands at a place and what could stand there. */
import { applyToFiles } from "../../diagnostics/edits.ts";
import { spanToJson } from "../../diagnostics/json.ts";
import type { Location } from "../../diagnostics/diagnostic.ts";
import { makePatch, writePatches } from "../../commands/patch.ts";
import { offsetAt } from "../../ide/place.ts";
import type { SymbolEntry, SymbolPosition, SymbolService } from "../../ide/symbol_service.ts";
import { openFor, type Operation, refuseOverlay, type RequestedPackage } from "./operations.ts";
import type { RequestOf } from "./requests.ts";
import { AgentFailure } from "./environment.ts";

/** Declarations that are answered when nobody says how many. */
const DEFAULT_SYMBOLS = 1_000;
/** Completions that are answered when nobody says how many. */
const DEFAULT_ITEMS = 100;

interface Opened extends RequestedPackage {
  readonly service: SymbolService;
}

/** What requests about a place have in common. */
interface PlaceRequest {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

function openSymbols(operation: Operation, request: Parameters<typeof openFor>[1]): Opened {
  const opened = openFor(operation, request);
  return { ...opened, service: opened.package.symbolsOf(opened.package.read(opened.overlay)) };
}

/** Where a request points to. */
function placeOf(opened: Opened, { path, line, column }: PlaceRequest): SymbolPosition {
  const file = opened.file === null ? undefined : opened.service.files.get(opened.file);
  if (file === undefined || opened.file === null) {
    throw new AgentFailure("command", `Cannot look into ${path}: it is no source of the package`, {
      hint: "`path` names a file: src/main.lang.",
    });
  }
  const offset = offsetAt(file, line, column);
  if (offset !== null) return { path: opened.file, offset };
  throw new AgentFailure(
    "command",
    `Cannot look at line ${line}, column ${column}: ${path} has no such place`,
    {
      hint: "Lines and columns count from 1, columns in code points.",
    },
  );
}

function spanOf({ file, span }: Location) {
  return spanToJson(file, span);
}

function symbolToJson(entry: SymbolEntry): object {
  return {
    name: entry.name,
    kind: entry.kind,
    signature: entry.signature,
    documentation: entry.documentation,
    module: entry.module,
    public: entry.isPublic,
    span: spanToJson(entry.file, entry.nameSpan),
    children: entry.children.map(symbolToJson),
  };
}

/** `symbols`. */
export function symbols(request: RequestOf<"symbols">, operation: Operation): number {
  const { service, file } = openSymbols(operation, request);
  const { query, top = DEFAULT_SYMBOLS } = request;
  const found = service.symbols({
    ...(file === null ? {} : { path: file }),
    ...(query === undefined ? {} : { query }),
  });
  const shown = found.slice(0, top);
  operation.answer.result("symbols", { ok: true }, {
    symbols: shown.map(symbolToJson),
    total: found.length,
    truncated: found.length - shown.length,
  });
  return 0;
}

/** `references`. */
export function references(request: RequestOf<"references">, operation: Operation): number {
  const opened = openSymbols(operation, request);
  const found = opened.service.references(placeOf(opened, request));
  operation.answer.result("references", { ok: found !== null }, {
    name: found?.name ?? null,
    symbol_kind: found?.kind ?? null,
    references: (found?.references ?? []).map((each) => ({
      span: spanOf(each),
      definition: each.isDefinition,
      write: each.isWrite,
    })),
  });
  return found === null ? 1 : 0;
}

/** `rename`. */
export function rename(request: RequestOf<"rename">, operation: Operation): number {
  const opened = openSymbols(operation, request);
  const { answer } = operation;
  if (request.write === true) {
    refuseOverlay(opened, "rename", "without `write`, the change is answered as patches.");
  }
  const outcome = opened.service.rename(placeOf(opened, request), request.new_name);
  if (outcome.kind === "refused") {
    const { reason, hint } = outcome;
    answer.result("rename", { ok: false }, {
      written: false,
      changed: [],
      reason: hint === null ? reason : `${reason}; ${hint}`,
    });
    return 1;
  }
  const patches = [...applyToFiles(outcome.edits)].map(([path, { before, after }]) =>
    makePatch(path, before, after)
  );
  const isWritten = request.write === true && patches.length > 0;
  if (isWritten) writePatches(opened.package.files, patches);
  else for (const patch of patches) answer.patch(patch);
  answer.result("rename", { ok: true, fixCount: outcome.edits.length }, {
    written: isWritten,
    changed: patches.map(({ path }) => path),
    reason: null,
  });
  return 0;
}

/** `hover`. */
export function hover(request: RequestOf<"hover">, operation: Operation): number {
  const opened = openSymbols(operation, request);
  const place = placeOf(opened, request);
  const known = opened.service.hover(place);
  const file = opened.service.files.get(place.path);
  operation.answer.result("hover", { ok: known !== null }, {
    hover: known === null || file === undefined ? null : {
      span: spanToJson(file, known.span),
      name: known.name,
      kind: known.kind,
      signature: known.signature,
      type: known.type,
      effects: known.effects === null ? null : [...known.effects],
      documentation: known.documentation,
      module: known.module,
      definition: known.definition === null ? null : spanOf(known.definition),
    },
  });
  return known === null ? 1 : 0;
}

/** `complete`. */
export function complete(request: RequestOf<"complete">, operation: Operation): number {
  const opened = openSymbols(operation, request);
  const place = placeOf(opened, request);
  const { span, items } = opened.service.complete(place);
  const file = opened.service.files.get(place.path);
  const shown = items.slice(0, request.top ?? DEFAULT_ITEMS);
  operation.answer.result("complete", { ok: true }, {
    span: file === undefined ? null : spanToJson(file, span),
    items: shown.map((item) => ({
      label: item.label,
      kind: item.kind,
      detail: item.detail,
      documentation: item.documentation,
      text: item.text,
      snippet: item.isSnippet,
      edits: item.edits.map((edit) => ({ span: spanOf(edit), text: edit.text })),
    })),
    total: items.length,
    truncated: items.length - shown.length,
  });
  return 0;
}
