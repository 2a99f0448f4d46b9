/** The declarations of a file, from its syntax tree alone, and which of them a query means. */
import { wholeDeclaration } from "../check/declare.ts";
import { moduleNameOf } from "../check/package_analysis.ts";
import type { SourceFile, Span } from "../source/source_file.ts";
import type * as ast from "../syntax/ast.ts";
import type { SymbolEntry, SymbolKind } from "./symbol_service.ts";

/** The declarations of a module, as they stand; imports are none. */
export function outlineOf({ file, declarations }: ast.Module): SymbolEntry[] {
  return declarations.flatMap((declaration) => {
    const whole = wholeDeclaration(declaration);
    const entry = whole === null ? null : entryOf(file, whole);
    return entry ?? [];
  });
}

interface Parts {
  readonly name: string;
  readonly kind: SymbolKind;
  readonly span: Span;
  readonly nameSpan: Span;
  readonly isPublic: boolean;
  readonly signature: string;
  readonly documentation: ast.Documentation | null;
  readonly children?: readonly SymbolEntry[];
}

function made(file: SourceFile, parts: Parts): SymbolEntry {
  return {
    ...parts,
    file,
    module: moduleNameOf(file.path) ?? file.path.replace(":", "."),
    documentation: parts.documentation?.text.trim() ?? null,
    children: parts.children ?? [],
  };
}

/** The text of a span on one line. */
function oneLine(file: SourceFile, start: number, end: number): string {
  return file.text.slice(start, end).replace(/\/\/[^\n]*/g, "").replace(/\s+/g, " ").trim();
}

function entryOf(file: SourceFile, declaration: ast.Declaration): SymbolEntry | null {
  const { span, isPublic, documentation } = declaration;
  const heading = (end: number) => oneLine(file, span.start, end).replace(/^pub /, "");
  switch (declaration.kind) {
    case "type":
      return made(file, {
        name: declaration.name.text,
        kind: declaration.body.kind === "record" || declaration.body.kind === "union"
          ? declaration.body.kind
          : "type",
        span,
        nameSpan: declaration.name.span,
        isPublic,
        documentation,
        signature: heading(span.end),
        children: partsOf(file, declaration),
      });
    case "interface":
      return made(file, {
        name: declaration.name.text,
        kind: "interface",
        span,
        nameSpan: declaration.name.span,
        isPublic,
        documentation,
        signature: heading(span.end),
        children: declaration.functions.map((each) =>
          made(file, {
            name: each.name.text,
            kind: "method",
            span: each.span,
            nameSpan: each.name.span,
            isPublic,
            documentation: each.documentation,
            signature: oneLine(file, each.span.start, each.span.end),
          })
        ),
      });
    case "const":
      return made(file, {
        name: ownedName(declaration.owner, declaration.name),
        kind: "constant",
        span,
        nameSpan: declaration.name.span,
        isPublic,
        documentation,
        signature: heading(declaration.value.span.start).replace(/\s*=$/, ""),
      });
    case "function":
      return made(file, {
        name: ownedName(declaration.owner, declaration.name),
        kind: declaration.parameters[0]?.name.text === "self" ? "method" : "function",
        span,
        nameSpan: declaration.name.span,
        isPublic,
        documentation,
        signature: heading(declaration.body?.span.start ?? span.end),
      });
    case "test":
    case "property":
    case "eval":
      return made(file, {
        name: declaration.name.value,
        kind: "test",
        span,
        nameSpan: declaration.name.span,
        isPublic: false,
        documentation,
        signature: oneLine(file, span.start, declaration.name.span.end),
      });
    default:
      return null;
  }
}

function ownedName(owner: ast.Name | null, name: ast.Name): string {
  return owner === null ? name.text : `${owner.text}.${name.text}`;
}

function partsOf(file: SourceFile, { body, isPublic }: ast.TypeDeclaration): SymbolEntry[] {
  switch (body.kind) {
    case "record":
      return body.fields.map((field) =>
        made(file, {
          name: field.name.text,
          kind: "field",
          span: field.span,
          nameSpan: field.name.span,
          isPublic,
          documentation: field.documentation,
          signature: oneLine(file, field.span.start, field.span.end),
        })
      );
    case "union":
      return body.variants.map((variant) =>
        made(file, {
          name: variant.name.text,
          kind: "variant",
          span: variant.span,
          nameSpan: variant.name.span,
          isPublic,
          documentation: variant.documentation,
          signature: oneLine(file, variant.span.start, variant.span.end),
        })
      );
    default:
      return [];
  }
}

/** How well a name fits a query: less is better; null when it does not. */
export function fitOf(name: string, query: string): number | null {
  const own = name.toLowerCase();
  const wanted = query.toLowerCase();
  if (own === wanted) return 0;
  if (own.startsWith(wanted)) return 1;
  const at = own.indexOf(wanted);
  if (at >= 0) return /[._ ]/.test(own[at - 1] ?? "") ? 2 : 3;
  let from = 0;
  for (const letter of wanted) {
    const found = own.indexOf(letter, from);
    if (found < 0) return null;
    from = found + letter.length;
  }
  return 4;
}
