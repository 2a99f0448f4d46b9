/** `deno task golden`: writes what the compiler says of the programs of `tests/lang/fail` beside them. */
import { failFolder, failOutputs, failPrograms } from "./fail_outputs.ts";

const names = failPrograms();
for (const name of names) {
  for (const [extension, text] of Object.entries(failOutputs(name))) {
    await Deno.writeTextFile(new URL(`${name}.${extension}`, failFolder), text);
  }
}
console.log(`${names.length} programs`);
