/** Mistakes in declarations and types. */
import { FOREIGN_DECLARATIONS, FOREIGN_MODIFIERS, FOREIGN_TYPES } from "./foreign_words.ts";
import {
  deletion,
  type ErrorContext,
  insertion,
  type Proposal,
  quoted,
  type Recognizer,
  replacement,
  type TextEdit,
  typeOf,
} from "./mistake.ts";
import { endOfExpression, isClosureArrow } from "./recognize_operators.ts";
import { hasFieldsAlone, typeBodyEdits, typeBodyRecognizers } from "./recognize_type_bodies.ts";

/** `function f`, `struct Ball`, `import x`. */
const foreignDeclaration: Recognizer = (place) => {
  const word = place.wrong;
  const known = FOREIGN_DECLARATIONS.get(word.text);
  const canBegin = place.isBetweenDeclarations || (place.expects("fn") && !place.expectsExpression);
  if (known === undefined || !canBegin) return null;
  const next = place.at(1);
  if (!/^(name|type_name|text|open_paren)$/.test(typeOf(next))) return null;
  const from = place.text(2) === "from" && typeOf(place.at(3)) === "text" ? modulePath(place.text(3)) : "";
  if (known === "use" && from !== "") {
    return {
      code: "SY0040",
      span: word,
      message: "Import a module with `use`.",
      expected: "`use`",
      actual: quoted(word),
      fixes: [{
        title: `write \`use ${from}\``,
        applicability: "maybe",
        edits: [replacement({ start: word.start, end: place.at(3).end }, `use ${from}`)],
      }],
      isCertain: true,
    };
  }
  return {
    code: "SY0040",
    span: word,
    message: known === "const"
      ? "At the top level of a module, use `const`."
      : `This language writes \`${known}\`, not \`${word.text}\`.`,
    expected: `\`${known}\``,
    actual: quoted(word),
    ...(known === "type" && !hasFieldsAlone(place)
      ? {
        hint: "The functions of a type are declared outside of it: `fn Ball.move(self: inout Ball) { … }`.",
      }
      : {}),
    fixes: known === "type" && !hasFieldsAlone(place) ? [] : [{
      title: `write \`${known}\``,
      applicability: known === "const" ? "maybe" : "safe",
      edits: [replacement(word, known), ...typeBodyEdits(place, known)],
    }],
    isCertain: true,
  };
};

/** `impl Ball { fn move(self) { … } }`. */
const methodBlock: Recognizer = (place) => {
  const [word, type, open] = [place.at(0), place.at(1), place.at(2)];
  if (
    !/^(impl|extension|extend)$/.test(word.text) || typeOf(type) !== "type_name" ||
    !place.isBetweenDeclarations
  ) {
    return null;
  }
  const edits: TextEdit[] = [replacement({ start: word.start, end: open.end }, "")];
  for (let index = place.index + 3, depth = 0; index < place.to; index++) {
    const token = place.token(index);
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text) && --depth < 0) {
      edits.push(deletion(place, token));
      break;
    }
    if (depth === 0 && token.text === "fn") {
      edits.push(insertion(place.token(index + 1).start, `${type.text}.`));
    }
  }
  return {
    code: "SY0040",
    span: word,
    message:
      `A function of a type is declared at the top level and named after it: \`fn ${type.text}.name(self: ${type.text})\`.`,
    actual: quoted(word),
    fixes: open.text === "{"
      ? [{ title: "name the functions after the type", applicability: "maybe", edits }]
      : [],
    isCertain: true,
  };
};

/** The module that a quoted path means: words with dots between them, or nothing. */
function modulePath(text: string): string {
  const path = text.slice(1, -1).replace(/^[./]+/, "").replace(/\.\w+$/, "").replaceAll("/", ".");
  return /^[a-z_]\w*(?:\.[a-z_]\w*)*$/.test(path) ? path : "";
}

