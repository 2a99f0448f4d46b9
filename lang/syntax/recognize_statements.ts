/** Errors in statements and expressions that look like another language's. */
import { FOREIGN_TYPES } from "./foreign_words.ts";
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
import { endOfExpression } from "./recognize_operators.ts";
import { isMatchBrace } from "./recognize_brackets.ts";
import { KEYWORDS, type Token } from "./token.ts";

/** `let mut x`. */
const mutableLet: Recognizer = (context) => {
  const [first, word] = [context.at(-2), context.at(-1)];
  if (first.text !== "let" || word.text !== "mut") return null;
  return {
    code: "SY0020",
    span: { start: first.start, end: word.end },
    message: "Declare a variable that changes with `var`.",
    expected: "`var`",
    actual: "`let mut`",
    fixes: [{
      title: "write `var`",
      applicability: "safe",
      edits: [replacement({ start: first.start, end: word.end }, "var")],
    }],
  };
};

/** `var (a, b) = c`. */
const variablePattern: Recognizer = (context) => {
  if (context.text(-1) !== "var" || typeOf(context.wrong) === "name" || !context.expects("name")) return null;
  if (!/^(open_paren|open_bracket|_|type_name)$/.test(typeOf(context.wrong))) return null;
  return {
    code: "SY0071",
    span: { start: context.at(-1).start, end: context.wrong.end },
    message: "`var` declares one variable; use `let` to destructure a value.",
    expected: "a name",
    actual: quoted(context.wrong),
    fixes: [{ title: "write `let`", applicability: "maybe", edits: [replacement(context.at(-1), "let")] }],
  };
};

/** `let a, b = c`. */
const letWithCommas: Recognizer = (context) => {
  if (context.text(0) !== "," || !/^(let|for)$/.test(context.text(-2)) || typeOf(context.at(-1)) !== "name") {
    return null;
  }
  let end = context.index;
  while (end < context.to && /^(name|,|_)$/.test(typeOf(context.token(end)))) end++;
  return {
    code: "SY0071",
    span: context.wrong,
    message: "Write several names as a tuple pattern in parentheses.",
    fixes: [{
      title: "put parentheses around the names",
      applicability: "safe",
      edits: [insertion(context.at(-1).start, "("), insertion(context.token(end - 1).end, ")")],
    }],
  };
};

/** `x as Int`. */
const conversion: Recognizer = (context) => {
  if (context.text(0) !== "as" || !context.isAfterExpression) return null;
  const method = { Int: "to_int", Int64: "to_int64", Float: "to_float", F32: "to_f32" }[context.text(1)];
  const isName = /^(name|\)|\]|integer|float)$/.test(typeOf(context.at(-1)));
  return {
    code: "SY0074",
    span: context.wrong,
    message: "There are no casts; call a conversion method.",
    fixes: method === undefined || !isName ? [] : [{
      title: `call \`${method}\``,
      applicability: "maybe",
      edits: [replacement({ start: context.at(-1).end, end: context.at(1).end }, `.${method}()`)],
    }],
    isCertain: true,
  };
};

/** `const` in a block. */
const constantInBlock: Recognizer = (context) => {
  if (context.text(0) !== "const" || !context.expectsStatement) return null;
  return {
    code: "SY0021",
    span: context.wrong,
    message: "`const` is only allowed at the top level of a module; use `let` in a block.",
    expected: "`let`",
    actual: "`const`",
    fixes: [{ title: "write `let`", applicability: "safe", edits: [replacement(context.wrong, "let")] }],
  };
};

/** `elif`, `else if` in one word. */
const elseIf: Recognizer = (context) => {
  if (!/^(elif|elsif|elseif)$/.test(context.text(0))) return null;
  return {
    code: "SY0022",
    span: context.wrong,
    message: `\`${context.text(0)}\` must be written as two words, \`else if\`.`,
    expected: "`else if`",
    actual: quoted(context.wrong),
    fixes: [{
      title: "write `else if`",
      applicability: "safe",
      edits: [replacement(context.wrong, "else if")],
    }],
  };
};

