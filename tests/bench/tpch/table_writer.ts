/** Writes a generated table into a file, in this thread or in one of its own. */
import { generate, type Table } from "./generator.ts";

/** Which table, and where to. */
export interface TableRequest {
  readonly table: Table;
  readonly scale: number;
  readonly path: string;
}

/** Writes a table's rows into a new file. */
export function writeTable({ table, scale, path }: TableRequest): void {
  using file = Deno.openSync(path, { write: true, create: true });
  for (const chunk of generate(table, scale)) {
    for (let at = 0; at < chunk.length;) at += file.writeSync(chunk.subarray(at));
  }
}

/** Does so in a thread. */
export function writeTableBeside(request: TableRequest): Promise<void> {
  const worker = new Worker(new URL("table_worker.ts", import.meta.url), { type: "module" });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  worker.onmessage = () => resolve();
  worker.onerror = (event) => {
    event.preventDefault();
    reject(new Error(`cannot write ${request.table}: ${event.message}`));
  };
  worker.postMessage(request);
  return promise.finally(() => worker.terminate());
}
