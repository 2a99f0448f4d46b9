/** What dbcli prints. */
import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import { StatementResult } from "../../gateways/binary/client_result.ts";
import type { StoredValue } from "../../engine/types/stored_value.ts";
import type { SqlType } from "../../engine/types/sql_type.ts";
import { DEFAULT_TEXT_OPTIONS } from "../../engine/types/text_io.ts";
import { readCommand, UsageError } from "./arguments.ts";
import { formatError } from "./error_format.ts";
import { copyText, parseCopyCommand } from "./file_loads.ts";
import { failureJson, resultJson } from "./json_format.ts";
import { displayWidth, formatResult, formatTable } from "./table_format.ts";

function result(options: {
  readonly kind: StatementResult["kind"];
  readonly tag: string;
  readonly columns?: readonly (readonly [string, SqlType])[];
  readonly rows?: readonly (readonly StoredValue[])[];
  readonly insertedId?: number;
  readonly rowCount?: number;
}): StatementResult {
  const { kind, tag, columns = [], rows = [] } = options;
  return new StatementResult({
    outcome: {
      kind,
      tag,
      rowCount: options.rowCount ?? rows.length,
      insertedId: options.insertedId ?? null,
      notices: [],
    },
    columns: columns.map(([name, type]) => ({ name, type })),
    rows,
    textOptions: DEFAULT_TEXT_OPTIONS,
  });
}

const INT = { kind: "i32" } as const;
const TEXT = { kind: "text" } as const;

Deno.test("formatTable() aligns columns and counts rows", () => {
  strictEqual(
    formatTable({
      names: ["id", "name"],
      alignRight: [true, false],
      rows: [["1", "a"], ["22", null], ["3", "two\nlines"]],
    }),
    [
      " id | name  ",
      "----+-------",
      "  1 | a",
      " 22 | NULL",
      "  3 | two  +",
      "    | lines",
      "(3 rows)",
      "",
    ].join("\n"),
  );
  strictEqual(formatTable({ names: ["a"], alignRight: [false], rows: [] }), " a \n---\n(0 rows)\n");
  strictEqual(
    formatTable({ names: ["é"], alignRight: [false], rows: [["日本"]] }),
    "  é   \n------\n 日本\n(1 row)\n",
  );
  strictEqual(
    formatTable({ names: ["a"], alignRight: [false], rows: [["\u001b[1m"]] }).includes("\u001b"),
    false,
  );
});

Deno.test("displayWidth() counts wide characters double and marks not at all", () => {
  deepStrictEqual(["abc", "日本", "e\u0301", "😀"].map(displayWidth), [3, 4, 1, 2]);
});

Deno.test("formatResult() has a form for each kind of answer", () => {
  strictEqual(
    formatResult(result({ kind: "value", tag: "SELECT 1", columns: [["count", INT]], rows: [[3]] })),
    "= 3\n",
  );
  strictEqual(
    formatResult(result({ kind: "value", tag: "SELECT 1", columns: [["sum", INT]], rows: [[null]] })),
    "= NULL\n",
  );
  strictEqual(formatResult(result({ kind: "affected", tag: "INSERT 0 1", rowCount: 1 })), "INSERT 0 1\n");
  strictEqual(formatResult(result({ kind: "done", tag: "CREATE TABLE" })), "CREATE TABLE\n");
  strictEqual(formatResult(result({ kind: "empty", tag: "" })), "");
  strictEqual(
    formatResult(result({
      kind: "describe",
      tag: "DESCRIBE ball",
      columns: [["name", TEXT], ["type", TEXT], ["nullable", { kind: "bool" }], ["default", TEXT], [
        "primary_key",
        {
          kind: "bool",
        },
      ]],
      rows: [["id", "bigint", 0, null, 1], ["color", "text", 1, null, 0]],
    })),
    "ball\n  column  type    null\n  id      bigint  NO\n  color   text    YES\n",
  );
  strictEqual(
    formatResult(
      result({ kind: "explain", tag: "EXPLAIN", columns: [["QUERY PLAN", TEXT]], rows: [["Scan"]] }),
    ),
    "Scan\n",
  );
});

Deno.test("resultJson() and failureJson() print the objects of HTTP", () => {
  strictEqual(
    resultJson(
      result({
        kind: "rows",
        tag: "SELECT 1",
        columns: [["a", INT], ["b", TEXT]],
        rows: [[1, 'x"'], [null, ""]],
      }),
    ),
    '{"status":"ok","rows":[{"a":1,"b":"x\\""},{"a":null,"b":""}]}\n',
  );
  strictEqual(
    resultJson(result({ kind: "value", tag: "SELECT 1", columns: [["a", INT]], rows: [[7]] })),
    '{"status":"ok","value":7}\n',
  );
  strictEqual(
    resultJson(result({ kind: "affected", tag: "INSERT 0 1", rowCount: 1, insertedId: 9 })),
    '{"status":"ok","affected":1,"id":9}\n',
  );
  strictEqual(resultJson(result({ kind: "done", tag: "BEGIN" })), '{"status":"ok"}\n');
  strictEqual(
    failureJson(new DatabaseError(SQLSTATE.undefinedTable, "no", { hint: "h", position: 3 })),
    '{"status":"error","message":"no","code":"42P01","hint":"h","position":3}\n',
  );
});

