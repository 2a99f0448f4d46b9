/**
 * Parser of PL/pgSQL blocks: the statements of DO.
 *
 * Invariant: what PL/pgSQL has and the product lacks (cursors, COMMIT inside of a block) is refused by name; anything
 * else that does not parse is a syntax error.
 */
import { SQLSTATE } from "../../base/errors.ts";
import { TOKEN } from "../parser/token.ts";
import { TokenStream } from "../parser/token_stream.ts";
import { parseTypeName } from "../parser/type_names.ts";
import type {
  Block,
  Declaration,
  DeclaredType,
  DynamicCommand,
  Fragment,
  Handler,
  IntoClause,
  ProceduralStatement,
} from "./block.ts";
import { expectCondition } from "./conditions.ts";
import { lineOf, readFragment, readInto, readStatement, readTarget, readTargets } from "./fragment_reader.ts";
import { parseRaise } from "./parse_raise.ts";

const LIST_ENDS = ["end", "exception", "else", "elsif", "elseif", "when"];
const UNSUPPORTED = ["open", "fetch", "move", "close", "commit", "rollback", "call"];

/** Parses the text of a DO. Raises 42601, 42704 (unknown condition), 54001 (nesting) and 0A000. */
export function parseBlock(text: string): Block {
  const stream = new TokenStream(text);
  const block = parseOneBlock(stream, parseLabel(stream));
  stream.acceptSymbol(";");
  if (stream.kind() !== TOKEN.end) throw stream.syntaxError();
  return block;
}

function parseLabel(stream: TokenStream): string | null {
  if (!stream.acceptSymbol("<<")) return null;
  const label = stream.expectLabel();
  stream.expectSymbol(">>");
  return label;
}

function parseOneBlock(stream: TokenStream, label: string | null): Block {
  stream.enter();
  const line = lineOf(stream);
  const declarations: Declaration[] = [];
  while (stream.acceptWord("declare")) {
    while (!stream.isWord("begin") && !stream.isWord("declare")) declarations.push(parseDeclaration(stream));
  }
  stream.expectWords("begin");
  const body = parseList(stream);
  const handlers: Handler[] = [];
  if (stream.acceptWord("exception")) {
    while (stream.acceptWord("when")) {
      const conditions = [expectCondition(stream)];
      while (stream.acceptWord("or")) conditions.push(expectCondition(stream));
      stream.expectWords("then");
      handlers.push({ conditions, body: parseList(stream) });
    }
    if (handlers.length === 0) throw stream.syntaxError();
  }
  stream.expectWords("end");
  if (stream.isLabel()) {
    const { position } = stream;
    const end = stream.take();
    if (end !== label) {
      throw stream.error(
        SQLSTATE.syntaxError,
        label === null
          ? `end label "${end}" specified for unlabeled block`
          : `end label "${end}" differs from block's label "${label}"`,
        position,
      );
    }
  }
  stream.leave();
  return { kind: "block", label, declarations, body, handlers, line };
}

function parseDeclaration(stream: TokenStream): Declaration {
  const line = lineOf(stream);
  const name = stream.expectLabel();
  if (stream.isWord("alias")) throw stream.unsupported("ALIAS in DECLARE");
  if (stream.isWord("cursor") || stream.isWords("no", "scroll") || stream.isWord("scroll")) {
    throw stream.unsupported("a cursor in DECLARE");
  }
  const constant = stream.acceptWord("constant");
  const type = parseDeclaredType(stream);
  if (stream.acceptWord("collate")) stream.expectLabel();
  const notNull = stream.acceptWords("not", "null");
  let initial: Fragment | null = null;
  if (stream.acceptSymbol(":=") || stream.acceptSymbol("=") || stream.acceptWord("default")) {
    initial = readFragment(stream, { symbols: [";"] });
  } else if (notNull) {
    throw stream.error(
      SQLSTATE.nullValueNotAllowed,
      `variable "${name}" must have a default value, since it's declared NOT NULL`,
      stream.position,
    );
  }
  stream.expectSymbol(";");
  return { name, type, constant, notNull, initial, line };
}

function parseDeclaredType(stream: TokenStream): DeclaredType {
  if (stream.acceptWord("record")) return { kind: "record" };
  const { mark } = stream;
  if (stream.isLabel()) {
    const parts = [stream.take()];
    while (stream.acceptSymbol(".")) parts.push(stream.expectLabel());
    if (stream.acceptSymbol("%")) {
      return { kind: stream.expectAnyWord(["type", "rowtype"]) === "type" ? "same_as" : "row_of", parts };
    }
    stream.rewind(mark);
  }
  return { kind: "named", name: parseTypeName(stream) };
}

function parseList(stream: TokenStream): ProceduralStatement[] {
  const statements: ProceduralStatement[] = [];
  while (!stream.isAnyWord(LIST_ENDS)) {
    if (stream.kind() === TOKEN.end) throw stream.syntaxError();
    stream.enter();
    statements.push(parseOne(stream));
    stream.leave();
  }
  return statements;
}

