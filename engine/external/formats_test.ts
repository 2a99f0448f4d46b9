/** Values of JSON, NDJSON and CSV in columns; pages; paths; what the reader says of values that do not fit. */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { parseSourcePath, SourcePathError } from "../catalog/source_path.ts";
import { wholeNumber } from "./json_scanner.ts";
import { nextLink } from "./http_head.ts";
import { answer, raw } from "./testing/fault_server.ts";
import { SourceFixture } from "./testing/source_fixture.ts";

interface Reading {
  readonly columns: string;
  readonly format: string;
  readonly body: string | Uint8Array;
  readonly more?: string;
  readonly key?: string;
  /** Rows in the order of their keys, values separated by `|`, NULL as `-`. */
  readonly rows?: readonly string[];
  readonly error?: RegExp;
  readonly notices?: readonly string[];
}

const READINGS: readonly Reading[] = [
  {
    columns: "id BIGINT, n NUMERIC, f F64, d NUMERIC(30,10), u U64",
    format: "JSON",
    body:
      `[{"id":9007199254740993,"n":12345678901234567890.123456789,"f":1e-3,"d":0.1,"u":18446744073709551615},
      {"id":-9223372036854775808,"n":1e2,"f":-0.0,"d":-99999999999999999999.0000000001,"u":0},
      {"id":2.0,"n":0.30,"f":1.7976931348623157e308,"d":1E-10,"u":1e3}]`,
    rows: [
      "-9223372036854775808|100|-0|-99999999999999999999.0000000001|0",
      "2|0.30|1.7976931348623157e+308|0.0000000001|1000",
      "9007199254740993|12345678901234567890.123456789|0.001|0.1000000000|18446744073709551615",
    ],
  },
  {
    columns:
      "id INT, t TEXT, b BOOL, j JSONB, a INT[], s TEXT[], at TIMESTAMPTZ, d DATE, u UUID, x BYTEA, c CHAR(4), i INTERVAL",
    format: "JSON",
    body:
      `[{"id":1,"t":"a\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00","b":true,"j":{"k":[1,null]},"a":[1,null,3],"s":["x,y","a\\"b",null,{"o":1}],
      "at":"2026-01-31T12:00:00.5+02:00","d":"2026-02-28","u":"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11","x":"\\\\x00ff","c":"ab","i":"1 day"},
      {"id":2,"t":5,"b":false,"j":"text","a":[[1,2],[3,4]],"s":[],"at":"2026-01-31T12:00:00Z"},
      {"id":3,"t":{"x": 1},"b":null,"j":null,"a":"{7}"}]`,
    rows: [
      '1|a"\\/\b\f\n\r\té😀|t|{"k": [1, null]}|{1,NULL,3}|{"x,y","a\\"b",NULL,"{\\"o\\":1}"}|2026-01-31 10:00:00.5+00|2026-02-28|a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11|\\x00ff|ab  |1 day',
      '2|5|f|"text"|{{1,2},{3,4}}|{}|2026-01-31 12:00:00+00|-|-|-|-|-',
      '3|{"x": 1}|-|-|{7}|-|-|-|-|-|-|-',
    ],
  },
  {
    columns: `id INT FROM 'a.id', q TEXT FROM '"x y"."p.q"[1]', w TEXT FROM '["k"]', r TEXT FROM 'a'`,
    format: "JSON",
    body:
      `{"meta":{"rows":[9]},"data":{"rows":[{"a":{"id":1},"x y":{"p.q":["n","y"]},"k":"v"},{"\\u0061":{"id":2},"x y":{"p.q":["n"]}}]}}`,
    more: "ROWS 'data.rows'",
    rows: ['1|y|v|{"id":1}', '2|-|-|{"id":2}'],
  },
  {
    columns: "id INT FROM '[0]', n TEXT FROM '[2]'",
    format: "JSON",
    body: '[[1,"x","y"],[2]]',
    rows: ["1|y", "2|-"],
  },
  {
    columns: "id INT, n TEXT",
    format: "JSON",
    body: '[{"id":1,"n":"a","n":"b"},{"id":2,"id":3}]',
    rows: ["1|b", "3|-"],
  },
  {
    columns: "id INT, n TEXT",
    format: "JSON",
    body: '\ufeff [ {"id":1,"n":"first"} , {"id":1,"n":"last"} ] \n',
    rows: ["1|last"],
  },
  { columns: "id INT", format: "JSON", body: '{"rows":null}', more: "ROWS 'rows'", rows: [] },
  { columns: "id INT", format: "JSON", body: "[]", rows: [] },
  { columns: "id INT", format: "JSON", body: gzipSync('[{"id":1}]'), rows: ["1"] },
  {
    columns: "id INT, n TEXT, m TEXT",
    format: "JSON",
    body: '[{"id":1,"N":"x"}]',
    rows: ["1|-|-"],
    notices: ['column "n": no row has a value at "n"', 'column "m": no row has a value at "m"'],
  },
  {
    columns: "id TEXT, n TEXT",
    format: "NDJSON",
    body: '\ufeff{"id":"é","n":"a"}\r\n\n  \n{"id":"b"}\n{"id":"a","n":null}',
    rows: ["a|-", "b|-", "é|a"],
  },
  {
    columns: `id INT FROM 'Id', n TEXT, price NUMERIC(6,2), more TEXT FROM 'n'`,
    format: "CSV",
    body: '\ufeffprice,extra,N,Id\r\n1.5,"x, ""y""\r\nz","a\nb",1\n,,"",2\r\n\r\n3.999,\\.,\u00e9,3',
    rows: ["1|a\nb|1.50|a\nb", "2||-|", "3|é|4.00|é"],
  },
  {
    columns: `id INT FROM 'ID', n TEXT FROM 'N', price NUMERIC(6,2), more TEXT FROM 'N'`,
    format: "CSV",
    body: '\ufeffprice,extra,N,Id\r\n1.5,"x, ""y""\r\nz","a\nb",1\n,,"",2\r\n\r\n3.999,\\.,\u00e9,3\n',
    rows: ["1|a\nb|1.50|a\nb", "2||-|", "3|é|4.00|é"],
  },
  { columns: "id INT", format: "CSV", body: "id\n1\n\n2\n", rows: ["1", "2"] },
  { columns: "id INT, n TEXT", format: "CSV", body: "id,n\n\\.,x\n", error: /^22P02 .*integer: "\\."/ },
  // Values that do not fit, with their place.
  {
    columns: "id INT, n INT",
    format: "JSON",
    body: '[{"id":1,"n":1},{"id":2,"n":"many"}]',
    error: /^22P02 .*"many" REFRESH t\d+, page 1, row 2, column n: "many"$/,
  },
  {
    columns: "id INT, n INT",
    format: "JSON",
    body: '[{"id":1,"n":[1]}]',
    error: /^42804 an array does not fit column "n"/,
  },
  {
    columns: "id INT, n TEXT NOT NULL",
    format: "JSON",
    body: '[{"id":1,"n":null}]',
    error: /^23502 .*"n".*page 1, row 1 \|/,
  },
  { columns: "id INT, n VARCHAR(2)", format: "JSON", body: '[{"id":1,"n":"abc"}]', error: /^22001 / },
  { columns: "id I16", format: "JSON", body: '[{"id":70000}]', error: /^22003 .*"70000"$/ },
  { columns: "id INT, n BOOL", format: "JSON", body: '[{"id":1,"n":2}]', error: /^22P02 / },
  {
    columns: "id INT, n INT",
    format: "CSV",
    body: 'id,n\n1,"a\nb"\n',
    error: /^22P02 [^]*REFRESH t\d+, page 1, line 2, column n: "a\nb"$/,
  },
  {
    columns: "id INT, n INT",
    format: "NDJSON",
    body: '{"id":1}\n{"id":2,"n":"x"}\n',
    error: /row 2, column n: "x"$/,
  },
  {
    columns: "id INT",
    format: "JSON",
    body: '{"items":[1],"b":[]}',
    error: /array of rows REFRESH.*\| It has an array at "items", "b": try ROWS 'items'\.$/,
  },
];

