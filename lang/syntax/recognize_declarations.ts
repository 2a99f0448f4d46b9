/** Errors in declarations and types. */
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
} from "./error_context.ts";
import { endOfExpression, isClosureArrow } from "./recognize_operators.ts";
import { hasFieldsAlone, typeBodyEdits, typeBodyRecognizers } from "./recognize_type_bodies.ts";

/** `function f`, `struct Ball`, `import x`. */
const foreignDeclaration: Recognizer = (context) => {
  const word = context.wrong;
  const known = FOREIGN_DECLARATIONS.get(word.text);
  const canBegin = context.isBetweenDeclarations || (context.expects("fn") && !context.expectsExpression);
  if (known === undefined || !canBegin) return null;
  const next = context.at(1);
  if (!/^(name|type_name|text|open_paren)$/.test(typeOf(next))) return null;
  const from = context.text(2) === "from" && typeOf(context.at(3)) === "text"
    ? modulePath(context.text(3))
    : "";
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
        edits: [replacement({ start: word.start, end: context.at(3).end }, `use ${from}`)],
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
    ...(known === "type" && !hasFieldsAlone(context)
      ? {
        hint: "The functions of a type are declared outside of it: `fn Ball.move(self: inout Ball) { … }`.",
      }
      : {}),
    fixes: known === "type" && !hasFieldsAlone(context) ? [] : [{
      title: `write \`${known}\``,
      applicability: known === "const" ? "maybe" : "safe",
      edits: [replacement(word, known), ...typeBodyEdits(context, known)],
    }],
    isCertain: true,
  };
};

