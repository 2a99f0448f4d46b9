/**
 * `deno task grammar`: compiles `lang/syntax/grammar.ne` to `lang/syntax/grammar.generated.ts`.
 *
 * nearley's own compiler reads the notation; from its rules come the tables of the LALR(1) automaton. The module
 * holds the rules as text, one a line (`name = symbols`, terminals behind an apostrophe), the functions that build
 * their nodes, and the rows of the tables. A test compares, so the module is always the grammar's. The TextMate
 * grammar for editors, `editors/lang.tmlanguage.json` and once more in the extension for VS Code, and the grammar as
 * `docs/language.md` prints it are written as well.
 */
import nearley from "nearley";
import compileGrammar from "nearley/lib/compile.js";
import notation from "nearley/lib/nearley-language-bootstrapped.js";
import * as build from "../lang/syntax/build.ts";
import * as buildExpressions from "../lang/syntax/build_expressions.ts";
import { type Action, type GrammarRule, lalrAutomaton } from "../lang/syntax/lalr_automaton.ts";
import { textMateGrammar } from "../lang/syntax/textmate.ts";
import { TERMINALS } from "../lang/syntax/token.ts";

const grammarFile = new URL("../lang/syntax/grammar.ne", import.meta.url);
const generatedFile = new URL("../lang/syntax/grammar.generated.ts", import.meta.url);

const pageFile = new URL("../docs/language.md", import.meta.url);
const editorsFiles = ["lang.tmlanguage.json", "vscode/syntaxes/lang.tmlanguage.json"].map((path) =>
  new URL(`../editors/${path}`, import.meta.url)
);

interface Rule extends GrammarRule {
  /** `id`, `nuller`, `arrpush`, `parts` or the name of a function of the builders. */
  readonly maker: string;
}

/** The rules of a grammar in nearley's notation, without repetitions, groups and macros. */
export function compiledRules(source: string): Rule[] {
  const parser = new nearley.Parser(nearley.Grammar.fromCompiled(notation));
  parser.feed(source);
  const compiled = compileGrammar(parser.results[0], { args: [], alreadycompiled: [] });
  return compiled.rules.map((rule: CompiledRule) => ({
    name: rule.name,
    symbols: rule.symbols.map(symbolOf),
    maker: makerOf(rule.postprocess),
  }));
}

interface CompiledRule {
  readonly name: string;
  readonly symbols: readonly (string | { readonly literal?: string; readonly token?: string })[];
  readonly postprocess: string | { readonly builtin: string } | null | undefined;
}

function symbolOf(symbol: CompiledRule["symbols"][number]): GrammarRule["symbols"][number] {
  if (typeof symbol === "string") return { isTerminal: false, name: symbol };
  // nearley writes `%name` as `(lexer.has("name") ? …`.
  const name = symbol.literal ?? /has\("(\w+)"\)/.exec(symbol.token ?? "")?.[1] ?? "";
  if (!TERMINALS.includes(name)) throw new Error(`Cannot compile the grammar: the lexer knows no ${name}`);
  return { isTerminal: true, name };
}

function makerOf(postprocess: CompiledRule["postprocess"]): string {
  if (postprocess === null || postprocess === undefined) return "parts";
  if (typeof postprocess !== "string") return postprocess.builtin;
  return postprocess.trim().replace(/^make\./, "");
}

/** The text of the generated module. */
export function generatedModule(source: string): string {
  const rules = compiledRules(source);
  const automaton = lalrAutomaton(rules);
  if (automaton.conflicts.length > 0) {
    throw new Error(`Cannot make an LALR(1) parser:\n${automaton.conflicts.join("\n")}`);
  }
  const makers = [...new Set(rules.map((rule) => rule.maker))];
  const names = [...new Set(rules.map((rule) => rule.name))];
  const functions = makers.filter((maker) => !["id", "nuller", "arrpush", "parts"].includes(maker));
  const lines = rules.map((rule) =>
    `${makers.indexOf(rule.maker)} ${rule.name} = ${
      rule.symbols.map((symbol) => symbol.isTerminal ? `'${symbol.name}` : symbol.name).join(" ")
    }`.trimEnd()
  );
  return [
    "/**",
    " * Made from `grammar.ne` by `deno task grammar`; a test compares. `lalr_tables.ts` says what the lines mean.",
    " */",
    ...importLines(functions),
    "",
    "/** What builds the value of a rule; `id`, `nuller`, `arrpush` and `parts` are nearley's own. */",
    "export const MAKERS: readonly (string | ((parts: never) => unknown))[] = [",
    ...makers.map((maker) => functions.includes(maker) ? `  ${maker},` : `  "${maker}",`),
    "];",
    "",
    "/** One rule a line: its maker's index, its name, its symbols. */",
    "export const RULES = `",
    ...lines,
    "`;",
    "",
    ...tableLines(automaton.actions, automaton.gotos, names),
  ].join("\n") + "\n";
}

