/** COPY whose data a worker parses: the same rows and the same errors as without, and its ends. */
import { match, ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { memoryHost } from "../host/memory_host.ts";
import { Engine } from "../session/engine.ts";
import { BINARY_SIGNATURE } from "../statements/copy/binary_reader.ts";
import { TestClient } from "../statements/copy/client_for_test.ts";
import type { StartWorker, WorkerStart } from "./worker_thread.ts";
import type { WorkerPort } from "./worker_port.ts";
import { workersInThisThread } from "./workers_for_test.ts";
import { Workers } from "./workers.ts";

/** Workers that count what they are given. */
class CountingWorkers extends Workers {
  copies = 0;

  override parseCopy(...given: Parameters<Workers["parseCopy"]>): ReturnType<Workers["parseCopy"]> {
    this.copies++;
    return super.parseCopy(...given);
  }
}

interface Opened {
  readonly client: TestClient;
  readonly workers: CountingWorkers;
  /** Each as it was started. */
  readonly started: readonly { readonly start: WorkerStart; readonly port: WorkerPort }[];
}

async function withWorkers(action: (opened: Opened) => Promise<void>): Promise<void> {
  const host = memoryHost();
  const inThread = workersInThisThread(host.disk);
  const started: { readonly start: WorkerStart; readonly port: WorkerPort }[] = [];
  const begin: StartWorker = async (start) => {
    const port = await inThread(start);
    started.push({ start, port });
    return port;
  };
  const workers = new CountingWorkers({ count: 2, start: begin });
  const engine = await Engine.open({ host, directory: "data", workers });
  await workers.started();
  const client = TestClient.over(engine);
  try {
    await client.run(
      "SET min_parallel_table_scan_size = 0",
      "SET TimeZone = 'Europe/Berlin'",
      "SET DateStyle = DMY",
    );
    await action({ client, workers, started });
  } finally {
    await client.close();
  }
}

/** More rows than are in a batch, behind which a worker goes on. */
const ROWS = 17_000;
const TABLE =
  "CREATE TABLE t (id int, b i64, n numeric(12,2), d numeric, s text, y bytea, z timestamptz, v interval, " +
  "a int[], j jsonb, x varchar(6) NOT NULL DEFAULT 'none')";
const REST = '12.50\t1.50\ta\\tb\tü\t31/12/2023 10:00\t1 day\t{1,NULL}\t{"a": 1}\tabc';

function textRows(last: (row: number) => string): string {
  return Array.from({ length: ROWS }, (_, row) => `${row}\t${last(row)}`).join("");
}

/** Rows of an id and a text, in the binary form, with what stands behind them. */
function binaryRows(text: (row: number) => string | null, end: readonly number[] = [255, 255]): Uint8Array {
  const bytes = [...BINARY_SIGNATURE, 0, 0, 0, 0, 0, 0, 0, 0];
  const integer = (value: number): number =>
    bytes.push(value >>> 24, value >>> 16 & 255, value >>> 8 & 255, value & 255);
  for (let row = 0; row < ROWS; row++) {
    bytes.push(0, 2);
    integer(4);
    integer(row);
    const value = text(row);
    integer(value === null ? -1 : value.length);
    for (const each of value ?? "") bytes.push(each.charCodeAt(0));
  }
  return Uint8Array.from([...bytes, ...end]);
}

/** Statements with data, and what is asked afterwards. */
const LOADS: readonly (readonly [copy: string, data: string | Uint8Array])[] = [
  ["COPY t FROM STDIN", textRows((row) => `${row === 16_500 ? "9223372036854775807" : row}\t${REST}\n`)],
  [
    "COPY t (id, s, z) FROM STDIN (NULL 'nil')",
    textRows((row) => `${row % 7 === 0 ? "nil" : "s\\x41"}\tnil\r\n`),
  ],
  [
    "COPY t (id, s) FROM STDIN (FORMAT csv, HEADER, FREEZE)",
    `a,b\n${
      Array.from({ length: ROWS }, (_, row) => row % 9 === 4 ? `${row},"x, ""y""\nz"\n` : `${row},\n`).join(
        "",
      )
    }`,
  ],
  ["COPY t (id, s) FROM STDIN", `${textRows((row) => `${row}\n`)}\\.\nbehind the end\n`],
  ["COPY t (id, s) FROM STDIN", textRows((row) => row === ROWS - 1 ? "no end of the line" : `${row}\n`)],
  ["COPY t (id, s) FROM STDIN WHERE id % 1000 = 3", textRows((row) => `${row}\n`)],
  ["COPY t (id, s) FROM STDIN (ENCODING 'latin1')", textRows((row) => `${row}\n`)],
  ["COPY t (id, s) FROM STDIN (FORMAT binary)", binaryRows((row) => row % 5 === 0 ? null : `s${row}`)],
  ["COPY t (id, s) FROM STDIN (FORMAT binary)", binaryRows((row) => "x".repeat(row % 40), [])],
  // Errors.
  ["COPY t (id, s) FROM STDIN (FORMAT binary)", binaryRows(() => "a", [255, 255, 7])],
  ["COPY t (id, s) FROM STDIN (FORMAT binary)", binaryRows(() => "a", [0, 3, 0, 0])],
  ["COPY t (id, x) FROM STDIN (FORMAT binary)", binaryRows((row) => row === 16_909 ? "too long" : "x")],
  ["COPY t (id, s) FROM STDIN (FORMAT binary)", binaryRows((row) => row === 16_384 ? "\xff" : "x")],
  ["COPY t (id, b) FROM STDIN", textRows((row) => row === 16_900 ? "12x\n" : `${row}\n`)],
  ["COPY t (id, z) FROM STDIN", textRows((row) => row === 16_901 ? "2023-13-13\n" : "2023-12-13\n")],
  ["COPY t (id, s) FROM STDIN", textRows((row) => row === 16_902 ? "a\tb\n" : `${row}\n`)],
  ["COPY t (id, s, b) FROM STDIN", textRows((row) => row === 16_903 ? "a\n" : `${row}\t1\n`)],
  ["COPY t (id, s) FROM STDIN", textRows((row) => row === 16_384 ? "a\r\n" : `${row}\n`)],
  [
    "COPY t (id, s) FROM STDIN (FORMAT csv)",
    Array.from(
      { length: ROWS },
      (_, row) => `${row},"${row}${row === 16_905 ? "" : '"'}\n`,
    ).join(""),
  ],
  ["COPY t (id, x) FROM STDIN", textRows((row) => row === 16_906 ? "\\N\n" : "x\n")],
  ["COPY t (id, x) FROM STDIN", textRows((row) => row === 16_907 ? "too long\n" : "x\n")],
  ["COPY t (id, s) FROM STDIN", withBadByte(textRows((row) => row === 16_908 ? "bad ?\n" : "x\n"))],
];

function withBadByte(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  bytes[bytes.indexOf("?".charCodeAt(0))] = 0xff;
  return bytes;
}

Deno.test("COPY loads the same rows and raises the same errors when a worker parses", () =>
  withWorkers(async ({ client, workers }) => {
    for (const [place, [copy, data]] of LOADS.entries()) {
      const answers: string[] = [];
      const size = place % 2 === 0 ? 1 << 16 : 9973;
      for (const count of [0, 2]) {
        await client.run(`SET max_parallel_workers = ${count}`, "DROP TABLE IF EXISTS t", TABLE);
        const before = workers.copies;
        const failure = await client.failure(client.copyIn(copy, data, size));
        const isOther = copy.includes("ENCODING") && failure !== "no error";
        ok(
          isOther || workers.copies - before === (count === 0 ? 0 : 1),
          `a worker parses: ${copy} ${failure}`,
        );
        answers.push(`${failure}\n${await client.copyText("COPY t TO STDOUT")}`);
      }
      strictEqual(answers[1], answers[0], `${copy} ${answers.map((each) => each.slice(0, 300)).join("\n")}`);
    }
    await client.run("SET max_parallel_workers = 2", "CREATE TABLE r (id int, c regclass)");
    const before = workers.copies;
    strictEqual(await client.copyIn("COPY r FROM STDIN", textRows(() => "t\n")), `COPY ${ROWS}`);
    strictEqual(workers.copies, before, "what asks the catalog is parsed here");
  }));

Deno.test("a COPY ends with its worker, and leaves nothing with it when it is canceled", () =>
  withWorkers(async ({ client, workers, started }) => {
    await client.run(TABLE);
    const data = textRows((row) => `${row}\n`).repeat(4);
    const copying = client.failure(client.copyIn("COPY t (id, s) FROM STDIN", data, 997));
    while (workers.copies === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    for (const { start, port } of started) {
      const error = new DatabaseError("XX000", "the worker has ended");
      port.close(error);
      start.failed(port, error);
    }
    match(await copying, /^XX000 the worker has ended/);
    strictEqual(await client.copyIn("COPY t (id, s) FROM STDIN", data), `COPY ${ROWS * 4}`);
    await workers.started();
    const canceled = client.failure(client.copyIn("COPY t (id, s) FROM STDIN", data, 997));
    const copies = workers.copies;
    while (workers.copies === copies) await new Promise((resolve) => setTimeout(resolve, 0));
    client.session.cancel();
    match(await canceled, /^57014 /);
    strictEqual(await client.copyIn("COPY t (id, s) FROM STDIN", data, 9999), `COPY ${ROWS * 4}`);
    strictEqual(workers.copies, copies + 2);
    strictEqual((await client.rows("SELECT count(*) FROM t"))[0], `${ROWS * 8}`);
  }));
