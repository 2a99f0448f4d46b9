/**
 * The generated tables as files, made once for each scale and kept under `.cache`, so that every peer loads the same
 * bytes.
 */
import { exists } from "../peers/process.ts";
import { type Table, TABLES } from "./generator.ts";
import { writeTable, writeTableBeside } from "./table_writer.ts";

/** Changes whenever the generator makes other rows. */
const VERSION = 1;

const NEWLINE = 0x0a;
/** A COPY statement carries about this much, so that no peer holds a table's rows in one transaction. */
const BYTES_PER_COPY = 48 * 1024 * 1024;

/** The folder with a file `<table>.tbl` for each table; they are made when they are not there. */
export async function tableFiles(scale: number): Promise<string> {
  const cache = new URL("../../../.cache/bench/", import.meta.url).pathname;
  const folder = `${cache}tpch-${scale}-${VERSION}`;
  if (await exists(folder)) return folder;
  await Deno.mkdir(cache, { recursive: true });
  const unfinished = await Deno.makeTempDir({ dir: cache, prefix: "tpch-" });
  const request = (table: Table) => ({ table, scale, path: `${unfinished}/${table}.tbl` });
  // Half of the work.
  const lines = writeTableBeside(request("lineitem"));
  for (const table of TABLES) if (table !== "lineitem") writeTable(request(table));
  await lines;
  try {
    await Deno.rename(unfinished, folder);
  } catch (error) {
    // Another run was first.
    await Deno.remove(unfinished, { recursive: true });
    if (!await exists(folder)) throw error;
  }
  return folder;
}

/** The rows of a table in parts for one COPY each, and each part in pieces. */
export async function* copyParts(folder: string, table: Table): AsyncGenerator<readonly Uint8Array[]> {
  using file = await Deno.open(`${folder}/${table}.tbl`);
  const { size } = await file.stat();
  let part: Uint8Array[] = [];
  let length = 0;
  for (let at = 0; at < size;) {
    const buffer = new Uint8Array(1 << 20);
    file.seekSync(at, Deno.SeekMode.Start);
    const read = file.readSync(buffer) ?? 0;
    const end = buffer.subarray(0, read).lastIndexOf(NEWLINE) + 1;
    part.push(buffer.subarray(0, end));
    at += end;
    length += end;
    if (length < BYTES_PER_COPY) continue;
    yield part;
    part = [];
    length = 0;
  }
  if (part.length > 0) yield part;
}