/** `switch`, `loop`, `unless`, `until`, `foreach`, `throw`, `try`. */
const foreignStatement: Recognizer = (context) => {
  const word = context.wrong;
  if (typeOf(word) !== "foreign" || !/^\w/.test(word.text)) return null;
  const propose = (code: string, message: string, fixes: Proposal["fixes"], hint?: string): Proposal => ({
    code,
    span: word,
    message,
    ...(hint === undefined ? {} : { hint }),
    fixes,
    isCertain: true,
  });
  switch (word.text) {
    case "switch":
      if (hasCases(context)) {
        return propose(
          "SY0023",
          "Use `match` to compare a value with several patterns.",
          [],
          "`match x { 1 => a 2 => b _ => c }`: an arm is a pattern and a value, without `case` and `break`; `_` is for everything else.",
        );
      }
      return propose("SY0023", "Use `match` to compare a value with several patterns.", [
        { title: "write `match`", applicability: "maybe", edits: [replacement(word, "match")] },
      ]);
    case "case":
      return propose("SY0023", "Use `match`, with `=>` after each pattern.", [
        { title: "write `match`", applicability: "safe", edits: matchOfCase(context) },
      ]);
    case "loop":
      return propose("SY0024", "Write an infinite loop as `while true`.", [
        { title: "write `while true`", applicability: "safe", edits: [replacement(word, "while true")] },
      ]);
    case "unless":
    case "until": {
      const kept = word.text === "unless" ? "if" : "while";
      return propose("SY0024", `\`${word.text}\` is written \`${kept} not\`.`, [
        { title: `write \`${kept} not\``, applicability: "maybe", edits: [replacement(word, `${kept} not`)] },
      ]);
    }
    case "do":
      return propose(
        "SY0024",
        "There is no `do … while` loop.",
        [],
        "Write `while true { … if not condition { break } }`.",
      );
    case "foreach":
      return propose("SY0024", "Use `for` to loop over values.", [
        { title: "write `for`", applicability: "safe", edits: [replacement(word, "for")] },
      ]);
    case "throw":
    case "raise": {
      const end = endOfExpression(context, context.index + 1);
      const value = context.source(context.at(1).start, context.token(end - 1).end).replace(
        /^(?:new\s+)?\w*(?:Error|Exception)\((.*)\)$/s,
        "$1",
      );
      return propose("SY0025", "There are no exceptions: a function that can fail returns a `Result`.", [{
        title: "return an error",
        applicability: "maybe",
        edits: [replacement({ start: word.start, end: context.token(end - 1).end }, `return Err(${value})`)],
      }], "Return `Result[T, E]` from a function that can fail; `panic` ends the program.");
    }
    case "new":
    case "await":
      return propose(
        "SY0041",
        word.text === "new"
          ? "There is no `new`: write a record literal, `Ball { x: 1.0 }`."
          : "There is no `await`: a call returns its value directly.",
        [{ title: `remove \`${word.text}\``, applicability: "maybe", edits: [deletion(context, word)] }],
      );
    case "try":
      return propose(
        "SY0025",
        "There are no exceptions: a function that can fail returns a `Result`.",
        [],
        "Handle a `Result` with `match`, or propagate its error with `?`.",
      );
  }
  return foreignFunction(context) ?? foreignVariable(context) ?? callWithoutParentheses(context);
};

/** Edits that make a `match` of `case x { 1 -> a }`. */
function matchOfCase(context: ErrorContext): TextEdit[] {
  const edits: TextEdit[] = [replacement(context.wrong, "match")];
  const open = context.lineEnd(context.index) - 1;
  const commas: Token[] = [];
  for (let index = context.index + 1, depth = 0; index < open; index++) {
    const token = context.token(index);
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text)) depth--;
    if (depth === 0 && token.text === ",") commas.push(token);
  }
  // Several values are distinguished as the parts of a tuple.
  const parenthesize = (from: number, to: number) =>
    edits.push(insertion(context.token(from).start, "("), insertion(context.token(to).end, ")"));
  if (commas.length > 0) parenthesize(context.index + 1, open - 1);
  for (let index = open + 1, depth = 0, arm = index; index < context.to; index++) {
    const token = context.token(index);
    if (depth === 0 && token.isFirstOfLine) arm = index;
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text) && --depth < 0) break;
    if (depth !== 0 || token.text !== "->") continue;
    edits.push(replacement(token, "=>"));
    if (commas.length === 0) continue;
    let end = arm;
    while (end < index && context.token(end).text !== "if") end++;
    if (context.token(arm).text !== "_" || end > arm + 1) parenthesize(arm, end - 1);
  }
  return edits.toSorted((left, right) => left.start - right.start || left.end - right.end);
}

