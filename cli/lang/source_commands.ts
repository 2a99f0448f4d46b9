/** `lang fmt`, `lang fix`, `lang find` and `lang explain`. */
import { type Command, Option } from "commander";
import { CommandError } from "../../lang/commands/command_error.ts";
import { explain, renderExplanation } from "../../lang/commands/explain.ts";
import { DEFAULT_TOP, find } from "../../lang/commands/find.ts";
import { fix } from "../../lang/commands/fix.ts";
import { fmt } from "../../lang/commands/fmt.ts";
import { diagnosticToJson } from "../../lang/diagnostics/json.ts";
import { countText } from "../../lang/diagnostics/human.ts";
import { coloredDiff } from "../../lang/diagnostics/unified_diff.ts";
import { type Context, openPackage, wholeNumber } from "./shared/context.ts";
import { examples } from "./examples.ts";

type Format = "human" | "json";

function formatOption(): Option {
  return new Option("--format <format>", "output format").choices(["human", "json"]).default("human");
}

/** Adds `fmt`. */
export function addFmtCommand(program: Command, context: Context): void {
  program.command("fmt")
    .summary("format sources")
    .description("Formats all sources of a package, or one file. There are no style options.")
    .argument("[path]", "package folder, a file in it, or a standalone source file")
    .option("--check", "write nothing; exit with 1 if a file would change")
    .addOption(formatOption())
    .addHelpText(
      "after",
      examples([
        ["lang fmt", "the enclosing package"],
        ["lang fmt src/main.lang", "one file"],
        ["lang fmt --check", "for continuous integration"],
      ]),
    )
    .action((path: string | undefined, options: { readonly check?: boolean; readonly format: Format }) => {
      const { workspace, file } = openPackage(path);
      const check = options.check ?? false;
      const { patches, fileCount } = fmt(workspace, { file, check });
      if (check && patches.length > 0) context.exitCode = 1;
      const { terminal } = context;
      if (options.format === "json") {
        return terminal.writeJson({
          ok: !check || patches.length === 0,
          files: fileCount,
          changed: patches.map((patch) => patch.path),
        });
      }
      for (const patch of patches) {
        terminal.write(check ? coloredDiff(patch.diff, terminal.style) : `formatted ${patch.path}\n`);
      }
      if (patches.length === 0) {
        terminal.write(`${fileCount} ${fileCount === 1 ? "file is" : "files are"} formatted\n`);
      } else if (check) terminal.write(`${patches.length} of ${fileCount} files would change\n`);
    });
}

interface FixOptions {
  readonly alternative: string;
  readonly line?: string;
  readonly write?: boolean;
  readonly format: Format;
}

