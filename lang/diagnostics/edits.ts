/**
 * Edits put into texts.
 *
 * The edits of one fix do not overlap; those of several fixes may, and then the later fix is left out and told.
 */
import type { Edit, Fix } from "./diagnostic.ts";

/** The text with the edits, which do not overlap and all belong to it. */
export function applyEdits(text: string, edits: readonly Pick<Edit, "span" | "text">[]): string {
  let result = text;
  // From the end, so that offsets before stay true; of two insertions at one place the first stands first.
  const ordered = edits.map((edit, index) => ({ edit, index })).sort((left, right) =>
    right.edit.span.start - left.edit.span.start || right.edit.span.end - left.edit.span.end ||
    right.index - left.index
  );
  for (const { edit } of ordered) {
    result = result.slice(0, edit.span.start) + edit.text + result.slice(edit.span.end);
  }
  return result;
}

/** New texts of the files that the edits touch, by path. */
export function applyToFiles(edits: readonly Edit[]): Map<string, { before: string; after: string }> {
  const byFile = new Map<string, { text: string; edits: Edit[] }>();
  for (const edit of edits) {
    const known = byFile.get(edit.file.path) ?? { text: edit.file.text, edits: [] };
    known.edits.push(edit);
    byFile.set(edit.file.path, known);
  }
  return new Map(
    [...byFile].map(([path, { text, edits }]) => [path, { before: text, after: applyEdits(text, edits) }]),
  );
}

/** Fixes that can be made together: those whose edits meet edits of an earlier one are left out. */
export function compatibleFixes(fixes: readonly Fix[]): { readonly taken: Fix[]; readonly left: Fix[] } {
  const taken: Fix[] = [];
  const left: Fix[] = [];
  for (const fix of fixes) {
    const meets = taken.some((other) =>
      other.edits.some((theirs) => fix.edits.some((ours) => overlap(theirs, ours)))
    );
    (meets ? left : taken).push(fix);
  }
  return { taken, left };
}

function overlap(left: Edit, right: Edit): boolean {
  if (left.file.path !== right.file.path) return false;
  if (left.span.start === right.span.start && left.span.end === right.span.end) {
    return true;
  }
  return left.span.start < right.span.end && right.span.start < left.span.end;
}
