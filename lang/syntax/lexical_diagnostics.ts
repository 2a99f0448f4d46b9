/** Puts the lexer's errors into words. */
import { codePage } from "../diagnostics/codes/registry.ts";
import type { Diagnostic, Fix } from "../diagnostics/diagnostic.ts";
import type { SourceFile } from "../source/source_file.ts";
import type { LexicalError } from "./lexical_errors.ts";
import { numberError } from "./lexical_errors.ts";

interface Description {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly fixes?: readonly (readonly [string, Fix["applicability"], string] | null)[];
  /** Edits that are not the whole span's. */
  readonly others?: readonly Fix[];
}

/** Characters that look like others, or that other languages have. */
const replacements: Readonly<Record<string, string>> = {
  "“": '"',
  "”": '"',
  "„": '"',
  "«": '"',
  "»": '"',
  "‘": "'",
  "’": "'",
  "`": '"',
  "×": "*",
  "÷": "/",
  "−": "-",
  "–": "-",
  "—": "-",
  "≤": "<=",
  "≥": ">=",
  "≠": "!=",
  "→": "->",
  "⇒": "=>",
  "…": "..",
  "，": ",",
  "；": "",
  "：": ":",
  "（": "(",
  "）": ")",
  "\u00a0": " ",
  "\u200b": "",
  "\ufeff": "",
};

/** Longest text between backticks that is reported as one. */
const MAX_TEXT = 1_000;

