/** What `lang pkg` says of itself. */
import { match, strictEqual } from "node:assert/strict";
import { runProgram } from "../program.ts";
import { Terminal } from "../shared/terminal.ts";

const COMMANDS = [
  "add",
  "remove",
  "update",
  "fetch",
  "list",
  "search",
  "info",
  "login",
  "publish",
  "vendor",
  "verify",
];

/** What a command line prints on both streams, and its exit code. */
async function lang(
  ...parameters: readonly string[]
): Promise<{ readonly code: number; readonly text: string }> {
  const parts: Uint8Array[] = [];
  const stream = {
    writeSync(bytes: Uint8Array): number {
      parts.push(bytes.slice());
      return bytes.length;
    },
    isTerminal: () => false,
  };
  const code = await runProgram(parameters, new Terminal(stream, stream));
  return { code, text: parts.map((part) => new TextDecoder().decode(part)).join("") };
}

Deno.test("lang pkg --help lists all commands, and each has examples of its own", async () => {
  const { code, text } = await lang("pkg", "--help");
  strictEqual(code, 0);
  for (const name of COMMANDS) {
    match(text, new RegExp(`^  ${name} `, "m"));
    const own = await lang("pkg", name, "--help");
    strictEqual(own.code, 0);
    match(
      own.text,
      new RegExp(`^Usage: lang pkg ${name} [\\s\\S]*--manifest-dir[\\s\\S]*Examples:\\n.*lang pkg ${name}`),
    );
  }
});

Deno.test("lang pkg: bad usage ends with 2", async () => {
  const check = async (expected: RegExp, ...parameters: readonly string[]) => {
    const { code, text } = await lang("pkg", ...parameters);
    strictEqual(code, 2, text);
    match(text, expected);
  };
  await check(/unknown command 'ad'[\s\S]*Did you mean add/, "ad");
  await check(/missing required argument 'name\[@requirement\]'/, "add");
  await check(/cannot be used with/, "add", "fx", "--path", "a", "--git", "b");
  await check(/unknown option '--frozen'/, "fetch", "--frozen");
  await check(/Allowed choices are human, json/, "list", "--format", "xml");
  await check(/--rev: it belongs to --git/, "add", "fx", "--rev", "main", "--manifest-dir", "nowhere");
  await check(/there is no project\.toml/, "list", "--manifest-dir", "nowhere");
});

Deno.test("lang completions: the commands of pkg and their options", async () => {
  match(
    (await lang("completions", "bash")).text,
    /^ {4}pkg\) options="add remove .* verify --manifest-dir .*--git/m,
  );
  match(
    (await lang("completions", "fish")).text,
    /-n '__fish_seen_subcommand_from pkg' -f -a publish -d 'publish this package'/,
  );
});
