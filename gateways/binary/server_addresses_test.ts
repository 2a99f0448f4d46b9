/** Where a client looks for the primary among the addresses that it was given. */
import { strictEqual } from "node:assert/strict";
import { ServerAddresses } from "./server_addresses.ts";

const NONE: ReadonlySet<number> = new Set();
const told = (member: number, primary: number, address = "inside:7878") => ({ member, primary, address });

Deno.test("A client finds the primary by its address, by its place, or by asking", () => {
  const addresses = new ServerAddresses(["a:7878", "b", "localhost:7879"]);
  strictEqual(addresses.ofPrimary(told(0, 0), NONE), null, "it is there already");
  addresses.metHere(told(0, 2));
  strictEqual(addresses.ofPrimary(told(0, 2, "b:7878"), NONE), 1, "the address that members know");
  strictEqual(addresses.ofPrimary(told(0, 2), NONE), 2, "the place in the list");
  strictEqual(addresses.ofPrimary(told(0, 2), new Set([2])), 1, "any other");
  strictEqual(addresses.ofPrimary(told(0, 2), new Set([1, 2])), null);
  // The list has another order than the members: what was met counts, whatever addresses say.
  addresses.met(1, 2);
  strictEqual(addresses.ofPrimary(told(0, 2, "127.0.0.1:7879"), NONE), 1);
  addresses.met(2, 1);
  strictEqual(addresses.ofPrimary(told(0, 2), new Set([1])), null, "others are known to be somebody else");
  strictEqual(addresses.ofPrimary(told(0, 1), NONE), 2);
});

Deno.test("A client goes to no address that it was not given", () => {
  const alone = new ServerAddresses(["front:7878"]);
  alone.metHere(told(1, 0));
  strictEqual(alone.ofPrimary(told(1, 0, "evil:7878"), NONE), null);
  // One address with all members behind it.
  const balanced = new ServerAddresses(["front:7878", "front:7878"]);
  balanced.metHere(told(1, 0));
  balanced.met(1, 2);
  strictEqual(balanced.ofPrimary(told(1, 0), NONE), null);
});

Deno.test("Addresses are tried in turn", () => {
  const addresses = new ServerAddresses(["localhost", "[::1]:1"]);
  strictEqual(addresses.current.name, "localhost");
  strictEqual(addresses.current.hostname, "127.0.0.1");
  addresses.next();
  strictEqual(addresses.current.hostname, "::1");
  strictEqual(addresses.current.name, null);
  addresses.next();
  strictEqual(addresses.current.port, 7878);
  addresses.use(1);
  strictEqual(addresses.current.port, 1);
  strictEqual(addresses.count, 2);
});
