/** `deno task golden`: writes the expected parts of the snapshots in `tests/lang/fail` and `tests/lang/run` anew. */
import { diagnosticsOf, failCases, failSnapshot } from "./fail_snapshot.ts";
import { checkedProgram, interpretedOutput } from "./interpreted.ts";
import { runCases, runSnapshot } from "./run_snapshot.ts";

for (const name of failCases.names) {
  const program = failCases.program(name);
  failCases.write(name, failSnapshot(program, diagnosticsOf(program)));
}
for (const name of runCases.names) {
  const program = runCases.program(name);
  runCases.write(name, runSnapshot(program, interpretedOutput(checkedProgram(program))));
}
console.log(`${failCases.names.length + runCases.names.length} programs`);