/** Whether arms begin with `case` or `default` behind a `switch`. */
function hasCases(context: ErrorContext): boolean {
  for (let index = context.index + 1; index < context.to; index++) {
    const token = context.token(index);
    if (token.isFirstOfLine && /^(case|default)$/.test(token.text)) {
      return context.token(index + 1).text !== "=>";
    }
  }
  return false;
}

/** `function f() { … }` in a block. */
function foreignFunction(context: ErrorContext): Proposal | null {
  const word = context.wrong;
  if (!/^(function|def|func|fun)$/.test(word.text) || context.expects("pub")) return null;
  const hasName = typeOf(context.at(1)) === "name";
  return {
    code: "SY0026",
    span: word,
    message: "A nested function is a function value, bound with `let`: `let f = fn(x) { … }`.",
    fixes: [{
      title: "make it a function value",
      applicability: "safe",
      edits: hasName
        ? [replacement({ start: word.start, end: context.at(1).end }, `let ${context.text(1)} = fn`)]
        : [replacement(word, "fn")],
    }],
  };
}

/** `fn f() { … }` in a block. */
const functionInBlock: Recognizer = (context) => {
  if (context.text(-1) !== "fn" || typeOf(context.wrong) !== "name" || !context.expects("open_paren")) {
    return null;
  }
  if (context.index - 1 === context.from) return null;
  return {
    code: "SY0026",
    span: { start: context.at(-1).start, end: context.wrong.end },
    message: "A nested function is a function value, bound with `let`: `let f = fn(x) { … }`.",
    fixes: [{
      title: "make it a function value",
      applicability: "safe",
      edits: [
        replacement({ start: context.at(-1).start, end: context.wrong.end }, `let ${context.text(0)} = fn`),
      ],
    }],
  };
};

/** `int x = 5`. */
function foreignVariable(context: ErrorContext): Proposal | null {
  const [type, name, equals] = [context.at(0), context.at(1), context.at(2)];
  if (typeOf(name) !== "name" || equals.text !== "=") return null;
  const isInferred = /^(auto|val|const|my|local|final)$/.test(type.text);
  const known = FOREIGN_TYPES.get(type.text) ?? type.text;
  const text = isInferred ? `let ${name.text}` : `let ${name.text}: ${known}`;
  return {
    code: "SY0027",
    span: { start: type.start, end: name.end },
    message: "A declaration begins with `let` or `var`, and the type follows the name.",
    fixes: ["let", "var"].map((word) => ({
      title: `begin with \`${word}\``,
      applicability: "maybe",
      edits: [replacement({ start: type.start, end: name.end }, text.replace("let", word))],
    })),
  };
}

/** `print "x"`. */
function callWithoutParentheses(context: ErrorContext): Proposal | null {
  const end = endOfExpression(context, context.index + 1);
  if (end <= context.index + 1) return null;
  const last = context.token(end - 1).end;
  return {
    code: "SY0028",
    span: context.wrong,
    message: `The arguments of \`${context.text(0)}\` must be in parentheses.`,
    fixes: [{
      title: "put parentheses around the arguments",
      applicability: "safe",
      edits: [replacement({ start: context.wrong.end, end: context.at(1).start }, "("), insertion(last, ")")],
    }],
  };
}

/** `x := 5`. */
const shortDeclaration: Recognizer = (context) => {
  if (context.text(0) !== ":" || context.text(1) !== "=" || typeOf(context.at(-1)) !== "name") return null;
  const name = context.at(-1);
  if (context.at(1).start !== context.wrong.end || !name.isFirstOfLine && context.text(-2) !== "{") {
    return null;
  }
  return {
    code: "SY0029",
    span: { start: context.wrong.start, end: context.at(1).end },
    message: "Declare a name with `let` or `var`.",
    fixes: ["let", "var"].map((word) => ({
      title: `begin with \`${word}\``,
      applicability: "maybe",
      edits: [
        insertion(name.start, `${word} `),
        replacement({ start: context.wrong.start, end: context.at(1).end }, "="),
      ],
    })),
  };
};