/** `impl Ball { fn move(self) { … } }`. */
const methodBlock: Recognizer = (context) => {
  const [word, type, open] = [context.at(0), context.at(1), context.at(2)];
  if (
    !/^(impl|extension|extend)$/.test(word.text) || typeOf(type) !== "type_name" ||
    !context.isBetweenDeclarations
  ) {
    return null;
  }
  const edits: TextEdit[] = [replacement({ start: word.start, end: open.end }, "")];
  for (let index = context.index + 3, depth = 0; index < context.to; index++) {
    const token = context.token(index);
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text) && --depth < 0) {
      edits.push(deletion(context, token));
      break;
    }
    if (depth === 0 && token.text === "fn") {
      edits.push(insertion(context.token(index + 1).start, `${type.text}.`));
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
const importedText: Recognizer = (context) => {
  if (context.text(-1) !== "use" || typeOf(context.wrong) !== "text") return null;
  const path = modulePath(context.text(0));
  return {
    code: "SY0030",
    span: context.wrong,
    message: "The parts of a module path are separated by dots.",
    expected: "a name",
    actual: quoted(context.wrong),
    fixes: path !== ""
      ? [{ title: `write \`${path}\``, applicability: "maybe", edits: [replacement(context.wrong, path)] }]
      : [],
    isCertain: true,
  };
};

/** `test name { … }`. */
const unquotedTestName: Recognizer = (context) => {
  if (!/^(test|property|eval)$/.test(context.text(0)) || !context.isBetweenDeclarations) return null;
  let end = context.index + 1;
  while (end < context.to && /^\w/.test(context.token(end).text) && context.token(end).text !== "threshold") {
    end++;
  }
  if (end === context.index + 1 || !/^(\{|\(|threshold)$/.test(context.token(end).text)) return null;
  return {
    code: "SY0059",
    span: { start: context.at(1).start, end: context.token(end - 1).end },
    message: `The name of a ${context.text(0)} is a text.`,
    expected: "a text",
    actual: quoted(context.at(1)),
    fixes: [{
      title: "put quotes around it",
      applicability: "safe",
      edits: [insertion(context.at(1).start, '"'), insertion(context.token(end - 1).end, '"')],
    }],
  };
};

/** `interface A { fn f(self) { … } }`. */
const bodyInInterface: Recognizer = (context) => {
  const isInterface = context.open.length === 1 && context.expects("fn") && context.expects("}") &&
    !context.expectsExpression;
  if (context.text(0) !== "{" || !isInterface) return null;
  const close = context.closing(context.index);
  return {
    code: "SY0058",
    span: context.wrong,
    message: "A function of an interface has no body; the types that implement the interface provide it.",
    fixes: [{
      title: "remove the body",
      applicability: "maybe",
      edits: [replacement({ start: context.at(-1).end, end: context.token(close).end }, "")],
    }],
  };
};

/** `Ball { x = 1.0 }`, `Ball { x }`. */
const fieldValue: Recognizer = (context) => {
  const open = context.open.at(-1);
  if (!context.expects(":") || open === undefined || typeOf(context.token(open)) !== "record_brace") {
    return null;
  }
  const name = context.at(-1);
  if (context.text(0) === "=") {
    return {
      code: "SY0072",
      span: context.wrong,
      message: "A field and its value are separated by `:`.",
      expected: "`:`",
      actual: "`=`",
      fixes: [{
        title: "write `:`",
        applicability: "safe",
        edits: otherFields(
          context,
          "=",
          (
            token,
          ) => [replacement({ start: context.token(token - 1).end, end: context.token(token).end }, ":")],
        ),
      }],
    };
  }
  if (context.text(0) !== "," && context.text(0) !== "}") return null;
  return {
    code: "SY0073",
    span: name,
    message: `The field \`${name.text}\` has no value.`,
    fixes: [{
      title: `write \`${name.text}: ${name.text}\``,
      applicability: "maybe",
      edits: otherFields(context, null, (token) => [
        insertion(context.token(token - 1).end, `: ${context.token(token - 1).text}`),
      ]),
    }],
  };
};

/**
 * The edits for this field and those behind it that have the same error: `sign` before the value, or no value at
 * all.
 */
function otherFields(
  context: ErrorContext,
  sign: string | null,
  edit: (index: number) => readonly TextEdit[],
): readonly TextEdit[] {
  const edits = [...edit(context.index)];
  for (let index = context.index + (sign === null ? 0 : 1), depth = 0; index < context.to; index++) {
    const token = context.token(index);
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text) && --depth < 0) break;
    if (depth !== 0 || token.text !== "," || typeOf(context.token(index + 1)) !== "name") continue;
    const next = context.token(index + 2).text;
    if (sign === null ? next === "," || next === "}" : next === sign) edits.push(...edit(index + 2));
  }
  return edits;
}

/** `fn f(x: Int = 3)`. */
const defaultValue: Recognizer = (context) => {
  const open = context.open.at(-1);
  if (
    context.text(0) !== "=" || open === undefined || context.token(open).text !== "(" ||
    context.isAfterExpression
  ) return null;
  if (context.open.length !== 1 || !/^(fn|pub)$/.test(context.token(context.from).text)) return null;
  const end = endOfExpression(context, context.index + 1);
  if (end <= context.index + 1) return null;
  return {
    code: "SY0075",
    span: context.wrong,
    message: "Parameters have no default values.",
    fixes: [{
      title: "remove the value",
      applicability: "maybe",
      edits: [replacement({ start: context.at(-1).end, end: context.token(end - 1).end }, "")],
    }],
  };
};

/** `[Int]`, `Int?`. */
const foreignType: Recognizer = (context) => {
  const isList = context.text(0) === "[" && context.expects("type_name") && !context.expects("integer");
  const isOption = context.text(0) === "?" && typeOf(context.at(-1)) === "type_name" && context.expects("[");
  if (!isList && !isOption) return null;
  const [written, kept] = isList ? ["[T]", "List[T]"] : ["T?", "Option[T]"];
  return {
    code: "SY0076",
    span: context.wrong,
    message: `This type is written \`${kept}\`, not \`${written}\`.`,
    fixes: [{
      title: `write \`${kept}\``,
      applicability: "safe",
      edits: isList
        ? [insertion(context.wrong.start, "List")]
        : [insertion(context.at(-1).start, "Option["), replacement(context.wrong, "]")],
    }],
  };
};

/** `uses Input Log`. */
const effectsWithoutCommas: Recognizer = (context) => {
  let uses = context.index - 1;
  while (uses > context.from && /^(type_name|,)$/.test(typeOf(context.token(uses)))) uses--;
  if (context.token(uses).text !== "uses" || typeOf(context.wrong) !== "type_name" || !context.expects(",")) {
    return null;
  }
  const edits: TextEdit[] = [];
  for (let index = context.index; typeOf(context.token(index)) === "type_name"; index++) {
    edits.push(insertion(context.token(index - 1).end, ","));
    if (context.token(index + 1).text === ",") index++;
  }
  return {
    code: "SY0008",
    span: context.wrong,
    message: `Missing comma between effects, before ${quoted(context.wrong)}.`,
    expected: "`,`",
    actual: quoted(context.wrong),
    fixes: [{
      title: edits.length === 1 ? "insert a comma" : "insert commas",
      applicability: "safe",
      edits,
    }],
  };
};

/** `use a, b`. */
const severalModules: Recognizer = (context) => {
  if (
    context.text(0) !== "," || context.token(context.from).text !== "use" || typeOf(context.at(1)) !== "name"
  ) {
    return null;
  }
  return {
    code: "SY0030",
    span: context.wrong,
    message: "Each module needs its own `use`.",
    expected: "`use`",
    actual: "`,`",
    fixes: [{
      title: "begin another `use`",
      applicability: "safe",
      edits: [replacement({ start: context.wrong.start, end: context.at(1).start }, "\nuse ")],
    }],
  };
};

/** `public fn`, `static fn`. */
const foreignModifier: Recognizer = (context) => {
  const word = context.wrong;
  const known = FOREIGN_MODIFIERS.get(word.text);
  if (known === undefined || !context.isBetweenDeclarations) return null;
  const next = FOREIGN_DECLARATIONS.get(context.text(1));
  const behind = next === undefined ? [] : [replacement(context.at(1), next)];
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
          edits: [deletion(context, word), ...behind],
        }
        : { title: "write `pub`", applicability: "safe", edits: [replacement(word, "pub"), ...behind] },
    ],
  };
};