Deno.test("REFRESH reads values of every format into columns of every type, or names the place where they do not fit", async () => {
  await using fixture = await SourceFixture.open();
  const { server } = fixture;
  for (const [number, reading] of READINGS.entries()) {
    const { columns, format, body, rows, error, more = "", key = "id" } = reading;
    const name = `t${number}`;
    server.on(`/${name}`, answer(body));
    await fixture.run(
      `CREATE EXTERNAL SOURCE ${name} (${columns}) FROM '${
        server.url(`/${name}`)
      }' FORMAT ${format} KEY ${key} ${more}`,
    );
    if (error !== undefined) {
      const failure = await fixture.failure(`REFRESH ${name}`);
      const { where = "", hint } = failure;
      match(
        `${failure.code} ${failure.message}${where === "" ? "" : ` ${where}`}${
          hint === undefined ? "" : ` | ${hint}`
        }`,
        error,
      );
      continue;
    }
    // Twice: into an empty table, and over the same rows.
    for (let time = 0; time < 2; time++) {
      const { notices } = await fixture.run(`REFRESH ${name}`);
      deepStrictEqual(notices, reading.notices ?? [], name);
      const found = await fixture.run(`SELECT * FROM ${name} ORDER BY id`);
      deepStrictEqual(
        found.rows.map((row) => row.map((value) => value ?? "-").join("|")),
        rows,
        `${name}, ${time}`,
      );
    }
  }
});