/** `let x 5`, `let x == 5`. */
const missingEquals: Recognizer = (context) => {
  if (!context.expects("=") || context.isAtEnd || context.wrong.isFirstOfLine) return null;
  const start = context.token(context.lineStart(context.index - 1));
  if (!/^(let|var|const|type|pub)$/.test(start.text) || context.isAfterExpression) return null;
  // The body of a type is wrong in more than this.
  if (context.text(0) === "{" && context.expects("=") && /^(type|pub)$/.test(start.text)) return null;
  const isDouble = context.text(0) === "==";
  if (!isDouble && /^[^\w"'({[-]/.test(context.text(0))) return null;
  const equals = isDouble ? replacement(context.wrong, "=") : insertion(context.at(-1).end, " =");
  return {
    code: "SY0030",
    span: context.wrong,
    message: "A name and its value are separated by `=`.",
    expected: "`=`",
    actual: quoted(context.wrong),
    fixes: [{ title: isDouble ? "write `=`" : "put `=` in", applicability: "safe", edits: [equals] }],
  };
};

/** `let type = 1`. */
const reservedWord: Recognizer = (context) => {
  const wrong = context.wrong;
  if (!KEYWORDS.includes(wrong.text) || wrong.text === "_" || !context.expects("name")) return null;
  if (wrong.isFirstOfLine || (context.expectsExpression && context.expectsStatement)) return null;
  const next = context.text(1);
  if (!/^[=:,).(\]}]$|^in$|^=>$|^[+\-*/%]=$|^\.\.$/.test(next) && !context.isFirstOfLine(1)) return null;
  return {
    code: "SY0031",
    span: wrong,
    message: `\`${wrong.text}\` is a keyword and cannot be used as a name.`,
    expected: "a name",
    actual: quoted(wrong),
    fixes: [{
      title: `name it \`${wrong.text}_\``,
      applicability: "maybe",
      edits: [replacement(wrong, `${wrong.text}_`)],
    }],
  };
};

/** `if c then …`, `while c do …`. */
const thenWord: Recognizer = (context) => {
  if (!/^(then|do|:)$/.test(context.text(0)) || !context.expects("{") || context.open.length === 0) {
    return null;
  }
  if (context.text(0) === ":" && (context.expectsStatement || headWord(context) === null)) return null;
  const word = context.wrong;
  const base = { code: "SY0032", span: word, expected: "`{`", actual: quoted(word) };
  const message = `There is no \`${word.text}\` here: the body of a condition or loop is in braces.`;
  if (context.text(1) === "{") {
    const edits = [deletion(context, word)];
    return { ...base, message, fixes: [{ title: `remove \`${word.text}\``, applicability: "safe", edits }] };
  }
  if (context.isFirstOfLine(1)) return { ...base, message, fixes: [], isCertain: true };
  const wrapped = inBraces(context, context.index + 1, word);
  return {
    ...base,
    message,
    fixes: [{ title: "put braces around it", applicability: "safe", edits: wrapped }],
  };
};

