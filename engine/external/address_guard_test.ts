/** Addresses that external sources may not be read from, in every spelling. */
import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { AllowedHosts, parseAddress, refusalOf } from "./address_guard.ts";

Deno.test("refusalOf() knows this machine, its links and metadata services in every form of an address", () => {
  const cases: Readonly<Record<string, string | null>> = {
    "127.0.0.1": "this machine",
    "127.255.255.254": "this machine",
    "0.0.0.0": "this machine",
    "0.1.2.3": "this machine",
    "::1": "this machine",
    "::": "this machine",
    "0:0:0:0:0:0:0:1": "this machine",
    "::ffff:127.0.0.1": "this machine",
    "::ffff:7f00:1": "this machine",
    "::127.0.0.1": "this machine",
    "::ffff:0:7f00:1": "this machine",
    "64:ff9b::7f00:1": "this machine",
    "64:ff9b::169.254.169.254": "link-local",
    "2002:7f00:1::": "this machine",
    "2002:a9fe:a9fe::1": "link-local",
    "169.254.169.254": "link-local",
    "169.254.0.1": "link-local",
    "fe80::1": "link-local",
    "fe80::1%eth0": "link-local",
    "febf::1": "link-local",
    "fd00:ec2::254": "a metadata service",
    "100.100.100.200": "a metadata service",
    "168.63.129.16": "a metadata service",
    "192.0.0.192": "a metadata service",
    "224.0.0.1": "multicast",
    "ff02::1": "multicast",
    "255.255.255.255": "multicast, broadcast",
    "8.8.8.8": null,
    "10.0.0.1": null,
    "192.168.1.1": null,
    "128.0.0.1": null,
    "169.253.255.255": null,
    "fec0::1": null,
    "fd00::1": null,
    "2001:4860:4860::8888": null,
    "::ffff:8.8.8.8": null,
    "2002:808:808::1": null,
    // Nothing that a resolver answers.
    "": "not an IP address",
    "localhost": "not an IP address",
    "127.1": "not an IP address",
    "0177.0.0.1": "not an IP address",
    "1.2.3.256": "not an IP address",
    "1::2::3": "not an IP address",
    "1:2:3:4:5:6:7": "not an IP address",
    "1:2:3:4:5:6:7:8:9": "not an IP address",
    "::12345": "not an IP address",
    "::1.2.3.4:5": "not an IP address",
  };
  for (const [address, expected] of Object.entries(cases)) {
    const found = refusalOf(address);
    if (expected?.includes(",")) strictEqual(found !== null, true, address);
    else strictEqual(found, expected, address);
  }
  deepStrictEqual(parseAddress("1:2::3:4.5.6.7"), [0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 4, 5, 6, 7]);
});

Deno.test("AllowedHosts takes names, addresses and ports, and nothing else", () => {
  const allowed = new AllowedHosts(["localhost:8080", "[::1]", "0x7f.1:1", "Example.ORG"]);
  const cases: readonly [host: string, port: number, expected: boolean][] = [
    ["localhost", 8080, true],
    ["LOCALHOST", 8080, true],
    ["localhost", 80, false],
    ["localhost.", 8080, false],
    ["[::1]", 1, true],
    ["127.0.0.1", 1, true],
    ["127.0.0.1", 8080, false],
    ["example.org", 443, true],
    ["www.example.org", 443, false],
  ];
  for (const [host, port, expected] of cases) {
    strictEqual(allowed.allows(host, port), expected, `${host}:${port}`);
  }
  for (const wrong of ["", "a b", "http://x", "x:99999", "x:y", "x/y", "::1"]) {
    throws(() => new AllowedHosts([wrong]), RangeError, wrong);
  }
});
