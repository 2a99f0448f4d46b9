/** What the grammar allows and yet is an error: forms that belong to the library, and documentation of nothing. */
import { codePage } from "../diagnostics/codes/registry.ts";
import type { Diagnostic, Fix } from "../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../source/source_file.ts";
import type { Declaration } from "./ast.ts";
import type { Comment, Token } from "./token.ts";

/** Diagnostics of the declarations and comments of a file. */
export function usageDiagnostics(
  file: SourceFile,
  declarations: readonly Declaration[],
  tokens: readonly Token[],
  comments: readonly Comment[],
): Diagnostic[] {
  return [
    ...isOfLibrary(file) ? [] : declarations.flatMap((declaration) => libraryForm(file, declaration)),
    ...documentationOfNothing(file, declarations, tokens, comments),
  ];
}

/** Paths of the library begin with its name and a colon, such as `std:list`. */
function isOfLibrary(file: SourceFile): boolean {
  return /^[a-z]+:/.test(file.path);
}

function libraryForm(file: SourceFile, declaration: Declaration): Diagnostic[] {
  const form = declaration.kind === "type" && declaration.body.kind === "builtin"
    ? "builtin"
    : declaration.kind === "function" &&
        (declaration.linkage.kind === "intrinsic" || declaration.linkage.kind === "extern")
    ? declaration.linkage.kind
    : null;
  if (form === null) return [];
  return [diagnosticOf(file, "SY0055", declaration.span, `Only the library may write \`${form}\`.`, [])];
}

/** `///` above nothing that can have documentation. */
function documentationOfNothing(
  file: SourceFile,
  declarations: readonly Declaration[],
  tokens: readonly Token[],
  comments: readonly Comment[],
): Diagnostic[] {
  const broken = declarations.filter((declaration) => declaration.kind === "broken").map(({ span }) => span);
  const candidates = comments.filter((comment) =>
    comment.isDocumentation && !broken.some((span) => span.start < comment.start && comment.end <= span.end)
  );
  if (candidates.length === 0) return [];
  const used = new Set<number>();
  for (const declaration of declarations) collect(declaration, used);
  // Whole groups of lines are attached to the token behind them.
  const groups: Span[] = [];
  for (const comment of candidates) {
    const isAttached = comment.isFirstOfLine && isWithin(used, tokens, comment);
    if (!isAttached) groups.push(comment);
  }
  return groups.map((comment) =>
    diagnosticOf(
      file,
      "SY0056",
      comment,
      "This documentation comment is not followed by a declaration, field or variant.",
      [{
        title: "make it a plain comment",
        applicability: "safe",
        edits: [{ file, span: { start: comment.start, end: comment.start + 3 }, text: "//" }],
      }],
    )
  );
}

function collect(declaration: Declaration, used: Set<number>): void {
  const add = (node: { readonly documentation: { readonly span: Span } | null }) => {
    if (node.documentation !== null) used.add(node.documentation.span.start);
  };
  add(declaration);
  if (declaration.kind === "broken" && declaration.repaired !== null) collect(declaration.repaired, used);
  if (declaration.kind === "interface") declaration.functions.forEach(add);
  if (declaration.kind !== "type") return;
  if (declaration.body.kind === "record") declaration.body.fields.forEach(add);
  if (declaration.body.kind === "union") declaration.body.variants.forEach(add);
}

/** Whether the documentation that a comment is part of was taken by a node. */
function isWithin(used: ReadonlySet<number>, tokens: readonly Token[], comment: Comment): boolean {
  let low = 0;
  let high = tokens.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tokens[middle]?.start ?? 0) < comment.start) low = middle + 1;
    else high = middle;
  }
  const documentation = tokens[low]?.documentation;
  return documentation !== null && documentation !== undefined && used.has(documentation.span.start);
}

function diagnosticOf(
  file: SourceFile,
  code: string,
  span: Span,
  message: string,
  fixes: readonly Fix[],
): Diagnostic {
  const { severity, title } = codePage(code);
  return {
    code,
    severity,
    title,
    message,
    file,
    span: { start: span.start, end: span.end },
    labels: [],
    fixes,
    seeAlso: [],
  };
}
