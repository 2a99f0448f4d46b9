/**
 * The generated tables as files, made once for each scale and kept under `.cache`, so that every peer loads the same
 * bytes.
 */
import { generate, type Table, TABLES } from "./generator.ts";

/** Changes whenever the generator makes other rows. */
const VERSION = 1;

/** A COPY statement carries about this much, so that no peer holds a table's rows in one transaction. */
const BYTES_PER_COPY = 48 * 1024 * 1024;

/** The folder with a file `<table>.tbl` for each table; they are made when they are not there. */
export async function tableFiles(scale: number): Promise<string> {
  const cache = new URL("../../../.cache/bench/", import.meta.url).pathname;
  const folder = `${cache}tpch-${scale}-${VERSION}`;
  if (await exists(folder)) return folder;
  await Deno.mkdir(cache, { recursive: true });
  const unfinished = await Deno.makeTempDir({ dir: cache, prefix: "tpch-" });
  for (const table of TABLES) {
    using file = await Deno.open(`${unfinished}/${table}.tbl`, { write: true, create: true });
    for (const chunk of generate(table, scale)) {
      for (let at = 0; at < chunk.length;) at += file.writeSync(chunk.subarray(at));
    }
  }
  try {
    await Deno.rename(unfinished, folder);
  } catch (error) {
    // Another run was first.
    await Deno.remove(unfinished, { recursive: true });
    if (!await exists(folder)) throw error;
  }
  return folder;
}

/** The rows of a table in parts for one COPY each, and each part in pieces of text. */
export async function* copyParts(folder: string, table: Table): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  using file = await Deno.open(`${folder}/${table}.tbl`);
  const buffer = new Uint8Array(1 << 20);
  let part: string[] = [];
  let length = 0;
  let rest = "";
  for (let read = file.readSync(buffer); read !== null; read = file.readSync(buffer)) {
    const text = rest + decoder.decode(buffer.subarray(0, read));
    const end = text.lastIndexOf("\n") + 1;
    part.push(text.slice(0, end));
    rest = text.slice(end);
    length += end;
    if (length < BYTES_PER_COPY) continue;
    yield part;
    part = [];
    length = 0;
  }
  if (part.length > 0) yield part;
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
