/** Tests of {@link Connection}: each protocol flow, byte by byte, against a scripted session. */
import { deepStrictEqual as same, match, ok, strictEqual as equal } from "node:assert/strict";
import { SeededRandom } from "../../engine/base/random.ts";
import { Connection } from "./connection.ts";
import type { RelayPort } from "../shared/relay_port.ts";
import type { ConnectionContext } from "./connection_context.ts";
import { ScramVerifier } from "./scram.ts";
import { ScriptedEngine } from "./testing/scripted_engine.ts";
import {
  bind,
  concat,
  errorFields,
  extended,
  message,
  messagesOf,
  rowOf,
  type ServerMessage,
  startup,
  textOf,
  typesOf,
} from "./testing/wire.ts";

/** A connection without a socket. */
class Harness {
  readonly engine = new ScriptedEngine();
  readonly connection: Connection;
  readonly context: ConnectionContext & { isDraining: boolean; sessions: number; internal: unknown[] };

  constructor(
    options: { readonly token?: string; readonly maximum?: number; readonly relay?: RelayPort } = {},
  ) {
    const { engine } = this;
    const verifier = options.token === undefined
      ? null
      : new ScramVerifier(options.token, (count) => engine.randomBytes(count));
    const maximum = options.maximum ?? 10;
    this.context = {
      engine,
      verifier,
      offersTls: false,
      requiresTls: false,
      relay: options.relay ?? null,
      version: null,
      sessions: 0,
      internal: [],
      isDraining: false,
      admit() {
        if (this.sessions >= maximum) return false;
        this.sessions++;
        return true;
      },
      leave() {
        this.sessions--;
      },
      onInternalError(error) {
        this.internal.push(error);
      },
    };
    this.connection = new Connection(this.context, { wake: () => {} });
  }

  static ready(options: { readonly relay?: RelayPort } = {}): Harness {
    const harness = new Harness(options);
    harness.send(startup({ user: "ann" }));
    return harness;
  }

  /** Sends bytes and answers what comes back at once. */
  send(...bytes: readonly Uint8Array[]): ServerMessage[] {
    this.connection.receive(concat(...bytes));
    return this.output();
  }

  output(): ServerMessage[] {
    const parts: Uint8Array[] = [];
    for (;;) {
      const taken = this.connection.takeOutput();
      if (taken === null) return messagesOf(concat(...parts));
      parts.push(taken.slice());
      this.connection.sent(taken);
    }
  }

  /** Lets promises run, then answers what came. */
  async settle(): Promise<ServerMessage[]> {
    const messages: ServerMessage[] = [];
    for (let i = 0; i < 5; i++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      messages.push(...this.output());
    }
    return messages;
  }
}

const query = (text: string): Uint8Array => message("Q", text);

function last(messages: readonly ServerMessage[]): ServerMessage {
  const found = messages.at(-1);
  ok(found !== undefined, "there is an answer");
  return found;
}

function first(messages: readonly ServerMessage[], type: string): ServerMessage {
  const found = messages.find((each) => each.type === type);
  ok(found !== undefined, `an answer ${type} in ${typesOf(messages)}`);
  return found;
}

Deno.test("Connection answers a startup packet without a token", () => {
  const messages = new Harness().send(startup({ user: "ann", application_name: "test" }));
  match(typesOf(messages), /^RS+KZ$/);
  equal(textOf(last(messages)), "I");
  const statuses = messages.filter(({ type }) => type === "S").map((each) => textOf(each).split("\0"));
  const names = statuses.map(([name]) => name);
  for (
    const name of [
      "application_name",
      "client_encoding",
      "DateStyle",
      "default_transaction_read_only",
      "in_hot_standby",
      "integer_datetimes",
      "IntervalStyle",
      "is_superuser",
      "server_encoding",
      "server_version",
      "session_authorization",
      "standard_conforming_strings",
      "TimeZone",
    ]
  ) ok(names.includes(name), name);
  equal(new Map(statuses.map(([name, value]) => [name, value])).get("application_name"), "test");
  same([...first(messages, "K").body], [0, 0, 0, 1, 1, 2, 3, 4]);
});

