/**
 * Messages between threads as bytes: plain values, arrays, maps, typed arrays and objects. The names of an object's
 * fields travel once; after that a number stands for them. Both ends keep the same list, for they see the same messages
 * in the same order.
 */
import { assertDefined } from "../base/assert.ts";
import { ByteReader, ByteWriter } from "../base/bytes.ts";

const TAG = {
  undefined: 0,
  null: 1,
  false: 2,
  true: 3,
  integer: 4,
  float: 5,
  bigint: 6,
  text: 7,
  typed: 8,
  array: 9,
  map: 10,
  newShape: 11,
  object: 12,
  loose: 13,
  texts: 14,
} as const;

/** Lists of names that are remembered; objects of more travel with their names. */
const MAX_SHAPES = 1024;
/** What stands in front of each message: how many bytes it has. */
export const FRAME_BYTES = 4;
/** An encoder keeps memory for the next message up to here. */
const KEPT_BYTES = 1 << 20;
/** Up to here an integer travels as one. */
const MAX_INTEGER = 2 ** 52;

/** So many texts travel as numbers of those that differ, if few do: a text costs ten times what a number does. */
const MANY_TEXTS = 64;
const FEW_TEXTS = 256;

const TYPED_ARRAYS = [Uint8Array, Float64Array, Uint32Array, Int32Array, Uint16Array, Float32Array] as const;

type PlainObject = Readonly<Record<string, unknown>>;

/** A list of names, as a path: the names up to here, and what may follow. */
class Names {
  readonly names: readonly string[];
  readonly #next = new Map<string, Names>();
  /** The one that came last: objects of one place in the code are alike. */
  #lastName: string | null = null;
  #last: Names | null = null;
  /** What writes the values of such an object; null: it has not traveled yet. */
  write: ((encoder: MessageEncoder, object: PlainObject) => void) | null = null;
  number = 0;

  constructor(names: readonly string[]) {
    this.names = names;
  }

  /** null: there is none yet, and none is to be made. */
  then(name: string, mayGrow: boolean): Names | null {
    if (name === this.#lastName) return this.#last;
    let next = this.#next.get(name);
    if (next === undefined) {
      if (!mayGrow) return null;
      this.#next.set(name, next = new Names([...this.names, name]));
    }
    this.#lastName = name;
    return this.#last = next;
  }
}

/** Writes messages. */
export class MessageEncoder {
  #writer = new ByteWriter(1 << 12);
  readonly #root = new Names([]);
  #shapes = 0;

  /** The bytes of a message, its length in front. They hold until the next one. */
  encode(message: unknown): Uint8Array {
    const writer = this.#writer;
    writer.reset();
    writer.writeU32(0);
    this.value(message);
    writer.patchU32(0, writer.length - FRAME_BYTES);
    const bytes = writer.view();
    if (bytes.length > KEPT_BYTES) this.#writer = new ByteWriter(1 << 12);
    return bytes;
  }

  /** Writes one value. */
  value(value: unknown): void {
    const writer = this.#writer;
    switch (typeof value) {
      case "undefined":
        return writer.writeU8(TAG.undefined);
      case "boolean":
        return writer.writeU8(value ? TAG.true : TAG.false);
      case "number":
        if (Number.isInteger(value) && value < MAX_INTEGER && value > -MAX_INTEGER && !Object.is(value, -0)) {
          writer.writeU8(TAG.integer);
          return writer.writeSignedVarint(value);
        }
        writer.writeU8(TAG.float);
        return writer.writeF64(value);
      case "bigint":
        writer.writeU8(TAG.bigint);
        return writer.writeSignedVarint(value);
      case "string":
        writer.writeU8(TAG.text);
        return writer.writeText(value);
      case "object":
        if (value === null) writer.writeU8(TAG.null);
        else this.#object(value);
        return;
      default:
        throw new TypeError(`a ${typeof value} does not travel`);
    }
  }

  #object(value: object): void {
    const writer = this.#writer;
    if (Array.isArray(value)) {
      if (value.length >= MANY_TEXTS && this.#fewTexts(value)) return;
      writer.writeU8(TAG.array);
      writer.writeVarint(value.length);
      for (let index = 0; index < value.length; index++) this.value(value[index]);
    } else if (ArrayBuffer.isView(value)) this.#typed(value);
    else if (value instanceof Map) {
      writer.writeU8(TAG.map);
      writer.writeVarint(value.size);
      for (const [key, each] of value) {
        this.value(key);
        this.value(each);
      }
    } else this.#plain(value as PlainObject);
  }

  /** Writes texts of which few differ; false: it is something else. */
  #fewTexts(list: readonly unknown[]): boolean {
    const codes = new Uint8Array(list.length);
    const known = new Map<string, number>();
    const most = Math.min(FEW_TEXTS, list.length >> 2);
    for (let index = 0; index < list.length; index++) {
      const text = list[index];
      if (typeof text !== "string") return false;
      let code = known.get(text);
      if (code === undefined) {
        if (known.size === most) return false;
        known.set(text, code = known.size);
      }
      codes[index] = code;
    }
    const writer = this.#writer;
    writer.writeU8(TAG.texts);
    writer.writeVarint(known.size);
    for (const text of known.keys()) writer.writeText(text);
    writer.writeSizedBytes(codes);
    return true;
  }