/** `use "physics"`. */
const importedText: Recognizer = (place) => {
  if (place.text(-1) !== "use" || typeOf(place.wrong) !== "text") return null;
  const path = modulePath(place.text(0));
  return {
    code: "SY0030",
    span: place.wrong,
    message: "The parts of a module path are separated by dots.",
    expected: "a name",
    actual: quoted(place.wrong),
    fixes: path !== ""
      ? [{ title: `write \`${path}\``, applicability: "maybe", edits: [replacement(place.wrong, path)] }]
      : [],
    isCertain: true,
  };
};

/** `test name { … }`. */
const unquotedTestName: Recognizer = (place) => {
  if (!/^(test|property|eval)$/.test(place.text(0)) || !place.isBetweenDeclarations) return null;
  let end = place.index + 1;
  while (end < place.to && /^\w/.test(place.token(end).text) && place.token(end).text !== "threshold") end++;
  if (end === place.index + 1 || !/^(\{|\(|threshold)$/.test(place.token(end).text)) return null;
  return {
    code: "SY0059",
    span: { start: place.at(1).start, end: place.token(end - 1).end },
    message: `The name of a ${place.text(0)} is a text.`,
    expected: "a text",
    actual: quoted(place.at(1)),
    fixes: [{
      title: "put quotes around it",
      applicability: "safe",
      edits: [insertion(place.at(1).start, '"'), insertion(place.token(end - 1).end, '"')],
    }],
  };
};

/** `interface A { fn f(self) { … } }`. */
const bodyInInterface: Recognizer = (place) => {
  const isInterface = place.open.length === 1 && place.expects("fn") && place.expects("}") &&
    !place.expectsExpression;
  if (place.text(0) !== "{" || !isInterface) return null;
  const close = place.closing(place.index);
  return {
    code: "SY0058",
    span: place.wrong,
    message: "A function of an interface has no body; the types that implement the interface provide it.",
    fixes: [{
      title: "remove the body",
      applicability: "maybe",
      edits: [replacement({ start: place.at(-1).end, end: place.token(close).end }, "")],
    }],
  };
};

/** `Ball { x = 1.0 }`, `Ball { x }`. */
const fieldValue: Recognizer = (place) => {
  const open = place.open.at(-1);
  if (!place.expects(":") || open === undefined || typeOf(place.token(open)) !== "record_brace") return null;
  const name = place.at(-1);
  if (place.text(0) === "=") {
    return {
      code: "SY0072",
      span: place.wrong,
      message: "A field and its value are separated by `:`.",
      expected: "`:`",
      actual: "`=`",
      fixes: [{
        title: "write `:`",
        applicability: "safe",
        edits: otherFields(
          place,
          "=",
          (token) => [replacement({ start: place.token(token - 1).end, end: place.token(token).end }, ":")],
        ),
      }],
    };
  }
  if (place.text(0) !== "," && place.text(0) !== "}") return null;
  return {
    code: "SY0073",
    span: name,
    message: `The field \`${name.text}\` has no value.`,
    fixes: [{
      title: `write \`${name.text}: ${name.text}\``,
      applicability: "maybe",
      edits: otherFields(place, null, (token) => [
        insertion(place.token(token - 1).end, `: ${place.token(token - 1).text}`),
      ]),
    }],
  };
};

/**
 * The edits for this field and those behind it that have the same mistake: `sign` before the value, or no value at
 * all.
 */
function otherFields(
  place: ErrorContext,
  sign: string | null,
  edit: (index: number) => readonly TextEdit[],
): readonly TextEdit[] {
  const edits = [...edit(place.index)];
  for (let index = place.index + (sign === null ? 0 : 1), depth = 0; index < place.to; index++) {
    const token = place.token(index);
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text) && --depth < 0) break;
    if (depth !== 0 || token.text !== "," || typeOf(place.token(index + 1)) !== "name") continue;
    const next = place.token(index + 2).text;
    if (sign === null ? next === "," || next === "}" : next === sign) edits.push(...edit(index + 2));
  }
  return edits;
}