Deno.test("Connection declines encryption and negotiates newer minor versions", () => {
  const harness = new Harness();
  harness.connection.receive(Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47));
  same([...(harness.connection.takeOutput() ?? [])], [0x4e]);
  harness.connection.receive(Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 48));
  same([...(harness.connection.takeOutput() ?? [])], [0x4e]);
  const messages = harness.send(startup({ user: "a", "_pq_.x": "1" }, (3 << 16) + 2));
  match(typesOf(messages), /^vRS+KZ$/);
  same([...(messages[0]?.body ?? [])], [0, 3, 0, 0, 0, 0, 0, 1, ...new TextEncoder().encode("_pq_.x"), 0]);
});

Deno.test("Connection refuses a wrong password, and whatever is not SASL", () => {
  const wrong = new Harness({ token: "secret" });
  equal(typesOf(wrong.send(startup({ user: "ann" }))), "R");
  const hello = new TextEncoder().encode("n,,n=,r=abc");
  const challenge = textOf(last(wrong.send(message("p", "SCRAM-SHA-256", [4, hello.length], hello))));
  const nonce = /r=([^,]*)/.exec(challenge)?.[1] ?? "";
  const proof = new Uint8Array(32).toBase64();
  const answer = wrong.send(message("p", new TextEncoder().encode(`c=biws,r=${nonce},p=${proof}`)));
  equal(typesOf(answer), "E");
  const error = errorFields(last(answer));
  equal(error["S"], "FATAL");
  equal(error["C"], "28P01");
  equal(error["M"], 'password authentication failed for user "ann"');
  equal(wrong.connection.hasEnded, true);
  equal(wrong.context.sessions, 0);
  const early = new Harness({ token: "secret" });
  early.send(startup({ user: "ann" }));
  equal(errorFields(last(early.send(query("rows 1"))))["C"], "08P01");
});

Deno.test("Connection refuses one session too many with 53300", () => {
  const harness = new Harness({ maximum: 0 });
  const messages = harness.send(startup({ user: "ann" }));
  equal(typesOf(messages), "E");
  same([errorFields(last(messages))["C"], errorFields(last(messages))["M"]], [
    "53300",
    "sorry, too many clients already",
  ]);
  equal(harness.connection.hasEnded, true);
});

Deno.test("Connection answers simple queries of one, several and no statements", () => {
  const harness = Harness.ready();
  const messages = harness.send(query("rows 3"));
  equal(typesOf(messages), "TDDDCZ");
  same(messages.filter(({ type }) => type === "D").map(rowOf), [["1", "row 1"], ["2", "row 2"], ["3", null]]);
  equal(textOf(first(messages, "C")), "SELECT 3");
  equal(typesOf(harness.send(query("rows 1; write 0; rows 0"))), "TDCCTCZ");
  equal(typesOf(harness.send(query(" ; "))), "IZ");
  equal(typesOf(harness.send(query("rows 1"), query("rows 1"))), "TDCZTDCZ");
});

Deno.test("Connection ends a failed simple query with an error and stays usable", () => {
  const harness = Harness.ready();
  const messages = harness.send(query("rows 1; fail row; rows 1"));
  equal(typesOf(messages), "TDCTDEZ");
  const error = errorFields(first(messages, "E"));
  same([error["S"], error["V"], error["C"], error["M"], error["H"]], [
    "ERROR",
    "ERROR",
    "22012",
    "division by zero",
    "Do not.",
  ]);
  equal(errorFields(first(harness.send(query("nonsense")), "E"))["P"], "1");
  equal(typesOf(harness.send(query("rows 1"))), "TDCZ");
});

Deno.test("Connection reports bugs as XX000 and tells its context", () => {
  const harness = Harness.ready();
  equal(errorFields(first(harness.send(query("bug")), "E"))["C"], "XX000");
  equal(harness.context.internal.length, 1);
});

Deno.test("Connection runs the extended protocol", () => {
  const harness = Harness.ready();
  const messages = harness.send(extended("rows $1", ["2"]));
  equal(typesOf(messages), "12TDDCZ");
  equal(harness.engine.journal[0], "execute rows $1");
  const named = harness.send(
    message("P", "s1", "rows $1", [2, 1], [4, 23]),
    message("D", Uint8Array.of(0x53), "s1"),
    bind("p1", "s1", ["1"], [1]),
    message("D", Uint8Array.of(0x50), "p1"),
    message("E", "p1", [4, 0]),
    message("C", Uint8Array.of(0x50), "p1"),
    message("C", Uint8Array.of(0x53), "s1"),
    message("H"),
    message("S"),
  );
  equal(typesOf(named), "1tT2TDC33Z");
  same([...first(named, "t").body], [0, 1, 0, 0, 0, 23]);
  same([...first(named, "D").body.subarray(0, 14)], [0, 2, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1]);
  const none = harness.send(extended("write 0"));
  equal(typesOf(none), "12nCZ");
});

