/**
 * Bodies of types and interfaces as other languages write them: without `=`, with semicolons, with variants or fields
 * on lines of their own.
 */
import { FOREIGN_TYPES } from "./foreign_words.ts";
import {
  deletion,
  type ErrorContext,
  insertion,
  quoted,
  type Recognizer,
  replacement,
  type TextEdit,
  typeOf,
} from "./error_context.ts";

/** Whether in the braces behind `struct Ball` nothing but fields or variants stands. */
export function hasFieldsAlone(context: ErrorContext): boolean {
  let open = context.index + 2;
  while (open < context.to && !/^[{=:]$/.test(context.token(open).text)) open++;
  if (context.token(open).text === ":") return false;
  for (let index = open + 1, depth = 1; index < context.to && depth > 0; index++) {
    const { text } = context.token(index);
    if (/^[([{]$/.test(text)) depth++;
    if (/^[)\]}]$/.test(text)) depth--;
    if (/^(fn|def|function|func|fun|constructor|public|private|static)$/.test(text)) return false;
    // A method of TypeScript has no word before its name.
    if (text === ")" && context.token(index + 1).text === "{") return false;
  }
  return true;
}

/** What has to change behind `struct Ball` or `enum Phase` beside the word. */
export function typeBodyEdits(context: ErrorContext, known: string): TextEdit[] {
  if (known !== "type") return [];
  const name = context.at(1);
  const edits: TextEdit[] = /^[a-z]/.test(name.text)
    ? [replacement(name, name.text.charAt(0).toUpperCase() + name.text.slice(1))]
    : [];
  let open = context.index + 2;
  while (open < context.to && !/^[{=]$/.test(context.token(open).text)) open++;
  if (context.token(open).text !== "{") return edits;
  if (!/^(enum|union|data)$/.test(context.text(0))) {
    return [...edits, insertion(context.token(open - 1).end, " ="), ...missingCommas(context, open)];
  }
  edits.push(replacement(context.token(open), "="));
  let depth = 0;
  for (let index = open + 1; index < context.to; index++) {
    const token = context.token(index);
    // `Over { score: Int }` is `Over(score: Int)` here.
    if (depth === 0 && token.text === "{") {
      edits.push(replacement({ start: context.token(index - 1).end, end: token.end }, "("));
    } else if (depth === 1 && token.text === "}") edits.push(replacement(token, ")"));
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text) && --depth < 0) {
      edits.push(deletion(context, token));
      break;
    }
    if (depth === 0 && token.text === ",") {
      edits.push(replacement(token, context.token(index + 1).text === "}" ? "" : " |"));
    }
  }
  return edits;
}

/** Fields on lines of their own without commas. */
function missingCommas(context: ErrorContext, open: number): TextEdit[] {
  const edits: TextEdit[] = [];
  let depth = 0;
  for (let index = open + 1; index < context.to; index++) {
    const token = context.token(index);
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text)) depth--;
    const before = context.token(index - 1);
    const semicolon = /^\s*;/.exec(context.source(before.end, token.start))?.[0];
    if (depth <= 0 && semicolon !== undefined) {
      edits.push(
        replacement({ start: before.end, end: before.end + semicolon.length }, token.text === "}" ? "" : ","),
      );
      if (depth < 0) break;
      continue;
    }
    if (
      depth === 0 && token.isFirstOfLine && before.text !== "," && before.text !== "{" && token.text !== "}"
    ) {
      edits.push(insertion(before.end, ","));
    }
    if (depth < 0) break;
  }
  return edits;
}