Deno.test("formatError() marks the place in its line", () => {
  const error = new DatabaseError(SQLSTATE.undefinedColumn, 'column "b" does not exist', {
    position: 14,
    detail: "d",
    hint: 'Did you mean "a"?',
    where: "COPY t, line 1",
  });
  strictEqual(
    formatError(error, "SELECT a,\n é,b FROM t"),
    [
      'ERROR:  column "b" does not exist',
      "LINE 2:  é,b FROM t",
      "           ^",
      "DETAIL:  d",
      'HINT:  Did you mean "a"?',
      "CONTEXT:  COPY t, line 1",
      "",
    ].join("\n"),
  );
  strictEqual(formatError(new DatabaseError(SQLSTATE.internalError, "x"), "SELECT 1"), "ERROR:  x\n");
});

Deno.test("readCommand() takes options before and after the statement, and the environment behind them", () => {
  const settings = (parameters: string[], environment: Record<string, string> = {}) => {
    const command = readCommand(parameters, environment, () => "-----BEGIN CERTIFICATE-----");
    return command.kind === "run" ? command.settings : command.kind;
  };
  deepStrictEqual(settings(["SELECT 1", "--addr", "h:1", "--json"], { DB_TOKEN: "t", DB_ADDR: "x:2" }), {
    addresses: ["h:1"],
    token: "t",
    tls: null,
    readFrom: "primary",
    json: true,
    keepGoing: false,
    statement: "SELECT 1",
  });
  deepStrictEqual(settings(["--addrs=a:1, b:2", "--token=s", "--keep-going"]), {
    addresses: ["a:1", "b:2"],
    token: "s",
    tls: null,
    readFrom: "primary",
    json: false,
    keepGoing: true,
    statement: null,
  });
  deepStrictEqual(settings([]), {
    addresses: ["127.0.0.1:7878"],
    token: null,
    tls: null,
    readFrom: "primary",
    json: false,
    keepGoing: false,
    statement: null,
  });
  deepStrictEqual(settings(["-- a comment\nSELECT 1"]), {
    addresses: ["127.0.0.1:7878"],
    token: null,
    tls: null,
    readFrom: "primary",
    json: false,
    keepGoing: false,
    statement: "-- a comment\nSELECT 1",
  });
  const tlsOf = (parameters: string[], environment: Record<string, string> = {}) => {
    const found = settings(parameters, environment);
    return typeof found === "string" ? found : found.tls;
  };
  const ca = "-----BEGIN CERTIFICATE-----";
  deepStrictEqual(tlsOf(["--tls"]), {});
  deepStrictEqual(tlsOf(["--tls-ca", "f"]), { ca });
  deepStrictEqual(tlsOf([], { DB_TLS_CA: "f" }), { ca });
  deepStrictEqual(tlsOf(["--tls-server-name=n", "--tls-ca=f"]), { ca, serverName: "n" });
  const follower = settings(["--read-from=follower"]);
  strictEqual(typeof follower === "string" ? follower : follower.readFrom, "follower");
  strictEqual(settings(["--help"]), "help");
  strictEqual(settings(["-V"]), "version");
  for (
    const bad of [
      ["--adr", "x"],
      ["--addr"],
      ["a", "b"],
      ["--json=yes"],
      ["--addr", "a", "--addrs", "b"],
      [
        "--addrs",
        ",",
      ],
      [
        "--token=",
      ],
      ["--tls-ca", "f"],
      ["--read-from", "anyone"],
    ]
  ) throws(() => readCommand(bad, {}, () => "no PEM"), UsageError, bad.join(" "));
});

Deno.test("parseCopyCommand() reads tables, queries, files and options", () => {
  deepStrictEqual(parseCopyCommand(" t FROM 'my file.csv' CSV HEADER"), {
    target: "t",
    direction: "from",
    path: "my file.csv",
    options: "CSV HEADER",
  });
  deepStrictEqual(parseCopyCommand(`public."T t" (a, b) from /x/y.csv with (format csv, header);`), {
    target: `public."T t" (a, b)`,
    direction: "from",
    path: "/x/y.csv",
    options: "with (format csv, header)",
  });
  deepStrictEqual(parseCopyCommand("(SELECT max(a) FROM t) TO 'it''s' CSV"), {
    target: "(SELECT max(a) FROM t)",
    direction: "to",
    path: "it's",
    options: "CSV",
  });
  deepStrictEqual(parseCopyCommand("t to stdout"), { target: "t", direction: "to", path: null, options: "" });
  throws(() => parseCopyCommand("t"), DatabaseError);
});

Deno.test("copyText() escapes what COPY's text format wants escaped", () => {
  deepStrictEqual([null, undefined, "a\tb\\\n", 1.5, true, { a: "x\n" }].map(copyText), [
    "\\N",
    "\\N",
    "a\\tb\\\\\\n",
    "1.5",
    "true",
    '{"a":"x\\\\n"}',
  ]);
});
