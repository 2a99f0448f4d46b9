/** `deno task soak:refresh [KILLS] [SEED]`: kills the server 20 times in the middle of REFRESH. */
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { killDuringRefresh } from "./refresh_kills.ts";

const { dbd } = await compiledPrograms();
const kills = Number(Deno.args[0] ?? 20);
console.log(await killDuringRefresh({ dbd, kills, rows: 60_000, seed: Number(Deno.args[1] ?? 1) }));