Deno.test("Connection tells the session which statements of a pipeline are followed by others", () => {
  const harness = Harness.ready();
  const one = [message("P", "", "write 0", [2, 0]), bind("", "", []), message("E", "", [4, 0])];
  equal(typesOf(harness.send(...one, ...one, message("S"))), "12C12CZ");
  same(harness.engine.journal, ["execute write 0 in pipeline", "execute write 0", "sync"]);
});

Deno.test("Connection skips to Sync after an error", () => {
  const harness = Harness.ready();
  const messages = harness.send(
    message("P", "", "bad", [2, 0]),
    bind("", "", []),
    message("E", "", [4, 0]),
    message("S"),
    query("rows 1"),
  );
  equal(typesOf(messages), "EZTDCZ");
  same(harness.engine.journal, ["fail", "sync"]);
});

Deno.test("Connection reports misuse of statements and portals", () => {
  const check = (code: string, ...bytes: readonly Uint8Array[]): void => {
    const harness = Harness.ready();
    const messages = harness.send(...bytes, message("S"));
    match(typesOf(messages), /EZ$/);
    equal(errorFields(first(messages, "E"))["C"], code);
    equal(typesOf(harness.send(query("rows 1"))), "TDCZ");
  };
  const parse = message("P", "s", "rows $1", [2, 0]);
  check("42P05", parse, parse);
  check("26000", bind("", "nope", []));
  check("26000", bind("", "", []));
  check("34000", message("E", "nope", [4, 0]));
  check("08P01", parse, bind("", "s", []));
  check("08P01", parse, bind("", "s", ["1"], [0, 0, 0]));
  check("22023", parse, bind("", "s", ["1"], [2]));
  check("22P02", parse, bind("", "s", ["x"]));
  check("42P03", parse, bind("p", "s", ["1"]), bind("p", "s", ["1"]));
  check("42704", message("P", "", "rows 1", [2, 1], [4, 999_999]));
  check("08P01", message("D", Uint8Array.of(0x51), ""));
  check("08P01", message("P", "", "rows 1", [2, 0]), message("B", "", "", [2, 0]));
  check(
    "55000",
    message("P", "", "write 0", [2, 0]),
    bind("", "", []),
    ...[1, 2].map(() => message("E", "", [4, 0])),
  );
});

Deno.test("Connection suspends portals at their row limit", () => {
  const harness = Harness.ready();
  harness.send(query("begin"));
  const messages = harness.send(
    message("P", "", "rows 5", [2, 0]),
    bind("c", "", []),
    message("E", "c", [4, 2]),
    message("S"),
  );
  equal(typesOf(messages), "12DDsZ");
  equal(textOf(last(messages)), "T");
  equal(typesOf(harness.send(message("E", "c", [4, 2]), message("S"))), "DDsZ");
  equal(typesOf(harness.send(message("E", "c", [4, 2]), message("S"))), "DCZ");
  equal(typesOf(harness.send(message("E", "c", [4, 2]), message("S"))), "CZ");
  harness.send(query("commit"));
  equal(errorFields(first(harness.send(message("E", "c", [4, 2]), message("S")), "E"))["C"], "34000");
});

Deno.test("Connection takes back the rows of a statement that runs again", () => {
  const messages = Harness.ready().send(query("retract 2"));
  same(messages.filter(({ type }) => type === "D").map(rowOf), [["1", "row 1"], ["2", "row 2"]]);
});

Deno.test("Connection sends answers only when their ops are durable", () => {
  const harness = Harness.ready();
  equal(typesOf(harness.send(query("rows 1"), query("write 5"), query("write 9"))), "TDCZ");
  equal(harness.connection.awaitsDurability, true);
  equal(typesOf(harness.send(query("rows 1"))), "");
  harness.engine.becomeDurable(5);
  equal(typesOf(harness.output()), "CZ");
  harness.engine.becomeDurable(9);
  equal(typesOf(harness.output()), "CZTDCZ");
  equal(harness.connection.awaitsDurability, false);
});

