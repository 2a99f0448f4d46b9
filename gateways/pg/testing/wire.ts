/** Builds client messages and takes server messages apart, for tests of this folder and of the real server. */

/** A message of the server. */
export interface ServerMessage {
  readonly type: string;
  readonly body: Uint8Array;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A field of a client message: `[2, n]` and `[4, n]` are integers of that many bytes. */
export type Field = string | Uint8Array | readonly [2 | 4, number];

/** The bytes of fields: texts with their zero byte, bytes as they are. */
export function fields(...parts: readonly Field[]): Uint8Array {
  return concat(...parts.flatMap((part) => {
    if (typeof part === "string") return [encoder.encode(part), Uint8Array.of(0)];
    if (part instanceof Uint8Array) return [part];
    const [size, value] = part;
    const whole = Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
    return [whole.subarray(4 - size)];
  }));
}

/** A client message. */
export function message(type: string, ...parts: readonly Field[]): Uint8Array {
  const body = fields(...parts);
  return concat(Uint8Array.of(type.charCodeAt(0)), fields([4, body.length + 4]), body);
}

/** A startup packet. */
export function startup(parameters: Readonly<Record<string, string>>, version = 3 << 16): Uint8Array {
  const body = fields([4, version], ...Object.entries(parameters).flat(), Uint8Array.of(0));
  return concat(fields([4, body.length + 4]), body);
}

/** The client messages of one extended query with text parameters and results. */
export function extended(text: string, parameters: readonly (string | null)[] = []): Uint8Array {
  return concat(
    message("P", "", text, [2, 0]),
    bind("", "", parameters),
    message("D", Uint8Array.of(0x50), ""),
    message("E", "", [4, 0]),
    message("S"),
  );
}

/** Bind with text parameters; `resultFormats` as in the message. */
export function bind(
  portal: string,
  statement: string,
  parameters: readonly (string | null)[],
  resultFormats: readonly number[] = [],
): Uint8Array {
  return message(
    "B",
    portal,
    statement,
    [2, 0],
    [2, parameters.length],
    ...parameters.flatMap((value): Field[] => {
      if (value === null) return [[4, -1]];
      const bytes = encoder.encode(value);
      return [[4, bytes.length], bytes];
    }),
    [2, resultFormats.length],
    ...resultFormats.map((format): Field => [2, format]),
  );
}

/** Bytes one after the other. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** The server messages in bytes; throws when they do not end with one. */
export function messagesOf(bytes: Uint8Array): ServerMessage[] {
  const messages: ServerMessage[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length;) {
    const length = view.getInt32(at + 1);
    if (length < 4 || at + 1 + length > bytes.length) throw new Error("half a message");
    messages.push({
      type: String.fromCharCode(bytes[at] as number),
      body: bytes.slice(at + 5, at + 1 + length),
    });
    at += 1 + length;
  }
  return messages;
}

/** The types of messages as one word. */
export function typesOf(messages: readonly ServerMessage[]): string {
  return messages.map(({ type }) => type).join("");
}

/** The fields of an ErrorResponse or NoticeResponse by their letters. */
export function errorFields({ body }: ServerMessage): Record<string, string> {
  const found: Record<string, string> = {};
  for (const field of decoder.decode(body).split("\0")) {
    if (field !== "") found[field.charAt(0)] = field.slice(1);
  }
  return found;
}

/** The values of a DataRow as texts. */
export function rowOf({ body }: ServerMessage): (string | null)[] {
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  const row: (string | null)[] = [];
  let at = 2;
  for (let i = view.getInt16(0); i > 0; i--) {
    const length = view.getInt32(at);
    at += 4;
    row.push(length < 0 ? null : decoder.decode(body.subarray(at, at + length)));
    if (length > 0) at += length;
  }
  return row;
}

/** A body as text. */
export function textOf({ body }: ServerMessage): string {
  return decoder.decode(body).replace(/\0$/, "");
}
