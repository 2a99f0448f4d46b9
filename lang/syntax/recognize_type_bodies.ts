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
} from "./mistake.ts";

/** Whether in the braces behind `struct Ball` nothing but fields or variants stands. */
export function hasFieldsAlone(place: ErrorContext): boolean {
  let open = place.index + 2;
  while (open < place.to && !/^[{=:]$/.test(place.token(open).text)) open++;
  if (place.token(open).text === ":") return false;
  for (let index = open + 1, depth = 1; index < place.to && depth > 0; index++) {
    const { text } = place.token(index);
    if (/^[([{]$/.test(text)) depth++;
    if (/^[)\]}]$/.test(text)) depth--;
    if (/^(fn|def|function|func|fun|constructor|public|private|static)$/.test(text)) return false;
    // A method of TypeScript has no word before its name.
    if (text === ")" && place.token(index + 1).text === "{") return false;
  }
  return true;
}

/** What has to change behind `struct Ball` or `enum Phase` beside the word. */
export function typeBodyEdits(place: ErrorContext, known: string): TextEdit[] {
  if (known !== "type") return [];
  const name = place.at(1);
  const edits: TextEdit[] = /^[a-z]/.test(name.text)
    ? [replacement(name, name.text.charAt(0).toUpperCase() + name.text.slice(1))]
    : [];
  let open = place.index + 2;
  while (open < place.to && !/^[{=]$/.test(place.token(open).text)) open++;
  if (place.token(open).text !== "{") return edits;
  if (!/^(enum|union|data)$/.test(place.text(0))) {
    return [...edits, insertion(place.token(open - 1).end, " ="), ...missingCommas(place, open)];
  }
  edits.push(replacement(place.token(open), "="));
  let depth = 0;
  for (let index = open + 1; index < place.to; index++) {
    const token = place.token(index);
    // `Over { score: Int }` is `Over(score: Int)` here.
    if (depth === 0 && token.text === "{") {
      edits.push(replacement({ start: place.token(index - 1).end, end: token.end }, "("));
    } else if (depth === 1 && token.text === "}") edits.push(replacement(token, ")"));
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text) && --depth < 0) {
      edits.push(deletion(place, token));
      break;
    }
    if (depth === 0 && token.text === ",") {
      edits.push(replacement(token, place.token(index + 1).text === "}" ? "" : " |"));
    }
  }
  return edits;
}

