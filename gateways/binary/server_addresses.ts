/**
 * The addresses of servers that a client was given: which it tries next, and which of them is the primary's.
 *
 * Members know each other by addresses of their own, which need not be those of clients (networks with translation). So
 * a client goes to no address but its own, and finds out which member is behind each: a welcome says it.
 */
import type { ToldPrimary } from "./handshake.ts";
import { type Address, formatAddress, parseAddress } from "./address.ts";

/** An address that a client was given. */
export interface ServerAddress extends Address {
  /** The name that a certificate may be for when the address is written as a number; null: the address. */
  readonly name: string | null;
}

/** See the head of the file. */
export class ServerAddresses {
  readonly #all: readonly ServerAddress[];
  /** By address: the member that was met there. */
  readonly #members: (number | null)[];
  #current = 0;

  constructor(texts: readonly string[]) {
    this.#all = texts.map((text) => ({
      ...parseAddress(text, 7878),
      // The address of this machine is written as a number, its certificate may be for the name.
      name: /^\s*localhost(:|\s*$)/i.test(text) ? "localhost" : null,
    }));
    this.#members = this.#all.map(() => null);
  }

  get count(): number {
    return this.#all.length;
  }

  /** The address in use, or to be tried next. */
  get current(): ServerAddress {
    return this.at(this.#current);
  }

  at(index: number): ServerAddress {
    const address = this.#all[index];
    if (address === undefined) throw new RangeError(`there is no address ${index}`);
    return address;
  }

  /** The current one is of no use now. */
  next(): void {
    this.#current = (this.#current + 1) % this.#all.length;
  }

  /** Another one is in use from now on. */
  use(index: number): void {
    this.#current = index;
  }

  /** A member was met at an address. */
  met(index: number, member: number): void {
    this.#members[index] = member;
  }

  /** What was said at the current address. */
  metHere({ member }: ToldPrimary): void {
    this.met(this.#current, member);
  }

  /**
   * The address that may be the primary's: where it was met; else, of those where nobody was met, the one that members
   * know it by, the one at its place of the list, any. null: it is here, or at none of them. `tried`: not those.
   */
  ofPrimary({ member, primary, address }: ToldPrimary, tried: ReadonlySet<number>): number | null {
    if (member === primary) return null;
    const open = [...this.#all.keys()].filter((index) => !tried.has(index) && index !== this.#current);
    const met = open.find((index) => this.#members[index] === primary);
    if (met !== undefined) return met;
    const unknown = open.filter((index) => this.#members[index] === null);
    return unknown.find((index) => formatAddress(this.at(index)) === address) ??
      unknown.find((index) => index === primary) ?? unknown[0] ?? null;
  }
}