/** `fn f(x: Int = 3)`. */
const defaultValue: Recognizer = (place) => {
  const open = place.open.at(-1);
  if (
    place.text(0) !== "=" || open === undefined || place.token(open).text !== "(" || place.isAfterExpression
  ) return null;
  if (place.open.length !== 1 || !/^(fn|pub)$/.test(place.token(place.from).text)) return null;
  const end = endOfExpression(place, place.index + 1);
  if (end <= place.index + 1) return null;
  return {
    code: "SY0075",
    span: place.wrong,
    message: "Parameters have no default values.",
    fixes: [{
      title: "remove the value",
      applicability: "maybe",
      edits: [replacement({ start: place.at(-1).end, end: place.token(end - 1).end }, "")],
    }],
  };
};

/** `[Int]`, `Int?`. */
const foreignType: Recognizer = (place) => {
  const isList = place.text(0) === "[" && place.expects("type_name") && !place.expects("integer");
  const isOption = place.text(0) === "?" && typeOf(place.at(-1)) === "type_name" && place.expects("[");
  if (!isList && !isOption) return null;
  const [written, kept] = isList ? ["[T]", "List[T]"] : ["T?", "Option[T]"];
  return {
    code: "SY0076",
    span: place.wrong,
    message: `This type is written \`${kept}\`, not \`${written}\`.`,
    fixes: [{
      title: `write \`${kept}\``,
      applicability: "safe",
      edits: isList
        ? [insertion(place.wrong.start, "List")]
        : [insertion(place.at(-1).start, "Option["), replacement(place.wrong, "]")],
    }],
  };
};

/** `uses Input Log`. */
const effectsWithoutCommas: Recognizer = (place) => {
  let uses = place.index - 1;
  while (uses > place.from && /^(type_name|,)$/.test(typeOf(place.token(uses)))) uses--;
  if (place.token(uses).text !== "uses" || typeOf(place.wrong) !== "type_name" || !place.expects(",")) {
    return null;
  }
  const edits: TextEdit[] = [];
  for (let index = place.index; typeOf(place.token(index)) === "type_name"; index++) {
    edits.push(insertion(place.token(index - 1).end, ","));
    if (place.token(index + 1).text === ",") index++;
  }
  return {
    code: "SY0008",
    span: place.wrong,
    message: `Missing comma between effects, before ${quoted(place.wrong)}.`,
    expected: "`,`",
    actual: quoted(place.wrong),
    fixes: [{
      title: edits.length === 1 ? "insert a comma" : "insert commas",
      applicability: "safe",
      edits,
    }],
  };
};

/** `use a, b`. */
const severalModules: Recognizer = (place) => {
  if (place.text(0) !== "," || place.token(place.from).text !== "use" || typeOf(place.at(1)) !== "name") {
    return null;
  }
  return {
    code: "SY0030",
    span: place.wrong,
    message: "Each module needs its own `use`.",
    expected: "`use`",
    actual: "`,`",
    fixes: [{
      title: "begin another `use`",
      applicability: "safe",
      edits: [replacement({ start: place.wrong.start, end: place.at(1).start }, "\nuse ")],
    }],
  };
};

/** `public fn`, `static fn`. */
const foreignModifier: Recognizer = (place) => {
  const word = place.wrong;
  const known = FOREIGN_MODIFIERS.get(word.text);
  if (known === undefined || !place.isBetweenDeclarations) return null;
  const next = FOREIGN_DECLARATIONS.get(place.text(1));
  const behind = next === undefined ? [] : [replacement(place.at(1), next)];
  return {
    code: "SY0041",
    span: word,
    message: known === null
      ? `There is no \`${word.text}\`: declarations are private to their module unless they are \`pub\`.`
      : `Exports are declared with \`pub\`, not \`${word.text}\`.`,
    actual: quoted(word),
    fixes: [
      known === null
        ? {
          title: `remove \`${word.text}\``,
          applicability: "safe",
          edits: [deletion(place, word), ...behind],
        }
        : { title: "write `pub`", applicability: "safe", edits: [replacement(word, "pub"), ...behind] },
    ],
  };
};

