/**
 * Renaming: the edits that give a thing another name everywhere, tried before they are handed out.
 *
 * The package is analyzed as the edits would leave it. They are refused when that brings an error that was not
 * there, or when the new name is meant somewhere else than where it was put, as when it hides another variable.
 */
import { isEntryPoint } from "../check/module_body.ts";
import type { Diagnostic, Edit } from "../diagnostics/diagnostic.ts";
import { applyEdits } from "../diagnostics/edits.ts";
import { KEYWORDS } from "../syntax/token.ts";
import { TextMap } from "./repaired_text.ts";
import type { Occurrence } from "./name_index.ts";
import type { PackageView } from "./package_view.ts";
import type { RenameOutcome, RenameTarget, SymbolPosition } from "./symbol_service.ts";
import { isOfLibrary, type Target, targetKey, targetKind, targetName } from "./targets.ts";
import type { Trials } from "./trial.ts";

type Refusal = Extract<RenameOutcome, { kind: "refused" }>;

function refused(reason: string, hint: string | null = null): Refusal {
  return { kind: "refused", reason, hint };
}

/** Methods that the language calls by their names. */
const CALLED_BY_NAME: ReadonlySet<string> = new Set([
  "equals",
  "compare",
  "hash",
  "show",
  "next",
  "iterator",
]);

/** Why a target keeps its name; null when it may have another. */
function keptName(view: PackageView, target: Target): Refusal | null {
  const name = targetName(target) ?? "";
  if (isOfLibrary(view.graph, target)) {
    return refused(`Cannot rename \`${name}\`: it belongs to the library`);
  }
  switch (target.kind) {
    case "module":
      return refused(
        `Cannot rename the module \`${target.path}\`: a module has the name of its file`,
        "Rename the file, and its `use` in other modules; or give it another name here: `use … as …`.",
      );
    case "interface-function":
      return refused(
        `Cannot rename \`${name}\`: types fit an interface by the names of its functions`,
      );
    case "parameter":
    case "local":
      return name === "self" ? refused("Cannot rename `self`: it marks the receiver of a method") : null;
    case "value": {
      const { symbol } = target;
      if (symbol.kind === "constant") return null;
      if (isEntryPoint(symbol)) return refused(`Cannot rename \`${name}\`: the host calls it by its name`);
      const isFitting =
        [...view.graph.scopes.values()].some((scope) =>
          scope.fittings.some((each) => each.function === symbol)
        ) || symbol.owner !== null && CALLED_BY_NAME.has(name);
      return isFitting
        ? refused(`Cannot rename \`${symbol.displayName}\`: its type fits an interface by this name`)
        : null;
    }
    default:
      return null;
  }
}

interface Found {
  readonly target: Target;
  readonly occurrence: Occurrence;
}

function foundAt(view: PackageView, { path, offset }: SymbolPosition): Found | Refusal {
  const file = view.files.get(path);
  const index = view.index(path);
  if (file === undefined || index === null) {
    return refused(`Cannot rename anything in ${path}: it is no source of the package`);
  }
  const found = index.at(file.forward(offset));
  // Of a field that is named by itself, the variable is meant.
  const occurrence = found.find(({ target }) => target.kind === "local") ?? found[0];
  if (occurrence === undefined) return refused("Cannot rename: there is no name at this position");
  return keptName(view, occurrence.target) ?? { target: occurrence.target, occurrence };
}

/** Whether something can be renamed at a place. */
export function renameTarget(view: PackageView, place: SymbolPosition): RenameTarget {
  const found = foundAt(view, place);
  if ("kind" in found) return found;
  const span = view.files.get(place.path)?.spanBack(found.occurrence.span) ?? null;
  if (span === null) return refused("Cannot rename: there is no name at this position");
  return { kind: "name", span, name: targetName(found.target) ?? "" };
}