/** The diagnostics of all errors of a file. Semicolons are one error, however many there are. */
export function lexicalDiagnostics(file: SourceFile, errors: readonly LexicalError[]): Diagnostic[] {
  const semicolons = errors.filter(isSemicolon);
  const [first] = semicolons;
  // What stands between two backticks is one error.
  let open = -1;
  const apart = errors.filter((error) => {
    if (error.start < open) return false;
    const length = error.text.startsWith("`")
      ? /^`[^`\n]*`/.exec(file.text.slice(error.start, error.start + MAX_TEXT))?.[0].length ?? 0
      : 0;
    open = Math.max(open, error.start + length);
    return true;
  });
  return apart.filter((error) => error === first || !isSemicolon(error)).map((error) => {
    const diagnostic = lexicalDiagnostic(file, error);
    if (error !== first || semicolons.length < 2) return diagnostic;
    const others = semicolons.length === 2
      ? "nor is the one after it"
      : `nor are the ${semicolons.length - 1} after it`;
    const edits = semicolons.map(({ start, end }) => ({ file, span: { start, end }, text: "" }));
    return {
      ...diagnostic,
      message: `${diagnostic.message.slice(0, -1)}, ${others}.`,
      fixes: [{ title: `remove all ${semicolons.length}`, applicability: "safe", edits }],
    };
  });
}

function isSemicolon(error: LexicalError): boolean {
  return error.kind === "character" && /^;+$/.test(error.text);
}

function lexicalDiagnostic(file: SourceFile, error: LexicalError): Diagnostic {
  const description = describe(file, error);
  const page = codePage(description.code);
  const span = { start: error.start, end: error.end };
  const wholes = (description.fixes ?? []).flatMap((fix) =>
    fix === null ? [] : [{ title: fix[0], applicability: fix[1], edits: [{ file, span, text: fix[2] }] }]
  );
  return {
    code: description.code,
    severity: page.severity,
    title: page.title,
    message: description.message,
    file,
    span: spanToShow(error),
    labels: [],
    ...(description.hint === undefined ? {} : { hint: description.hint }),
    fixes: [...wholes, ...description.others ?? []],
    seeAlso: [],
  };
}

/** Of an unclosed text its quote is shown. */
function spanToShow(error: LexicalError): { start: number; end: number } {
  const { start, end } = error;
  if (error.kind === "unclosed_text" || error.kind === "interpolation") return { start, end: start + 1 };
  return error.kind === "long_text" ? { start, end: start + 3 } : { start, end };
}

function describe(file: SourceFile, error: LexicalError): Description {
  switch (error.kind) {
    case "character":
      return describeCharacter(file, error);
    case "escape":
      return describeEscape(error);
    case "number":
      return describeNumber(error);
    case "quotes":
      return {
        code: "SY0063",
        message: error.text === "''"
          ? "This character literal is empty."
          : "Single quotes hold exactly one character; a string is written in double quotes.",
        fixes: [["write a string", "safe", asText(error.text)]],
      };
    case "unclosed_text":
      return {
        code: "SY0064",
        message: "This string is not closed before the end of the line.",
        hint: 'A text of several lines stands between `"""`.',
        others: [insertFix(file, error.end, '"', "close the string")],
      };
    case "long_text":
      return {
        code: "SY0065",
        message: 'Nothing closes this text: its end, another `"""`, is missing.',
        others: [
          insertFix(file, error.end, `\n${indentation(file, error.start)}"""`, "close the string"),
        ],
      };
    case "interpolation":
      return {
        code: "SY0066",
        message: "The `{` in this string has no matching `}`.",
        others: [
          insertFix(file, error.end - 1, "}", "close the braces"),
          insertFix(file, error.start, "\\", "escape the brace"),
        ],
      };
    case "comment":
      return {
        code: "SY0067",
        message: "A comment begins with `//` and ends at the end of the line.",
        fixes: [["write it with `//`", "safe", asComment(error.text)]],
      };
  }
}

function indentation(file: SourceFile, offset: number): string {
  return /^[ \t]*/.exec(file.lineText(file.lineIndexAt(offset)))?.[0] ?? "";
}

function insertFix(file: SourceFile, offset: number, text: string, title: string): Fix {
  return { title, applicability: "maybe", edits: [{ file, span: { start: offset, end: offset }, text }] };
}

function describeCharacter(file: SourceFile, error: LexicalError): Description {
  const { text } = error;
  if (isSemicolon(error)) {
    return {
      code: "SY0068",
      message: "Statements end at the end of the line, without a semicolon.",
      fixes: [["remove the semicolon", "safe", ""]],
    };
  }
  if (text.startsWith("`")) {
    const description = describeBackticks(file, error);
    if (description !== null) return description;
  }
  if (isMacroSign(file, error)) {
    return {
      code: "SY0069",
      message: "There are no macros; a call has no `!`.",
      hint: 'Values stand in a text between braces, `print("{n} left")`; a list is written `[1, 2]`.',
      fixes: [["remove the `!`", "maybe", ""]],
    };
  }
  if (text === "!") {
    return {
      code: "SY0069",
      message: "The logical operator `!` is written `not`.",
      fixes: [["write `not`", "safe", "not "]],
    };
  }
  const known = [...text].map((letter) => replacements[letter]);
  const meant = known.every((letter) => letter !== undefined) ? known.join("") : null;
  const codePoint = (text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const isName = /^[\p{L}\p{N}$@~\\]+$/u.test(text);
  return {
    code: "SY0060",
    message: /^[\x21-\x7e]+$/.test(text)
      ? `\`${text}\` is not allowed here.`
      : `\`${text}\` (U+${codePoint}) has no meaning outside of texts and comments.`,
    ...(/^\p{L}+$/u.test(text) ? { hint: "Names consist of `a` to `z`, digits and `_`." } : {}),
    fixes: [
      meant === null ? null : [meant === "" ? "remove it" : `write \`${meant}\``, "maybe", meant],
      meant === null && !(isName && touchesName(file, error)) ? ["remove it", "maybe", ""] : null,
      meant === null && isName && touchesName(file, error) ? ["remove it from the name", "maybe", ""] : null,
    ],
  };
}

/** Whether it is the `!` of `println!("…")`. */
export function isMacroSign(file: SourceFile, { text, start, end }: LexicalError): boolean {
  return text === "!" && /\w/.test(file.text[start - 1] ?? "") && /[([]/.test(file.text[end] ?? "");
}

/** A text between backticks, with its expressions in braces. */
function describeBackticks(file: SourceFile, { start }: LexicalError): Description | null {
  const line = file.text.slice(start).split("\n", 1)[0] ?? "";
  const written = /^`([^`]*)`/.exec(line);
  if (written === null) return null;
  const [whole, inside = ""] = written;
  const span = { start, end: start + whole.length };
  const text = `"${inside.replaceAll('"', '\\"').replaceAll("${", "{")}"`;
  return {
    code: "SY0060",
    message: "A string is written in double quotes, with interpolated expressions in braces.",
    others: [{ title: `write \`${text}\``, applicability: "maybe", edits: [{ file, span, text }] }],
  };
}

function touchesName(file: SourceFile, error: LexicalError): boolean {
  return /\w/.test(file.text[error.start - 1] ?? "") || /\w/.test(file.text[error.end] ?? "");
}

function describeEscape(error: LexicalError): Description {
  const { text } = error;
  const known: Readonly<Record<string, string>> = {
    "\\0": "\\u{0}",
    "\\}": "}",
    "\\'": "'",
    "\\a": "\\u{7}",
  };
  const meant = known[text] ?? /^\\x([0-9a-f]{2})/i.exec(text)?.[0];
  return {
    code: "SY0061",
    message: text.startsWith("\\u{")
      ? `\`${text}\` is not a character: code points go up to 10FFFF, without D800 to DFFF.`
      : `\`${text}\` is not an escape sequence.`,
    hint:
      "The escape sequences are `\\n`, `\\t`, `\\r`, `\\\\`, `\\\"`, `\\{` and `\\u{1F600}`; in characters also `\\'`.",
    fixes: [
      meant === undefined ? null : [`write \`${meant}\``, "maybe", meant],
      ["escape the backslash", "maybe", `\\${text}`],
    ],
  };
}

function describeNumber(error: LexicalError): Description {
  const meant = meantNumber(error.text);
  return {
    code: "SY0062",
    message: `\`${error.text}\` is not a valid number.`,
    hint:
      "Integers are written `12`, `1_000`, `0xff` and `0b1010`, floating-point numbers `1.5` and `1.0e-3`.",
    fixes: [meant === null ? null : [`write \`${meant}\``, "maybe", meant]],
  };
}

function meantNumber(text: string): string | null {
  const candidates = [
    text.replace(/^0X/, "0x").replace(/^0B/, "0b"),
    text.replace(/^([0-9][0-9_]*)[eE]/, "$1.0e"),
    text.replace(/_+(?=\D|$)/g, "").replace(/__+/g, "_"),
    text.replace(/(?:[fFdDlLuU]|[uif](?:8|16|32|64|size)|n)$/, ""),
    /^0[oO][0-7]+$/.test(text) ? `0x${parseInt(text.slice(2), 8).toString(16)}` : text,
    text.replace(/[eE][+-]?$/, ""),
    /^[0-9]+[eE][+-]?$/.test(text) ? text.replace(/[eE][+-]?$/, "") : text,
  ];
  return candidates.find((candidate) => candidate !== text && numberError(candidate, 0) === null) ?? null;
}

function asText(character: string): string {
  return `"${character.slice(1, -1).replaceAll("\\'", "'").replace(/(?<!\\)(["{])/g, "\\$1")}"`;
}

function asComment(text: string): string {
  if (text.startsWith("#")) return `//${text.slice(1)}`;
  const lines = text.replace(/^\/\*+!?/, "").replace(/\*+\/$/, "").split("\n");
  return lines.map((line) => line.trim().replace(/^\* ?/, "")).filter((line, index) =>
    line !== "" || (index > 0 && index < lines.length - 1)
  ).map((line) => `// ${line}`.trimEnd()).join("\n");
}
