/**
 * A connection to etcd that puts keys by gRPC, with as little work in the client as its protocol allows.
 *
 * Of HTTP/2 it has what one request after the other needs: header blocks of literals, the end of a stream, and answers
 * to SETTINGS and PING. Windows are opened wide at the start, and what is sent is far smaller than the server's.
 */
const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const FRAME_HEAD_BYTES = 9;
const TYPES = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 } as const;
const FLAGS = { endStream: 1, ack: 1, endHeaders: 4 } as const;
const WINDOW_BYTES = 0x7fff_0000;

const encoder = new TextEncoder();

/** The headers of each request, as literals that enter no table. */
const HEADERS = headerBlock([
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/etcdserverpb.KV/Put"],
  [":authority", "127.0.0.1"],
  ["content-type", "application/grpc"],
  ["te", "trailers"],
]);

/** See the head of the file. */
export class EtcdConnection {
  readonly #connection: Deno.TcpConn;
  #stream = 1;
  #answered: PromiseWithResolvers<void> | null = null;
  #isClosed = false;

  private constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
  }

  static async open(port: number): Promise<EtcdConnection> {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    connection.setNoDelay(true);
    const opened = new EtcdConnection(connection);
    const window = new Uint8Array(4);
    new DataView(window.buffer).setUint32(0, WINDOW_BYTES);
    await opened.#write([
      encoder.encode(PREFACE),
      frame(TYPES.settings, 0, 0, new Uint8Array()),
      frame(TYPES.windowUpdate, 0, 0, window),
    ]);
    void opened.#read();
    return opened;
  }

  /** Puts a key; resolves at the end of the answer. */
  async put(key: string, value: Uint8Array): Promise<void> {
    const answered = this.#answered = Promise.withResolvers<void>();
    const request = putRequest(key, value);
    const stream = this.#stream;
    this.#stream += 2;
    await this.#write([
      frame(TYPES.headers, FLAGS.endHeaders, stream, HEADERS),
      frame(TYPES.data, FLAGS.endStream, stream, request),
    ]);
    await answered.promise;
  }

  close(): void {
    this.#isClosed = true;
    this.#connection.close();
  }

  async #write(parts: readonly Uint8Array[]): Promise<void> {
    const bytes = concatenated(parts);
    for (let at = 0; at < bytes.length;) at += await this.#connection.write(bytes.subarray(at));
  }

  async #read(): Promise<void> {
    const buffer = new Uint8Array(64 * 1024);
    const view = new DataView(buffer.buffer);
    let held = 0;
    try {
      for (;;) {
        const count = await this.#connection.read(buffer.subarray(held));
        if (count === null) throw new Error("etcd has closed the connection");
        held += count;
        let at = 0;
        while (held - at >= FRAME_HEAD_BYTES) {
          const head = view.getUint32(at);
          const end = at + FRAME_HEAD_BYTES + (head >>> 8);
          if (end > held) break;
          const payload = buffer.slice(at + FRAME_HEAD_BYTES, end);
          this.#receive(head & 0xff, view.getUint8(at + 4), payload);
          at = end;
        }
        buffer.copyWithin(0, at, held);
        held -= at;
      }
    } catch (error) {
      if (!this.#isClosed) this.#answered?.reject(error);
    }
  }

  #receive(type: number, flags: number, payload: Uint8Array): void {
    const isAck = (flags & FLAGS.ack) !== 0;
    if (type === TYPES.reset || type === TYPES.goAway) throw new Error("etcd has ended a request");
    if (type === TYPES.settings && !isAck) {
      void this.#write([frame(TYPES.settings, FLAGS.ack, 0, new Uint8Array())]);
    } else if (type === TYPES.ping && !isAck) void this.#write([frame(TYPES.ping, FLAGS.ack, 0, payload)]);
    else if (type === TYPES.headers && (flags & FLAGS.endStream) !== 0) this.#answered?.resolve();
  }
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(FRAME_HEAD_BYTES + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, payload.length << 8 | type);
  bytes[4] = flags;
  view.setUint32(5, stream);
  bytes.set(payload, FRAME_HEAD_BYTES);
  return bytes;
}

/** Literals without indexing, with names and values shorter than 127 bytes and as they are. */
function headerBlock(headers: readonly (readonly [string, string])[]): Uint8Array {
  return concatenated(headers.map(([name, value]) => {
    const [nameBytes, valueBytes] = [encoder.encode(name), encoder.encode(value)];
    return Uint8Array.of(0, nameBytes.length, ...nameBytes, valueBytes.length, ...valueBytes);
  }));
}

/** A gRPC message with a PutRequest: field 1 the key, field 2 the value, each shorter than 128 bytes. */
function putRequest(key: string, value: Uint8Array): Uint8Array {
  const keyBytes = encoder.encode(key);
  const length = 4 + keyBytes.length + value.length;
  const bytes = new Uint8Array(5 + length);
  new DataView(bytes.buffer).setUint32(1, length);
  bytes.set([0x0a, keyBytes.length], 5);
  bytes.set(keyBytes, 7);
  bytes.set([0x12, value.length], 7 + keyBytes.length);
  bytes.set(value, 9 + keyBytes.length);
  return bytes;
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