/** `pub use`, `pub test`, `pub pub`; also inside of an interface. */
const misplacedPub: Recognizer = (place) => {
  const isBefore = place.text(-1) === "pub" && /^(use|test|property|eval|pub)$/.test(place.text(0));
  const isInside = place.text(0) === "pub" && place.open.length > 0;
  if (!isBefore && !isInside) return null;
  const word = isBefore ? place.at(-1) : place.wrong;
  return {
    code: "SY0042",
    span: word,
    message: isInside
      ? "`pub` is only allowed before a top-level declaration."
      : `\`pub\` is not allowed before \`${place.text(0)}\`.`,
    fixes: [{ title: "remove `pub`", applicability: "safe", edits: [deletion(place, word)] }],
  };
};

const capitalized = (text: string) =>
  text.split("_").filter((part) => part !== "").map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");

const snakeCase = (text: string) =>
  text.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2").toLowerCase();

/** `type ball`, `interface area`, `fn ball.move`. */
const smallTypeName: Recognizer = (place) => {
  const isDeclared = typeOf(place.wrong) === "name" && place.expects("type_name") && !place.expects("name") &&
    !place.isAfterExpression;
  const isOwner = place.text(0) === "." && /^(fn|const)$/.test(place.text(-2)) &&
    typeOf(place.at(-1)) === "name";
  if (!isDeclared && !isOwner) return null;
  const name = isDeclared ? place.wrong : place.at(-1);
  return {
    code: "SY0043",
    span: name,
    message:
      `The names of types, variants and type parameters must begin with a capital letter: \`${name.text}\`.`,
    fixes: [{
      title: `write \`${capitalized(name.text)}\``,
      applicability: "maybe",
      edits: [replacement(name, capitalized(name.text))],
    }],
  };
};

