/**
 * Modules of the library, parsed as far as they are needed: declarations at once, bodies of functions when somebody
 * asks for them, tests apart.
 *
 * A program uses little of the library, and its text is larger than most programs. This rests on how the library is
 * formatted: a body that takes several lines begins with `{` at the end of a line and ends with a `}` that stands
 * alone at the start of one. Bodies are blanked out with spaces before the module is parsed, and everything but a
 * body when the body is, so that places stay what they are.
 */
import { SourceFile } from "../source/source_file.ts";
import type * as ast from "../syntax/ast.ts";
import { parse } from "../syntax/parser.ts";

/** The declarations of a module without its tests, and the tests. */
export interface LazyModule {
  readonly module: ast.Module;
  /** Tests and properties; parsed when asked for. */
  tests(): readonly ast.Declaration[];
}

interface Block {
  readonly isTest: boolean;
  /** Where the declaration begins, and its end. */
  readonly start: number;
  readonly end: number;
  /** Behind the opening brace, and the closing one. */
  readonly bodyStart: number;
  readonly bodyEnd: number;
}

const HEAD = /^(?:(?:pub )?(fn)|(test|property|eval)) .*\{$/gm;

/** Functions and tests whose bodies take several lines. */
function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  HEAD.lastIndex = 0;
  for (let match = HEAD.exec(text); match !== null; match = HEAD.exec(text)) {
    const close = text.indexOf("\n}\n", HEAD.lastIndex - 1);
    if (close < 0) break;
    blocks.push({
      isTest: match[1] === undefined,
      start: match.index,
      end: close + 2,
      bodyStart: HEAD.lastIndex,
      bodyEnd: close + 1,
    });
    HEAD.lastIndex = close + 2;
  }
  return blocks;
}

/** One declaration in a text that is blank before it. */
function parseAlone(file: SourceFile, block: Block): ast.Declaration | undefined {
  const before = block.start === 0 ? "" : `${" ".repeat(block.start - 1)}\n`;
  return parse(new SourceFile(file.path, before + file.text.slice(block.start, block.end))).module
    .declarations[0];
}

/** The module of a file, whose errors are not told: the library has none. */
export function lazyModule(file: SourceFile): LazyModule {
  const { text } = file;
  const blocks = blocksOf(text);
  const pieces: string[] = [];
  let at = 0;
  for (const block of blocks) {
    const [from, to] = block.isTest ? [block.start, block.end] : [block.bodyStart, block.bodyEnd];
    pieces.push(text.slice(at, from), " ".repeat(to - from));
    at = to;
  }
  pieces.push(text.slice(at));
  const { module } = parse(new SourceFile(file.path, pieces.join("")));
  const byStart = new Map(blocks.filter((block) => !block.isTest).map((block) => [block.start, block]));
  const declarations = module.declarations.map((declaration) => {
    const block = declaration.kind === "function" ? byStart.get(declaration.span.start) : undefined;
    return declaration.kind !== "function" || block === undefined
      ? declaration
      : withLazyBody(file, declaration, block);
  });
  let tests: readonly ast.Declaration[] | null = null;
  return {
    module: { file, declarations },
    tests() {
      tests ??= blocks.flatMap((block) => block.isTest ? parseAlone(file, block) ?? [] : []);
      return tests;
    },
  };
}

function withLazyBody(
  file: SourceFile,
  declaration: ast.FunctionDeclaration,
  block: Block,
): ast.FunctionDeclaration {
  let body: ast.Block | null | undefined;
  return {
    ...declaration,
    get body() {
      if (body === undefined) {
        const whole = parseAlone(file, block);
        body = whole?.kind === "function" ? whole.body : null;
      }
      return body;
    },
  };
}
