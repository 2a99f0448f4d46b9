/** The server of `lang serve`: HTTP on the loopback address, around the answers of `lang/servers/serve`. */
import { CommandError } from "../../../../lang/commands/command_error.ts";
import { type BodyPart, plainReply, type Reply } from "../../../../lang/servers/serve/reply.ts";
import type { Site, SiteAnswer, WebFile } from "../../../../lang/servers/serve/site.ts";
import { messageOf } from "../../shared/disk_files.ts";
import { hostRefusal } from "../../shared/loopback_guard.ts";
import { Sockets } from "./sockets.ts";

/** The only address that is listened to. */
const LOOPBACK = "127.0.0.1";
/** Longer contents are sent in pieces of this size. */
const PIECE_BYTES = 256 * 1024;

/** A server that runs until it is closed. */
export class DevServer implements AsyncDisposable {
  readonly sockets = new Sockets();
  readonly #site: Site;
  readonly #greeting: () => string | null;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #abort = new AbortController();

  /** Listens; `greeting` is what a page hears when it connects to `/_events`. */
  constructor(
    options: { readonly site: Site; readonly port: number; readonly greeting: () => string | null },
  ) {
    const { site, port, greeting } = options;
    this.#site = site;
    this.#greeting = greeting;
    try {
      this.#server = Deno.serve(
        { hostname: LOOPBACK, port, onListen: () => {}, signal: this.#abort.signal, onError: internalError },
        (request) => this.#answer(request),
      );
    } catch (error) {
      if (error instanceof Deno.errors.AddrInUse) {
        throw new CommandError(
          `Cannot listen on ${LOOPBACK}:${port}: the port is in use`,
          "`--port 0` takes a free one.",
        );
      }
      throw new CommandError(
        `Cannot listen on ${LOOPBACK}:${port}: ${messageOf(error)}`,
        "`--port 0` takes a free one.",
      );
    }
  }

  /** Where the page is. */
  get address(): string {
    return `http://${LOOPBACK}:${this.#server.addr.port}/`;
  }

  async #answer(request: Request): Promise<Response> {
    const answer = await this.#answerOf(request, hostRefusal(withHost(request)));
    if (answer.kind === "reply") return response(answer.reply, answer.source);
    const { route } = answer;
    const taken = this.sockets.accept(request, route, route === "events" ? this.#greeting : () => null);
    return taken instanceof Response ? taken : response(taken, null);
  }

  async #answerOf({ method, url, headers }: Request, refusal: string | null): Promise<SiteAnswer> {
    if (refusal !== null) return { kind: "reply", reply: plainReply(403, refusal, method), source: null };
    return await this.#site.answer({ method, target: url, headers });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.sockets.close();
    this.#abort.abort();
    await this.#server.finished;
  }
}

function internalError(error: unknown): Response {
  return response(plainReply(500, `internal error: ${messageOf(error)}`, "GET"), null);
}

/** The headers with the host that is asked for, which HTTP/2 has in the target. */
function withHost({ headers, url }: Request): Headers {
  if (headers.has("host")) return headers;
  const completed = new Headers(headers);
  completed.set("host", new URL(url).host);
  return completed;
}

/** The answer as it is sent. */
function response(reply: Reply, source: WebFile | null): Response {
  const { status, headers, body } = reply;
  return new Response(bodyOf(body, source), { status, headers });
}

function bodyOf(body: readonly BodyPart[], source: WebFile | null): BodyInit | null {
  const [only] = body;
  if (only === undefined) return null;
  if (body.length === 1) return partOf(only, source);
  return ReadableStream.from(streamed(body, source));
}

function partOf(
  part: BodyPart,
  source: WebFile | null,
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> {
  if (part instanceof Uint8Array) return part;
  const { first, last } = part;
  const bytes = source?.bytes ?? null;
  if (bytes !== null) {
    const wanted = first === 0 && last === bytes.length - 1 ? bytes : bytes.subarray(first, last + 1);
    return wanted.length > PIECE_BYTES ? inPieces(wanted) : wanted;
  }
  if (source?.read === undefined) throw new Error("Cannot send a part: nothing is served");
  return source.read(first, last);
}

/**
 * Bytes piece by piece: one is copied while the one before it is sent, which takes a third of the time for large
 * files.
 */
function inPieces(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.subarray(at, at + PIECE_BYTES));
      at += PIECE_BYTES;
      if (at >= bytes.length) controller.close();
    },
  });
}

async function* streamed(
  body: readonly BodyPart[],
  source: WebFile | null,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (const each of body) {
    const part = partOf(each, source);
    if (part instanceof Uint8Array) yield part;
    else yield* part;
  }
}
