/**
 * The Parquet reader against files of four other writers: every type, codec, version of pages, encoding and shape,
 * value by value with what DuckDB reads in them (`write_fixtures.ts`).
 */
import { strict as assert } from "node:assert";
import { Interval } from "../../engine/types/interval.ts";
import { formatText } from "../../engine/types/text_io.ts";
import { rangesOf, readTexts } from "./read_all.ts";

interface Fixture {
  readonly files: readonly string[];
  readonly writer: string;
  readonly about: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly from: string }[];
  readonly every: number;
  readonly rows: readonly (readonly unknown[])[];
}

const folder = new URL("fixtures/", import.meta.url);
const fixtures: readonly Fixture[] = JSON.parse(await Deno.readTextFile(new URL("expected.json", folder)));

/** Brings what DuckDB prints and what the server prints to one form. */
function normalized(type: string, text: unknown): unknown {
  if (text === null || text === undefined) return null;
  const shown = String(text);
  switch (type) {
    case "bool":
      return shown.slice(0, 1);
    case "real":
    case "double precision":
      return Number(shown.replace(/^(-?)inf(inity)?$/i, "$1Infinity"));
    case "json":
    case "jsonb":
    case "integer[]":
    case "bigint[]":
    case "text[]":
      return JSON.parse(shown, (_, value) => value);
    case "interval": {
      const parts = /^(-?\d+) (\d+) (\d+)$/.exec(shown);
      if (parts === null) return shown;
      const [, months, days, milliseconds] = parts.map(Number) as [number, number, number, number];
      return formatText({ kind: "interval" }, Interval.of(months, days, milliseconds * 1000));
    }
    case "time":
    case "timestamp":
      return shown.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
    default:
      return type.startsWith("char") ? shown.trimEnd() : shown;
  }
}

/** PostgreSQL's text of an array as JSON, for comparison. */
function arrayAsJson(type: string, text: string | null): string | null {
  if (text === null || !type.endsWith("[]")) return text;
  return text.replaceAll("{", "[").replaceAll("}", "]")
    .replaceAll(/[^[\],"]+|"(?:[^"\\]|\\.)*"/g, (item) => {
      if (item === "NULL") return "null";
      return type === "text[]" && !item.startsWith('"') ? JSON.stringify(item) : item;
    });
}

for (const fixture of fixtures) {
  for (const file of fixture.files) {
    Deno.test(`ParquetFile.read() reads ${file} of ${fixture.writer}: ${fixture.about}`, async () => {
      const bytes = await Deno.readFile(new URL(file, folder));
      const rows = (await readTexts(rangesOf(bytes), fixture.columns))
        .filter((_, index) => index % fixture.every === 0);
      assert.equal(rows.length, fixture.rows.length);
      for (const [number, row] of rows.entries()) {
        for (const [index, { name, type }] of fixture.columns.entries()) {
          const ours = normalized(type, arrayAsJson(type, row[index] ?? null));
          const theirs = normalized(type, fixture.rows[number]?.[index]);
          assert.deepEqual(ours, theirs, `row ${number}, column ${name}`);
        }
      }
    });
  }
}