/** Adds `fix`. */
export function addFixCommand(program: Command, context: Context): void {
  program.command("fix")
    .summary("apply a suggested fix")
    .description("Shows, or with --write applies, a suggested fix for every diagnostic with a code.")
    .argument("<code>", "diagnostic code, as `lang check` prints it")
    .argument("[path]", "package folder, or a file in it to fix alone")
    .option("--alternative <number>", "index of the suggested fix, from 0", "0")
    .option("--line <number>", "only diagnostics on this line")
    .option("--write", "write the changed files")
    .addOption(formatOption())
    .addHelpText(
      "after",
      examples([
        ["lang fix TY0001", "show what would change"],
        ["lang fix TY0001 --write", "change it"],
        ["lang fix MX0001 --alternative 1 --write", "apply the second fix"],
        ["lang fix LI0003 src/main.lang --line 12", "only on one line"],
      ]),
    )
    .action((code: string, path: string | undefined, options: FixOptions) => {
      const { workspace, file } = openPackage(path);
      const alternative = wholeNumber("--alternative", options.alternative);
      if (alternative < 0) throw new CommandError("Cannot use --alternative: fixes count from 0");
      const line = options.line === undefined ? null : wholeNumber("--line", options.line);
      const outcome = fix(workspace, { code, alternative, file, line, write: options.write ?? false });
      const { fixed, left, patches, isWritten } = outcome;
      if (fixed.length === 0) context.exitCode = 1;
      const { terminal } = context;
      if (options.format === "json") {
        return terminal.writeJson({
          ok: fixed.length > 0,
          written: isWritten,
          fixed: fixed.map((each) => ({
            diagnostic: diagnosticToJson(each.diagnostic),
            title: each.fix.title,
          })),
          left: left.map(diagnosticToJson),
          patches: patches.map(({ path, sha256, diff }) => ({ path, sha256, diff })),
        });
      }
      if (fixed.length === 0) {
        const reason = left.length === 0
          ? `nothing to fix: the package has no ${code.toUpperCase()}`
          : `cannot fix ${countText(left)} of ${code.toUpperCase()}: there is no fix ${alternative}`;
        return terminal.writeError(`${reason}\n`);
      }
      if (!isWritten) {
        for (const patch of patches) terminal.write(coloredDiff(patch.diff, terminal.style));
      }
      for (const { diagnostic, fix } of fixed) {
        const { line } = diagnostic.file.positionOf(diagnostic.span);
        terminal.write(
          `${isWritten ? "fixed" : "would fix"} ${diagnostic.file.path}:${line}: ${fix.title}\n`,
        );
      }
      if (left.length > 0) terminal.write(`${countText(left)} of ${code.toUpperCase()} left\n`);
      if (!isWritten) terminal.write("`--write` changes the files\n");
    });
}

/** Adds `find`. */
export function addFindCommand(program: Command, context: Context): void {
  program.command("find")
    .summary("search sources and docs/")
    .description("Finds the lines of sources, and of Markdown files under docs/, that contain a text.")
    .argument("<query>", "text to search for; case-sensitive if it has capitals")
    .argument("[path]", "package folder")
    .option("--top <number>", "show at most this many lines", String(DEFAULT_TOP))
    .addOption(formatOption())
    .addHelpText(
      "after",
      examples([
        ["lang find bounce", "lines with bounce, Bounce or BOUNCE"],
        ['lang find "fn Ball." --top 50', "methods of Ball"],
      ]),
    )
    .action(
      (
        query: string,
        path: string | undefined,
        options: { readonly top: string; readonly format: Format },
      ) => {
        const { workspace } = openPackage(path);
        const top = wholeNumber("--top", options.top);
        if (top < 1) throw new CommandError("Cannot use --top: at least 1 line is shown");
        const { hits, total } = find(workspace, { query, top });
        const { terminal } = context;
        if (options.format === "json") return terminal.writeJson({ ok: true, hits, total });
        for (const { file, line, text } of hits) {
          terminal.write(`${terminal.style("quiet", `${file}:${line}:`)} ${text.trim()}\n`);
        }
        if (total === 0) terminal.write("nothing found\n");
        if (total > hits.length) {
          terminal.write(`and ${total - hits.length} more; --top ${total} shows all\n`);
        }
      },
    );
}

/** Adds `explain`. */
export function addExplainCommand(program: Command, context: Context): void {
  program.command("explain")
    .summary("explain a diagnostic code")
    .description(
      "Explains a diagnostic code, with a program that raises it and the program after each fix.",
    )
    .argument("<code>", "diagnostic code, as `lang check` prints it")
    .addOption(formatOption())
    .addHelpText("after", examples([["lang explain MX0001", "what the code means and how to fix it"]]))
    .action((code: string, options: { readonly format: Format }) => {
      const explanation = explain(code);
      const { terminal } = context;
      if (options.format === "human") return terminal.write(renderExplanation(explanation, terminal.style));
      const { page, fixed } = explanation;
      terminal.writeJson({
        code: page.code,
        title: page.title,
        severity: page.severity,
        explanation: page.explanation,
        bad: page.bad,
        fixed,
      });
    });
}
