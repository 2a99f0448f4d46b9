/** `lang deploy`: builds functions of the database and creates them there. */
import { type Command, Option } from "commander";
import { DatabaseError } from "../../engine/base/errors.ts";
import type { ClientOptions, ClientTls } from "../../gateways/binary/client_api.ts";
import { planDeploy } from "../../lang/commands/deploy.ts";
import { sizeText } from "../../lang/commands/size_text.ts";
import { reportToJson } from "../../lang/diagnostics/json.ts";
import { CommandError } from "../../lang/commands/command_error.ts";
import { clientTls } from "../shared/client_tls.ts";
import { UsageError } from "../shared/usage_error.ts";
import { examples } from "./examples.ts";
import { readyPackages } from "./packages_ready.ts";
import { type Context, openPackage, reportStep, showDiagnostics } from "./shared/context.ts";

interface Options {
  readonly db?: string;
  readonly token?: string;
  readonly tls?: boolean;
  readonly tlsCa?: string;
  readonly tlsServerName?: string;
  readonly sql?: boolean;
  readonly format: "human" | "json";
}

const DEFAULT_ADDRESS = "127.0.0.1:7878";

/** Adds the command. */
export function addDeployCommand(program: Command, context: Context): void {
  program.command("deploy")
    .summary("create a package's functions in a database")
    .description(
      "Builds a package for wasm32-db and creates its public functions in a database, in one transaction: " +
        "the documentation of each becomes its COMMENT, a constant bound of its cost its GAS. " +
        "Functions that are there are replaced.",
    )
    .argument("[path]", "package folder")
    .option(
      "--db <address>",
      `host and port of the binary protocol (default: DB_ADDR, else ${DEFAULT_ADDRESS})`,
    )
    .option("--token <token>", "token of the server (default: DB_TOKEN)")
    .option("--tls", "encrypt the connection, and check the server's certificate")
    .option(
      "--tls-ca <file>",
      "the authorities to trust, PEM (default: DB_TLS_CA, else the system's); means --tls",
    )
    .option(
      "--tls-server-name <name>",
      "the name that the certificate must be for (default: the server's); means --tls",
    )
    .option("--sql", "print the statements, without a server")
    .addOption(
      new Option("--format <format>", "output format").choices(["human", "json"]).default("human"),
    )
    .addHelpText(
      "after",
      examples([
        ["lang deploy --db db.example:7878", "create the functions, or replace them"],
        ["lang deploy --sql > functions.sql", "write the statements into a file"],
      ]),
    )
    .action(async (path: string | undefined, options: Options) => {
      const tls = readTls(options);
      if (!await readyPackages(context, path, options.format)) return;
      const { workspace } = openPackage(path);
      const { diagnostics, plan } = await planDeploy(workspace, {
        onStep: (step) => reportStep(context, step),
      });
      const { terminal } = context;
      const isJson = options.format === "json";
      if (plan === null) {
        context.exitCode = 1;
        if (isJson) terminal.writeJson({ ...reportToJson(diagnostics), ok: false });
        else showDiagnostics(context, diagnostics);
        return;
      }
      if (!isJson) showDiagnostics(context, diagnostics);
      if (options.sql === true) {
        terminal.write(`BEGIN;\n${plan.statements.join("\n")}\nCOMMIT;\n`);
        return;
      }
      const address = options.db ?? (Deno.env.get("DB_ADDR") || DEFAULT_ADDRESS);
      const token = options.token ?? (Deno.env.get("DB_TOKEN") || null);
      try {
        await run(plan.statements, { address, token, tls: tls ?? false });
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error;
        context.exitCode = 1;
        if (isJson) {
          const { code, message, detail, hint } = error;
          terminal.writeJson({
            ...reportToJson(diagnostics),
            ok: false,
            error: { code, message, detail, hint },
          });
        } else terminal.writeError(errorText(context, error, address));
        return;
      }
      if (isJson) {
        const { functions, bytes } = plan;
        terminal.writeJson({ ...reportToJson(diagnostics), ok: true, address, bytes, functions });
        return;
      }
      for (const { signature, gas } of plan.functions) {
        terminal.write(
          `${signature.replaceAll('"', "")}  ${
            gas === null ? "default gas: the cost has no constant bound" : `gas ${gas}`
          }\n`,
        );
      }
      terminal.write(
        `deployed ${plan.functions.length} ${plan.functions.length === 1 ? "function" : "functions"} to ${
          terminal.style("strong", address)
        }, module ${sizeText(plan.bytes)}\n`,
      );
    });
}

/** Raises {@link CommandError} for a file that cannot be used. */
function readTls({ tls, tlsCa, tlsServerName }: Options): ClientTls | null {
  try {
    return clientTls({
      isAsked: tls === true,
      authoritiesPath: tlsCa ?? (Deno.env.get("DB_TLS_CA") || undefined),
      serverName: tlsServerName,
      readFile: (path) => Deno.readTextFileSync(path),
    });
  } catch (error) {
    if (error instanceof UsageError) throw new CommandError(`Cannot use TLS: ${error.message}`);
    throw error;
  }
}

/** Runs the statements in one transaction. */
async function run(
  statements: readonly string[],
  server: Pick<ClientOptions, "address" | "token" | "tls">,
): Promise<void> {
  // Loaded here, because no other command speaks with a database.
  const { OperationClient } = await import("../../gateways/binary/client.ts");
  const client = await OperationClient.connect({ ...server, name: "lang deploy" });
  try {
    await client.transaction(async (inner) => {
      for (const statement of statements) await inner.execute(statement);
    });
  } finally {
    await client.close();
  }
}

function errorText({ terminal }: Context, error: DatabaseError, address: string): string {
  const style = terminal.errorStyle;
  const lines = [
    `${style("error", "error")}${style("strong", `: Cannot deploy to ${address}: ${error.message}`)}`,
  ];
  if (error.detail !== undefined) lines.push(error.detail);
  if (error.hint !== undefined) lines.push(`${style("info", "hint")}: ${error.hint}`);
  return `${lines.join("\n")}\n`;
}
