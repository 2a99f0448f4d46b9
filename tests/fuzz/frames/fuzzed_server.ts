/**
 * What a campaign of damaged frames needs of a protocol: a running server with the real engine behind it, well-formed
 * conversations to damage, a judge of the answers, and a well-behaved client that is there all the time.
 */
import { connect } from "node:net";
import { memoryHost } from "../../../engine/host/memory_host.ts";
import { Engine } from "../../../engine/session/engine.ts";
import { RowBuffer } from "../../../engine/statements/row_buffer.ts";
import type { Frame } from "./mutation.ts";

/** The names of the protocols. */
export const PROTOCOLS = ["pg", "binary", "http", "websocket"] as const;
/** One of {@link PROTOCOLS}. */
export type ProtocolName = typeof PROTOCOLS[number];

/** What became of a conversation. */
export interface Verdict {
  /** What the server did that it must not do; null: nothing. */
  readonly problem: string | null;
  /** SQLSTATEs and other ends that were seen, for the tally. */
  readonly outcomes: readonly string[];
}

/**
 * What a campaign of damaged frames needs of a protocol: a running server with the real engine behind it, well-formed
 * conversations to damage, a judge of the answers, and a well-behaved client that is there all the time.
 */
export interface FuzzedServer extends AsyncDisposable {
  readonly port: number;
  readonly engine: Engine;
  /** Errors that are bugs of the database. */
  readonly internalErrors: unknown[];
  readonly conversations: readonly (readonly Frame[])[];
  /**
   * What is sent behind every conversation to make the server close. null: closing the client's direction does, and the
   * server still answers all that was asked.
   */
  readonly goodbye: Uint8Array | null;
  /** Judges all that the server has said on a connection; `isCut`: the client has left in the middle. */
  judge(received: Uint8Array, isCut: boolean): Verdict;
  /** The client that was there before asks for something and gets it; raises what is wrong. */
  ping(): Promise<void>;
  /** Runs a statement through the protocol's entry for statements; answers the SQLSTATE of its failure. */
  run(sql: string): Promise<string | null>;
}

/** An engine in memory with the table that the conversations speak of. */
export async function openFuzzedEngine(): Promise<Engine> {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const session = engine.openSession();
  await session.simple(
    "CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT, amount NUMERIC(10,2), made TIMESTAMP, data JSONB, list INT[]);" +
      "INSERT INTO t VALUES (1, 'one', 1.5, '2024-02-29', '{\"a\": [1, null]}', '{1,2}'), (2, NULL, NULL, NULL, NULL, NULL)",
    new RowBuffer(),
    () => {},
  );
  session.close();
  return engine;
}

/** How long a server may take to answer and close. */
const HANG_MILLISECONDS = 10_000;
/** A server that says nothing for so long waits for more of a message that the damage has made longer. */
const SILENCE_MILLISECONDS = 200;

/** What a connection has brought. */
export interface Received {
  readonly bytes: Uint8Array;
  /** The client has closed the connection while the server waited for more. */
  readonly isCut: boolean;
}

/**
 * Sends the pieces and reads to the end. Answers null when the server neither closes nor says anything for a long
 * time.
 */
export function converse(
  server: FuzzedServer,
  pieces: readonly Uint8Array[],
): Promise<Received | null> {
  const { goodbye } = server;
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    let isHanging = false, isCut = false;
    let silence: ReturnType<typeof setTimeout> | undefined;
    const listen = (): void => {
      clearTimeout(silence);
      silence = setTimeout(() => {
        isCut = true;
        socket.end();
      }, SILENCE_MILLISECONDS);
    };
    const socket = connect({ host: "127.0.0.1", port: server.port, noDelay: true }, () => {
      for (const piece of pieces) socket.write(piece);
      if (goodbye === null) socket.end();
      else {
        socket.write(goodbye);
        listen();
      }
    });
    const timer = setTimeout(() => {
      isHanging = true;
      socket.destroy();
    }, HANG_MILLISECONDS);
    socket.on("data", (data: Uint8Array) => {
      parts.push(new Uint8Array(data.buffer, data.byteOffset, data.length));
      if (goodbye !== null) listen();
    });
    socket.on("error", (error: Error & { readonly code?: string }) => {
      // The server may have closed before everything was said.
      if (!/^(ECONNRESET|EPIPE)$/.test(error.code ?? "")) reject(error);
    });
    socket.on("close", () => {
      clearTimeout(timer);
      clearTimeout(silence);
      resolve(isHanging ? null : { bytes: joined(parts), isCut });
    });
  });
}

/** Bytes one after the other. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** The verdict on codes alone. */
export function verdictOn(outcomes: readonly string[]): Verdict {
  const bug = outcomes.find((outcome) => /^(XX|58)/.test(outcome));
  return { problem: bug === undefined ? null : `the client was told ${bug}`, outcomes };
}
