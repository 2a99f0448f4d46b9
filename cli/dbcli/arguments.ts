/** The command line of `dbcli`, and the environment behind it. Pure. */
import { closestOption } from "../../engine/base/suggest.ts";
import type { ClientTls } from "../../gateways/binary/client_api.ts";
import { clientTls } from "../shared/client_tls.ts";
import { UsageError } from "../shared/usage_error.ts";

export { UsageError };

/** What the program is to do. */
export interface ClientSettings {
  readonly addresses: readonly string[];
  readonly token: string | null;
  /** null: in clear text. */
  readonly tls: ClientTls | null;
  /** `follower`: read at the member that is connected to, and change nothing. */
  readonly readFrom: "primary" | "follower";
  /** Answers and failures as JSON objects, one a line. */
  readonly json: boolean;
  /** Go on after an error. */
  readonly keepGoing: boolean;
  /** The statement of the command line; null: read statements from standard input. */
  readonly statement: string | null;
}

/** What a command line asks for. */
export type Command =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "status"; readonly settings: ClientSettings }
  | { readonly kind: "run"; readonly settings: ClientSettings };

const DEFAULT_ADDRESS = "127.0.0.1:7878";
const OPTIONS_WITH_VALUE = ["--addr", "--addrs", "--token", "--read-from", "--tls-ca", "--tls-server-name"];
const SWITCHES = ["--tls", "--json", "--keep-going", "--help", "--version"];

/** Reads the command line. Raises {@link UsageError}. */
export function readCommand(
  parameters: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): Command {
  const values = new Map<string, string>();
  const switches = new Set<string>();
  const positional: string[] = [];
  for (let index = 0; index < parameters.length; index++) {
    const parameter = parameters[index] ?? "";
    if (parameter === "--") {
      positional.push(...parameters.slice(index + 1));
      break;
    }
    if (!/^-[-A-Za-z]/.test(parameter) || /\s/.test(parameter.split("=")[0] ?? "")) {
      positional.push(parameter);
      continue;
    }
    const at = parameter.indexOf("=");
    const name = longName(at < 0 ? parameter : parameter.slice(0, at));
    if (OPTIONS_WITH_VALUE.includes(name)) {
      const value = at < 0 ? parameters[++index] : parameter.slice(at + 1);
      if (value === undefined) throw new UsageError(`${name} needs a value`);
      values.set(name, value);
    } else if (SWITCHES.includes(name) && at < 0) switches.add(name);
    else throw unknownOption(name);
  }
  if (switches.has("--help")) return { kind: "help" };
  if (switches.has("--version")) return { kind: "version" };
  if (positional.length > 1) {
    throw new UsageError("dbcli takes one statement; put it in quotes");
  }
  const token = values.get("--token") ?? nonEmpty(environment.DB_TOKEN) ?? null;
  if (token === "") throw new UsageError("the token is empty");
  return {
    // No statement is this word.
    kind: positional[0]?.trim() === "status" ? "status" : "run",
    settings: {
      addresses: addressesFrom(values, environment),
      token,
      tls: clientTls({
        isAsked: switches.has("--tls"),
        authoritiesPath: values.get("--tls-ca") ?? nonEmpty(environment.DB_TLS_CA),
        serverName: values.get("--tls-server-name"),
        readFile,
      }),
      readFrom: readFrom(values.get("--read-from") ?? "primary"),
      json: switches.has("--json"),
      keepGoing: switches.has("--keep-going"),
      statement: positional[0] ?? null,
    },
  };
}

function readFrom(value: string): "primary" | "follower" {
  if (value === "primary" || value === "follower") return value;
  throw new UsageError(`--read-from is either primary or follower, not "${value}"`);
}

function addressesFrom(
  values: ReadonlyMap<string, string>,
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const one = values.get("--addr"), list = values.get("--addrs");
  if (one !== undefined && list !== undefined) {
    throw new UsageError("give either --addr or --addrs, not both");
  }
  if (one !== undefined) return [one];
  if (list === undefined) return [nonEmpty(environment.DB_ADDR) ?? DEFAULT_ADDRESS];
  const addresses = list.split(",").map((each) => each.trim()).filter((each) => each !== "");
  if (addresses.length === 0) throw new UsageError("--addrs is an empty list");
  return addresses;
}

function longName(name: string): string {
  return name === "-h" ? "--help" : name === "-V" ? "--version" : name;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

function unknownOption(name: string): UsageError {
  const near = closestOption(name, [...OPTIONS_WITH_VALUE, ...SWITCHES]);
  return new UsageError(`unknown option "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`);
}

/** The text of `--help`. */
export function helpText(version: string): string {
  return `dbcli ${version}: the database client

Usage: dbcli [options] [STATEMENT]
       dbcli [options] status

With STATEMENT it is run and its answer printed. Without, statements are read from standard input: on a terminal in a shell
(\\? lists its commands), otherwise one after the other; lines that begin with # or -- are comments. With the word status, it
asks each server for the members of its cluster: their roles, how far they are, and what they lack.

Options
  --addr HOST:PORT    the server (default ${DEFAULT_ADDRESS}, or DB_ADDR)
  --addrs LIST        the servers of a cluster, separated by commas; changes are made exactly once
  --token TOKEN       the server's token (or DB_TOKEN)
  --tls               encrypt the connection, and check the server's certificate
  --tls-ca FILE       the authorities to trust (PEM) in the place of the system's (or DB_TLS_CA); means --tls
  --tls-server-name NAME  the name that the certificate must be for (default: the server's); means --tls
  --read-from MEMBER  primary (default), or follower: read at the member of a cluster that is connected to, which may be
                      behind, and change nothing
  --json              print answers and failures as JSON, one object a line
  --keep-going        go on after an error (the exit code is 1 all the same)
  -V, --version       print the version
  -h, --help          print this text

Exit codes: 0 done, 1 a statement or the connection failed, or a cluster has no primary (status), 2 bad usage.
`;
}
