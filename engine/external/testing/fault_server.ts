/**
 * A web server for tests that answers with whatever bytes a case wants: well-formed answers by path, and raw ones that
 * break off, lie about their length, drip or never come.
 */
import { encodeUtf8 } from "../../base/bytes.ts";

/** A request as it came. */
export interface SeenRequest {
  readonly path: string;
  readonly headers: ReadonlyMap<string, string>;
}

/** Sends bytes of an answer. */
export interface AnswerWriter {
  write(data: string | Uint8Array): Promise<void>;
  /** Waits, in real time. */
  wait(milliseconds: number): Promise<void>;
}

/** Answers a request; the connection is closed behind it unless it says `keep`. */
export type Answer = (writer: AnswerWriter, request: SeenRequest) => Promise<"keep" | void>;

/** An answer with a body. */
export function answer(
  body: string | Uint8Array,
  options: { readonly status?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Answer {
  return async (writer) => {
    const bytes = typeof body === "string" ? encodeUtf8(body) : body;
    const headers = { "content-length": String(bytes.length), ...options.headers };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
    await writer.write(`HTTP/1.1 ${options.status ?? "200 OK"}\r\n${lines}\r\n`);
    await writer.write(bytes);
    return "keep";
  };
}

/** An answer as it stands. */
export function raw(...pieces: readonly (string | Uint8Array)[]): Answer {
  return async (writer) => {
    for (const piece of pieces) await writer.write(piece);
  };
}

/** See the file's head. */
export class FaultServer {
  readonly port: number;
  /** Requests so far. */
  readonly seen: SeenRequest[] = [];
  /** Connections so far. */
  connections = 0;
  readonly #answers = new Map<string, Answer>();
  readonly #listener: Deno.TcpListener;
  readonly #open = new Set<Deno.TcpConn>();
  readonly #ended: Promise<void>;

  constructor() {
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.port = this.#listener.addr.port;
    this.#ended = this.#serve();
  }

  /** Connections that the client has not closed. */
  get openConnections(): number {
    return this.#open.size;
  }

  /** Answers a path, query included, with this from now on. */
  on(path: string, given: Answer): void {
    this.#answers.set(path, given);
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#open) close(connection);
    await this.#ended;
  }

  async #serve(): Promise<void> {
    const running: Promise<void>[] = [];
    for await (const connection of this.#listener) {
      this.connections++;
      this.#open.add(connection);
      running.push(
        this.#talk(connection).catch(() => undefined).finally(() => {
          this.#open.delete(connection);
          close(connection);
        }),
      );
    }
    await Promise.all(running);
  }

  async #talk(connection: Deno.TcpConn): Promise<void> {
    let text = "";
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(65_536);
    for (;;) {
      while (!text.includes("\r\n\r\n")) {
        const count = await connection.read(buffer);
        if (count === null) return;
        text += decoder.decode(buffer.subarray(0, count));
      }
      const [first = "", ...lines] = (text.split("\r\n\r\n", 1)[0] ?? "").split("\r\n");
      text = text.slice(text.indexOf("\r\n\r\n") + 4);
      const request = {
        path: first.split(" ")[1] ?? "",
        headers: new Map(lines.map((line) => [
          line.slice(0, line.indexOf(":")).toLowerCase(),
          line.slice(line.indexOf(":") + 1).trim(),
        ])),
      };
      this.seen.push(request);
      const given = this.#answers.get(request.path) ?? answer("no such page", { status: "404 Not Found" });
      const writer = {
        write: async (data: string | Uint8Array) => {
          const bytes = typeof data === "string" ? encodeUtf8(data) : data;
          for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
        },
        wait: (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds)),
      };
      if (await given(writer, request) !== "keep") return;
    }
  }
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // Closed already.
  }
}