/** `fn Move()`, `x: Int` with a capital. */
const capitalName: Recognizer = (place) => {
  const isFunction = place.text(-2) === "fn" && typeOf(place.at(-1)) === "type_name" &&
    /^[([]$/.test(place.text(0));
  const isConstant = place.text(-2) === "const" && typeOf(place.at(-1)) === "type_name" &&
    /^[:=]$/.test(place.text(0));
  const isName = typeOf(place.wrong) === "type_name" && place.expects("name") && !place.expects("type_name");
  if (!isFunction && !isName && !isConstant) return null;
  const name = isName ? place.wrong : place.at(-1);
  return {
    code: "SY0044",
    span: name,
    message:
      `The names of functions, values and fields must begin with a lower-case letter: \`${name.text}\`.`,
    fixes: [{
      title: `write \`${snakeCase(name.text)}\``,
      applicability: "maybe",
      edits: [replacement(name, snakeCase(name.text))],
    }],
  };
};

/** `x: int`, `List[string]`. */
const smallType: Recognizer = (place) => {
  const name = place.at(-1);
  const isRead = typeOf(name) === "name" && place.expects(".") && place.expected.size === 1 &&
    !isClosureArrow(place, place.index - 2);
  if (!isRead) return null;
  const known = FOREIGN_TYPES.get(name.text.toLowerCase()) ?? capitalized(name.text);
  return {
    code: "SY0045",
    span: name,
    message: `The names of types begin with a capital letter: \`${known}\`, not \`${name.text}\`.`,
    expected: "a type",
    actual: quoted(name),
    fixes: [{ title: `write \`${known}\``, applicability: "safe", edits: [replacement(name, known)] }],
    isCertain: true,
  };
};

/** `List<Int>`, `fn f<T>(x: T)`. */
const angleBrackets: Recognizer = (place) => {
  if (place.text(0) !== "<" || !/^(type_name|name)$/.test(typeOf(place.at(-1)))) return null;
  const edits: TextEdit[] = [];
  let depth = 0;
  for (let index = place.index; index < place.to; index++) {
    const token = place.token(index);
    if (token.text === "<") {
      depth++;
      edits.push(replacement(token, "["));
    } else if (token.text === ">" || token.text === ">>") {
      depth -= token.text.length;
      edits.push(replacement(token, "]".repeat(token.text.length)));
    } else if (!/^(name|type_name|,|\.|:|\+|\(|\)|open_paren|fn|->)$/.test(typeOf(token))) return null;
    if (depth <= 0) break;
  }
  if (depth !== 0) return null;
  return {
    code: "SY0046",
    span: place.wrong,
    message: "Type arguments are written in `[ ]`.",
    expected: "`[`",
    actual: "`<`",
    fixes: [{ title: "write `[ ]`", applicability: "safe", edits }],
  };
};

/** `fn f(): Int`, `fn f() => Int`, `fn f() Int`. */
const resultArrow: Recognizer = (place) => {
  if (!place.expects("->") || place.text(-1) !== ")" || place.isFirstOfLine(1)) return null;
  const wrong = place.wrong;
  const isSign = /^(:|=>|=|-|>)$/.test(wrong.text);
  const isMissing = typeOf(wrong) === "type_name" || typeOf(wrong) === "open_paren";
  if (!isSign && !isMissing || (wrong.text === "=" && !/^[A-Z(]/.test(place.text(1)))) return null;
  const edit = isSign
    ? replacement({ start: place.at(-1).end, end: wrong.end }, " ->")
    : insertion(place.at(-1).end, " ->");
  return {
    code: "SY0047",
    span: wrong,
    message: "The result type of a function is preceded by `->`.",
    expected: "`->`",
    actual: quoted(wrong),
    fixes: [{ title: isSign ? "write `->`" : "put `->` in", applicability: "safe", edits: [edit] }],
    isCertain: isSign,
  };
};

/** `fn main { … }`. */
const missingParameters: Recognizer = (place) => {
  if (!place.expects("(") || !/^(\{|->|uses)$/.test(place.text(0))) return null;
  if (!/^(fn|\.|\])$/.test(place.text(-2)) && place.text(-1) !== "]") return null;
  return {
    code: "SY0048",
    span: place.wrong,
    message: "A function needs a parameter list, even an empty one.",
    expected: "`(`",
    actual: quoted(place.wrong),
    fixes: [{
      title: "put `()` in",
      applicability: "safe",
      edits: [insertion(place.at(-1).end, "()")],
    }],
  };
};

/** `&self`, `&mut self`, `x: &Int`. */
const reference: Recognizer = (place) => {
  const open = place.open.at(-1);
  if (place.text(0) !== "&" || open === undefined || place.token(open).text !== "(") return null;
  const isMutable = place.text(1) === "mut";
  const name = place.at(isMutable ? 2 : 1);
  if (name.text === "self") {
    const owner = place.token(place.from + (place.token(place.from).text === "pub" ? 2 : 1));
    if (typeOf(owner) !== "type_name") return null;
    const written = `self: ${isMutable ? "inout " : ""}${owner.text}`;
    return referenceProposal(place, name.end, written);
  }
  if (!place.expects("type_name")) return null;
  return referenceProposal(place, isMutable ? place.at(1).end : place.wrong.end, isMutable ? "inout" : "");
};

function referenceProposal(place: ErrorContext, end: number, text: string): Proposal {
  const span = { start: place.wrong.start, end };
  const space = text === "" && place.file.text[end] === " " ? 1 : 0;
  return {
    code: "SY0049",
    span,
    message: "There are no references: use `inout` for a parameter that changes the caller's variable.",
    fixes: [{
      title: text === "" ? "remove `&`" : `write \`${text}\``,
      applicability: "maybe",
      edits: [replacement({ start: span.start, end: end + space }, text)],
    }],
  };
}

/** `inout x: Int`. */
const misplacedInout: Recognizer = (place) => {
  const [inout, name, colon] = [place.at(0), place.at(1), place.at(2)];
  if (!/^(inout|mut|var)$/.test(inout.text) || typeOf(name) !== "name" || colon.text !== ":") return null;
  if (!place.expects("name") && place.text(-1) !== "mut") return null;
  return {
    code: "SY0051",
    span: inout,
    message: "`inout` is written before the type of a parameter, not before its name.",
    fixes: [{
      title: "put `inout` before the type",
      applicability: "safe",
      edits: [
        replacement({ start: inout.start, end: name.start }, ""),
        insertion(colon.end, " inout"),
      ],
    }],
  };
};

/** A statement at the top of a module. */
const statementAtTop: Recognizer = (place) => {
  if (place.isAtEnd || !place.isBetweenDeclarations || place.text(-1) === "pub") return null;
  if (/^[)\]},.:=]/.test(place.text(0))) return null;
  const last = place.token(place.to - 1);
  return {
    code: "SY0052",
    span: place.wrong,
    message: `At the top of a module stand declarations, such as \`fn\` or \`type\`, and ${
      quoted(place.wrong)
    } begins none.`,
    expected: "a declaration",
    actual: quoted(place.wrong),
    fixes: /^(?:pub )?fn main\b/m.test(place.file.text) ? [] : [{
      title: "move it into `fn main`",
      applicability: "maybe",
      edits: [insertion(place.wrong.start, "fn main() {\n"), insertion(last.end, "\n}")],
    }],
    isCertain: true,
  };
};

