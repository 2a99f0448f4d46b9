/**
 * Examples: code blocks in the documentation of a module, which are tests as well.
 *
 * An example is written as somebody who uses the module would write it: `physics.fall(…)`, or the bare name. It is
 * parsed from a text in which all but the example is blank, so that its places are those of the file.
 */
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { SourceFile } from "../source/source_file.ts";
import type * as ast from "../syntax/ast.ts";
import { parse } from "../syntax/parser.ts";
import { wholeDeclaration } from "./declare.ts";
import { ModuleScope } from "./symbols.ts";

/** An example and what it is an example of. */
export interface DocExample {
  readonly name: string;
  readonly span: ast.Block["span"];
  readonly body: ast.Block;
}

/** The examples of a module, and what is wrong with their syntax. */
export interface DocExamples {
  readonly examples: readonly DocExample[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Long enough to stand where the line of a fence stood. */
const OPENING = 'test""{';

/** Finds and parses the examples of a module. */
export function docExamples(module: ast.Module): DocExamples {
  const examples: DocExample[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const declaration of module.declarations) {
    const { documentation } = declaration;
    if (documentation === null || !documentation.text.includes("```")) continue;
    const whole = wholeDeclaration(declaration);
    for (const block of codeBlocks(module.file, documentation.span)) {
      const text = module.file.text.slice(0, block.start).replace(/[^\n]/g, " ") + block.text;
      const parsed = parse(new SourceFile(module.file.path, text));
      diagnostics.push(...parsed.diagnostics.map((diagnostic) => inFile(diagnostic, module.file)));
      const [test] = parsed.module.declarations;
      if (test?.kind !== "test") continue;
      examples.push({ name: nameOf(whole), span: { start: block.start, end: block.end }, body: test.body });
    }
  }
  return { examples, diagnostics };
}

function nameOf(declaration: ast.Declaration | null): string {
  switch (declaration?.kind) {
    case "function":
    case "const":
      return declaration.owner === null
        ? declaration.name.text
        : `${declaration.owner.text}.${declaration.name.text}`;
    case "type":
    case "interface":
      return declaration.name.text;
    default:
      return "documentation";
  }
}

function inFile(diagnostic: Diagnostic, file: SourceFile): Diagnostic {
  return {
    ...diagnostic,
    file,
    labels: diagnostic.labels.map((label) => ({ ...label, file })),
    fixes: diagnostic.fixes.map((fix) => ({ ...fix, edits: fix.edits.map((edit) => ({ ...edit, file })) })),
  };
}

interface CodeBlock {
  readonly start: number;
  readonly end: number;
  /** The block as the body of a test, as long as its lines in the file. */
  readonly text: string;
}

/** Blocks between fences without a language, or with this one's name. */
function codeBlocks(file: SourceFile, span: ast.Block["span"]): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { readonly start: number; readonly isCode: boolean; text: string } | null = null;
  for (let at = span.start; at < span.end;) {
    const newline = file.text.indexOf("\n", at);
    const end = newline < 0 || newline > span.end ? span.end : newline;
    const line = file.text.slice(at, end);
    const content = /^\s*\/\/\/ ?/.exec(line);
    const fence = /^\s*\/\/\/ ?```(\w*)\s*$/.exec(line);
    if (fence !== null && open === null) {
      const isCode = (fence[1] === "" || fence[1] === "lang") && line.length >= OPENING.length;
      open = {
        start: at,
        isCode,
        text: `${OPENING}${" ".repeat(Math.max(line.length - OPENING.length, 0))}\n`,
      };
    } else if (fence !== null && open !== null) {
      if (open.isCode) blocks.push({ start: open.start, end, text: `${open.text}}` });
      open = null;
    } else if (open !== null) {
      const lead = content?.[0].length ?? 0;
      open.text += `${" ".repeat(lead)}${line.slice(lead)}\n`;
    }
    at = end + 1;
  }
  return blocks;
}

/** The module's scope with the module itself among its imports. */
export function exampleScope(scope: ModuleScope): ModuleScope {
  const view = new ModuleScope(scope.name, scope.isLibrary, scope.module, scope.reporter);
  copy(scope.types, view.types);
  copy(scope.variants, view.variants);
  copy(scope.values, view.values);
  copy(scope.members, view.members);
  copy(scope.imports, view.imports);
  for (const name of scope.brokenNames) view.brokenNames.add(name);
  const alias = scope.name.split(".").at(-1) ?? scope.name;
  if (!view.imports.has(alias)) {
    const span = { start: 0, end: 0 };
    view.imports.set(alias, {
      declaration: { kind: "use", span, isPublic: false, documentation: null, path: [], alias: null },
      alias,
      path: scope.name,
      scope,
      isUsed: true,
    });
  }
  return view;
}

function copy<Key, Value>(from: ReadonlyMap<Key, Value>, to: Map<Key, Value>): void {
  for (const [key, value] of from) to.set(key, value);
}
