/**
 * The agent on a Unix socket: a session of its own for each connection.
 *
 * Only its owner may connect. What stands at the path is removed when it is a socket, and left alone when it is
 * anything else.
 */
import { LANG_LIMITS } from "../../../../lang/limits.ts";
import { AgentSession } from "../../../../lang/servers/agent/session.ts";
import type { AgentEnvironment } from "../../../../lang/servers/agent/environment.ts";
import { CommandError } from "../../../../lang/commands/command_error.ts";
import { CLI_LIMITS } from "../../../shared/limits.ts";
import { messageOf } from "../../shared/disk_files.ts";
import { ByteBudget, ConnectionReader, readLines } from "./line_reader.ts";
import { failureLines, serveLines } from "./line_service.ts";
import type { Recorder } from "./recorder.ts";

/** Longest path of a socket. */
const MAX_PATH_BYTES = Deno.build.os === "linux" ? 107 : 103;
/** Only the owner may read and write. */
const OWNER_ONLY = 0o600;

/** A socket that is served. */
export interface UnixServer {
  /** Resolves when it is closed. */
  readonly finished: Promise<void>;
  close(): void;
}

/** Binds a socket and serves it. */
export function serveUnix(
  path: string,
  environment: AgentEnvironment,
  recorder: Recorder | null,
): UnixServer {
  removeSocket(path);
  const listener = bind(path);
  const own = Deno.lstatSync(path).ino;
  const open = new Set<Deno.Conn>();
  let isClosed = false;
  const accept = async (): Promise<void> => {
    const budget = new ByteBudget(CLI_LIMITS.agentRequestBytes);
    for await (const connection of listener) {
      if (open.size >= CLI_LIMITS.agentConnections) {
        await refuse(connection);
        continue;
      }
      open.add(connection);
      serveConnection(connection, { environment, recorder, budget }).finally(() => open.delete(connection));
    }
  };
  return {
    finished: accept().catch((error: unknown) => {
      if (!isClosed) throw error;
    }),
    close: () => {
      if (isClosed) return;
      isClosed = true;
      listener.close();
      for (const connection of open) closeQuietly(connection);
      // Another server may have taken the path meanwhile.
      if (socketAt(path)?.ino === own) Deno.removeSync(path);
    },
  };
}

/** Binds the socket in a folder that nobody else may enter, and moves it to its path when its mode is right. */
function bind(path: string): Deno.UnixListener {
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) || "/" : ".";
  const own = `${folder}/.${crypto.randomUUID().slice(0, 6)}`;
  // Moved there, a socket could have a path that nobody can connect to.
  if ([path, `${own}/s`].some((each) => new TextEncoder().encode(each).length > MAX_PATH_BYTES)) {
    throw new CommandError(
      `Cannot listen on ${path}: the path is too long for a socket`,
      `Systems allow ${MAX_PATH_BYTES} bytes; name a shorter one.`,
    );
  }
  let isMade = false;
  let listener: Deno.UnixListener | null = null;
  try {
    Deno.mkdirSync(own, { mode: 0o700 });
    isMade = true;
    listener = Deno.listen({ transport: "unix", path: `${own}/s` });
    Deno.chmodSync(`${own}/s`, OWNER_ONLY);
    Deno.renameSync(`${own}/s`, path);
    return listener;
  } catch (error) {
    listener?.close();
    throw new CommandError(`Cannot listen on ${path}: ${messageOf(error)}`);
  } finally {
    if (isMade) Deno.removeSync(own, { recursive: true });
  }
}

async function serveConnection(connection: Deno.Conn, { environment, recorder, budget }: {
  readonly environment: AgentEnvironment;
  readonly recorder: Recorder | null;
  readonly budget: ByteBudget;
}): Promise<void> {
  const reader = new ConnectionReader(connection);
  try {
    await serveLines(new AgentSession(environment), {
      lines: readLines(reader, { maximumBytes: LANG_LIMITS.maximumRequestBytes, budget }),
      write: (text) => writeAll(connection, text),
      stopReading: () => reader.cancel(),
    }, recorder?.session() ?? null);
  } catch {
    // The connection broke while it was read.
  } finally {
    closeQuietly(connection);
  }
}

async function writeAll(connection: Deno.Conn, text: string): Promise<void> {
  let rest = new TextEncoder().encode(text);
  while (rest.length > 0) rest = rest.subarray(await connection.write(rest));
}

async function refuse(connection: Deno.Conn): Promise<void> {
  try {
    await writeAll(
      connection,
      failureLines("busy", `Cannot serve the connection: ${CLI_LIMITS.agentConnections} are open`),
    );
  } catch {
    // Nobody reads it.
  }
  closeQuietly(connection);
}

function closeQuietly(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}

function socketAt(path: string): Deno.FileInfo | null {
  try {
    const info = Deno.lstatSync(path);
    return info.isSocket === true ? info : null;
  } catch {
    // There is nothing.
    return null;
  }
}

function removeSocket(path: string): void {
  let info: Deno.FileInfo;
  try {
    info = Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw new CommandError(`Cannot listen on ${path}: ${messageOf(error)}`);
  }
  if (info.isSocket !== true) {
    throw new CommandError(
      `Cannot listen on ${path}: there is something that is no socket`,
      "Name another path, or remove it.",
    );
  }
  Deno.removeSync(path);
}