function importLines(functions: readonly string[]): string[] {
  const modules = [["./build_expressions.ts", buildExpressions], ["./build.ts", build]] as const;
  const missing = functions.filter((name) => !modules.some(([, module]) => name in module));
  if (missing.length > 0) throw new Error(`Cannot compile the grammar: nothing builds ${missing.join(", ")}`);
  return modules.toReversed().flatMap(([path, module]) => [
    "import {",
    ...functions.filter((name) => name in module).sort(ignoringCase).map((name) => `  ${name},`),
    `} from "${path}";`,
  ]);
}

/** Rows that several states share are written once; numbers are in base 36. */
function tableLines(
  actions: readonly ReadonlyMap<string, Action>[],
  gotos: readonly ReadonlyMap<string, number>[],
  names: readonly string[],
): string[] {
  const shiftRows = new Rows();
  const reduceRows = new Rows();
  const terminalSets = new Rows();
  const gotoRows = new Rows();
  const states = actions.map((row, state) => {
    const shifts: string[] = [];
    const reductions = new Map<string, string[]>();
    for (const [terminal, action] of row) {
      const number = base36(TERMINALS.indexOf(terminal));
      if (action !== "accept" && "shift" in action) {
        shifts.push(number, base36(action.shift));
        continue;
      }
      const rule = action === "accept" ? "-" : base36(action.reduce);
      const list = reductions.get(rule);
      if (list === undefined) reductions.set(rule, [number]);
      else list.push(number);
    }
    const reduces = [...reductions].flatMap(([rule, set]) => [rule, terminalSets.index(set.join(" "))]);
    const jumps = [...gotos[state] ?? []].flatMap(([name, target]) => [
      base36(names.indexOf(name)),
      base36(target),
    ]);
    return [
      shiftRows.index(shifts.join(" ")),
      reduceRows.index(reduces.join(" ")),
      gotoRows.index(jumps.join(" ")),
    ].join(" ");
  });
  const parts: [string, string, readonly string[]][] = [
    ["TERMINAL_SETS", "Sets of terminals", terminalSets.lines],
    ["SHIFT_ROWS", "Terminals and the states that they lead to, in turn", shiftRows.lines],
    [
      "REDUCE_ROWS",
      "Rules (`-` accepts) and the sets of terminals that they are reduced at, in turn",
      reduceRows.lines,
    ],
    ["GOTO_ROWS", "Names of rules and the states that they lead to, in turn", gotoRows.lines],
    ["STATES", "For each state its row of shifts, reductions and gotos", states],
  ];
  return parts.flatMap(([name, comment, lines]) => [
    `/** ${comment}. */`,
    `export const ${name} =\n  "${lines.join(";")}";`,
    "",
  ]).slice(0, -1);
}

class Rows {
  readonly #lines = new Map<string, string>();

  index(line: string): string {
    let index = this.#lines.get(line);
    if (index === undefined) {
      index = base36(this.#lines.size);
      this.#lines.set(line, index);
    }
    return index;
  }

  get lines(): string[] {
    return [...this.#lines.keys()];
  }
}

/** As the formatter sorts imports. */
function ignoringCase(a: string, b: string): number {
  return a.toLowerCase() < b.toLowerCase() ? -1 : 1;
}

function base36(number: number): string {
  return number.toString(36);
}

/** The grammar without what builds the tree, for the reference. */
export function grammarForReaders(source: string): string {
  const [, rules = ""] = source.split(/^@lexer .*\n/m);
  return rules.replace(/[ \t]*\{% [^%]* %\}/g, "").replace(/[ \t]+$/gm, "").replace(
    /^((?:\S+) ->) +/gm,
    "$1 ",
  ).trim();
}

const grammarMarks = /(<!-- grammar -->\n)[^]*(<!-- end of the grammar -->)/;

/** The page with the grammar between its marks. */
export function withGrammar(page: string, source: string): string {
  if (!grammarMarks.test(page)) {
    throw new Error("Cannot print the grammar: docs/language.md has no marks for it");
  }
  return page.replace(
    grammarMarks,
    (_, start, end) => `${start}\n\`\`\`ebnf\n${grammarForReaders(source)}\n\`\`\`\n\n${end}`,
  );
}

if (import.meta.main) {
  Deno.writeTextFileSync(generatedFile, generatedModule(Deno.readTextFileSync(grammarFile)));
  Deno.writeTextFileSync(
    pageFile,
    withGrammar(Deno.readTextFileSync(pageFile), Deno.readTextFileSync(grammarFile)),
  );
  for (const file of editorsFiles) {
    Deno.mkdirSync(new URL("./", file), { recursive: true });
    Deno.writeTextFileSync(file, `${JSON.stringify(textMateGrammar(), null, 2)}\n`);
  }
}
