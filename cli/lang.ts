/**
 * `lang`, the toolchain command. In this version it knows `--version` and `--help`; its commands arrive with the language.
 *
 * Exit codes: 0 done, 2 bad usage.
 */
import { version } from "./version.ts";

const help = `lang ${version}: the toolchain of the language

Usage: lang [--version | --help]

  -V, --version  print the version
  -h, --help     print this text

This version has no commands yet.
`;

function write(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
}

/** Runs the command and returns its exit code. */
export function main(parameters: readonly string[]): number {
  const [first, ...rest] = parameters;
  if (rest.length === 0 && (first === "--version" || first === "-V")) write(Deno.stdout, `lang ${version}\n`);
  else if (rest.length === 0 && (first === "--help" || first === "-h")) write(Deno.stdout, help);
  else {
    const problem = first === undefined
      ? "a command is missing"
      : /^(--version|-V|--help|-h)$/.test(first)
      ? `unexpected argument "${rest[0]}"`
      : `unknown ${first.startsWith("-") ? "option" : "command"} "${first}"`;
    write(Deno.stderr, `lang: ${problem}\n\n${help}`);
    return 2;
  }
  return 0;
}

if (import.meta.main) Deno.exit(main(Deno.args));
