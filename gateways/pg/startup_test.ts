/** Tests of the first packet: versions, options, settings, refusals. */
import { deepStrictEqual as same, strictEqual as equal, throws } from "node:assert/strict";
import { MessageReader } from "./message_reader.ts";
import { commandLineOptions, type FirstPacket, readFirstPacket } from "./startup.ts";

function packet(code: number, body: string): FirstPacket {
  const text = new TextEncoder().encode(body);
  const bytes = new Uint8Array(8 + text.length);
  const view = new DataView(bytes.buffer);
  view.setInt32(0, bytes.length);
  view.setInt32(4, code);
  bytes.set(text, 8);
  const reader = new MessageReader();
  reader.feed(bytes);
  equal(reader.next(), true);
  return readFirstPacket(reader);
}

const V3 = 3 << 16;

Deno.test("readFirstPacket() reads user, database, settings and options", () => {
  same(
    packet(
      V3,
      "user\0ann\0database\0shop\0application_name\0psql\0client_encoding\0'utf-8'\0" +
        "options\0-c statement_timeout=5s --search-path=a\\ b\0timezone\0Europe/Berlin\0\0",
    ),
    {
      kind: "startup",
      user: "ann",
      database: "shop",
      settings: {
        statement_timeout: "5s",
        search_path: "a b",
        application_name: "psql",
        client_encoding: "UTF8",
        timezone: "Europe/Berlin",
      },
      readFrom: "primary",
      unrecognizedOptions: null,
    },
  );
});

Deno.test("readFirstPacket() reads where the session reads, which is no setting", () => {
  const read = (...options: string[]): unknown => {
    const first = packet(V3, ["user", "ann", ...options, "", ""].join("\0"));
    return first.kind === "startup" ? [first.readFrom, first.settings] : null;
  };
  same(read("read_from", "Follower"), ["follower", {}]);
  same(read("options", "-c read_from=follower"), ["follower", {}]);
  same(read("options", "-c read_from=follower", "READ_FROM", "primary"), ["primary", {}]);
  throws(() => read("read_from", "anyone"), /invalid value for parameter "read_from": "anyone"/);
});

Deno.test("readFirstPacket() names the database after the user and reports unknown protocol options", () => {
  const read = packet(V3 + 2, "user\0ann\0_pq_.command\0on\0replication\0false\0\0");
  equal(read.kind, "startup");
  if (read.kind !== "startup") return;
  equal(read.database, "ann");
  same(read.unrecognizedOptions, ["_pq_.command"]);
});

Deno.test("readFirstPacket() knows requests for encryption and cancellation", () => {
  same(packet(80877103, ""), { kind: "encryption", method: "ssl" });
  same(packet(80877104, ""), { kind: "encryption", method: "gss" });
  same(packet(80877102, "\0\0\0\x05\x01\x02\x03\x04"), {
    kind: "cancel",
    processId: 5,
    secretKey: 0x01020304,
  });
});

Deno.test("readFirstPacket() refuses what it cannot serve", () => {
  const refuses = (code: number, body: string, expected: { code: string; message: RegExp }): void =>
    throws(() => packet(code, body), expected);
  refuses(V3, "database\0x\0\0", { code: "28000", message: /no PostgreSQL user name/ });
  refuses(2 << 16, "", { code: "0A000", message: /unsupported frontend protocol 2\.0/ });
  refuses(V3, "user\0a\0nonsense\0x\0\0", { code: "42704", message: /unrecognized configuration parameter/ });
  refuses(V3, "user\0a\0client_encoding\0LATIN1\0\0", { code: "22023", message: /client_encoding/ });
  refuses(V3, "user\0a\0replication\0database\0\0", { code: "0A000", message: /replication/ });
  refuses(V3, "user\0a\0\0rest", { code: "08P01", message: /invalid startup packet layout/ });
  refuses(V3, "user\0a", { code: "08P01", message: /invalid string/ });
  refuses(V3, "user\0a\0options\0-x\0\0", { code: "42601", message: /invalid command-line argument/ });
});

Deno.test("commandLineOptions() reads all three spellings and backslashes", () => {
  same(commandLineOptions("-c a=b -cd=e --f-g=h\\ i  -c j=k=l"), [["a", "b"], ["d", "e"], ["f_g", "h i"], [
    "j",
    "k=l",
  ]]);
});