/** `fn f() = 1`. */
const equalsBody: Recognizer = (place) => {
  if (!/^(=|=>|:)$/.test(place.text(0)) || !place.expects("{") || place.open.length > 0) return null;
  if (place.text(0) === ":" && place.isFirstOfLine(1)) return null;
  const end = endOfExpression(place, place.index + 1);
  if (end <= place.index + 1) return null;
  return {
    code: "SY0053",
    span: place.wrong,
    message: "The body of a function must be in braces; its value is the last expression.",
    expected: "`{`",
    actual: quoted(place.wrong),
    fixes: [{
      title: "put braces around it",
      applicability: "safe",
      edits: [
        replacement(place.wrong, place.text(0) === ":" ? " {" : "{"),
        insertion(place.token(end - 1).end, " }"),
      ],
    }],
  };
};

/** `test "{x}" { … }`. */
const textWithExpression: Recognizer = (place) => {
  if (typeOf(place.wrong) !== "text_start" || !place.expects("text")) return null;
  const edits: TextEdit[] = [];
  for (let index = place.index; index < place.to; index++) {
    const token = place.token(index);
    if (typeOf(token) === "text_end") break;
    if (typeOf(token) === "interpolation_start") edits.push(insertion(token.start, "\\"));
  }
  const isLong = place.text(0) === '"""';
  return {
    code: "SY0054",
    span: place.wrong,
    message: isLong
      ? "Expected a single-line string without interpolation."
      : "This string must be known at compile time, so it cannot contain interpolation.",
    fixes: edits.length === 0 || isLong ? [] : [{ title: "escape the braces", applicability: "safe", edits }],
    isCertain: true,
  };
};

/** `{ x: 1.0 }` without the type before it. */
const recordWithoutType: Recognizer = (place) => {
  const isBody = typeOf(place.wrong) === "record_brace" && place.expects("{");
  const isValue = place.text(0) === ":" && typeOf(place.at(-1)) === "name" && place.text(-2) === "{";
  if (!isBody && !isValue) return null;
  const base = { code: "SY0057", message: "A record literal begins with its type: `Ball { x: 1.0 }`." };
  if (isValue) {
    const brace = place.at(-2);
    const edits = [insertion(brace.start, "Type ")];
    return {
      ...base,
      span: { start: brace.start, end: place.wrong.end },
      fixes: [{ title: "add the type", applicability: "placeholder", edits }],
    };
  }
  const close = place.closing(place.index);
  const type = place.text(-1);
  return {
    ...base,
    span: place.wrong,
    fixes: [{
      title: `make it a \`${type}\` in the body`,
      applicability: "safe",
      edits: [insertion(place.wrong.start, `{ ${type} `), insertion(place.token(close).end, " }")],
    }],
  };
};

/** In the order in which they are asked. */
export const declarationRecognizers: readonly Recognizer[] = [
  foreignModifier,
  methodBlock,
  importedText,
  unquotedTestName,
  ...typeBodyRecognizers,
  bodyInInterface,
  effectsWithoutCommas,
  severalModules,
  defaultValue,
  foreignType,
  fieldValue,
  foreignDeclaration,
  misplacedPub,
  textWithExpression,
  recordWithoutType,
  missingParameters,
  angleBrackets,
  reference,
  misplacedInout,
  smallType,
  smallTypeName,
  capitalName,
  resultArrow,
  equalsBody,
];

/** Asked when the others have found nothing. */
export const lateDeclarationRecognizers: readonly Recognizer[] = [statementAtTop];
