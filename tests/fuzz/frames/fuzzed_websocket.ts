/** The WebSocket under damaged upgrades, frames and messages. */
import { startHttpServer } from "../../../gateways/http/server.ts";
import type { Operation, Reply } from "../../../gateways/shared/operation/operation.ts";
import { encodeRequest } from "../../../gateways/shared/operation/operation_codec.ts";
import { judge as judgeHttp, readResponse } from "./fuzzed_http.ts";
import { type FuzzedServer, openFuzzedEngine, type Verdict, verdictOn } from "./fuzzed_server.ts";
import { bareFrame, type Frame } from "./mutation.ts";
import { decodeReplies, ENCODED_REQUESTS, outcomesOf } from "./operations.ts";

const MASK = [0x11, 0x22, 0x33, 0x44];
const BINARY = 0x82, TEXT = 0x81, BINARY_BEGIN = 0x02, END = 0x80, PING = 0x89, CLOSE = 0x88;
/** Closes that a client may be told: the server's own of docs/protocols.md, and what the client has said itself. */
const CLOSES = [1000, 1001, 1002, 1003, 1005, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014];
const isApplicationClose = (code: number): boolean => code >= 3000 && code <= 4999;

/** A masked frame. */
function frame(first: number, body: Uint8Array): Frame {
  return { body, wrap: (bytes) => maskedFrame(first, bytes) };
}

/** The bytes of a masked frame. */
export function maskedFrame(first: number, body: Uint8Array): Uint8Array {
  const head = body.length < 126
    ? [first, 0x80 | body.length]
    : [first, 0x80 | 126, body.length >> 8 & 0xff, body.length & 0xff];
  const bytes = new Uint8Array(head.length + 4 + body.length);
  bytes.set([...head, ...MASK]);
  for (let i = 0; i < body.length; i++) bytes[head.length + 4 + i] = (body[i] ?? 0) ^ (MASK[i & 3] ?? 0);
  return bytes;
}

/** The opening handshake. */
export const UPGRADE: Uint8Array = new TextEncoder().encode(
  "GET /v1/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: db-op-v1\r\n\r\n",
);

const close = frame(CLOSE, Uint8Array.of(3, 0xe8));
const CONVERSATIONS: readonly (readonly Frame[])[] = ENCODED_REQUESTS.map((requests, index) => [
  bareFrame(UPGRADE),
  ...requests.flatMap((request, at): Frame[] =>
    at % 3 === 2
      ? [
        // A message in fragments, with a ping between them.
        frame(BINARY_BEGIN, request.subarray(0, 7)),
        frame(PING, Uint8Array.of(1, 2, 3)),
        frame(END, request.subarray(7)),
      ]
      : [frame(BINARY, request)]
  ),
  ...(index === 1 ? [frame(TEXT, Uint8Array.of(0x68, 0x69))] : []),
  close,
]);

/** Starts one. */
export async function openFuzzedWebSocket(): Promise<FuzzedServer> {
  const engine = await openFuzzedEngine();
  const internalErrors: unknown[] = [];
  const server = await startHttpServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: null,
    version: "0.0.0",
    onInternalError: (error) => internalErrors.push(error),
  });
  const { port } = server.address;
  const steady = await WebSocketClient.open(port);
  const runner = await WebSocketClient.open(port);
  const sql = (text: string): Operation => ({ kind: "sql", text, parameters: null });
  return {
    port,
    engine,
    internalErrors,
    conversations: CONVERSATIONS,
    goodbye: maskedFrame(CLOSE, Uint8Array.of(3, 0xe8)),
    judge,
    ping: async () => {
      const kinds = (await steady.ask(sql("SELECT 6 * 7"))).map(({ kind }) => kind).join();
      if (kinds !== "columns,rows,outcome,end") throw new Error(`SELECT 6 * 7 was answered with ${kinds}`);
    },
    run: async (text) => {
      const last = (await runner.ask(sql(text))).at(-1);
      await runner.ask(sql("ROLLBACK"));
      return last?.kind === "error" ? last.failure.code : null;
    },
    [Symbol.asyncDispose]: async () => {
      steady.close();
      runner.close();
      await server.close(0);
      await engine.close();
    },
  };
}

