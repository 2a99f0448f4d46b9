/** Rows of COPY that come in many chunks: what is kept of them, and how often they are looked at. */
import { strict as assert } from "node:assert";
import { Buffer } from "node:buffer";
import type { StoredValue } from "../../types/stored_value.ts";
import { BatchBuilder } from "../../transactions/batch_builder.ts";
import { BINARY_SIGNATURE, BinaryFormatReader } from "./binary_reader.ts";
import { TestClient } from "./client_for_test.ts";
import { PartialRow } from "./partial_row.ts";
import { TextFormatReader } from "./text_reader.ts";

const TEXT = { kind: "text" } as const;

/** Counts how often a value is decoded. */
class CountingBatch extends BatchBuilder {
  decoded = 0;

  override setStored(position: number, value: StoredValue): void {
    this.decoded++;
    super.setStored(position, value);
  }
}

async function batchOfTwoTexts(): Promise<CountingBatch> {
  const client = await TestClient.open();
  try {
    await client.run("CREATE TABLE l (a text, b text)");
    const relation = client.session.catalog.findRelation("l", ["public"]);
    assert.ok(relation?.kind === "table");
    return new CountingBatch(relation.table);
  } finally {
    await client.close();
  }
}

function* pieces(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

Deno.test("PartialRow keeps the bytes, in pieces of any size", () => {
  for (const size of [1, 1000, 70_000, 2_000_000]) {
    const all = Uint8Array.from({ length: size === 1 ? 10_000 : 2_500_001 }, (_, index) => index % 251);
    const row = new PartialRow(() => "here");
    for (const piece of pieces(all, size)) row.append(piece);
    assert.equal(row.length, all.length);
    assert.equal(Buffer.compare(row.joined(), all), 0, `pieces of ${size}`);
    row.append(Uint8Array.of(1, 2, 3));
    assert.deepEqual([...row.joined().subarray(-5)], [all.at(-2), all.at(-1), 1, 2, 3]);
    row.drop(all.length + 1);
    assert.deepEqual([...row.joined()], [2, 3]);
    row.append(Uint8Array.of(4));
    assert.deepEqual([...row.joined()], [2, 3, 4]);
    row.drop(3);
    assert.equal(row.length, 0);
  }
});

Deno.test("TextFormatReader parses a long row when the end of a line has come, not with each chunk", async () => {
  for (const format of ["text", "csv"] as const) {
    const batch = await batchOfTwoTexts();
    let reads = 0;
    const reader = new TextFormatReader({
      tableName: "l",
      settings: {
        format,
        delimiter: 9,
        nullText: "",
        header: false,
        quote: 34,
        escape: 34,
        forceQuote: [],
        forceNotNull: [],
        forceNull: [],
      },
      batch,
      flush: () => assert.fail("the batch is not full"),
      columns: ["a", "b"].map((name, index) => ({
        name,
        builder: batch.columns[index] ?? assert.fail(),
        reader: { read: () => reads++ },
        forceNotNull: false,
        forceNull: false,
      })),
    });
    const row = `1\t${"x".repeat(1_000_000)}`;
    // Lines that end with a return are known as such by what comes next.
    const bytes = new TextEncoder().encode(`${row}\r${row}\r${row}`);
    for (const piece of pieces(bytes, 997)) reader.write(piece);
    reader.finish();
    assert.equal(batch.rowCount, 3, format);
    // Once is right; once more for the chunk that the row begins in, and for the return at its end.
    assert.ok(reads <= 18, `${reads} fields were read`);
  }
});

Deno.test("BinaryFormatReader decodes no field before its row is whole", async () => {
  const batch = await batchOfTwoTexts();
  const reader = new BinaryFormatReader({
    tableName: "l",
    from: null,
    batch,
    flush: () => assert.fail("the batch is not full"),
    columns: ["a", "b"].map((name, position) => ({ name, position, type: TEXT })),
  });
  const field = new Uint8Array(4 + 300_000).fill(0x61);
  new DataView(field.buffer).setInt32(0, field.length - 4);
  const row = [Uint8Array.of(0, 2), field, field];
  const all = [BINARY_SIGNATURE, new Uint8Array(8), ...row, ...row, Uint8Array.of(255, 255)];
  const bytes = new Uint8Array(Buffer.concat(all));
  for (const piece of pieces(bytes, 1009)) reader.write(piece);
  reader.finish();
  assert.equal(batch.rowCount, 2);
  assert.equal(batch.decoded, 4);
});
