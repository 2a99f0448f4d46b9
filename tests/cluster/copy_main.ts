/** `deno task soak:copy [MEBIBYTES]`: loads of a gigabyte, unless another size is given, while members are killed. */
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { copyUnderKills } from "./copy_rounds.ts";

const mebibytes = Number(Deno.args[0] ?? "1024");
if (!Number.isSafeInteger(mebibytes) || mebibytes < 1) {
  console.error("Usage: deno task soak:copy [MEBIBYTES]");
  Deno.exit(2);
}
const { dbd } = await compiledPrograms();
console.log(`COPY of ${mebibytes} MiB:`, await copyUnderKills(dbd, mebibytes));
