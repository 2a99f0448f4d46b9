/**
 * Which IP addresses external sources may not be read from: this machine, its links, and the services by which clouds
 * give machines their credentials. Whoever may write SQL could reach them otherwise with the server's rights. An
 * operator names exceptions with `--external-allow`.
 *
 * The check is on the address that is connected to, not on the name. IPv6 forms that carry an IPv4 address are
 * looked through. What cannot be read is refused.
 */

/** A part of the address space: its first bits, and what it is. */
interface Range {
  readonly bytes: readonly number[];
  readonly bits: number;
  readonly what: string;
}

const RANGES_4: readonly Range[] = [
  { bytes: [0, 0, 0, 0], bits: 8, what: "this machine" },
  { bytes: [127, 0, 0, 0], bits: 8, what: "this machine" },
  { bytes: [169, 254, 0, 0], bits: 16, what: "link-local" },
  { bytes: [100, 100, 100, 200], bits: 32, what: "a metadata service" },
  { bytes: [168, 63, 129, 16], bits: 32, what: "a metadata service" },
  { bytes: [192, 0, 0, 192], bits: 32, what: "a metadata service" },
  { bytes: [224, 0, 0, 0], bits: 4, what: "multicast" },
  { bytes: [255, 255, 255, 255], bits: 32, what: "broadcast" },
];

const RANGES_6: readonly Range[] = [
  { bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], bits: 127, what: "this machine" },
  { bytes: [0xfe, 0x80], bits: 10, what: "link-local" },
  { bytes: [0xfd, 0x00, 0x0e, 0xc2], bits: 32, what: "a metadata service" },
  { bytes: [0xff], bits: 8, what: "multicast" },
];

/** Prefixes of IPv6 behind which an IPv4 address stands, and where it begins. */
const CARRIERS: readonly { readonly bytes: readonly number[]; readonly at: number }[] = [
  // ::a.b.c.d and ::ffff:a.b.c.d
  { bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], at: 12 },
  { bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], at: 12 },
  { bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0], at: 12 },
  // Translation by NAT64, 6to4
  { bytes: [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], at: 12 },
  { bytes: [0x20, 0x02], at: 2 },
];

/** Why an address is not to be connected to; null: it may be. */
export function refusalOf(address: string): string | null {
  const bytes = parseAddress(address);
  if (bytes === null) return "not an IP address";
  const found = rangeOf(bytes, bytes.length === 4 ? RANGES_4 : RANGES_6);
  if (found !== null || bytes.length === 4) return found;
  for (const { bytes: prefix, at } of CARRIERS) {
    if (prefix.every((byte, index) => bytes[index] === byte)) {
      const inner = rangeOf(bytes.slice(at, at + 4), RANGES_4);
      if (inner !== null) return inner;
    }
  }
  return null;
}

function rangeOf(address: readonly number[], ranges: readonly Range[]): string | null {
  for (const { bytes, bits, what } of ranges) {
    let left = bits, isWithin = true;
    for (let index = 0; left > 0; index++, left -= 8) {
      const mask = left >= 8 ? 0xff : 0xff << (8 - left) & 0xff;
      if (((address[index] ?? 0) & mask) !== ((bytes[index] ?? 0) & mask)) isWithin = false;
    }
    if (isWithin) return what;
  }
  return null;
}

/** The bytes of an IP address in its usual form, 4 or 16; null: it is something else. */
export function parseAddress(text: string): number[] | null {
  const plain = text.replace(/%.*$/, "");
  if (!plain.includes(":")) return parseFour(plain);
  const halves = plain.split("::");
  if (halves.length > 2) return null;
  const [head, tail] = halves.map(groupsOf);
  if (head === null || head === undefined || tail === null) return null;
  if (tail === undefined) return head.length === 16 ? head : null;
  const gap = 16 - head.length - tail.length;
  return gap < 2 ? null : [...head, ...new Array<number>(gap).fill(0), ...tail];
}

function parseFour(text: string): number[] | null {
  if (!/^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/.test(text)) return null;
  const bytes = text.split(".").map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : null;
}

/** The bytes of groups between colons, of which the last may be an IPv4 address. */
function groupsOf(text: string): number[] | null {
  if (text === "") return [];
  const bytes: number[] = [];
  const groups = text.split(":");
  for (const [index, group] of groups.entries()) {
    if (group.includes(".")) {
      const four = parseFour(group);
      if (four === null || index < groups.length - 1) return null;
      bytes.push(...four);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(group)) return null;
      const value = parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
    }
  }
  return bytes;
}

/** Hosts that an operator lets external sources reach whatever their addresses are: `HOST` or `HOST:PORT`. */
export class AllowedHosts {
  readonly #entries: readonly { readonly host: string; readonly port: number | null }[];

  /** Raises RangeError, naming the entry, when one cannot be read. */
  constructor(entries: readonly string[]) {
    this.#entries = entries.map((entry) => {
      const match = /^(\[[0-9a-f:.]+\]|[^\s:[\]/]+)(?::(\d{1,5}))?$/i.exec(entry.trim());
      // As addresses have it: `0x7f.1` and `127.0.0.1` are one host.
      const url = match === null ? "" : `http://${match[1]}`;
      if (match === null || !URL.canParse(url) || Number(match[2] ?? 0) > 65_535) throw new RangeError(entry);
      return {
        host: new URL(url).hostname.toLowerCase(),
        port: match[2] === undefined ? null : Number(match[2]),
      };
    });
  }

  /** `host` as `URL.hostname` has it. */
  allows(host: string, port: number): boolean {
    const wanted = host.toLowerCase();
    return this.#entries.some((each) => each.host === wanted && (each.port === null || each.port === port));
  }
}
