/**
 * `deno task soak:copy [--calm] [MEBIBYTES]`: loads of a gigabyte, unless another size is given, alone, in a cluster,
 * and while members are killed; `--calm`: none is.
 */
import { parseArgs } from "node:util";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { copyUnderKills } from "./copy_rounds.ts";

const { values: { calm }, positionals: [size = "1024"] } = parseArgs({
  args: Deno.args,
  options: { calm: { type: "boolean", default: false } },
  allowPositionals: true,
});
const mebibytes = Number(size);
if (!Number.isSafeInteger(mebibytes) || mebibytes < 1) {
  console.error("Usage: deno task soak:copy [--calm] [MEBIBYTES]");
  Deno.exit(2);
}
const { dbd } = await compiledPrograms();
console.log(`COPY of ${mebibytes} MiB:`, await copyUnderKills(dbd, mebibytes, { kills: !calm }));
