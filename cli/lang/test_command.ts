/** `lang test`. */
import { type Command, Option } from "commander";
import { DEFAULT_TIMEOUT_MILLISECONDS, test } from "../../lang/commands/tests.ts";
import { reportToJson } from "../../lang/diagnostics/json.ts";
import { renderResults } from "../../lang/testing/report.ts";
import {
  type Context,
  gasLimit,
  hasErrors,
  openPackage,
  reportStep,
  showDiagnostics,
  timeLimit,
  wholeNumber,
} from "./shared/context.ts";
import { examples } from "./examples.ts";
import { readyPackages } from "./packages_ready.ts";
import { TestThreads } from "./threads/test_threads.ts";

interface Options {
  readonly filter?: string;
  readonly eval?: boolean;
  readonly update?: boolean;
  readonly seed?: string;
  readonly timeout?: string;
  readonly gas?: string;
  readonly verbose?: boolean;
  readonly format: "human" | "json";
}

/** Adds the command. */
export function addTestCommand(program: Command, context: Context): void {
  program.command("test")
    .summary("run the tests of a package")
    .description(
      "Runs test blocks, documentation examples and properties as the WebAssembly that ships, each with its own memory, on all processors.",
    )
    .argument("[path]", "package folder, or a standalone source file")
    .option("--filter <text>", "only tests whose module and name contain the text")
    .option("--eval", "run the eval blocks instead")
    .option("--update", "update the snapshots of expect_snapshot in the sources")
    .option("--seed <number>", "seed for the arguments of properties (default: random)")
    .option(
      "--timeout <seconds>",
      `time limit of each test, 0 for no limit (default: ${DEFAULT_TIMEOUT_MILLISECONDS / 1000})`,
    )
    .option("--gas <number>", "build with gas, and stop a test that uses more")
    .option("--verbose", "also show tests that passed")
    .addOption(
      new Option("--format <format>", "output format").choices(["human", "json"]).default("human"),
    )
    .addHelpText(
      "after",
      examples([
        ["lang test", "all tests"],
        ['lang test --filter "bounces"', "tests whose name contains this"],
        ["lang test --seed 42", "repeat properties with the same arguments"],
        ["lang test --update", "update the snapshots"],
        ["lang test --timeout 60", "a minute for each test"],
      ]),
    )
    .action(async (path: string | undefined, options: Options) => {
      const timeout = options.timeout === undefined
        ? DEFAULT_TIMEOUT_MILLISECONDS
        : timeLimit("--timeout", options.timeout);
      const gas = options.gas === undefined ? null : gasLimit(options.gas);
      if (!await readyPackages(context, path, options.format)) return;
      const { workspace } = openPackage(path);
      const seed = options.seed === undefined
        ? crypto.getRandomValues(new Uint16Array(1))[0] ?? 0
        : wholeNumber("--seed", options.seed);
      // The first thread starts while the package is checked.
      using runner = new TestThreads();
      const outcome = await test(workspace, {
        filter: options.filter,
        evals: options.eval ?? false,
        seed,
        update: options.update ?? false,
        timeoutMilliseconds: timeout,
        gas,
        runner,
        onStep: (step) => reportStep(context, step),
      });
      if (!outcome.isPassed) context.exitCode = 1;
      const { terminal } = context;
      if (options.format === "json") {
        return terminal.writeJson({
          ...reportToJson(outcome.diagnostics),
          ok: outcome.isPassed,
          seed,
          tests: outcome.results,
          updated: outcome.updatedPaths,
        });
      }
      if (outcome.results === null || hasErrors(outcome.diagnostics)) {
        showDiagnostics(context, outcome.diagnostics);
      }
      if (outcome.results === null) return;
      for (const updated of outcome.updatedPaths) terminal.write(`updated ${updated}\n`);
      if (outcome.results.length === 0 && options.filter !== undefined) {
        return terminal.write(
          `no ${options.eval === true ? "eval" : "test"} has "${options.filter}" in its module or name\n`,
        );
      }
      terminal.write(
        renderResults(outcome.results, {
          style: terminal.style,
          isVerbose: options.verbose ?? false,
          seed,
        }),
      );
    });
}
