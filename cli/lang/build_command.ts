/** `lang build`. */
import { type Command, Option } from "commander";
import type { PageFiles } from "../../lang/commands/archive.ts";
import { build, type BuildOptions } from "../../lang/commands/build.ts";
import { sizeText } from "../../lang/commands/size_text.ts";
import { reportToJson } from "../../lang/diagnostics/json.ts";
import { type PackageTarget, TARGETS } from "../../lang/package/manifest.ts";
import { type Context, openPackage, reportStep, showDiagnostics } from "./shared/context.ts";
import { examples } from "./examples.ts";
import { readyPackages } from "./packages_ready.ts";

interface Options {
  readonly target?: PackageTarget;
  readonly release?: boolean;
  readonly gas?: boolean;
  readonly zip?: boolean;
  readonly exitCodes?: boolean;
  readonly emit?: "ir";
  readonly format: "human" | "json";
}

/** Adds the command. */
export function addBuildCommand(program: Command, context: Context): void {
  program.command("build")
    .summary("compile a package to WebAssembly")
    .description("Compiles a package to target/main.wasm, with a source map in target/main.wasm.map.")
    .argument("[path]", "package folder, or a standalone source file: hello.lang becomes hello.wasm")
    .addOption(
      new Option("--target <target>", "build target (default: from project.toml, else from the entry points)")
        .choices(
          TARGETS,
        ),
    )
    .option("--release", "optimize for size and speed; takes longer")
    .option("--gas", "meter execution with gas, so that it can be limited")
    .option(
      "--exit-codes",
      "let a command exit with codes above 1, by `exit-with-code` of WASI, which not every host supports",
    )
    .option("--zip", "pack the page and the module into target/<name>.zip, for game hosting sites")
    .addOption(
      new Option("--emit <what>", "also write the intermediate representation, to target/main.ir").choices([
        "ir",
      ]),
    )
    .addOption(
      new Option("--format <format>", "output format").choices(["human", "json"]).default("human"),
    )
    .addHelpText(
      "after",
      examples([
        ["lang build", "for development"],
        ["lang build --release", "to publish"],
        ["lang build --release --zip", "a game with its page as one file"],
        ["lang build --target wasm32-wasi", "a target other than the manifest's"],
      ]),
    )
    .action(async (path: string | undefined, options: Options) => {
      if (!await readyPackages(context, path, options.format)) return;
      const { workspace, root } = openPackage(path);
      const asked: BuildOptions = {
        ...(options.target === undefined ? {} : { target: options.target }),
        isRelease: options.release ?? false,
        hasGas: options.gas ?? false,
        hasExitCodes: options.exitCodes ?? false,
        emitIr: options.emit === "ir",
        ...(options.zip === true ? { pages: await pagesOf(root) } : {}),
        onStep: (step) => reportStep(context, step),
      };
      const { diagnostics, built } = await build(workspace, asked);
      if (built === null) context.exitCode = 1;
      if (options.format === "json") {
        context.terminal.writeJson({
          ...reportToJson(diagnostics),
          ok: built !== null,
          ...(built === null ? {} : { target: built.target, bytes: built.bytes.length, files: built.paths }),
        });
        return;
      }
      showDiagnostics(context, diagnostics);
      if (built === null) return;
      const [module = ""] = built.paths;
      context.terminal.write(
        `${module}  ${sizeText(built.bytes.length)}, ${built.target ?? "library"}${
          options.release ? ", release" : ""
        }\n`,
      );
      if (built.archive !== null) {
        const { path: archive, bytes } = built.archive;
        context.terminal.write(`${archive}  ${sizeText(bytes)}, page and module\n`);
      }
    });
}

/** The files of a package's page. */
async function pagesOf(root: string): Promise<PageFiles> {
  const { WebFolder } = await import("./servers/serve/web_folder.ts");
  return new WebFolder(root);
}
