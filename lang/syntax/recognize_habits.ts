/**
 * Whole phrases of other languages, told by the text of their line: loops, imports, conditional values.
 *
 * What is reported here is wrong in more than one place, so token by token it would be several errors. A phrase
 * counts when the token that does not fit stands in it.
 */
import { FOREIGN_TYPES } from "./foreign_words.ts";
import { type ErrorContext, quoted, type Recognizer, replacement, typeOf } from "./error_context.ts";

interface Habit {
  /** What is looked for on the line; the whole match is what is reported. */
  readonly phrase: RegExp;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  /** What is written instead; null where nothing does the same. */
  readonly fix: ((parts: readonly string[]) => string) | null;
}

/** A path of modules in other languages' form, with dots. */
const dotted = (path: string) => path.replace(/^[./]+/, "").replace(/\.\w+$/, "").replaceAll(/::|\//g, ".");

const MODULE = "Import a module with `use`; qualify its declarations with its name.";
const COUNTED = "A counting loop iterates over a range.";

const HABITS: readonly Habit[] = [
  {
    phrase:
      /\bfor\s*\(?\s*(?:(?:let|var|int)\s+)?(\w+)\s*:?=\s*([^;{]+?)\s*;\s*\1\s*(<=?|!=)\s*([^;{]+?)\s*;\s*(?:\1\s*\+\+|\+\+\s*\1|\1\s*\+=\s*1)\s*\)?(?=\s*\{)/,
    code: "SY0034",
    message: COUNTED,
    fix: ([, name, low, operator, high]) => `for ${name} in ${low}${operator === "<=" ? "..=" : ".."}${high}`,
  },
  {
    phrase: /\bfor\s*\(?[^;{]*;[^;{]*;[^{]*(?=\{)/,
    code: "SY0034",
    message: COUNTED,
    hint: "Use `while` and a `var` for a step other than one.",
    fix: null,
  },
  {
    phrase: /\bfor\s*\(\s*(?:(?:const|let|var)\s+)?(\w+)\s+(?:of|in)\s+(.+?)\s*\)(?=\s*\{)/,
    code: "SY0035",
    message: "Write a loop as `for x in xs`, without parentheses.",
    fix: ([, name, values]) => `for ${name} in ${values}`,
  },
  {
    phrase: /\bfor\s+_\s*,\s*(\w+)\s*:?=\s*range\s+([^{]+?)(?=\s*\{)/,
    code: "SY0035",
    message: "Write a loop as `for x in xs`.",
    fix: ([, name, values]) => `for ${name} in ${values}`,
  },
  {
    phrase: /\bfor\s+(\w+)\s*,\s*(\w+)\s*(?::?=\s*range\s+([^{]+?)|in\s+enumerate\(([^{]+?)\))(?=\s*\{)/,
    code: "SY0035",
    message: "Write a loop as `for x in xs`; `enumerate` returns pairs of index and value.",
    fix: ([, index, name, values, others]) => `for (${index}, ${name}) in ${values ?? others}.enumerate()`,
  },
  {
    phrase: /\bfor\s*(?=\{)/,
    code: "SY0024",
    message: "Write an infinite loop as `while true`.",
    fix: () => "while true ",
  },
  {
    phrase: /\bfor\s+((?:(?!\bin\b)[^;{])*?(?:<|>|==|!=)[^;{]*?)(?=\s*\{)/,
    code: "SY0024",
    message: "Use `while` for a loop with a condition.",
    fix: ([, condition]) => `while ${condition}`,
  },
  {
    phrase: /\bwhile\s+let\s+(.+?)\s*=\s*([^{]+?)\s*\{/,
    code: "SY0024",
    message: "There is no `while let`: use an infinite loop with `let … else { break }`.",
    fix: ([, pattern, value]) => `while true {\n    let ${pattern} = ${value} else { break }\n   `,
  },
  {
    phrase: /\bif\s+([A-Z]\w*\([^=!<>]*?\))\s*=(?!=)/,
    code: "SY0015",
    message: "Use `if let` for a pattern in a condition.",
    fix: ([, pattern]) => `if let ${pattern} =`,
  },
  {
    phrase: /\blet\s+assert\s+(.+?)\s*=\s*(.+?)$/,
    code: "SY0020",
    message: "A refutable pattern needs an `else`.",
    fix: ([, pattern, value]) => `let ${pattern} = ${value} else { panic("it does not fit") }`,
  },
  {
    phrase: /(?<=(?:=|return|\()\s*)(?![\s(=])([^=(]+?)\s+if\s+(.+?)\s+else\s+([^)]+?)(?=\)*$)/,
    code: "SY0017",
    message: "Use `if … { … } else { … }` for a conditional value.",
    fix: ([, value, condition, other]) => `if ${condition} { ${value} } else { ${other} }`,
  },
  {
    phrase: /(?<=")\s*<>\s*|\s*<>\s*(?=")/,
    code: "SY0011",
    message: "Join strings with `+`.",
    fix: () => " + ",
  },
  {
    phrase: /(\w[\w.()[\]]*)\s*\?\?\s*([\w."]+)/,
    code: "SY0011",
    message: "`unwrap_or` takes the default value.",
    fix: ([, value, other]) => `${value}.unwrap_or(${other})`,
  },
  {
    phrase: /(?<=^\s*)([+-])\1(\w+)(?=\s*$)/,
    code: "SY0012",
    message: "Use an assignment to change a variable.",
    fix: ([, sign, name]) => `${name} ${sign}= 1`,
  },
  {
    phrase:
      /\b[a-z]\w*(?:\+\+|--)(?!\s*(?:$|\}|\w|[("]))|(?<![\w)\]]\s*)(?:\+\+|--)\w+|(?<==\s*)\w+(?:\+\+|--)/,
    code: "SY0012",
    message: "There is no `++` or `--`; use an assignment, which is a statement without a value.",
    fix: null,
  },
  {
    phrase: /\blet\s+(\w+)\s*,\s*(\w+)\s*=\s*([^,]+?)\s*,\s*([^,]+?)\s*$/,
    code: "SY0071",
    message: "Write several names, and several values, as tuples in parentheses.",
    fix: ([, first, second, left, right]) => `let (${first}, ${second}) = (${left}, ${right})`,
  },
  {
    phrase: /(?<=^\s*)\w+(?:\s*,\s*\w+)+\s*=(?![=>]).*$/,
    code: "SY0071",
    message: "An assignment has a single target.",
    hint: "Use `let (x, y) = (b, a)` to evaluate both values before they are assigned.",
    fix: null,
  },
  {
    phrase: /\b(?:let|const|var)\s*\{[^}]*\}\s*=/,
    code: "SY0057",
    message: "A record pattern begins with its type: `let Ball { x, y } = ball`.",
    fix: null,
  },
  {
    phrase: /\bfn\(([^()]*)\)\s*(?:=>\s*)?(?![\s{=-])([^{}]+?)(?=\)*$)/,
    code: "SY0019",
    message: "The body of a function value must be in braces.",
    fix: ([, parameters, body]) => `fn(${parameters}) { ${body} }`,
  },
  {
    phrase: /(\S.*?)\s*\|>\s*(.*)$/,
    code: "SY0011",
    message: "There is no pipe operator: call a method, `xs.map(f)`.",
    fix: null,
  },
  {
    phrase: /\b[a-z]+(?=")/,
    code: "SY0060",
    message: 'Nothing stands before the quotes of a text; every text may hold expressions, `"{x}"`.',
    fix: () => "",
  },
  {
    phrase: /\[[^[\]]*?\s+for\s+\w+\s+in\s+[^\]]*\]+.*$/,
    code: "SY0024",
    message: "There are no list comprehensions.",
    hint: "Use `xs.map(fn(x) { … })` or `xs.filter(fn(x) { … })`.",
    fix: null,
  },
  {
    phrase: /(?<=[\w)\]])\[([^[\]:]*):([^[\]:]*)\](?!\s*\{)/,
    code: "SY0011",
    message: "Use `slice` for a part of a list or string.",
    fix: ([, start = "", end = ""]) =>
      end.trim() === "" ? "" : `.slice(${start.trim() === "" ? "0" : start.trim()}, ${end.trim()})`,
  },
  {
    phrase: /(\S+)\s+is\s+(not\s+)?None\b/,
    code: "SY0011",
    message: "Compare values with `==` and `!=`.",
    fix: ([, value, not]) => `${value} ${not === undefined ? "==" : "!="} None`,
  },
  {
    phrase: /(?<=\bif\s+|\bwhile\s+|\band\s+|\bor\s+)(?!let\b)(not\s+)?([\w."]+)\s+(not\s+)?in\s+([\w.]+)/,
    code: "SY0011",
    message: "Use `contains` to test whether a list, map or string contains a value.",
    fix: ([, before, value, not, values]) =>
      `${before === undefined && not === undefined ? "" : "not "}${values}.contains(${value})`,
  },
  {
    phrase: /\s+where\s+[A-Z]\w*\s*:.*?(?=\{|$)/,
    code: "SY0030",
    message: "The bound of a type parameter is written after it: `fn f[T: Show](x: T)`.",
    fix: null,
  },
  {
    phrase: /^import\s+(?:type\s+)?(?:\{[^}]*\}|\*\s+as\s+\w+|\w+)\s+from\s+["']([\w./-]+)["']\s*;?/,
    code: "SY0040",
    message: MODULE,
    fix: ([, path = ""]) => `use ${dotted(path)}`,
  },
  {
    phrase: /^from\s+([\w.]+)\s+import\s+.*$/,
    code: "SY0040",
    message: MODULE,
    fix: ([, path]) => `use ${path}`,
  },
  {
    phrase:
      /^(?:import\s+"([\w./-]+)"|(?:import|use)\s+(\w+(?:(?:\/|::|\.)\w+)+))(?:(?:::|\.)(?:\{[^}]*\}|\*))?\s*;?$/,
    code: "SY0040",
    message: MODULE,
    fix: ([, path, other]) =>
      `use ${path === undefined ? (other ?? "").replaceAll(/::|\//g, ".") : dotted(path)}`,
  },
  {
    phrase: /^type\s+(\w+)\s+(struct|interface)\b/,
    code: "SY0040",
    message:
      "A record is declared as `type Ball = { x: Float, y: Float }`, an interface `interface Area { fn area(self: Self) -> Float }`.",
    fix: null,
  },
  {
    phrase: /^(?:pub\s+)?func\s*\(\s*(\w+)\s+\*?(\w+)\s*\)\s*(\w+)/,
    code: "SY0040",
    message: "A method is a function named after the type: `fn Ball.move(self: Ball)`.",
    fix: null,
  },
  {
    phrase: /^test\s*\(\s*["'].*$/,
    code: "SY0040",
    message: 'A test is a declaration of its own: `test "name" { expect(x == 1) }`.',
    fix: null,
  },
  {
    phrase: /^#?@?\[?(?:test|derive\([^)]*\)|[a-z_]+)\]?$/,
    code: "SY0060",
    message: "There are no attributes or decorators.",
    hint: 'A test is `test "name" { … }`; `Eq`, `Ord`, `Hash` and `Show` are there without being asked for.',
    fix: null,
  },
];

/** A phrase of another language. */
const phraseOnLine: Recognizer = (context) => {
  const wrong = context.isAtEnd ? context.at(-1) : context.wrong;
  const line = context.file.lineIndexAt(wrong.start);
  const start = context.file.lineStarts[line] ?? 0;
  const text = context.file.lineText(line);
  // Nobody's line of code is so long.
  if (text.length > 160 || !worthLooking(context)) return null;
  for (const habit of HABITS) {
    const match = habit.phrase.exec(text);
    if (match === null) continue;
    const span = { start: start + match.index, end: start + match.index + match[0].length };
    if (wrong.start < span.start || wrong.start > span.end) continue;
    const written = habit.fix?.(match);
    const fixes = written === undefined || (written === "" && habit.code === "SY0011") ? [] : [{
      title: written === ""
        ? `remove \`${match[0]}\``
        : `write \`${written.split("\n", 1)[0]?.trim() ?? ""}\``,
      applicability: "maybe" as const,
      edits: [replacement(span, written)],
    }];
    return {
      code: habit.code,
      span,
      message: habit.message,
      ...(habit.hint === undefined ? {} : { hint: habit.hint }),
      actual: quoted(wrong),
      fixes,
      isCertain: true,
    };
  }
  return null;
};

/** Phrases stand at the top of a module or in a body, not within a text. */
function worthLooking(context: ErrorContext): boolean {
  return !/^(text_part|interpolation_start|interpolation_end)$/.test(typeOf(context.wrong));
}

/** `fn f(mut x: Int)`, `fn f(let x: Int)`, `fn f(int x)`. */
const foreignParameter: Recognizer = (context) => {
  const isHeading = context.open.length === 1 && /^(fn|pub)$/.test(context.token(context.from).text) &&
    context.token(context.open[0] ?? 0).text === "(";
  if (!isHeading) return null;
  const isBehind = typeOf(context.wrong) === "name" && typeOf(context.at(-1)) === "name";
  const word = isBehind ? context.at(-1) : context.wrong;
  const name = isBehind ? context.wrong : context.at(1);
  if (typeOf(name) !== "name") return null;
  if (/^(mut|let|const|var|val|final)$/.test(word.text)) {
    return {
      code: "SY0051",
      span: word,
      message: "A parameter is immutable.",
      hint: "Copy it into a `var`, or write `inout` before its type to change the caller's variable.",
      fixes: [{
        title: `remove \`${word.text}\``,
        applicability: "maybe",
        edits: [replacement({ start: word.start, end: name.start }, "")],
      }],
      isCertain: true,
    };
  }
  const known = isBehind ? FOREIGN_TYPES.get(word.text) : undefined;
  const behind = FOREIGN_TYPES.get(name.text);
  if (known !== undefined || (isBehind && behind !== undefined)) {
    const text = known === undefined ? `${word.text}: ${behind}` : `${name.text}: ${known}`;
    return {
      code: "SY0027",
      span: { start: word.start, end: name.end },
      message: "The type of a parameter follows its name and a colon.",
      fixes: [{
        title: `write \`${text}\``,
        applicability: "maybe",
        edits: [replacement({ start: word.start, end: name.end }, text)],
      }],
      isCertain: true,
    };
  }
  return null;
};

/** In the order in which they are asked. */
export const habitRecognizers: readonly Recognizer[] = [foreignParameter, phraseOnLine];
