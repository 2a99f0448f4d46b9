/**
 * The digest of a history: 64 bits that chain the checksum and the op of each entry's payload.
 *
 * Two multiplicative lanes: cheap, and different histories differ with probability 1 - 2^-64. It finds accidents, not
 * attackers. It is a function of the payloads alone: a single node's log has the same digests as that of a group.
 */
import { versionOfSettings } from "../catalog/cluster_version.ts";
import { decodeCanonicalJson } from "./canonical_json.ts";

const EMPTY_LOW = 0x811c9dc5;
const EMPTY_HIGH = 0x01000193;

/** The digest of the history without entries. */
export const EMPTY_HISTORY: bigint = (BigInt(EMPTY_HIGH) << 32n) | BigInt(EMPTY_LOW);

/** The digest up to some op, which moves with each entry. */
export class HistoryDigest {
  #low = EMPTY_LOW | 0;
  #high = EMPTY_HIGH | 0;

  /** The digest after the history that has this one. */
  constructor(value: bigint = EMPTY_HISTORY) {
    if (value !== EMPTY_HISTORY) this.value = value;
  }

  /** Takes in the entry of an op, whose payload has this CRC-32C. */
  mix(checksum: number, op: number): void {
    let low = Math.imul(this.#low ^ checksum, 0x85ebca6b) ^ (op | 0);
    low = Math.imul(low ^ (low >>> 15), 0xc2b2ae35);
    const high = Math.imul(this.#high ^ low ^ (checksum >>> 7), 0x27d4eb2f);
    this.#low = low;
    this.#high = high ^ (high >>> 13);
  }

  /** The upper half, unsigned. */
  get high(): number {
    return this.#high >>> 0;
  }

  /** The lower half, unsigned. */
  get low(): number {
    return this.#low >>> 0;
  }

  /** Takes another value, by its halves. */
  set(high: number, low: number): void {
    this.#high = high | 0;
    this.#low = low | 0;
  }

  get value(): bigint {
    return (BigInt(this.high) << 32n) | BigInt(this.low);
  }

  set value(value: bigint) {
    this.set(Number(value >> 32n), Number(value & 0xffff_ffffn));
  }

  /** 16 hexadecimal digits. */
  get hex(): string {
    return this.high.toString(16).padStart(8, "0") + this.low.toString(16).padStart(8, "0");
  }
}

/** The digest with these 16 hexadecimal digits. */
export function digestOfHex(hex: string): bigint {
  return BigInt(`0x${hex}`);
}

/** What a log must know of an encoded state of the state machine: its digest up to there, and the cluster's version. */
export function factsOfState(
  state: Uint8Array,
): { readonly digest: bigint; readonly clusterVersion: number } {
  const { digest, catalog } = decodeCanonicalJson(new TextDecoder().decode(state)) as unknown as EncodedState;
  return { digest: digestOfHex(digest), clusterVersion: versionOfSettings(catalog.settings) };
}

/** Of an encoded state. */
interface EncodedState {
  readonly digest: string;
  readonly catalog: { readonly settings: Readonly<Record<string, string>> };
}

/** The digest of the log up to the op of an encoded state. */
export function digestOfState(state: Uint8Array): bigint {
  return factsOfState(state).digest;
}

/** The digest that follows another by one entry. */
export function digestAfter(before: bigint, checksum: number, op: number): bigint {
  const digest = new HistoryDigest(before);
  digest.mix(checksum, op);
  return digest.value;
}