Deno.test("Connection of a member keeps its session until its answers are sent, with half a client", () => {
  const primary: RelayPort = {
    self: { index: 0, address: "" },
    route: () => "here",
    open: () => Promise.reject(new Error("nothing is passed on")),
    take: () => () => {},
  };
  const harness = Harness.ready({ relay: primary });
  equal(typesOf(harness.send(query("write 5"))), "");
  harness.connection.finishInput();
  // Only a session learns that the member is the primary no more.
  equal(harness.connection.hasEnded, false);
  harness.engine.becomeDurable(5);
  equal(typesOf(harness.output()), "CZ");
  equal(harness.connection.hasEnded, true);
});

Deno.test("Connection waits for a statement, and processes what came meanwhile after it", async () => {
  const harness = Harness.ready();
  equal(typesOf(harness.send(query("wait"), query("rows 1"))), "");
  equal(harness.connection.isBusy, true);
  harness.engine.waits[0]?.resolve();
  equal(typesOf(await harness.settle()), "CZTDCZ");
});

Deno.test("Connection cancels by process and key, and only with the right key", async () => {
  const harness = Harness.ready();
  harness.send(query("wait"));
  const cancel = (key: number): Harness => {
    const other = new Harness();
    const connection = new Connection({ ...harness.context, engine: harness.engine }, { wake: () => {} });
    const bytes = new Uint8Array(16);
    const view = new DataView(bytes.buffer);
    [16, 80877102, 1, key].forEach((value, index) => view.setInt32(index * 4, value));
    connection.receive(bytes);
    equal(connection.takeOutput(), null);
    equal(connection.hasEnded, true);
    return other;
  };
  cancel(99);
  same(harness.engine.journal, []);
  cancel(0x01020304);
  same(harness.engine.journal, ["cancel"]);
  const messages = await harness.settle();
  equal(typesOf(messages), "EZ");
  equal(errorFields(first(messages, "E"))["C"], "57014");
});

Deno.test("Connection copies in and out", async () => {
  const harness = Harness.ready();
  const data = (text: string): Uint8Array => message("d", new TextEncoder().encode(text));
  const out = harness.send(query("copy out"));
  equal(typesOf(out), "HdcCZ");
  same([...first(out, "H").body], [0, 0, 2, 0, 0, 0, 0]);
  equal(typesOf(harness.send(query("copy in"))), "G");
  harness.send(data("1\ta\n"), message("H"), message("S"), data("slow\n"), data("2\tb\n"), message("c"));
  equal(typesOf(await harness.settle()), "CZ");
  same(harness.engine.journal, ['copied "1\\ta\\nslow\\n2\\tb\\n"']);
  equal(typesOf(harness.send(query("copy in"))), "G");
  harness.send(message("f", "changed my mind"));
  const failed = await harness.settle();
  equal(typesOf(failed), "EZ");
  same([errorFields(first(failed, "E"))["C"], errorFields(first(failed, "E"))["M"]], [
    "57014",
    "COPY from stdin failed: changed my mind",
  ]);
  // What follows an error in the middle is ignored.
  harness.send(query("copy in"));
  harness.send(data("bad"), data("more"), message("c"), query("rows 1"));
  const broken = await harness.settle();
  equal(typesOf(broken), "EZTDCZ");
  equal(errorFields(first(broken, "E"))["C"], "22P04");
});

Deno.test("Connection copies in with the extended protocol", async () => {
  const harness = Harness.ready();
  const start = [
    message("P", "", "copy in", [2, 0]),
    bind("", "", []),
    message("E", "", [4, 0]),
    message("S"),
  ];
  equal(typesOf(harness.send(...start)), "12G");
  harness.send(message("d", new TextEncoder().encode("x\n")), message("c"), message("S"));
  equal(typesOf(await harness.settle()), "CZ");
  equal(typesOf(harness.send(...start)), "12G");
  harness.send(message("d", new TextEncoder().encode("bad\n")));
  equal(typesOf(await harness.settle()), "E");
  equal(typesOf(harness.send(message("c"), message("S"), query("rows 1"))), "ZTDCZ");
});

Deno.test("Connection sends notices and changed settings before the end of the answer", () => {
  const harness = Harness.ready();
  equal(typesOf(harness.send(query("notice hello"))), "NNCZ");
  const changed = harness.send(query("set application_name demo"));
  equal(typesOf(changed), "SCZ");
  equal(textOf(first(changed, "S")), "application_name\0demo");
  harness.send(query("set client_min_messages warning"));
  equal(typesOf(harness.send(query("notice hello"))), "NCZ");
});