/** A well-behaved client. */
class WebSocketClient {
  readonly #socket: WebSocket;
  #number = 0n;
  #messages: Uint8Array[] = [];
  #answered: ((replies: Reply[]) => void) | null = null;
  #failed: ((error: Error) => void) | null = null;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#receive(new Uint8Array(data as ArrayBuffer)));
    socket.addEventListener("close", ({ code }) => this.#failed?.(new Error(`closed with ${code}`)));
  }

  static async open(port: number): Promise<WebSocketClient> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/ws`, "db-op-v1");
    socket.binaryType = "arraybuffer";
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve);
      socket.addEventListener("error", reject);
    });
    return new WebSocketClient(socket);
  }

  ask(operation: Operation): Promise<Reply[]> {
    this.#number++;
    this.#messages = [];
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#send({ number: this.#number, client: null, operation });
    });
  }

  close(): void {
    this.#failed = null;
    this.#socket.close();
  }

  #send(request: Parameters<typeof encodeRequest>[0]): void {
    this.#socket.send(encodeRequest(request) as Uint8Array<ArrayBuffer>);
  }

  #receive(message: Uint8Array): void {
    this.#messages.push(message);
    // 45 asks for the data of a COPY; 43 and 44 end an answer.
    if (message[0] === 0x45) {
      this.#send({
        number: this.#number,
        client: null,
        operation: { kind: "copy_fail", message: "no data" },
      });
    } else if (message[0] === 0x43 || message[0] === 0x44) {
      const answered = this.#answered;
      this.#answered = null;
      answered?.(decodeReplies(this.#messages));
    }
  }
}

/**
 * A refusal as HTTP has it, or unmasked frames that hold replies, at the end perhaps a close with a documented code.
 */
function judge(received: Uint8Array, isCut: boolean): Verdict {
  if (received.length === 0) return { problem: null, outcomes: ["no answer"] };
  let upgrade = readResponse(received, 0);
  // Refused requests may come before the one that is accepted.
  while (typeof upgrade !== "string" && upgrade.status !== 101 && upgrade.end < received.length) {
    upgrade = readResponse(received, upgrade.end);
  }
  if (typeof upgrade === "string") return { problem: upgrade, outcomes: [] };
  if (upgrade.status !== 101) return judgeHttp(received, isCut);
  const outcomes: string[] = [];
  const messages: Uint8Array[] = [];
  const view = new DataView(received.buffer, received.byteOffset, received.length);
  for (let at = upgrade.end; at < received.length;) {
    if (at + 2 > received.length) return { problem: "half a frame", outcomes };
    const first = received[at] ?? 0;
    let size = received[at + 1] ?? 0, head = 2;
    if (size === 126) {
      size = view.getUint16(at + 2);
      head = 4;
    } else if (size === 127) {
      size = Number(view.getBigUint64(at + 2));
      head = 10;
    }
    if (size >= 0x80 && head === 2) return { problem: "a masked frame", outcomes };
    const body = received.subarray(at + head, at + head + size);
    if (body.length < size) return { problem: "half a frame", outcomes };
    at += head + size;
    if (first === BINARY) messages.push(body);
    else if (first === CLOSE) {
      const code = size === 0 ? 1005 : view.getUint16(body.byteOffset - received.byteOffset);
      if (!CLOSES.includes(code) && !isApplicationClose(code)) {
        return { problem: `closed with ${code}`, outcomes };
      }
      outcomes.push(String(code));
    } else if (first !== 0x8a) return { problem: `a frame that begins with ${first}`, outcomes };
  }
  try {
    return verdictOn([...outcomes, ...outcomesOf(decodeReplies(messages))]);
  } catch (error) {
    return { problem: `a reply is not well-formed: ${error}`, outcomes };
  }
}