/** Fields on lines of their own without commas. */
function missingCommas(place: ErrorContext, open: number): TextEdit[] {
  const edits: TextEdit[] = [];
  let depth = 0;
  for (let index = open + 1; index < place.to; index++) {
    const token = place.token(index);
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text)) depth--;
    const before = place.token(index - 1);
    const semicolon = /^\s*;/.exec(place.source(before.end, token.start))?.[0];
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
function foreignTypes(place: ErrorContext, from: number, to: number): TextEdit[] {
  const edits: TextEdit[] = [];
  for (let index = from; index < to; index++) {
    const token = place.token(index);
    const known = FOREIGN_TYPES.get(token.text);
    if (known !== undefined && /^(:|\[|,|->)$/.test(place.token(index - 1).text)) {
      if (place.token(index + 1).text !== ":") edits.push(replacement(token, known));
    }
  }
  return edits;
}

/** Takes away the semicolon behind a token, if there is one. */
function semicolonBehind(place: ErrorContext, index: number): TextEdit[] {
  const { end } = place.token(index);
  const length = /^\s*;/.exec(place.source(end, place.file.text.length))?.[0].length ?? 0;
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
const bodyWithoutEquals: Recognizer = (place) => {
  const start = place.token(place.from).text === "pub" ? place.from + 1 : place.from;
  if (place.token(start).text !== "type" || place.text(0) !== "{" || !place.expects("=")) return null;
  const close = place.closing(place.index);
  const isUnion = typeOf(place.at(1)) === "type_name";
  const edits: TextEdit[] = [...foreignTypes(place, place.index, close), ...semicolonBehind(place, close)];
  if (isUnion) {
    edits.push(replacement(place.wrong, "="));
    for (let index = place.index + 2, depth = 0; index < close; index++) {
      const token = place.token(index);
      if (depth === 0 && token.text === ",") {
        edits.push(replacement(token, index + 1 === close ? "" : " |"));
      } else if (depth === 0 && typeOf(token) === "type_name" && place.token(index - 1).text !== ",") {
        edits.push(insertion(token.start, "| "));
      }
      if (/^[([{]$/.test(token.text)) depth++;
      if (/^[)\]}]$/.test(token.text)) depth--;
    }
    if (close < place.to) edits.push(deletion(place, place.token(close)));
  } else edits.push(insertion(place.at(-1).end, " ="), ...missingCommas(place, place.index));
  return {
    code: "SY0030",
    span: place.wrong,
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
const fieldsBetweenSemicolons: Recognizer = (place) => {
  const open = place.open[0];
  const start = place.token(place.from).text === "pub" ? place.from + 1 : place.from;
  if (place.token(start).text !== "type" || open === undefined || place.open.length !== 1) return null;
  if (place.token(open).text !== "{" || place.token(open - 1).text !== "=") return null;
  const close = place.closing(open);
  if (!place.source(place.token(open).start, place.token(close).start).includes(";")) return null;
  return {
    code: "SY0008",
    span: place.wrong,
    message: "The fields of a record are separated by commas.",
    expected: "`,`",
    actual: quoted(place.wrong),
    fixes: [{
      title: "insert commas",
      applicability: "safe",
      edits: inOrder([
        ...missingCommas(place, open),
        ...foreignTypes(place, open, close),
        ...semicolonBehind(place, close),
      ]),
    }],
  };
};

/** What stands in the braces of an interface: fields, functions without `fn`, or something else. */
function membersOf(place: ErrorContext, open: number, close: number): "fields" | "functions" | "mixed" {
  let fields = 0;
  let functions = 0;
  for (let index = open + 1; index < close;) {
    let next = index + 1;
    if (place.token(next).text === "?") next++;
    const sign = place.token(next).text;
    if (typeOf(place.token(index)) !== "name" || !/^[:(]$/.test(sign)) return "mixed";
    if (sign === ":") fields++;
    else functions++;
    if (sign === "(") next = place.closing(next);
    while (next < close && !(place.token(next + 1).isFirstOfLine || isSeparated(place, next))) next++;
    index = next + 1;
    if (place.token(index).text === ",") index++;
  }
  return functions === 0 ? "fields" : fields === 0 ? "functions" : "mixed";
}

/** Whether a comma or semicolon stands behind a token. */
function isSeparated(place: ErrorContext, index: number): boolean {
  return /^\s*[;,]/.test(place.source(place.token(index).end, place.token(index + 1).end));
}

/** `interface Ball { x: number; move(): void }`. */
const membersOfInterface: Recognizer = (place) => {
  const start = place.token(place.from).text === "pub" ? place.from + 1 : place.from;
  const open = place.open[0];
  if (place.token(start).text !== "interface" || open === undefined || place.open.length !== 1) return null;
  if (typeOf(place.wrong) !== "name" || !place.expects("fn")) return null;
  const close = place.closing(open);
  const kind = membersOf(place, open, close);
  const base = {
    code: "SY0077",
    span: { start: place.token(start).start, end: place.token(start + 1).end },
    actual: quoted(place.wrong),
    isCertain: true,
  };
  if (kind === "mixed" || place.index !== open + 1) {
    return {
      ...base,
      message: "An interface contains only functions, each with `fn`.",
      hint: "Declare fields in a record: `type Ball = { x: Float }`.",
      fixes: [],
    };
  }
  const types = foreignTypes(place, open, close);
  if (kind === "fields") {
    const edits = inOrder([
      replacement(place.token(start), "type"),
      insertion(place.token(open - 1).end, " ="),
      ...missingCommas(place, open),
      ...types,
      ...semicolonBehind(place, close),
    ]);
    return {
      ...base,
      message: "An interface contains only functions; fields belong to a record.",
      fixes: [{ title: "make it a record", applicability: "safe", edits }],
    };
  }
  const edits: TextEdit[] = [...types, ...semicolonBehind(place, close)];
  for (let index = open + 1; index < close;) {
    const parameters = index + 1;
    const end = place.closing(parameters);
    edits.push(insertion(place.token(index).start, "fn "));
    edits.push(
      insertion(place.token(parameters).end, end === parameters + 1 ? "self: Self" : "self: Self, "),
    );
    if (place.token(end + 1).text === ":") {
      edits.push(replacement({ start: place.token(end).end, end: place.token(end + 1).end }, " ->"));
    }
    let last = end;
    while (last + 1 < close && !place.token(last + 1).isFirstOfLine && !isSeparated(place, last)) last++;
    edits.push(...semicolonBehind(place, last));
    index = last + 1;
    if (place.token(index).text !== ",") continue;
    edits.push(deletion(place, place.token(index)));
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
