/**
 * The reference of the library, as Markdown: what each module exports, with its documentation, from the sources alone.
 */
import { parse } from "../syntax/parser.ts";
import type { Declaration } from "../syntax/ast.ts";
import { LIBRARY_MODULES, type LibraryModule } from "./library.ts";

const HEAD = `# The library

What every program can use, from the documentation of the modules; \`deno run -A tools/library_reference.ts\` writes this page anew. The first modules need no \`use\`;
the others are brought in by the name that stands here: \`use std.math\`. Examples are run as tests.
`;

/** The whole page. */
export function libraryReference(): string {
  return [HEAD, ...LIBRARY_MODULES.filter((module) => !module.isInternal).map(libraryModuleReference)].join(
    "\n",
  );
}

/** One module: what it exports, with its documentation. */
export function libraryModuleReference(module: LibraryModule): string {
  const lines = [`## ${module.name}`, "", ...introduction(module.file.text)];
  for (const declaration of parse(module.file).module.declarations) {
    if (!declaration.isPublic) continue;
    const signature = signatureOf(declaration, module.file.text);
    if (signature === null) continue;
    lines.push("", "```lang", signature, "```");
    const { documentation } = declaration;
    if (documentation !== null) {
      lines.push("", ...documentation.text.trimEnd().split("\n").map(fencedAsLang()));
    }
  }
  return `${lines.join("\n")}\n`;
}

/** The lines at the start of a module, up to the bars and dashes of its own tables. */
function introduction(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    if (!line.startsWith("//!")) break;
    lines.push(line.slice(3).trim());
  }
  return lines;
}

/** Examples have no language in the comments. */
function fencedAsLang(): (line: string) => string {
  let isOpen = false;
  return (line) => {
    if (line !== "```") return line;
    isOpen = !isOpen;
    return isOpen ? "```lang" : line;
  };
}

/** A declaration without its body and without \`pub\`; null for what is no export. */
function signatureOf(declaration: Declaration, text: string): string | null {
  const { start, end } = declaration.span;
  const written = text.slice(start, end).replace(/^pub /, "");
  switch (declaration.kind) {
    case "function": {
      const body = declaration.body;
      const whole = body === null ? written : written.slice(0, body.span.start - end).trimEnd();
      return whole.replace(/^intrinsic /, "");
    }
    case "const":
      return written.slice(0, declaration.value.span.start - end).replace(/\s*=\s*$/, "");
    case "type":
      return declaration.body.kind === "builtin" ? written.replace(/ = builtin$/, "") : written;
    case "interface":
      return written;
    default:
      return null;
  }
}
