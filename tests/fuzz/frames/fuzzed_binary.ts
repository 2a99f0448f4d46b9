/** The binary protocol under damaged frames. */
import { connect } from "../../../gateways/binary/client.ts";
import { decodeServerHello, decodeWelcome, encodeClientHello } from "../../../gateways/binary/handshake.ts";
import { startBinaryServer } from "../../../gateways/binary/server.ts";
import { framedMessages } from "../../../gateways/shared/operation/operation_connection.ts";
import { DatabaseError } from "../../../mod.ts";
import { type FuzzedServer, openFuzzedEngine, type Verdict, verdictOn } from "./fuzzed_server.ts";
import type { Frame } from "./mutation.ts";
import { decodeReplies, ENCODED_REQUESTS, outcomesOf } from "./operations.ts";

/** A message behind its length. */
function framed(body: Uint8Array): Frame {
  return {
    body,
    wrap: (bytes) => {
      const whole = new Uint8Array(4 + bytes.length);
      new DataView(whole.buffer).setUint32(0, bytes.length, true);
      whole.set(bytes, 4);
      return whole;
    },
  };
}

const hello = framed(
  encodeClientHello({ version: 1, nonce: new Uint8Array(32), name: "fuzz", readFrom: "primary" }),
);
const CONVERSATIONS = ENCODED_REQUESTS.map((requests) => [hello, ...requests.map(framed)]);

/** Starts one. */
export async function openFuzzedBinary(): Promise<FuzzedServer> {
  const engine = await openFuzzedEngine();
  const internalErrors: unknown[] = [];
  const server = await startBinaryServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: null,
    version: "0.0.0",
    onInternalError: (error) => internalErrors.push(error),
  });
  const { port } = server.address;
  const steady = await connect({ address: `127.0.0.1:${port}` });
  const runner = await connect({ address: `127.0.0.1:${port}` });
  const codeOf = async (sql: string): Promise<string | null> => {
    try {
      await runner.execute(sql);
      return null;
    } catch (error) {
      if (error instanceof DatabaseError) return error.code;
      throw error;
    }
  };
  return {
    port,
    engine,
    internalErrors,
    conversations: CONVERSATIONS,
    goodbye: null,
    judge,
    ping: async () => {
      const [row] = await steady.query("SELECT 6 * 7 AS answer");
      if (row?.answer !== 42) throw new Error(`SELECT 6 * 7 was answered with ${JSON.stringify(row)}`);
    },
    run: async (sql) => {
      const code = await codeOf(sql);
      await codeOf("ROLLBACK");
      return code;
    },
    [Symbol.asyncDispose]: async () => {
      await steady.close();
      await runner.close();
      await server.close(0);
      await engine.close();
    },
  };
}

/** A hello and a welcome, or an error in the place of one of them; then replies. */
function judge(received: Uint8Array): Verdict {
  try {
    const messages = [...framedMessages(received)];
    if (messages.reduce((sum, { length }) => sum + 4 + length, 0) !== received.length) {
      return { problem: "the answer ends within a frame", outcomes: [] };
    }
    const isError = (message: Uint8Array | undefined): boolean => message?.[0] === 0x44;
    let at = 0;
    for (const decode of [decodeServerHello, decodeWelcome]) {
      const message = messages[at];
      if (message === undefined || isError(message)) break;
      decode(message);
      at++;
    }
    return verdictOn(outcomesOf(decodeReplies(messages.slice(at))));
  } catch (error) {
    return { problem: `the answer is not well-formed: ${error}`, outcomes: [] };
  }
}