function parseOne(stream: TokenStream): ProceduralStatement {
  const line = lineOf(stream);
  const label = parseLabel(stream);
  if (stream.isWord("declare") || stream.isWord("begin")) {
    const block = parseOneBlock(stream, label);
    stream.expectSymbol(";");
    return block;
  }
  if (stream.isAnyWord(["loop", "while", "for", "foreach"])) return parseLoop(stream, label, line);
  if (label !== null) throw stream.syntaxError();
  if (isAssignment(stream)) {
    const target = readTarget(stream);
    stream.advance();
    return { kind: "assign", target, value: readToEnd(stream), line };
  }
  if (stream.isAnyWord(UNSUPPORTED)) {
    throw stream.unsupported(`${stream.value().toUpperCase()} in a PL/pgSQL block`);
  }
  switch (stream.kind() === TOKEN.word ? stream.value() : "") {
    case "if":
      return parseIf(stream, line);
    case "case":
      return parseCase(stream, line);
    case "exit":
    case "continue":
      return parseExit(stream, line);
    case "return":
      stream.advance();
      if (!stream.isSymbol(";")) {
        throw stream.error(
          SQLSTATE.datatypeMismatch,
          "RETURN cannot have a parameter in function returning void",
          stream.position,
        );
      }
      stream.advance();
      return { kind: "return", line };
    case "null":
      stream.advance();
      stream.expectSymbol(";");
      return { kind: "nothing", line };
    case "raise":
      return parseRaise(stream, line);
    case "assert": {
      stream.advance();
      const condition = readFragment(stream, { symbols: [",", ";"] });
      const message = stream.acceptSymbol(",") ? readFragment(stream, { symbols: [";"] }) : null;
      stream.expectSymbol(";");
      return { kind: "assert", condition, message, line };
    }
    case "perform":
      stream.advance();
      return { kind: "perform", query: readToEnd(stream), line };
    case "execute":
      return parseExecute(stream, line);
    case "get":
      return parseDiagnostics(stream, line);
    default: {
      if (stream.kind() !== TOKEN.word && !stream.isSymbol("(")) throw stream.syntaxError();
      const { statement, into } = readStatement(stream);
      stream.expectSymbol(";");
      return { kind: "sql", statement, into, line };
    }
  }
}

/** `name := …`, `record.field = …`, `list[1] := …`. */
function isAssignment(stream: TokenStream): boolean {
  if (!stream.isLabel()) return false;
  let ahead = 1;
  for (;;) {
    if (stream.isSymbol(":=", ahead) || stream.isSymbol("=", ahead)) return true;
    if (stream.isSymbol(".", ahead) && stream.isLabel(ahead + 1)) ahead += 2;
    else if (stream.isSymbol("[", ahead)) {
      for (let depth = 0;; ahead++) {
        if (stream.kind(ahead) === TOKEN.end || stream.isSymbol(";", ahead)) return false;
        if (stream.isSymbol("[", ahead)) depth++;
        else if (stream.isSymbol("]", ahead) && --depth === 0) break;
      }
      ahead++;
    } else return false;
  }
}

function readToEnd(stream: TokenStream): Fragment {
  const fragment = readFragment(stream, { symbols: [";"] });
  stream.expectSymbol(";");
  return fragment;
}

function parseIf(stream: TokenStream, line: number): ProceduralStatement {
  const branches: { condition: Fragment; body: ProceduralStatement[] }[] = [];
  let otherwise: ProceduralStatement[] = [];
  do {
    stream.advance();
    const condition = readFragment(stream, { words: ["then"] });
    stream.expectWords("then");
    branches.push({ condition, body: parseList(stream) });
  } while (stream.isAnyWord(["elsif", "elseif"]));
  if (stream.acceptWord("else")) otherwise = parseList(stream);
  stream.expectWords("end", "if");
  stream.expectSymbol(";");
  return { kind: "if", branches, otherwise, line };
}

function parseCase(stream: TokenStream, line: number): ProceduralStatement {
  stream.advance();
  const subject = stream.isWord("when") ? null : readFragment(stream, { words: ["when"] });
  const branches: { test: Fragment; body: ProceduralStatement[] }[] = [];
  while (stream.acceptWord("when")) {
    const test = readFragment(stream, { words: ["then"] });
    stream.expectWords("then");
    branches.push({ test, body: parseList(stream) });
  }
  if (branches.length === 0) throw stream.syntaxError();
  const otherwise = stream.acceptWord("else") ? parseList(stream) : null;
  stream.expectWords("end", "case");
  stream.expectSymbol(";");
  return { kind: "case", subject, branches, otherwise, line };
}

function parseLoop(stream: TokenStream, label: string | null, line: number): ProceduralStatement {
  switch (stream.take()) {
    case "loop":
      return { kind: "loop", label, condition: null, body: parseLoopBody(stream, label), line };
    case "while": {
      const condition = readFragment(stream, { words: ["loop"] });
      stream.expectWords("loop");
      return { kind: "loop", label, condition, body: parseLoopBody(stream, label), line };
    }
    case "foreach": {
      const target = readTarget(stream);
      if (stream.isWord("slice")) throw stream.unsupported("FOREACH … SLICE");
      stream.expectWords("in", "array");
      const array = readFragment(stream, { words: ["loop"] });
      stream.expectWords("loop");
      return { kind: "foreach", label, target, array, body: parseLoopBody(stream, label), line };
    }
    default:
      return parseFor(stream, label, line);
  }
}

