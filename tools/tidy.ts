/**
 * `deno task tidy`: what neither the formatter, the linter nor the compiler sees.
 *
 * Refused: source files over 800 lines (a warning from 500 on), marks of unfinished work, tests that are switched
 * off, paths of one machine and hosts of package registries, trailing white space, files not named in snake_case,
 * source files without an opening comment, and the words of `words.ts`. Limits: the patterns are textual; fixtures
 * under a `fixtures/` folder are data and only held to the rule about machine paths.
 */
import { projectRoot, sourceFiles } from "./project.ts";
import { refusedWords } from "./words.ts";

/** One remark about a file. */
export interface Remark {
  /** File and line, or the file alone. */
  readonly place: string;
  /** What is wrong. */
  readonly message: string;
  /** Whether the check fails because of it. */
  readonly fatal: boolean;
}

const maximumLines = 800;
const warnedLines = 500;

const sourcePattern = /\.(ts|tsx|js|mjs|ne)$/;
const textPattern =
  /(\.(ts|tsx|js|mjs|ne|json|jsonc|md|yml|yaml|sh|sql|slt|txt|html|css|lang|snap|toml)|^\.ci\/run|^\.gitignore|LICENSE)$/;

/** Folders whose files carry names that are chosen elsewhere. */
const foreignNames = /(^|\/)(\.github|fixtures|docs|web)\//;

/**
 * Names that are customary in capitals or with a dash, and those that begin with a code of the language's
 * diagnostics.
 */
const customaryNames =
  /^([A-Z]+(\.md)?|Containerfile|deno\.lock|run|\.[a-z]+|[A-Z]{2}\d{4}(_[a-z0-9]+)+\.[a-z]+)$/;

interface Rule {
  readonly pattern: RegExp;
  readonly message: string;
  readonly applies?: (path: string) => boolean;
}

const isSource = (path: string) => sourcePattern.test(path);

// The marks are put together from pieces so that this file passes its own check.
const marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X"].join("|");
const machineFolders = ["home", "work", "root", "Users"].join("|");
const registryHosts = ["registry.npm" + "js.org", "registry.yarn" + "pkg.com", "npm.js" + "r.io"]
  .map((host) => host.replaceAll(".", "\\.")).join("|");

const lineRules: readonly Rule[] = [
  { pattern: new RegExp(`\\b(${marks})\\b`), message: "mark of unfinished work", applies: isSource },
  {
    pattern: /\bignore: *true\b|\b(Deno\.test|test|it|describe)\.(ignore|skip|only)\(|\bonly: *true\b/,
    message: "test switched off",
    applies: (path) => path.endsWith("_test.ts"),
  },
  { pattern: new RegExp(`(^|[\\s"'\`(=:])/(${machineFolders})/[\\w.-]`), message: "path of one machine" },
  {
    pattern: /(^|[\s"'`(=:])\/tmp\/[\w.-]/,
    message: "fixed path in the temporary folder; make one with Deno.makeTempDir",
    applies: isSource,
  },
  { pattern: new RegExp(registryHosts), message: "host of a package registry" },
  {
    // The formatter looks after code. Indented examples and tables keep their lines.
    pattern: /^(?=.{121})\s*(\/\/|\/?\*)(?! {4}| ?\|)/u,
    message: "comment over 120 columns",
    applies: (path) => isSource(path) && !path.endsWith(".generated.ts"),
  },
  {
    pattern: /[ \t]+$/,
    message: "trailing white space",
    applies: (path) => !/\.(md|slt|snap|sql)$/.test(path),
  },
];

/** Where the refused words are named, or are what others chose. */
const wordsElsewhere = /^(tools\/(words|tidy_test)\.ts|CHANGELOG\.md|tests\/bench\/)|(^|\/)fixtures\//;

const wordRules: readonly Rule[] = refusedWords.map(({ pattern, instead, within }) => ({
  pattern,
  message: `another word is used for this: ${instead}`,
  applies: (path) => !wordsElsewhere.test(path) && (within?.test(path) ?? true),
}));

function lineRemarks(path: string, lines: readonly string[]): Remark[] {
  const isFixture = /(^|\/)fixtures\//.test(path);
  const rules = [...lineRules, ...wordRules].filter((rule) =>
    (rule.applies?.(path) ?? true) && !(isFixture && rule.applies)
  );
  return lines.flatMap((line, index) =>
    rules.filter((rule) => rule.pattern.test(line))
      .map((rule) => ({ place: `${path}:${index + 1}`, message: rule.message, fatal: true }))
  );
}

function nameRemarks(path: string): Remark[] {
  const name = path.split("/").at(-1) ?? path;
  if (foreignNames.test(path) || customaryNames.test(name)) return [];
  if (/^[a-z0-9]+(_[a-z0-9]+)*(\.[a-z0-9]+)*$/.test(name)) return [];
  return [{ place: path, message: "file name is not snake_case", fatal: true }];
}

/** Every remark on one file, whose text is absent for files that are not text. */
export function remarksOn(path: string, text: string | undefined): Remark[] {
  const remarks = nameRemarks(path);
  if (text === undefined) return remarks;
  const lines = text.split("\n");
  const lineCount = text.endsWith("\n") ? lines.length - 1 : lines.length;
  if (isSource(path) && !/(^|\/)fixtures\//.test(path)) {
    if (lineCount > maximumLines) {
      remarks.push({
        place: path,
        message: `${lineCount} lines; split it (at most ${maximumLines})`,
        fatal: true,
      });
    } else if (lineCount > warnedLines) {
      remarks.push({ place: path, message: `${lineCount} lines; aim for 300`, fatal: false });
    }
    const opening = path.endsWith(".ne") ? /^#/ : /^(#!.*\n)?\s*(\/\*|\/\/)/;
    if (!opening.test(text)) {
      remarks.push({
        place: path,
        message: "no opening comment that says what the file is for",
        fatal: true,
      });
    }
  }
  return [...remarks, ...lineRemarks(path, lines)];
}

async function tidy(root: string): Promise<Remark[]> {
  const remarks: Remark[] = [];
  for (const path of await sourceFiles(root)) {
    if (path === "deno.lock") continue;
    const text = textPattern.test(path) ? await Deno.readTextFile(`${root}/${path}`) : undefined;
    remarks.push(...remarksOn(path, text));
  }
  return remarks;
}

if (import.meta.main) {
  const remarks = await tidy(projectRoot);
  for (const { place, message, fatal } of remarks) {
    console.error(`${fatal ? "error" : "warning"}: ${place}: ${message}`);
  }
  const errors = remarks.filter((remark) => remark.fatal).length;
  if (errors > 0) {
    console.error(`tidy: ${errors} errors`);
    Deno.exit(1);
  }
  console.log("tidy: nothing to remark that fails");
}
