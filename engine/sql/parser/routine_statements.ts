/**
 * CREATE TRIGGER and CREATE FUNCTION: the native actions SET, REJECT and EXECUTE FUNCTION, and functions as WASM
 * modules.
 *
 * Invariant: PostgreSQL's options of functions all parse; those that the product cannot honor are listed in
 * `otherOptions`, so that they are refused by name and never dropped.
 */

import { SQLSTATE } from "../../base/errors.ts";
import type {
  CreateFunction,
  CreateTrigger,
  Expression,
  FunctionCall,
  FunctionParameter,
  TriggerAction,
  TriggerEvent,
} from "./ast.ts";
import { parseAssignments } from "./data_changes.ts";
import { EMPTY_CALL, parseExpression, parseOperand } from "./expressions.ts";
import { parseFunctionCall } from "./function_calls.ts";
import { parseDottedName, parseList, parseObjectName, parseParenthesizedList } from "./names.ts";
import { TOKEN } from "./token.ts";
import type { TokenStream } from "./token_stream.ts";
import { parseTypeName } from "./type_names.ts";

/** Reads CREATE TRIGGER; the current token is TRIGGER. */
export function parseCreateTrigger(stream: TokenStream, orReplace: boolean, position: number): CreateTrigger {
  stream.advance();
  const name = stream.expectName();
  const timing: CreateTrigger["timing"] = stream.acceptWord("before")
    ? "before"
    : stream.acceptWord("after")
    ? "after"
    : (stream.expectWords("instead", "of"), "instead_of");
  const events = [parseTriggerEvent(stream)];
  while (stream.acceptWord("or")) events.push(parseTriggerEvent(stream));
  stream.expectWords("on");
  const table = parseObjectName(stream);
  if (stream.isAnyWord(["from", "deferrable", "not", "initially"])) {
    throw stream.unsupported("CREATE CONSTRAINT TRIGGER");
  }
  if (stream.isWord("referencing")) throw stream.unsupported("REFERENCING in CREATE TRIGGER");
  let forEachRow = false;
  if (stream.acceptWord("for")) {
    stream.acceptWord("each");
    forEachRow = stream.expectAnyWord(["row", "statement"]) === "row";
  }
  const when = stream.acceptWord("when") ? parseCondition(stream) : null;
  const action = parseTriggerAction(stream);
  return {
    kind: "create_trigger",
    name,
    orReplace,
    timing,
    events,
    table,
    forEachRow,
    when,
    action,
    position,
  };
}

function parseTriggerEvent(stream: TokenStream): TriggerEvent {
  const word = stream.expectAnyWord(["insert", "update", "delete", "truncate"]);
  switch (word) {
    case "update": {
      const columns = stream.acceptWord("of") ? parseList(stream, parseEventColumn) : [];
      return { event: "update", columns };
    }
    case "insert":
      return { event: "insert", columns: [] };
    case "delete":
      return { event: "delete", columns: [] };
    default:
      return { event: "truncate", columns: [] };
  }
}

function parseEventColumn(stream: TokenStream): TriggerEvent["columns"][number] {
  const { position } = stream;
  return { name: stream.expectName(), position };
}

function parseCondition(stream: TokenStream): Expression {
  stream.expectSymbol("(");
  const condition = parseExpression(stream);
  stream.expectSymbol(")");
  return condition;
}

function parseTriggerAction(stream: TokenStream): TriggerAction {
  if (stream.acceptWord("set")) return { kind: "set", assignments: parseAssignments(stream) };
  if (stream.acceptWord("reject")) return { kind: "reject", message: stream.expectString() };
  stream.expectWords("execute");
  stream.expectAnyWord(["function", "procedure"]);
  const start = stream.position;
  const name = parseDottedName(stream);
  return { kind: "execute", call: parseFunctionCall(stream, name, start) };
}

/** What the options of a function add up to, while they are read. */
interface FunctionParts {
  language: string | null;
  body: Expression | null;
  exportName: string | null;
  gas: string | null;
  nullInput: CreateFunction["nullInput"];
  volatility: CreateFunction["volatility"];
  otherOptions: string[];
}

/** Reads CREATE FUNCTION or PROCEDURE; the current token is that word. */
export function parseCreateFunction(
  stream: TokenStream,
  orReplace: boolean,
  position: number,
): CreateFunction {
  const procedure = stream.take() === "procedure";
  const namePosition = stream.position;
  if (!stream.isName() && !stream.isFunctionName()) throw stream.syntaxError();
  const first = stream.take();
  const second = stream.acceptSymbol(".") ? stream.expectLabel() : null;
  const name = {
    catalog: null,
    schema: second === null ? null : first,
    name: second ?? first,
    position: namePosition,
  };
  const parameters = parseParameters(stream, true);
  let returns: CreateFunction["returns"] = null;
  let returnsTable: FunctionParameter[] = [];
  if (!procedure && stream.acceptWord("returns")) {
    if (stream.acceptWord("table")) returnsTable = parseParameters(stream, false);
    else returns = parseTypeName(stream);
  }
  const parts: FunctionParts = {
    language: null,
    body: null,
    exportName: null,
    gas: null,
    nullInput: null,
    volatility: null,
    otherOptions: [],
  };
  while (parseFunctionOption(stream, parts));
  if (stream.isAnyWord(["begin", "return"])) throw stream.unsupported("a SQL-standard function body");
  return {
    kind: "create_function",
    name,
    orReplace,
    procedure,
    parameters,
    returns,
    returnsTable,
    ...parts,
    language: parts.language ?? "sql",
    position,
  };
}