function parseLoopBody(stream: TokenStream, label: string | null): ProceduralStatement[] {
  const body = parseList(stream);
  stream.expectWords("end", "loop");
  if (stream.isLabel()) {
    const { position } = stream;
    if (stream.take() !== label) {
      throw stream.error(SQLSTATE.syntaxError, "end label differs from the loop's label", position);
    }
  }
  stream.expectSymbol(";");
  return body;
}

function parseFor(stream: TokenStream, label: string | null, line: number): ProceduralStatement {
  const targets = readTargets(stream);
  stream.expectWords("in");
  if (stream.acceptWord("execute")) {
    const dynamic = readDynamic(stream, ["loop", "using"], []);
    if (stream.acceptWord("using")) readArguments(stream, dynamic.arguments, ["loop"], []);
    stream.expectWords("loop");
    const source = { kind: "dynamic", dynamic } as const;
    return { kind: "for_rows", label, targets, source, body: parseLoopBody(stream, label), line };
  }
  const reverse = stream.acceptWord("reverse");
  const first = readFragment(stream, { words: ["loop"], symbols: [".."] });
  if (!stream.acceptSymbol("..")) {
    if (reverse) throw stream.syntaxError();
    stream.expectWords("loop");
    const source = { kind: "query", query: first } as const;
    return { kind: "for_rows", label, targets, source, body: parseLoopBody(stream, label), line };
  }
  const [only] = targets;
  const [name] = only?.parts ?? [];
  if (name === undefined || targets.length > 1 || only?.parts.length !== 1 || only.subscripts.length > 0) {
    throw stream.error(
      SQLSTATE.syntaxError,
      "integer FOR loop must have only one target variable",
      stream.position,
    );
  }
  const to = readFragment(stream, { words: ["loop", "by"] });
  const by = stream.acceptWord("by") ? readFragment(stream, { words: ["loop"] }) : null;
  stream.expectWords("loop");
  const body = parseLoopBody(stream, label);
  return { kind: "for_integer", label, name, reverse, from: first, to, by, body, line };
}

function parseExit(stream: TokenStream, line: number): ProceduralStatement {
  const kind = stream.take() === "exit" ? "exit" : "continue";
  const label = stream.isLabel() && !stream.isWord("when") ? stream.take() : null;
  const condition = stream.acceptWord("when") ? readFragment(stream, { symbols: [";"] }) : null;
  stream.expectSymbol(";");
  return { kind, label, condition, line };
}

/** A dynamic command whose arguments are still to be read. */
interface OpenCommand extends DynamicCommand {
  readonly arguments: Fragment[];
}

function readDynamic(stream: TokenStream, words: readonly string[], symbols: readonly string[]): OpenCommand {
  return { command: readFragment(stream, { words, symbols }), arguments: [] };
}

function readArguments(
  stream: TokenStream,
  into: Fragment[],
  words: readonly string[],
  symbols: readonly string[],
): void {
  do into.push(readFragment(stream, { words, symbols: [...symbols, ","] })); while (stream.acceptSymbol(","));
}

function parseExecute(stream: TokenStream, line: number): ProceduralStatement {
  stream.advance();
  const dynamic = readDynamic(stream, ["into", "using"], [";"]);
  let into: IntoClause | null = null;
  while (!stream.isSymbol(";")) {
    if (stream.isWord("into") && into === null) into = readInto(stream);
    else if (stream.acceptWord("using")) readArguments(stream, dynamic.arguments, ["into"], [";"]);
    else throw stream.syntaxError();
  }
  stream.advance();
  return { kind: "execute", dynamic, into, line };
}

function parseDiagnostics(stream: TokenStream, line: number): ProceduralStatement {
  stream.advance();
  const stacked = stream.acceptWord("stacked");
  if (!stacked) stream.acceptWord("current");
  stream.expectWords("diagnostics");
  const items: { target: ReturnType<typeof readTarget>; item: string }[] = [];
  do {
    const target = readTarget(stream);
    if (!stream.acceptSymbol(":=")) stream.expectSymbol("=");
    items.push({ target, item: stream.expectAnyWord(stacked ? STACKED_ITEMS : CURRENT_ITEMS) });
  } while (stream.acceptSymbol(","));
  stream.expectSymbol(";");
  return { kind: "diagnostics", stacked, items, line };
}

const CURRENT_ITEMS = ["row_count"];

const STACKED_ITEMS = [
  "returned_sqlstate",
  "message_text",
  "pg_exception_detail",
  "pg_exception_hint",
  "pg_exception_context",
  "column_name",
  "constraint_name",
  "pg_datatype_name",
  "table_name",
  "schema_name",
];