function unfitName(target: Target, name: string): Refusal | null {
  const isCapital = ["record", "union", "type", "interface", "variant", "type_parameter"].includes(
    targetKind(target),
  );
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    return refused(`Cannot use \`${name}\` as a name: names are letters, digits and \`_\``);
  }
  if (KEYWORDS.includes(name) || /^(panic|expect|expect_snapshot|self)$/.test(name)) {
    return refused(`Cannot use \`${name}\` as a name: it is a word of the language`);
  }
  if (isCapital !== /^_?[A-Z]/.test(name)) {
    return isCapital
      ? refused(`Cannot use \`${name}\` here: types and variants begin with a capital letter`)
      : refused(`Cannot use \`${name}\` here: only types and variants begin with a capital letter`);
  }
  return null;
}

interface Change {
  readonly edit: { readonly span: Occurrence["span"]; readonly text: string };
  /** How far into the new text the name itself begins. */
  readonly lead: number;
}

function changeOf({ span, target, isShorthand }: Occurrence, old: string, name: string): Change {
  if (!isShorthand) return { edit: { span, text: name }, lead: 0 };
  return target.kind === "field"
    ? { edit: { span, text: `${name}: ${old}` }, lead: 0 }
    : { edit: { span, text: `${old}: ${name}` }, lead: old.length + 2 };
}

/** The edits that rename what stands at a place. */
export function rename(
  view: PackageView,
  trials: Trials,
  place: SymbolPosition,
  name: string,
): RenameOutcome {
  const found = foundAt(view, place);
  if ("kind" in found) return found;
  const { target } = found;
  const old = targetName(target) ?? "";
  const unfit = unfitName(target, name);
  if (unfit !== null) return unfit;
  if (old === name) return { kind: "edits", name: old, edits: [] };
  for (const [path, file] of view.files) {
    if (file.isBroken) {
      return refused(
        `Cannot rename \`${old}\`: ${path} has syntax errors that hide its names`,
        "Fix them first.",
      );
    }
  }
  const key = targetKey(target);
  const edits: Edit[] = [];
  const texts = new Map<string, string>();
  const wanted = new Set<string>();
  let anchor: { readonly path: string; readonly offset: number } | null = null;
  for (const [path, file] of view.files) {
    const text = file.repaired.module.file.text;
    const changes = (view.index(path)?.of(key) ?? []).map((each) => changeOf(each, old, name));
    const map = new TextMap(changes.map(({ edit }) => edit));
    texts.set(path, applyEdits(text, changes.map(({ edit }) => edit)));
    for (const { edit, lead } of changes) {
      const offset = map.forward(edit.span.start) + lead;
      wanted.add(`${path} ${offset}`);
      anchor ??= { path, offset };
      const span = file.spanBack(edit.span);
      if (span !== null) edits.push({ file: file.original, span, text: edit.text });
    }
  }
  if (anchor === null) return refused(`Cannot rename \`${old}\`: nothing refers to it`);
  const before = errorCounts(view.diagnostics);
  const tried = trials.with(texts);
  const added = tried.diagnostics.find((each) =>
    each.severity === "error" && take(before, `${each.file.path} ${each.code}`)
  );
  if (added !== undefined) {
    return refused(
      `Cannot rename \`${old}\` to \`${name}\`: ${lowerFirst(added.message)}`,
      added.hint ?? null,
    );
  }
  const now = tried.index(anchor.path)?.at(anchor.offset).find((each) => each.span.start === anchor.offset);
  const nowKey = now === undefined ? "" : targetKey(now.target);
  const meant = new Set(
    [...texts.keys()].flatMap((path) =>
      (tried.index(path)?.of(nowKey) ?? []).map((each) => `${path} ${each.span.start}`)
    ),
  );
  if (meant.size !== wanted.size || [...meant].some((each) => !wanted.has(each))) {
    return refused(
      `Cannot rename \`${old}\` to \`${name}\`: the name means something else where it would be used`,
      "Take a name that is free.",
    );
  }
  return { kind: "edits", name: old, edits };
}

function errorCounts(diagnostics: readonly Diagnostic[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { severity, file, code } of diagnostics) {
    if (severity !== "error") continue;
    const key = `${file.path} ${code}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** Whether there is one more of it than there was. */
function take(counts: Map<string, number>, key: string): boolean {
  const left = counts.get(key) ?? 0;
  counts.set(key, left - 1);
  return left <= 0;
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`.replace(/\.$/, "");
}