function parseParameters(stream: TokenStream, optional: boolean): FunctionParameter[] {
  if (optional && stream.isSymbol("(") && stream.isSymbol(")", 1)) {
    stream.advance();
    stream.advance();
    return [];
  }
  return parseParenthesizedList(stream, parseParameter);
}

function parseParameter(stream: TokenStream): FunctionParameter {
  const position = stream.position;
  let mode: FunctionParameter["mode"] = "in";
  if (stream.isAnyWord(["in", "out", "inout", "variadic"]) && stream.isLabel(1)) {
    const word = stream.take();
    mode = word === "out" ? "out" : word === "variadic" ? "variadic" : word === "inout" ? "inout" : "in";
    if (mode === "in" && stream.acceptWord("out")) mode = "inout";
  }
  // Two names in a row are a name and a type; `double precision` and its like are one type.
  const hasName = (stream.isName() || stream.isFunctionName()) && stream.isLabel(1) &&
    !stream.isAnyWord(["default", "array", "precision", "varying", "with", "without"], 1) &&
    !(stream.isAnyWord(["national"]) && stream.isAnyWord(["char", "character"], 1));
  const name = hasName ? stream.take() : null;
  const type = parseTypeName(stream);
  const hasDefault = stream.acceptWord("default") || stream.acceptSymbol("=");
  return { name, mode, type, default: hasDefault ? parseExpression(stream) : null, position };
}

/** Reads one option of a function; false when there is none. */
function parseFunctionOption(stream: TokenStream, parts: FunctionParts): boolean {
  const position = stream.position;
  if (stream.acceptWord("language")) {
    if (parts.language !== null) {
      throw stream.error(SQLSTATE.syntaxError, "conflicting or redundant options", position);
    }
    parts.language = (stream.isString() ? stream.take() : stream.expectLabel()).toLowerCase();
  } else if (stream.acceptWord("as")) {
    if (parts.body !== null) {
      throw stream.error(SQLSTATE.syntaxError, "conflicting or redundant options", position);
    }
    parts.body = parseOperand(stream);
    if (stream.acceptSymbol(",")) {
      // As PostgreSQL writes functions of other languages, in dumps: the object file and the name in it.
      parts.exportName = stream.expectString();
    }
  } else if (stream.isWord("export") && stream.isString(1)) {
    stream.advance();
    parts.exportName = stream.expectString();
  } else if (stream.isWord("gas") && stream.kind(1) === TOKEN.integer) {
    stream.advance();
    parts.gas = stream.expectInteger();
  } else if (stream.isAnyWord(["immutable", "stable", "volatile"])) {
    const word = stream.take();
    parts.volatility = word === "immutable" ? "immutable" : word === "stable" ? "stable" : "volatile";
  } else if (stream.acceptWord("strict") || stream.acceptWords("returns", "null", "on", "null", "input")) {
    parts.nullInput = "strict";
  } else if (stream.acceptWords("called", "on", "null", "input")) {
    parts.nullInput = "called";
  } else {
    return parseOtherOption(stream, parts);
  }
  return true;
}

function parseOtherOption(stream: TokenStream, parts: FunctionParts): boolean {
  const start = stream.position;
  if (stream.acceptWord("parallel")) stream.expectLabel();
  else if (stream.acceptWord("cost") || stream.acceptWord("rows")) stream.expectInteger();
  else if (stream.acceptWord("window") || stream.acceptWord("leakproof")) {
    // The word is the whole option.
  } else if (stream.acceptWords("not", "leakproof")) {
    // Two words are the whole option.
  } else if (stream.isWord("security") || stream.isWords("external", "security")) {
    stream.acceptWord("external");
    stream.advance();
    stream.expectAnyWord(["definer", "invoker"]);
  } else if (stream.acceptWord("support")) parseDottedName(stream);
  else if (stream.acceptWord("set")) {
    parseDottedName(stream);
    if (!stream.acceptWords("from", "current")) {
      if (!stream.acceptSymbol("=")) stream.expectWords("to");
      do parseOperand(stream); while (stream.acceptSymbol(","));
    }
  } else return false;
  parts.otherOptions.push(stream.textFrom(start).toLowerCase());
  return true;
}

/** Reads `name(arguments)` of CALL. */
export function parseProcedureCall(stream: TokenStream): FunctionCall {
  const position = stream.position;
  const name = parseDottedName(stream);
  const call = parseFunctionCall(stream, name, position);
  return { ...EMPTY_CALL, ...call };
}
