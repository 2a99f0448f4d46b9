/** Distinguished Encoding Rules (X.690), as far as certificates are written in them. */
import { encodeUtf8 } from "../../engine/base/bytes.ts";

/** An element: its tag, its length, its content. */
export function element(tag: number, ...content: readonly Uint8Array[]): Uint8Array {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  const head = [tag];
  if (length < 0x80) head.push(length);
  else if (length < 0x100) head.push(0x81, length);
  else head.push(0x82, length >> 8, length & 0xff);
  const bytes = new Uint8Array(head.length + length);
  bytes.set(head);
  let at = head.length;
  for (const part of content) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** A sequence of elements. */
export function sequence(...elements: readonly Uint8Array[]): Uint8Array {
  return element(0x30, ...elements);
}

/** A set of one element. */
export function setOf(member: Uint8Array): Uint8Array {
  return element(0x31, member);
}

/** An integer that is not negative, from its bytes. */
export function unsignedInteger(bytes: Uint8Array): Uint8Array {
  let begin = 0;
  while (begin < bytes.length - 1 && bytes[begin] === 0) begin++;
  const significant = bytes.subarray(begin);
  const needsSign = ((significant[0] ?? 0) & 0x80) !== 0;
  return element(0x02, ...(needsSign ? [Uint8Array.of(0)] : []), significant);
}

/** An object identifier, such as `1.2.840.10045.2.1`. */
export function objectIdentifier(text: string): Uint8Array {
  const [first = 0, second = 0, ...more] = text.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of more) {
    const digits = [arc & 0x7f];
    for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) {
      digits.unshift((rest & 0x7f) | 0x80);
    }
    bytes.push(...digits);
  }
  return element(0x06, Uint8Array.from(bytes));
}

/** A text. */
export function utf8Text(text: string): Uint8Array {
  return element(0x0c, encodeUtf8(text));
}

/** The value true. */
export function yes(): Uint8Array {
  return element(0x01, Uint8Array.of(0xff));
}

/** Bytes. */
export function octets(content: Uint8Array): Uint8Array {
  return element(0x04, content);
}

/** Bits; the last `unused` of them are none. */
export function bits(content: Uint8Array, unused = 0): Uint8Array {
  return element(0x03, Uint8Array.of(unused), content);
}

/** A time, in the form that certificates ask for: two digits of the year up to 2049. */
export function time(date: Date): Uint8Array {
  const digits = date.toISOString().replace(/\.\d+/, "").replace(/[-:T]/g, "");
  return date.getUTCFullYear() < 2050
    ? element(0x17, encodeUtf8(digits.slice(2)))
    : element(0x18, encodeUtf8(digits));
}

/** An element with a tag of its context around another one. */
export function tagged(number: number, content: Uint8Array): Uint8Array {
  return element(0xa0 | number, content);
}

/** A value under a tag of its context in the place of its own. */
export function taggedValue(number: number, content: Uint8Array): Uint8Array {
  return element(0x80 | number, content);
}

/** PEM text of DER bytes. */
export function pem(label: string, bytes: Uint8Array): string {
  const lines = bytes.toBase64().match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