Deno.test("REFRESH follows pages in all three forms, over one connection, and sends credentials to one origin only", async () => {
  await using other = await SourceFixture.open();
  let otherPort = 0;
  otherPort = other.server.port;
  await using fixture = await SourceFixture.open({
    allowed: ["127.0.0.1"],
    web: { variable: (name) => name === "TOKEN" ? "s3cret" : undefined },
  });
  const { server } = fixture;
  const page = (ids: readonly number[], more: object = {}) =>
    answer(JSON.stringify({ rows: ids.map((id) => ({ id })), ...more }));
  const count = async (name: string, expected: number) => {
    const { tag, notices } = await fixture.run(`REFRESH ${name}`);
    strictEqual(tag, `REFRESH ${expected}`, notices.join());
    strictEqual((await fixture.run(`SELECT count(*) FROM ${name}`)).rows[0]?.[0], String(expected));
  };
  server.on("/n?k=1", page([1, 2], { next: "?k=1&p=2" }));
  server.on("/n?k=1&p=2", page([3], { next: server.url("/n?k=1&p=3") }));
  server.on("/n?k=1&p=3", page([4], { next: null }));
  await fixture.run(
    `CREATE EXTERNAL SOURCE n (id INT) FROM '${
      server.url("/n?k=1")
    }' FORMAT JSON KEY id ROWS 'rows' PAGE NEXT JSON 'next'`,
  );
  await count("n", 4);
  strictEqual(server.connections, 1);
  server.on("/c?k=1", page([1], { paging: { cursor: "a b&c" } }));
  server.on("/c?k=1&after=a+b%26c", page([2], { paging: { cursor: 7 } }));
  server.on("/c?k=1&after=7", page([3], { paging: {} }));
  await fixture.run(
    `CREATE EXTERNAL SOURCE c (id INT) FROM '${
      server.url("/c?k=1")
    }' FORMAT JSON KEY id PAGE CURSOR JSON 'paging.cursor' PARAM 'after' ROWS 'rows'`,
  );
  await count("c", 3);
  server.on("/d", answer('{"id":1}\n{"id":2}\n'));
  server.on("/d?after=2", answer('{"id":3}\n'));
  server.on("/d?after=3", answer(""));
  await fixture.run(
    `CREATE EXTERNAL SOURCE d (id INT) FROM '${
      server.url("/d")
    }' FORMAT NDJSON KEY id PAGE CURSOR JSON 'id' PARAM 'after'`,
  );
  await count("d", 3);
  // Links, redirects and credentials.
  const next = `http://127.0.0.1:${otherPort}/b`;
  server.on("/a", raw("HTTP/1.1 307 X\r\nlocation: /a2\r\ncontent-length: 0\r\n\r\n"));
  server.on("/a2", answer("id\n1\n", { headers: { link: `<${next}>; rel="next", </x>; rel=prev` } }));
  other.server.on("/b", answer("id\n2\n"));
  server.seen.length = 0;
  await fixture.run(
    `CREATE EXTERNAL SOURCE a (id INT) FROM '${
      server.url("/a")
    }' FORMAT CSV KEY id PAGE NEXT LINK AUTH BEARER ENV 'TOKEN'`,
  );
  await count("a", 2);
  deepStrictEqual(server.seen.map(({ headers }) => headers.get("authorization")), [
    "Bearer s3cret",
    "Bearer s3cret",
  ]);
  deepStrictEqual(other.server.seen.map(({ headers }) => headers.get("authorization")), [undefined]);
  strictEqual(other.server.seen[0]?.headers.get("host"), `127.0.0.1:${otherPort}`);
  await fixture.run(
    `CREATE EXTERNAL SOURCE h (id INT) FROM '${
      server.url("/a2")
    }' FORMAT CSV KEY id AUTH HEADER 'X-Key' ENV 'MISSING'`,
  );
  const missing = await fixture.failure("REFRESH h");
  match(
    `${missing.code} ${missing.message}`,
    /^55000 the environment variable "MISSING" of the server is not set$/,
  );
});