Deno.test("Connection stops producing when its output is not taken", async () => {
  const harness = Harness.ready();
  harness.connection.receive(concat(query("rows 200000"), query("rows 1")));
  equal(harness.connection.isBusy, true);
  let rows = 0;
  let largest = 0;
  let ended = 0;
  for (let i = 0; i < 10_000 && ended < 2; i++) {
    await Promise.resolve();
    const taken = harness.connection.takeOutput();
    if (taken === null) continue;
    largest = Math.max(largest, taken.length);
    for (const { type } of messagesOf(taken.slice())) {
      if (type === "D") rows++;
      if (type === "Z") ended++;
    }
    harness.connection.sent(taken);
  }
  equal(rows, 200_001);
  ok(largest < 1.2 * (1 << 20), `${largest} bytes at once`);
});

Deno.test("Connection ends with 08P01 when the protocol is violated", () => {
  for (const bytes of [Uint8Array.of(0x7e), Uint8Array.of(0x51, 0, 0, 0, 3), message("p", "x")]) {
    const harness = Harness.ready();
    const messages = harness.send(bytes);
    equal(typesOf(messages), "E");
    same([errorFields(last(messages))["S"], errorFields(last(messages))["C"]], ["FATAL", "08P01"]);
    equal(harness.connection.hasEnded, true);
    same(harness.engine.journal.at(-1), "close");
  }
  const harness = new Harness();
  equal(errorFields(last(harness.send(Uint8Array.of(0x47, 0x45, 0x54, 0x20, 0x2f))))["C"], "08P01");
});

Deno.test("Connection ends sessions when the server goes down, once they are idle", async () => {
  const idle = Harness.ready();
  idle.context.isDraining = true;
  idle.connection.drain();
  equal(errorFields(last(idle.output()))["C"], "57P01");
  const busy = Harness.ready();
  busy.send(query("wait"));
  busy.context.isDraining = true;
  busy.connection.drain();
  equal(busy.connection.hasEnded, false);
  busy.engine.waits[0]?.resolve();
  equal(typesOf(await busy.settle()), "CZE");
  equal(busy.connection.hasEnded, true);
});

Deno.test("Connection refuses function calls and says goodbye silently", () => {
  const harness = Harness.ready();
  const messages = harness.send(message("F", [4, 1], [2, 0], [2, 0], [2, 0]));
  equal(typesOf(messages), "EZ");
  equal(errorFields(first(messages, "E"))["C"], "0A000");
  equal(typesOf(harness.send(message("X"))), "");
  equal(harness.connection.hasEnded, true);
  equal(harness.context.sessions, 0);
});

Deno.test("Connection survives 10 000 mutated conversations", () => {
  const conversations = [
    concat(
      startup({ user: "ann", database: "x" }),
      query("rows 2"),
      extended("rows $1", ["1"]),
      message("X"),
    ),
    concat(
      startup({ user: "ann" }),
      message("P", "s", "rows $1 $2", [2, 2], [4, 23], [4, 25]),
      bind("p", "s", ["1", "two"], [0, 1]),
      message("E", "p", [4, 1]),
      message("C", Uint8Array.of(0x53), "s"),
      message("S"),
    ),
    concat(startup({ user: "a" }), query("copy in"), message("d", "1\ta\n"), message("c"), message("f", "x")),
    concat(Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47), startup({ user: "a", options: "-c timezone=UTC" })),
  ];
  const random = new SeededRandom(2024);
  for (let round = 0; round < 10_000; round++) {
    const bytes = (conversations[round % conversations.length] as Uint8Array).slice();
    for (let changes = random.between(1, 4); changes > 0; changes--) {
      bytes[random.between(0, bytes.length - 1)] = random.between(0, 255);
    }
    const harness = new Harness();
    const cut = random.between(0, bytes.length);
    harness.connection.receive(bytes.subarray(0, cut));
    harness.connection.receive(bytes.subarray(cut));
    harness.engine.becomeDurable(Number.MAX_SAFE_INTEGER);
    const output = harness.connection.takeOutput();
    if (output !== null && output[0] !== 0x4e) messagesOf(output);
    same(harness.context.internal, []);
    harness.connection.close();
    equal(harness.context.sessions, 0);
  }
});