/** `if c return`, `else x`. */
const missingBraces: Recognizer = (context) => {
  const wrong = context.wrong;
  if (!context.expects("{") || context.isAtEnd || /^[^\w"'([-]/.test(wrong.text)) return null;
  // Behind an effect, what is missing may be a comma.
  if (context.expects(",")) return null;
  const head = headWord(context);
  if (head === null) return null;
  return {
    code: "SY0033",
    span: wrong,
    message: `The body of \`${head}\` must be in braces.`,
    expected: "`{`",
    actual: quoted(wrong),
    fixes: [{
      title: "put braces around it",
      applicability: "safe",
      edits: inBraces(context, context.index, null),
    }],
  };
};

function headWord(context: ErrorContext): string | null {
  const first = context.token(context.from).text === "pub"
    ? context.token(context.from + 1)
    : context.token(context.from);
  if (context.open.length === 0 && /^(fn|test|property)$/.test(first.text) && !context.wrong.isFirstOfLine) {
    return first.text;
  }
  for (let index = context.index - 1; index >= context.from; index--) {
    const text = context.token(index).text;
    if (text === "if" && context.token(index - 1).text === "else") return "else";
    if (/^(if|while|for|else)$/.test(text)) return text;
    if (/^[{}]$/.test(text)) return null;
  }
  return null;
}

/** Edits that put braces around the rest of a line, and around what follows an `else` there. */
function inBraces(context: ErrorContext, from: number, replaced: { start: number; end: number } | null) {
  const start = context.token(from);
  const edits = [
    replaced === null
      ? insertion(start.start, "{ ")
      : replacement(replaced, context.file.text[replaced.start - 1] === " " ? "{" : " {"),
  ];
  let depth = 0;
  let index = from;
  for (; index < context.to; index++) {
    const token = context.token(index);
    if (depth === 0 && index > from && (token.isFirstOfLine || token.text === "else")) break;
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text) && --depth < 0) break;
  }
  edits.push(insertion(context.token(index - 1).end, " }"));
  if (context.token(index).text === "else" && !/^(if|\{)$/.test(context.token(index + 1).text)) {
    const end = endOfExpression(context, index + 1);
    if (end > index + 1) {
      edits.push(
        insertion(context.token(index + 1).start, "{ "),
        insertion(context.token(end - 1).end, " }"),
      );
    }
  }
  return edits;
}

/** `for (let i = 0; i < n; i++)`. */
const countedFor: Recognizer = (context) => {
  const first = context.lineStart(Math.min(context.index, context.to - 1));
  let start = context.index;
  while (start > first && context.token(start).text !== "for") start--;
  if (context.token(start).text !== "for") return null;
  const rest = context.source(context.token(start).start, context.file.text.length).split("\n", 1)[0] ?? "";
  const words = /^for\s+(\w+)\s*(?:=|in)\s*([^{]+?)\s+to\s+([^{]+?)(?=\s*(?:\{|do\b|$))/.exec(rest);
  if (words !== null) {
    const offset = context.token(start).start;
    const span = { start: offset, end: offset + words[0].length };
    const text = `for ${words[1]} in ${words[2]}..=${words[3]}`;
    return {
      code: "SY0034",
      span,
      message: "A counting loop iterates over a range.",
      fixes: [{ title: "loop over a range", applicability: "safe", edits: [replacement(span, text)] }],
    };
  }
  const header =
    /^for\s*\(?\s*(?:(?:let|var|int|mut|auto)\s+)*(\w+)\s*=\s*([^;]+?)\s*;\s*\1\s*(<=?|!=)\s*([^;]+?)\s*;\s*(?:\1\s*\+\+|\+\+\s*\1|\1\s*\+=\s*1)\s*\)?(?=\s*(?:\{|$))/
      .exec(rest);
  if (header === null) return null;
  const [whole, name, low, operator, high] = header;
  const offset = context.token(start).start;
  const span = { start: offset, end: offset + whole.length };
  return {
    code: "SY0034",
    span,
    message: "A counting loop iterates over a range.",
    fixes: [{
      title: "loop over a range",
      applicability: "safe",
      edits: [replacement(span, `for ${name} in ${low}${operator === "<=" ? "..=" : ".."}${high}`)],
    }],
  };
};

/** `for x of xs`, `for x : xs`. */
const forOf: Recognizer = (context) => {
  if (!context.expects("in") || !/^(of|:|=|from|<-)$/.test(context.text(0))) return null;
  return {
    code: "SY0035",
    span: context.wrong,
    message: "Expected `in` after the name in a loop.",
    expected: "`in`",
    actual: quoted(context.wrong),
    fixes: [{
      title: "write `in`",
      applicability: "safe",
      edits: [
        replacement(context.wrong, context.file.text[context.wrong.start - 1] === " " ? "in" : " in"),
      ],
    }],
  };
};

/** `case A`, `default`, `else` in a match. */
const caseInMatch: Recognizer = (context) => {
  const open = context.open.at(-1);
  if (open === undefined || !isMatchBrace(context, open)) return null;
  if (context.text(-1) === "case" && context.token(context.index - 1).isFirstOfLine) {
    return {
      code: "SY0036",
      span: context.at(-1),
      message: "An arm of a `match` begins with its pattern.",
      fixes: [{ title: "remove `case`", applicability: "safe", edits: everyCase(context, open) }],
    };
  }
  if (
    (context.text(0) !== "else" && context.text(-1) !== "default") ||
    !context.expects("_") && !context.expects("=>")
  ) {
    return null;
  }
  const word = context.text(0) === "else" ? context.wrong : context.at(-1);
  return {
    code: "SY0037",
    span: word,
    message: "Use the pattern `_` for all other values.",
    expected: "`_`",
    actual: quoted(word),
    fixes: [{
      title: "write `_`",
      applicability: "safe",
      edits: word === context.wrong
        ? [replacement(word, "_")]
        : [replacement(word, "_"), ...context.text(0) === ":" ? [replacement(context.wrong, " =>")] : []],
    }],
  };
};

function everyCase(context: ErrorContext, open: number) {
  const edits = [];
  let depth = 0;
  for (let index = open + 1; index < context.to; index++) {
    const token = context.token(index);
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text) && --depth < 0) break;
    if (depth === 0 && token.text === "case" && token.isFirstOfLine) edits.push(deletion(context, token));
  }
  return edits;
}

/** `->` or `:` for `=>` in an arm. */
const armArrow: Recognizer = (context) => {
  const open = context.open.at(-1);
  if (!context.expects("=>") || open === undefined || !/^(->|:|=|then|-|>)$/.test(context.text(0))) {
    return null;
  }
  const span = context.wrong;
  return {
    code: "SY0038",
    span,
    message: "The pattern and the value of an arm are separated by `=>`.",
    expected: "`=>`",
    actual: quoted(context.wrong),
    fixes: [{
      title: "write `=>`",
      applicability: "safe",
      edits: [
        replacement(span, context.file.text[span.start - 1] === " " ? "=>" : " =>"),
        ...everyArrow(context),
      ],
    }],
  };
};

/** The same sign in the other arms of the match. */
function everyArrow(context: ErrorContext) {
  const edits = [];
  let depth = 0;
  const sign = context.text(0);
  let isBehindArrow = true;
  for (let index = context.index + 1; index < context.to; index++) {
    const token = context.token(index);
    if (depth === 0 && token.isFirstOfLine) isBehindArrow = false;
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text) && --depth < 0) break;
    if (depth > 0 || isBehindArrow) continue;
    if (token.text === "=>") return [];
    if (token.text !== sign) continue;
    isBehindArrow = true;
    edits.push(replacement(token, context.file.text[token.start - 1] === " " ? "=>" : " =>"));
  }
  return edits;
}

/** `let Some(x) = match y { … } else { … }`. */
const elseAfterBrace: Recognizer = (context) => {
  if (context.text(0) !== "else" || context.text(-1) !== "}" || !context.expectsStatement) return null;
  let start = context.index - 1;
  for (let depth = 0; start >= context.from; start--) {
    const text = context.token(start).text;
    if (/^[)\]}]$/.test(text)) depth++;
    if (/^[([{]$/.test(text) && --depth < 0) return null;
    if (depth === 0 && text === "let") break;
  }
  let equals = start;
  while (equals < context.index && context.token(equals).text !== "=") equals++;
  if (start < context.from || equals >= context.index) return null;
  return {
    code: "SY0039",
    span: context.wrong,
    message: "An `else` after `}` belongs to an `if`, not to the `let`.",
    fixes: [{
      title: "put parentheses around the value",
      applicability: "safe",
      edits: [insertion(context.token(equals + 1).start, "("), insertion(context.at(-1).end, ")")],
    }],
  };
};

/** In the order in which they are asked. */
export const statementRecognizers: readonly Recognizer[] = [
  countedFor,
  mutableLet,
  variablePattern,
  letWithCommas,
  conversion,
  elseIf,
  foreignStatement,
  functionInBlock,
  constantInBlock,
  shortDeclaration,
  caseInMatch,
  armArrow,
  forOf,
  thenWord,
  elseAfterBrace,
  missingEquals,
  reservedWord,
];

/** Asked when the others have found nothing. */
export const lateStatementRecognizers: readonly Recognizer[] = [missingBraces];
