/** `lang mcp` at work: a package in a folder, behind standard streams or a port of the loopback address. */
import { CommandError } from "../../../../lang/commands/command_error.ts";
import { AgentFailure } from "../../../../lang/servers/agent/environment.ts";
import type { PackageFiles } from "../../../../lang/package/package_files.ts";
import { ENDPOINT_PATH, HttpEndpoint } from "../../../../lang/servers/mcp/http_endpoint.ts";
import { LineTransport } from "../../../../lang/servers/mcp/line_transport.ts";
import { Resources } from "../../../../lang/servers/mcp/resources.ts";
import { createServer, type PackageContext } from "../../../../lang/servers/mcp/server.ts";
import { ToolSession } from "../../../../lang/servers/mcp/tool_session.ts";
import { version } from "../../../shared/version.ts";
import { FolderEnvironment } from "../agent/folder_environment.ts";
import type { Context } from "../../shared/context.ts";
import type { Terminal } from "../../shared/terminal.ts";
import { httpDoor } from "./http_server.ts";

/** Longest remark that is written to standard error. */
const MAX_REMARK = 300;

/** How long answers are still waited for when the input has ended. */
const FAREWELL_MILLISECONDS = 2_000;

/** A pause that does not keep the process from ending. */
function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => Deno.unrefTimer(setTimeout(resolve, milliseconds)));
}

/** Speaks on standard input and output until the input ends. */
export async function serveStandardStreams({ terminal }: Context, path: string | undefined): Promise<void> {
  using environment = new FolderEnvironment(path ?? ".");
  const context = await contextOf(environment);
  const { sdk } = context;
  const output = Deno.stdout.writable.getWriter();
  const transport = new LineTransport(sdk, {
    input: Deno.stdin.readable,
    write: (bytes) => output.write(bytes),
    farewell: () => pause(FAREWELL_MILLISECONDS),
  });
  const handle = sdk.serveStdio(() => createServer(context), {
    transport,
    onerror: (error) => remark(terminal, error),
  });
  await transport.ended;
  await handle.close();
  context.tools.close();
}

/** What `--http` and its companions say. */
export interface HttpOptions {
  readonly path: string | undefined;
  /** 0 takes a free one. */
  readonly port: number;
  readonly token: string | null;
}

/** Speaks over HTTP until the process is told to end. */
export async function serveHttp({ terminal }: Context, { path, port, token }: HttpOptions): Promise<void> {
  using environment = new FolderEnvironment(path ?? ".");
  const context = await contextOf(environment);
  const { sdk } = context;
  const endpoint = new HttpEndpoint({
    sdk,
    createServer: () => createServer(context),
    newSessionId: () => crypto.randomUUID(),
    onError: (error) => remark(terminal, error),
  });
  const server = listen(port, httpDoor({ sdk, endpoint, token }), (address) => {
    terminal.writeError(
      `speaking the Model Context Protocol at http://127.0.0.1:${address.port}${ENDPOINT_PATH}\n`,
    );
  });
  const ending = Promise.withResolvers<void>();
  const end = () => ending.resolve();
  const signals: readonly Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM"];
  for (const signal of signals) Deno.addSignalListener(signal, end);
  try {
    await ending.promise;
  } finally {
    for (const signal of signals) Deno.removeSignalListener(signal, end);
    context.tools.close();
    await endpoint.close();
    await server.shutdown();
  }
}

function listen(
  port: number,
  handler: (request: Request) => Promise<Response>,
  onListen: (address: Deno.NetAddr) => void,
): Deno.HttpServer {
  try {
    return Deno.serve({ hostname: "127.0.0.1", port, onListen }, handler);
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) {
      throw new CommandError(
        `Cannot listen on port ${port}: it is in use`,
        "`--http 0` takes a free port.",
      );
    }
    if (error instanceof Deno.errors.PermissionDenied) {
      throw new CommandError(
        `Cannot listen on port ${port}: this user may not`,
        "Ports from 1024 are for everybody.",
      );
    }
    throw error;
  }
}

async function contextOf(environment: FolderEnvironment): Promise<PackageContext> {
  return {
    sdk: await import("../../../../lang/servers/mcp/sdk.ts"),
    version,
    tools: new ToolSession(environment),
    resources: new Resources(() => filesOf(environment)),
    every: (milliseconds, call) => {
      const timer = setInterval(call, milliseconds);
      return () => clearInterval(timer);
    },
  };
}

/** The files of the package that the server was started for; null while there is none. */
function filesOf(environment: FolderEnvironment): PackageFiles | null {
  try {
    return environment.open(undefined).package.files;
  } catch (error) {
    if (error instanceof CommandError || error instanceof AgentFailure) return null;
    throw error;
  }
}

/** What the protocol's implementation remarks goes where clients keep what servers say beside the protocol. */
function remark(terminal: Terminal, error: Error): void {
  const text = error.message.replaceAll(/\s+/g, " ").slice(0, MAX_REMARK);
  terminal.writeError(`lang mcp: ${text}\n`);
}
