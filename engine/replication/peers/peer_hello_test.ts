/** The bytes of a hello, and which hellos fit together. */
import { deepStrictEqual, match, ok, strictEqual, throws } from "node:assert/strict";
import { DatabaseError } from "../../base/errors.ts";
import {
  decodePeerHello,
  decodeProof,
  encodePeerHello,
  encodeProof,
  encodeRefusal,
  misfitBeforeProof,
  misfitOf,
  type PeerHello,
  proofOf,
  sameProof,
} from "./peer_hello.ts";

const HELLO: PeerHello = {
  version: 2,
  oldestVersion: 1,
  from: 0,
  to: 2,
  memberCount: 3,
  hasToken: true,
  clusterId: Uint8Array.from({ length: 16 }, (_, index) => 0xc0 + index),
  hasLog: true,
  configurationHash: 0x0123_4567_89ab_cdefn,
  nonce: Uint8Array.from({ length: 32 }, (_, index) => index),
  process: Uint8Array.from({ length: 16 }, (_, index) => 0xa0 + index),
};

Deno.test("docs/replication.md shows the bytes of a hello and its proof", async () => {
  const page = await Deno.readTextFile(new URL("../../../docs/replication.md", import.meta.url));
  const examples = [...page.matchAll(/```\n((?:[0-9a-f]{2} .*\n)+)```/g)].map((example) =>
    Uint8Array.fromHex(
      (example[1] ?? "").split("\n").map((line) => /^((?:[0-9a-f]{2}(?: |$))+)/.exec(line)?.[1] ?? "").join(
        "",
      )
        .replaceAll(" ", ""),
    )
  );
  const hello = encodePeerHello(HELLO);
  const proof = proofOf("dialer", "secret", {
    dialer: hello,
    acceptor: encodePeerHello({ ...HELLO, from: 2, to: 0 }),
  });
  ok(examples.some((bytes) => bytes.subarray(4).toHex() === hello.toHex()), hello.toHex());
  ok(examples.some((bytes) => bytes.subarray(4).toHex() === encodeProof(proof).toHex()), proof.toHex());
});

Deno.test("decodePeerHello() reads what encodePeerHello() writes, ignores what later versions add, refuses less", () => {
  const bytes = encodePeerHello(HELLO);
  deepStrictEqual(decodePeerHello(bytes), HELLO);
  const empty = { ...HELLO, clusterId: null, hasToken: false, hasLog: false };
  deepStrictEqual(decodePeerHello(encodePeerHello(empty)), empty);
  deepStrictEqual(decodePeerHello(new Uint8Array([...bytes, 1, 2, 3])), HELLO);
  for (let length = 0; length < bytes.length; length++) {
    throws(() => decodePeerHello(bytes.subarray(0, length)), DatabaseError);
  }
  throws(
    () => decodePeerHello(new Uint8Array([1, 0x44, 0x42, 0x4f, 0x50, ...bytes.subarray(5)])),
    DatabaseError,
  );
  deepStrictEqual(decodeProof(encodeProof(HELLO.nonce)), HELLO.nonce);
  strictEqual(decodeProof(encodeRefusal("index")), "index");
  throws(() => decodeProof(new Uint8Array([3, 9])), DatabaseError);
  throws(() => decodeProof(new Uint8Array(0)), DatabaseError);
});

Deno.test("proofOf() depends on side, token and every byte of both hellos", () => {
  const hellos = { dialer: encodePeerHello(HELLO), acceptor: encodePeerHello({ ...HELLO, from: 2, to: 0 }) };
  const proof = proofOf("dialer", "secret", hellos);
  ok(sameProof(proof, proofOf("dialer", "secret", hellos)));
  ok(!sameProof(proof, proofOf("acceptor", "secret", hellos)));
  ok(!sameProof(proof, proofOf("dialer", "Secret", hellos)));
  ok(!sameProof(proof, proof.subarray(1)) && !sameProof(proof.subarray(1), proof));
  for (const side of ["dialer", "acceptor"] as const) {
    for (let at = 0; at < hellos[side].length; at++) {
      const changed = hellos[side].slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      ok(!sameProof(proof, proofOf("dialer", "secret", { ...hellos, [side]: changed })), `${side} ${at}`);
    }
  }
});

Deno.test("misfitOf() has a line for each member, for everything that differs", () => {
  const own: PeerHello = { ...HELLO, from: 0, to: 1 };
  const other: PeerHello = { ...HELLO, from: 1, to: 0 };
  const both = (change: Partial<PeerHello>): [string | null, string | null] => {
    const changed = { ...other, ...change };
    return [
      misfitBeforeProof(own, changed, "b:1") ?? misfitOf(own, changed, { place: "b:1", expected: 1 }),
      misfitBeforeProof(changed, own, "a:1") ?? misfitOf(changed, own, { place: "a:1", expected: own.from }),
    ];
  };
  deepStrictEqual(both({}), [null, null]);
  deepStrictEqual(both({ version: 3 }), [null, null]);
  deepStrictEqual(both({ version: 1 }), [null, null]);
  deepStrictEqual(both({ clusterId: null, hasLog: false }), [null, null]);
  const cases: [Partial<PeerHello>, RegExp, RegExp][] = [
    [
      { version: 4, oldestVersion: 3 },
      /member 1 at b:1 speaks version 4 .*upgrade this member/,
      /upgrade that one/,
    ],
    [
      // Its cluster has made its newest version the active one.
      { version: 3, oldestVersion: 3 },
      /speaks version 3 of the cluster's protocol, this one version 2: upgrade this member first/,
      /speaks version 2 of the cluster's protocol, this one version 3: upgrade that one first/,
    ],
    [{ hasToken: false }, /has no token, this one has one/, /has a token, this one has none/],
    [
      { memberCount: 5 },
      /member 1 at b:1 counts 5 members, this one 3/,
      /member 0 at a:1 counts 3 members, this one 5/,
    ],
    [
      { from: 2 },
      /member at b:1 says that it is member 2, not 1: check its --replica/,
      /takes this one for member 1, but it is member 2/,
    ],
    [{ from: 0 }, /says that it is member 0, as this one does/, /says that it is member 0, as this one does/],
    [{ to: 2 }, /takes this one for member 2, but it is member 0/, /says that it is member 0, not 2/],
    [
      { clusterId: new Uint8Array(16) },
      /belongs to cluster 0{32}, this one to c0c1/,
      /belongs to cluster c0c1.*, this one to 0{32}/,
    ],
    [
      { configurationHash: 2n },
      /member 1 at b:1 has another --checkpoint-log/,
      /member 0 at a:1 has another/,
    ],
  ];
  for (const [change, first, second] of cases) {
    const [here, there] = change.to === undefined
      ? both(change)
      : [both(change)[0], misfitOf({ ...other, ...change }, own, { place: "a:1", expected: change.to })];
    match(String(here), first);
    match(String(there), second);
  }
});
