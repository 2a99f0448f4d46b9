/**
 * A file of pgbench_accounts rows in COPY's text format, as `pgbench -i` sends them; made once for those who read it.
 */
import type { Scale } from "../benchmark.ts";

/** Rows in the file. */
export const ACCOUNT_ROWS = { smoke: 2_000, full: 1_000_000 } as const;

const ROWS_A_PIECE = 10_000;

let made: { readonly file: string; readonly scale: Scale } | null = null;

/** The path of the file, which is written when it does not exist yet. */
export async function accountsFile(scale: Scale): Promise<string> {
  if (made?.scale === scale) return made.file;
  await removeAccountsFile();
  const path = await Deno.makeTempFile({ prefix: "accounts-", suffix: ".copy" });
  using file = await Deno.open(path, { write: true });
  const encoder = new TextEncoder();
  const filler = " ".repeat(84);
  for (let first = 1; first <= ACCOUNT_ROWS[scale]; first += ROWS_A_PIECE) {
    let text = "";
    const end = Math.min(first + ROWS_A_PIECE - 1, ACCOUNT_ROWS[scale]);
    for (let aid = first; aid <= end; aid++) {
      text += `${aid}\t${Math.floor((aid - 1) / 100_000) + 1}\t0\t${filler}\n`;
    }
    const bytes = encoder.encode(text);
    for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
  }
  made = { file: path, scale };
  return path;
}

/** Removes the file. */
export async function removeAccountsFile(): Promise<void> {
  if (made !== null) await Deno.remove(made.file);
  made = null;
}