  #typed(value: ArrayBufferView): void {
    const writer = this.#writer;
    const kind = TYPED_ARRAYS.findIndex((each) => value instanceof each);
    if (kind < 0) throw new TypeError(`a ${value.constructor.name} does not travel`);
    writer.writeU8(TAG.typed);
    writer.writeU8(kind);
    writer.writeSizedBytes(
      value instanceof Uint8Array ? value : new Uint8Array(value.buffer, value.byteOffset, value.byteLength),
    );
  }

  #plain(object: PlainObject): void {
    const writer = this.#writer;
    const mayGrow = this.#shapes < MAX_SHAPES;
    let names: Names | null = this.#root;
    for (const name in object) {
      names = names.then(name, mayGrow);
      if (names === null) break;
    }
    if (names !== null && names.write !== null) {
      writer.writeU8(TAG.object);
      writer.writeVarint(names.number);
      return names.write(this, object);
    }
    const kept = mayGrow ? names : null;
    const entries = Object.entries(object);
    writer.writeU8(kept !== null ? TAG.newShape : TAG.loose);
    writer.writeVarint(entries.length);
    for (const [name] of entries) writer.writeText(name);
    if (kept !== null) {
      // Before its values, as at the other end: there may be others in them.
      kept.number = this.#shapes++;
      kept.write = writerOf(kept.names);
    }
    for (const [, value] of entries) this.value(value);
  }
}

/** Reads messages of one encoder, all of them, in order. */
export class MessageDecoder {
  readonly #shapes: ((decoder: MessageDecoder) => PlainObject)[] = [];
  #reader = new ByteReader(new Uint8Array(0));

  /** The message whose bytes these are, without its length. What it answers holds no part of them. */
  decode(bytes: Uint8Array): unknown {
    this.#reader = new ByteReader(bytes);
    const message = this.value();
    this.#reader.expectEnd();
    return message;
  }

  /** Reads one value. */
  value(): unknown {
    const reader = this.#reader;
    const tag = reader.readU8();
    switch (tag) {
      case TAG.undefined:
        return undefined;
      case TAG.null:
        return null;
      case TAG.false:
        return false;
      case TAG.true:
        return true;
      case TAG.integer:
        return reader.readSignedVarint();
      case TAG.float:
        return reader.readF64();
      case TAG.bigint:
        return BigInt(reader.readSignedVarint());
      case TAG.text:
        return reader.readText();
      case TAG.typed: {
        const Typed = TYPED_ARRAYS[reader.readU8()] ?? Uint8Array;
        const own = reader.readSizedBytes().slice();
        return own instanceof Typed ? own : new Typed(own.buffer);
      }
      case TAG.array: {
        const count = reader.readVarint();
        const array: unknown[] = [];
        for (let index = 0; index < count; index++) array.push(this.value());
        return array;
      }
      case TAG.texts: {
        const texts = Array.from({ length: reader.readVarint() }, () => reader.readText());
        const codes = reader.readSizedBytes();
        const list: string[] = [];
        for (let index = 0; index < codes.length; index++) {
          list.push(assertDefined(texts[codes[index] as number], "a text"));
        }
        return list;
      }
      case TAG.map: {
        const map = new Map<unknown, unknown>();
        for (let left = reader.readVarint(); left > 0; left--) map.set(this.value(), this.value());
        return map;
      }
      case TAG.object:
        return assertDefined(this.#shapes[reader.readVarint()], "a known list of names")(this);
      case TAG.newShape: {
        const read = readerOf(this.#names());
        this.#shapes.push(read);
        return read(this);
      }
      case TAG.loose:
        return Object.fromEntries(this.#names().map((name) => [name, this.value()]));
      default:
        throw new TypeError(`a message has a value of kind ${tag}`);
    }
  }

  #names(): string[] {
    const reader = this.#reader;
    return Array.from({ length: reader.readVarint() }, () => reader.readText());
  }
}

/** Code for each list of names: an object of one form is written and read much quicker than by its names. */
function writerOf(names: readonly string[]): (encoder: MessageEncoder, object: PlainObject) => void {
  const lines = names.map((name) => `encoder.value(object[${JSON.stringify(name)}]);`);
  return new Function("encoder", "object", lines.join("\n")) as ReturnType<typeof writerOf>;
}

function readerOf(names: readonly string[]): (decoder: MessageDecoder) => PlainObject {
  const fields = names.map((name) => `[${JSON.stringify(name)}]: decoder.value()`);
  return new Function("decoder", `return {${fields.join(", ")}};`) as ReturnType<typeof readerOf>;
}
