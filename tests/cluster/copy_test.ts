/** A load by COPY, staged, while members are killed, at a small size; a gigabyte: `deno task soak:copy`. */
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { copyUnderKills } from "./copy_rounds.ts";

const MEBIBYTES = 12;

Deno.test(`a COPY of ${MEBIBYTES} MiB is there as a whole or not at all, whichever member is killed`, async () => {
  const { dbd } = await compiledPrograms();
  console.log(await copyUnderKills(dbd, MEBIBYTES, { checkpointLog: "1MiB" }));
});
