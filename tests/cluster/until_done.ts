/** Work that goes on across views that end, and while disks have no space. */
import type { Client } from "../../mod.ts";
import { isLostConnection } from "../e2e/kill_workload.ts";

/** Outcomes after which a statement is tried again: views end, and disks have no space for a while. */
const RETRIED = /^(57P0[13]|4000[13]|53100|08000|08006|ECONN.*)$/;

/** Does it again and again, until it is done. */
export async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isLostConnection(error) && !RETRIED.test((error as { code?: string }).code ?? "")) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Loads rows by COPY, all or none, once: an outcome that was not told may have been either. */
export async function loadOnce(
  client: Client,
  { table, column, first }: { readonly table: string; readonly column: string; readonly first: number },
  chunks: () => Iterable<string>,
): Promise<void> {
  await untilDone(async () => {
    const [there] = await client.query(`SELECT FROM ${table} WHERE ${column} = ${first}`);
    if (there === undefined) await client.copyIn(table, chunks());
  });
}