/** Types of other languages between two tokens, `string` and the like, written as here. */
function foreignTypes(context: ErrorContext, from: number, to: number): TextEdit[] {
  const edits: TextEdit[] = [];
  for (let index = from; index < to; index++) {
    const token = context.token(index);
    const known = FOREIGN_TYPES.get(token.text);
    if (known !== undefined && /^(:|\[|,|->)$/.test(context.token(index - 1).text)) {
      if (context.token(index + 1).text !== ":") edits.push(replacement(token, known));
    }
  }
  return edits;
}

/** Takes away the semicolon behind a token, if there is one. */
function semicolonBehind(context: ErrorContext, index: number): TextEdit[] {
  const { end } = context.token(index);
  const length = /^\s*;/.exec(context.source(end, context.file.text.length))?.[0].length ?? 0;
  return length === 0 ? [] : [replacement({ start: end, end: end + length }, "")];
}

/** Edits by their places; of those at one place the first. */
function inOrder(edits: readonly TextEdit[]): TextEdit[] {
  const sorted = edits.toSorted((left, right) => left.start - right.start || left.end - right.end);
  return sorted.filter((edit, index) => {
    const before = sorted[index - 1];
    return before === undefined || edit.start !== before.start || edit.end !== before.end;
  });
}

/** `type Ball { x: Float }`, `type Phase { Playing Over(Int) }`. */
const bodyWithoutEquals: Recognizer = (context) => {
  const start = context.token(context.from).text === "pub" ? context.from + 1 : context.from;
  if (context.token(start).text !== "type" || context.text(0) !== "{" || !context.expects("=")) return null;
  const close = context.closing(context.index);
  const isUnion = typeOf(context.at(1)) === "type_name";
  const edits: TextEdit[] = [
    ...foreignTypes(context, context.index, close),
    ...semicolonBehind(context, close),
  ];
  if (isUnion) {
    edits.push(replacement(context.wrong, "="));
    for (let index = context.index + 2, depth = 0; index < close; index++) {
      const token = context.token(index);
      if (depth === 0 && token.text === ",") {
        edits.push(replacement(token, index + 1 === close ? "" : " |"));
      } else if (depth === 0 && typeOf(token) === "type_name" && context.token(index - 1).text !== ",") {
        edits.push(insertion(token.start, "| "));
      }
      if (/^[([{]$/.test(token.text)) depth++;
      if (/^[)\]}]$/.test(token.text)) depth--;
    }
    if (close < context.to) edits.push(deletion(context, context.token(close)));
  } else edits.push(insertion(context.at(-1).end, " ="), ...missingCommas(context, context.index));
  return {
    code: "SY0030",
    span: context.wrong,
    message: isUnion
      ? "The name of a type is followed by `=`, and the variants of a union are separated by `|`."
      : "A name and its value are separated by `=`.",
    expected: "`=`",
    actual: "`{`",
    fixes: [{
      title: isUnion ? "make it a union" : "put `=` in",
      applicability: "safe",
      edits: inOrder(edits),
    }],
  };
};

/** `type Ball = { x: number; y: number }`. */
const fieldsBetweenSemicolons: Recognizer = (context) => {
  const open = context.open[0];
  const start = context.token(context.from).text === "pub" ? context.from + 1 : context.from;
  if (context.token(start).text !== "type" || open === undefined || context.open.length !== 1) return null;
  if (context.token(open).text !== "{" || context.token(open - 1).text !== "=") return null;
  const close = context.closing(open);
  if (!context.source(context.token(open).start, context.token(close).start).includes(";")) return null;
  return {
    code: "SY0008",
    span: context.wrong,
    message: "The fields of a record are separated by commas.",
    expected: "`,`",
    actual: quoted(context.wrong),
    fixes: [{
      title: "insert commas",
      applicability: "safe",
      edits: inOrder([
        ...missingCommas(context, open),
        ...foreignTypes(context, open, close),
        ...semicolonBehind(context, close),
      ]),
    }],
  };
};

/** What stands in the braces of an interface: fields, functions without `fn`, or something else. */
function membersOf(context: ErrorContext, open: number, close: number): "fields" | "functions" | "mixed" {
  let fields = 0;
  let functions = 0;
  for (let index = open + 1; index < close;) {
    let next = index + 1;
    if (context.token(next).text === "?") next++;
    const sign = context.token(next).text;
    if (typeOf(context.token(index)) !== "name" || !/^[:(]$/.test(sign)) return "mixed";
    if (sign === ":") fields++;
    else functions++;
    if (sign === "(") next = context.closing(next);
    while (next < close && !(context.token(next + 1).isFirstOfLine || isSeparated(context, next))) next++;
    index = next + 1;
    if (context.token(index).text === ",") index++;
  }
  return functions === 0 ? "fields" : fields === 0 ? "functions" : "mixed";
}

/** Whether a comma or semicolon stands behind a token. */
function isSeparated(context: ErrorContext, index: number): boolean {
  return /^\s*[;,]/.test(context.source(context.token(index).end, context.token(index + 1).end));
}

/** `interface Ball { x: number; move(): void }`. */
const membersOfInterface: Recognizer = (context) => {
  const start = context.token(context.from).text === "pub" ? context.from + 1 : context.from;
  const open = context.open[0];
  if (context.token(start).text !== "interface" || open === undefined || context.open.length !== 1) {
    return null;
  }
  if (typeOf(context.wrong) !== "name" || !context.expects("fn")) return null;
  const close = context.closing(open);
  const kind = membersOf(context, open, close);
  const base = {
    code: "SY0077",
    span: { start: context.token(start).start, end: context.token(start + 1).end },
    actual: quoted(context.wrong),
    isCertain: true,
  };
  if (kind === "mixed" || context.index !== open + 1) {
    return {
      ...base,
      message: "An interface contains only functions, each with `fn`.",
      hint: "Declare fields in a record: `type Ball = { x: Float }`.",
      fixes: [],
    };
  }
  const types = foreignTypes(context, open, close);
  if (kind === "fields") {
    const edits = inOrder([
      replacement(context.token(start), "type"),
      insertion(context.token(open - 1).end, " ="),
      ...missingCommas(context, open),
      ...types,
      ...semicolonBehind(context, close),
    ]);
    return {
      ...base,
      message: "An interface contains only functions; fields belong to a record.",
      fixes: [{ title: "make it a record", applicability: "safe", edits }],
    };
  }
  const edits: TextEdit[] = [...types, ...semicolonBehind(context, close)];
  for (let index = open + 1; index < close;) {
    const parameters = index + 1;
    const end = context.closing(parameters);
    edits.push(insertion(context.token(index).start, "fn "));
    edits.push(
      insertion(context.token(parameters).end, end === parameters + 1 ? "self: Self" : "self: Self, "),
    );
    if (context.token(end + 1).text === ":") {
      edits.push(replacement({ start: context.token(end).end, end: context.token(end + 1).end }, " ->"));
    }
    let last = end;
    while (last + 1 < close && !context.token(last + 1).isFirstOfLine && !isSeparated(context, last)) last++;
    edits.push(...semicolonBehind(context, last));
    index = last + 1;
    if (context.token(index).text !== ",") continue;
    edits.push(deletion(context, context.token(index)));
    index++;
  }
  return {
    ...base,
    message: "A function of an interface begins with `fn`, and its first parameter is `self: Self`.",
    fixes: [{ title: "write the functions with `fn`", applicability: "safe", edits: inOrder(edits) }],
  };
};

/** In the order in which they are asked. */
export const typeBodyRecognizers: readonly Recognizer[] = [
  bodyWithoutEquals,
  fieldsBetweenSemicolons,
  membersOfInterface,
];