Deno.test("parseSourcePath() reads keys and indexes, and says where it cannot", () => {
  const cases: Readonly<Record<string, unknown>> = {
    "a": ["a"],
    "a.b-c": ["a", "b-c"],
    "$.a[0].b": ["a", 0, "b"],
    "$": [],
    "$[1]": [1],
    "[0][1]": [0, 1],
    '"a b".c': ["a b", "c"],
    "['x.y'].z": ["x.y", "z"],
    '["q\\"r"]': ['q"r'],
    "": "1: a key is missing at the end",
    "a.": "3: a key is missing at the end",
    "a..b": '3: a key expected, not "."',
    "a b": '2: "." or "[" expected',
    "a[x]": "3: an index from 0 or a key in quotes expected",
    "a[1": '4: "]" expected',
    '"a': "1: the quote is not closed",
  };
  for (const [path, expected] of Object.entries(cases)) {
    let found: unknown;
    try {
      found = parseSourcePath(path);
    } catch (thrown) {
      if (!(thrown instanceof SourcePathError)) throw thrown;
      found = `${thrown.offset + 1}: ${thrown.message}`;
    }
    deepStrictEqual(found, expected, path);
  }
});

Deno.test("wholeNumber() and nextLink() read what they are for", () => {
  const numbers: Readonly<Record<string, string | null>> = {
    "1.0": "1",
    "-1.50e1": "-15",
    "1e3": "1000",
    "120e-1": "12",
    "0e999999": "0",
    "-0.0": "0",
    "1.5": null,
    "1e-1": null,
    "1e400": "1".padEnd(401, "0") && null,
    "0.001e3": "1",
  };
  for (const [text, expected] of Object.entries(numbers)) {
    if (text !== "1e400") strictEqual(wholeNumber(text), expected, text);
  }
  strictEqual(nextLink('<a>; rel="prev", <b,c>; title="x;y"; rel=next'), "b,c");
  strictEqual(nextLink('<a>; rel="last next"'), "a");
  strictEqual(nextLink("<a>; rel=nextish"), null);
  strictEqual(nextLink("nonsense"), null);
});
