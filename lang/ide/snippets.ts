/** Keywords and forms to fill in, for completion. */

/** A form with places to fill in. */
export interface Snippet {
  readonly label: string;
  readonly detail: string;
  readonly text: string;
}

/** What begins a declaration. */
export const DECLARATION_WORDS: readonly string[] = [
  "const",
  "eval",
  "fn",
  "interface",
  "property",
  "pub",
  "test",
  "type",
  "use",
];

/** What a line begins with that begins a declaration; tried at the offset that it is set to. */
export const TOP_LINE: RegExp = new RegExp(`(?:${DECLARATION_WORDS.join("|")})\\b`, "y");

/** Words within functions. */
export const STATEMENT_WORDS: readonly string[] = [
  "and",
  "break",
  "continue",
  "else",
  "false",
  "for",
  "if",
  "let",
  "match",
  "not",
  "or",
  "return",
  "true",
  "var",
  "while",
];

/** Forms of declarations. */
export const DECLARATION_SNIPPETS: readonly Snippet[] = [
  { label: "fn", detail: "function", text: "fn ${1:name}(${2}) {\n  ${3}\n}" },
  {
    label: "method",
    detail: "function of a type",
    text: "fn ${1:Type}.${2:name}(self: ${3:inout} ${1:Type}) {\n  ${4}\n}",
  },
  { label: "record", detail: "type with fields", text: "type ${1:Name} = { ${2:field}: ${3:Int} }" },
  { label: "union", detail: "type with variants", text: "type ${1:Name} = ${2:First} | ${3:Second}" },
  { label: "test", detail: "test", text: 'test "${1:name}" {\n  expect(${2})\n}' },
  {
    label: "property",
    detail: "test with made-up arguments",
    text: 'property "${1:name}" (${2:x}: ${3:Int}) {\n  expect(${4})\n}',
  },
];

/** Forms of statements. */
export const STATEMENT_SNIPPETS: readonly Snippet[] = [
  { label: "if", detail: "condition", text: "if ${1:condition} {\n  ${2}\n}" },
  { label: "if let", detail: "when a pattern fits", text: "if let ${1:Some(value)} = ${2} {\n  ${3}\n}" },
  { label: "for", detail: "loop", text: "for ${1:each} in ${2} {\n  ${3}\n}" },
  { label: "while", detail: "loop", text: "while ${1:condition} {\n  ${2}\n}" },
  { label: "match", detail: "cases", text: "match ${1} {\n  ${2} => ${3}\n}" },
];