/** `pub use`, `pub test`, `pub pub`; also inside of an interface. */
const misplacedPub: Recognizer = (context) => {
  const isBefore = context.text(-1) === "pub" && /^(use|test|property|eval|pub)$/.test(context.text(0));
  const isInside = context.text(0) === "pub" && context.open.length > 0;
  if (!isBefore && !isInside) return null;
  const word = isBefore ? context.at(-1) : context.wrong;
  return {
    code: "SY0042",
    span: word,
    message: isInside
      ? "`pub` is only allowed before a top-level declaration."
      : `\`pub\` is not allowed before \`${context.text(0)}\`.`,
    fixes: [{ title: "remove `pub`", applicability: "safe", edits: [deletion(context, word)] }],
  };
};

const capitalized = (text: string) =>
  text.split("_").filter((part) => part !== "").map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");

const snakeCase = (text: string) =>
  text.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2").toLowerCase();

/** `type ball`, `interface area`, `fn ball.move`. */
const smallTypeName: Recognizer = (context) => {
  const isDeclared = typeOf(context.wrong) === "name" && context.expects("type_name") &&
    !context.expects("name") &&
    !context.isAfterExpression;
  const isOwner = context.text(0) === "." && /^(fn|const)$/.test(context.text(-2)) &&
    typeOf(context.at(-1)) === "name";
  if (!isDeclared && !isOwner) return null;
  const name = isDeclared ? context.wrong : context.at(-1);
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
const capitalName: Recognizer = (context) => {
  const isFunction = context.text(-2) === "fn" && typeOf(context.at(-1)) === "type_name" &&
    /^[([]$/.test(context.text(0));
  const isConstant = context.text(-2) === "const" && typeOf(context.at(-1)) === "type_name" &&
    /^[:=]$/.test(context.text(0));
  const isName = typeOf(context.wrong) === "type_name" && context.expects("name") &&
    !context.expects("type_name");
  if (!isFunction && !isName && !isConstant) return null;
  const name = isName ? context.wrong : context.at(-1);
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
const smallType: Recognizer = (context) => {
  const name = context.at(-1);
  const isRead = typeOf(name) === "name" && context.expects(".") && context.expected.size === 1 &&
    !isClosureArrow(context, context.index - 2);
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
const angleBrackets: Recognizer = (context) => {
  if (context.text(0) !== "<" || !/^(type_name|name)$/.test(typeOf(context.at(-1)))) return null;
  const edits: TextEdit[] = [];
  let depth = 0;
  for (let index = context.index; index < context.to; index++) {
    const token = context.token(index);
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
    span: context.wrong,
    message: "Type arguments are written in `[ ]`.",
    expected: "`[`",
    actual: "`<`",
    fixes: [{ title: "write `[ ]`", applicability: "safe", edits }],
  };
};

/** `fn f(): Int`, `fn f() => Int`, `fn f() Int`. */
const resultArrow: Recognizer = (context) => {
  if (!context.expects("->") || context.text(-1) !== ")" || context.isFirstOfLine(1)) return null;
  const wrong = context.wrong;
  const isSign = /^(:|=>|=|-|>)$/.test(wrong.text);
  const isMissing = typeOf(wrong) === "type_name" || typeOf(wrong) === "open_paren";
  if (!isSign && !isMissing || (wrong.text === "=" && !/^[A-Z(]/.test(context.text(1)))) return null;
  const edit = isSign
    ? replacement({ start: context.at(-1).end, end: wrong.end }, " ->")
    : insertion(context.at(-1).end, " ->");
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
const missingParameters: Recognizer = (context) => {
  if (!context.expects("(") || !/^(\{|->|uses)$/.test(context.text(0))) return null;
  if (!/^(fn|\.|\])$/.test(context.text(-2)) && context.text(-1) !== "]") return null;
  return {
    code: "SY0048",
    span: context.wrong,
    message: "A function needs a parameter list, even an empty one.",
    expected: "`(`",
    actual: quoted(context.wrong),
    fixes: [{
      title: "put `()` in",
      applicability: "safe",
      edits: [insertion(context.at(-1).end, "()")],
    }],
  };
};

/** `&self`, `&mut self`, `x: &Int`. */
const reference: Recognizer = (context) => {
  const open = context.open.at(-1);
  if (context.text(0) !== "&" || open === undefined || context.token(open).text !== "(") return null;
  const isMutable = context.text(1) === "mut";
  const name = context.at(isMutable ? 2 : 1);
  if (name.text === "self") {
    const owner = context.token(context.from + (context.token(context.from).text === "pub" ? 2 : 1));
    if (typeOf(owner) !== "type_name") return null;
    const written = `self: ${isMutable ? "inout " : ""}${owner.text}`;
    return referenceProposal(context, name.end, written);
  }
  if (!context.expects("type_name")) return null;
  return referenceProposal(
    context,
    isMutable ? context.at(1).end : context.wrong.end,
    isMutable ? "inout" : "",
  );
};

function referenceProposal(context: ErrorContext, end: number, text: string): Proposal {
  const span = { start: context.wrong.start, end };
  const space = text === "" && context.file.text[end] === " " ? 1 : 0;
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
const misplacedInout: Recognizer = (context) => {
  const [inout, name, colon] = [context.at(0), context.at(1), context.at(2)];
  if (!/^(inout|mut|var)$/.test(inout.text) || typeOf(name) !== "name" || colon.text !== ":") return null;
  if (!context.expects("name") && context.text(-1) !== "mut") return null;
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
const statementAtTop: Recognizer = (context) => {
  if (context.isAtEnd || !context.isBetweenDeclarations || context.text(-1) === "pub") return null;
  if (/^[)\]},.:=]/.test(context.text(0))) return null;
  const last = context.token(context.to - 1);
  return {
    code: "SY0052",
    span: context.wrong,
    message: `At the top of a module stand declarations, such as \`fn\` or \`type\`, and ${
      quoted(context.wrong)
    } begins none.`,
    expected: "a declaration",
    actual: quoted(context.wrong),
    fixes: /^(?:pub )?fn main\b/m.test(context.file.text) ? [] : [{
      title: "move it into `fn main`",
      applicability: "maybe",
      edits: [insertion(context.wrong.start, "fn main() {\n"), insertion(last.end, "\n}")],
    }],
    isCertain: true,
  };
};

/** `fn f() = 1`. */
const equalsBody: Recognizer = (context) => {
  if (!/^(=|=>|:)$/.test(context.text(0)) || !context.expects("{") || context.open.length > 0) return null;
  if (context.text(0) === ":" && context.isFirstOfLine(1)) return null;
  const end = endOfExpression(context, context.index + 1);
  if (end <= context.index + 1) return null;
  return {
    code: "SY0053",
    span: context.wrong,
    message: "The body of a function must be in braces; its value is the last expression.",
    expected: "`{`",
    actual: quoted(context.wrong),
    fixes: [{
      title: "put braces around it",
      applicability: "safe",
      edits: [
        replacement(context.wrong, context.text(0) === ":" ? " {" : "{"),
        insertion(context.token(end - 1).end, " }"),
      ],
    }],
  };
};

/** `test "{x}" { … }`. */
const textWithExpression: Recognizer = (context) => {
  if (typeOf(context.wrong) !== "text_start" || !context.expects("text")) return null;
  const edits: TextEdit[] = [];
  for (let index = context.index; index < context.to; index++) {
    const token = context.token(index);
    if (typeOf(token) === "text_end") break;
    if (typeOf(token) === "interpolation_start") edits.push(insertion(token.start, "\\"));
  }
  const isLong = context.text(0) === '"""';
  return {
    code: "SY0054",
    span: context.wrong,
    message: isLong
      ? "Expected a single-line string without interpolation."
      : "This string must be known at compile time, so it cannot contain interpolation.",
    fixes: edits.length === 0 || isLong ? [] : [{ title: "escape the braces", applicability: "safe", edits }],
    isCertain: true,
  };
};

/** `{ x: 1.0 }` without the type before it. */
const recordWithoutType: Recognizer = (context) => {
  const isBody = typeOf(context.wrong) === "record_brace" && context.expects("{");
  const isValue = context.text(0) === ":" && typeOf(context.at(-1)) === "name" && context.text(-2) === "{";
  if (!isBody && !isValue) return null;
  const base = { code: "SY0057", message: "A record literal begins with its type: `Ball { x: 1.0 }`." };
  if (isValue) {
    const brace = context.at(-2);
    const edits = [insertion(brace.start, "Type ")];
    return {
      ...base,
      span: { start: brace.start, end: context.wrong.end },
      fixes: [{ title: "add the type", applicability: "placeholder", edits }],
    };
  }
  const close = context.closing(context.index);
  const type = context.text(-1);
  return {
    ...base,
    span: context.wrong,
    fixes: [{
      title: `make it a \`${type}\` in the body`,
      applicability: "safe",
      edits: [insertion(context.wrong.start, `{ ${type} `), insertion(context.token(close).end, " }")],
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
