/**
 * Conversations with damage in them. A conversation is a list of frames; a case damages some of them, in their bodies
 * (the length in front then fits, so that the damage reaches the decoder) or as they are on the wire, loses, doubles
 * and moves others, and says in which pieces the bytes are sent. The same seed makes the same case from the same
 * conversations.
 */
import { SeededRandom } from "../../../engine/base/random.ts";

/** One message of a client. */
export interface Frame {
  /** What is behind the frame's head. */
  readonly body: Uint8Array;
  /** The frame as it is sent, with a head that fits the body. */
  wrap(body: Uint8Array): Uint8Array;
}

/** What is sent on one connection. */
export interface Case {
  readonly seed: number;
  /** The frames as they are sent. */
  readonly frames: readonly Uint8Array[];
  /** Frames that are not as a well-behaved client would send them. */
  readonly damaged: number;
  /** Decides where the stream of bytes is cut into pieces. */
  readonly cutSeed: number;
}

/** A frame that is its body. */
export function bareFrame(body: Uint8Array): Frame {
  return { body, wrap: (bytes) => bytes };
}

/** A conversation whose damage is decided by the seed. */
export function makeCase(conversations: readonly (readonly Frame[])[], seed: number): Case {
  const random = new SeededRandom(seed);
  const conversation = random.pick(conversations);
  const frames = conversation.map((frame) => frame.wrap(frame.body));
  let damaged = 0;
  for (let rounds = random.pick([1, 1, 1, 2, 3]); rounds > 0; rounds--) {
    const at = random.below(frames.length);
    const frame = conversation[Math.min(at, conversation.length - 1)];
    const other = random.pick(random.pick(conversations));
    switch (random.below(12)) {
      case 0:
        frames.splice(at, 0, frames[at] ?? new Uint8Array(0));
        break;
      case 1:
        if (frames.length > 1) frames.splice(at, 1);
        break;
      case 2:
        frames[at] = other.wrap(other.body);
        break;
      case 3:
      case 4:
      case 5:
        frames[at] = damage(frames[at] ?? new Uint8Array(0), random);
        break;
      default:
        if (frame !== undefined) frames[at] = frame.wrap(damage(frame.body, random));
    }
    damaged++;
  }
  return { seed, frames, damaged, cutSeed: random.u32() };
}

/** The bytes of a case, cut into the pieces in which they are sent. */
export function piecesOf(bytes: Uint8Array, cutSeed: number): Uint8Array[] {
  const random = new SeededRandom(cutSeed);
  const cuts = Array.from({ length: random.pick([0, 0, 1, 3]) }, () => random.between(0, bytes.length));
  const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

/** Values that programs stumble over, big-endian and little-endian. */
const EXTREMES = [
  [0, 0, 0, 0],
  [0xff, 0xff, 0xff, 0xff],
  [0x7f, 0xff, 0xff, 0xff],
  [0x80, 0, 0, 0],
  [0xff, 0xff, 0xff, 0x7f],
  [0, 0, 0, 0x80],
  [0, 0, 0, 3],
  [1, 0, 0, 0],
  [0xff, 0xff],
  [0x80, 0],
  [0x7f, 0xff],
  [0, 0],
  [0xff],
  [0x80],
  [0xf0, 0x9f, 0x98],
  [0xed, 0xa0, 0x80],
  [0x27],
  [0x24, 0x39],
];

/** A copy with one to three changes. */
function damage(original: Uint8Array, random: SeededRandom): Uint8Array {
  let bytes: number[] = [...original];
  for (let changes = random.pick([1, 1, 2, 3]); changes > 0; changes--) {
    const at = random.between(0, bytes.length);
    const length = Math.min(random.between(1, 8), bytes.length - at);
    switch (random.below(8)) {
      case 0:
        if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ 1 << random.below(8);
        break;
      case 1:
        if (at < bytes.length) bytes[at] = random.below(256);
        break;
      case 2:
        bytes.splice(at, Math.min(4, bytes.length - at), ...random.pick(EXTREMES));
        break;
      case 3:
        bytes.splice(at, 0, ...random.pick(EXTREMES));
        break;
      case 4:
        bytes.splice(at, length);
        break;
      case 5:
        bytes.splice(at, 0, ...bytes.slice(at, at + length));
        break;
      case 6:
        bytes = bytes.slice(0, at);
        break;
      default:
        if (at < bytes.length) bytes[at] = random.between(0x20, 0x7e);
    }
  }
  return Uint8Array.from(bytes);
}
