/** The network between the members of a cluster: a proxy for each pair, in each direction in which one dials. */
import type { ClusterOptions } from "./cluster_processes.ts";
import { FaultProxy } from "./fault_proxy.ts";

/** See the head of the file. */
export class FaultNetwork implements Disposable {
  readonly #proxies: { readonly dialer: number; readonly dialed: number; readonly proxy: FaultProxy }[] = [];

  /** For {@link ClusterOptions}: members dial each other through this network. */
  readonly peersOf: NonNullable<ClusterOptions["peersOf"]> = (index, addresses) =>
    addresses.map((address, other) => {
      if (other === index) return address;
      const proxy = new FaultProxy(() => Number(address.split(":")[1]));
      this.#proxies.push({ dialer: index, dialed: other, proxy });
      return proxy.address;
    });

  /** What members send to this one, or what it sends to them, comes no more. */
  cut(member: number, what: "received" | "sent"): void {
    for (const { dialer, dialed, proxy } of this.#proxies) {
      if (dialer === member) proxy.cut(what === "sent" ? "there" : "back");
      if (dialed === member) proxy.cut(what === "sent" ? "back" : "there");
    }
  }

  /** Everything from and to a member comes later. */
  delay(member: number, milliseconds: number): void {
    for (const proxy of this.#of(member)) proxy.delay(milliseconds);
  }

  /** Each connection of a member brings only so many bytes in a second. */
  throttle(member: number, bytesPerSecond: number): void {
    for (const proxy of this.#of(member)) proxy.throttle(bytesPerSecond);
  }

  /** Ends all connections of a member. */
  break(member: number): void {
    for (const proxy of this.#of(member)) proxy.break();
  }

  heal(): void {
    for (const { proxy } of this.#proxies) proxy.heal();
  }

  #of(member: number): FaultProxy[] {
    return this.#proxies.filter(({ dialer, dialed }) => dialer === member || dialed === member)
      .map(({ proxy }) => proxy);
  }

  [Symbol.dispose](): void {
    for (const { proxy } of this.#proxies) proxy[Symbol.dispose]();
  }
}
