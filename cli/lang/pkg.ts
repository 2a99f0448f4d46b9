/** `lang pkg`: its commands and their options. What they do is loaded when one of them runs. */
import { Argument, type Command, Option } from "commander";
import type { Context } from "./shared/context.ts";
import { examples } from "./examples.ts";
import type { PkgOptions } from "./pkg/run.ts";

/** `--version` after `pkg add` is the requirement, not the toolchain's version. */
export function pkgParameters(parameters: readonly string[]): readonly string[] {
  const [first, second] = parameters.filter((each) => !each.startsWith("-"));
  if (first !== "pkg" || second !== "add") return parameters;
  return parameters.map((each) => each.replace(/^--version(?==|$)/, "--require"));
}

type Example = readonly [string, string];

/** Adds the commands. */
export function addPkgCommand(program: Command, context: Context): void {
  const pkg = program.command("pkg")
    .summary("add, fetch and publish packages")
    .description(
      "Packages from registries: repositories of a code-hosting service with a release for each version.\n" +
        "[registry] and [dependencies] of project.toml name them; project.lock pins versions and hashes.",
    )
    .addHelpText(
      "after",
      examples([
        ["lang pkg update --refresh", "update the cached indexes"],
        ["lang pkg add fx@^0.3", "add a dependency"],
        ["lang pkg fetch", "download the locked packages"],
        ["lang pkg publish", "publish this package"],
      ]) + "\nExit codes: 0 success, 1 failure, 2 wrong usage.\n",
    );
  const add = (
    name: string,
    summary: string,
    description: string,
    lines: readonly Example[],
    ...parameters: Argument[]
  ): Command => {
    const command = pkg.command(name).summary(summary).description(description);
    for (const parameter of parameters) command.addArgument(parameter);
    return command
      .option("--manifest-dir <folder>", "folder of project.toml", ".")
      .option("--offline", "do not use the network")
      .option("--locked", "fail instead of changing project.lock")
      .addOption(
        new Option("--format <format>", "output format").choices(["human", "json"]).default("human"),
      )
      .addHelpText("after", examples(lines))
      .action(async (...given: unknown[]) => {
        const [first] = given;
        const argument = Array.isArray(first) ? first.join(" ") : first;
        const { runPkg } = await import("./pkg/run.ts");
        const options: PkgOptions = command.opts();
        await runPkg(context, { name, argument: typeof argument === "string" ? argument : null, options });
      });
  };
  add(
    "add",
    "add a dependency",
    "Resolves a package from the cached indexes and records it in project.toml and project.lock.",
    [
      ["lang pkg add fx", "the highest known version"],
      ["lang pkg add fx@^0.3.2", "with a requirement; same as --version ^0.3.2"],
      ["lang pkg add ui --path ../ui", "from a folder"],
      ["lang pkg add noise --git https://host.example/noise.git --rev v1.2.0", "from a repository"],
    ],
    new Argument("<name[@requirement]>", "the package"),
  ).addOption(new Option("--require <requirement>", "version requirement; also --version"))
    .addOption(new Option("--path <folder>", "take it from a folder").conflicts(["require", "git"]))
    .addOption(new Option("--git <url>", "take it from a git repository").conflicts(["require", "path"]))
    .option("--rev <revision>", "branch, tag or commit of --git");
  add(
    "remove",
    "remove a dependency",
    "Removes a package from project.toml, and from project.lock what only it needed.",
    [["lang pkg remove fx", "remove fx"]],
    new Argument("<name>", "the package"),
  );
  add(
    "update",
    "update versions",
    "Resolves all packages again, or one, within their requirements, and reports what changes.",
    [
      ["lang pkg update", "all, from the cached indexes"],
      ["lang pkg update fx", "one package"],
      ["lang pkg update --refresh", "read the registries first, and fetch what is new"],
    ],
    new Argument("[name]", "one package only"),
  ).option("--refresh", "first update the indexes of all registries");
  add(
    "fetch",
    "download the locked packages",
    "Downloads packages, verifies their SHA-256 and unpacks them into .lang/packages/.",
    [
      ["lang pkg fetch", "what is missing"],
      ["lang pkg fetch --locked", "in continuous integration"],
      ["lang pkg fetch --offline", "only from the cache of this machine"],
    ],
  );
  add("list", "list the locked packages", "Shows the packages of project.lock.", [
    ["lang pkg list", "names, versions, where they come from"],
  ]);
  add(
    "search",
    "find packages",
    "Finds packages by words of their name and description.",
    [["lang pkg search particle effect", "packages that match both words"]],
    new Argument("<words...>", "words that all occur"),
  );
  add(
    "info",
    "show details of a package",
    "Shows versions, description and dependencies of a package.",
    [["lang pkg info fx", "everything about fx"]],
    new Argument("<name>", "the package"),
  );
  add(
    "login",
    "store the token of a registry",
    "Stores the token in the environment variable PKG_LOGIN_TOKEN for a registry.",
    [['PKG_LOGIN_TOKEN="$TOKEN" lang pkg login octo-games/packages', "never as an argument"]],
    new Argument("[slug]", "owner/repository (default: the package's default registry)"),
  );
  add(
    "publish",
    "publish this package",
    "Writes tarball and checksum into .lang/publish/ and, with a token, creates the release in the default registry.",
    [
      ["lang pkg publish --dry-run", "only show what would be published"],
      ["lang pkg publish", "publish"],
    ],
  ).option("--dry-run", "write and send nothing");
  add(
    "vendor",
    "copy all packages into .lang/vendor/",
    "Copies every locked package into .lang/vendor/ with a list of hashes; builds then use them, without a network.",
    [["lang pkg vendor", "copy them"]],
  );
  add(
    "verify",
    "recompute all hashes",
    "Recomputes the hashes of everything on the disk; exit code 1 when one is wrong.",
    [
      ["lang pkg verify", "compare with project.lock"],
    ],
  );
}
