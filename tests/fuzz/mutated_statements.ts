/**
 * Statements of the logic tests with words dropped, doubled and swapped, sent through the statement entry of a
 * protocol: each ends in an answer or in an error for its author, never in a bug's, and the session goes on.
 */
import { SeededRandom } from "../../engine/base/random.ts";
import { parseLogicTests } from "../slt/logic_test_file.ts";
import { openFuzzedServer } from "./frames/campaign.ts";
import type { ProtocolName } from "./frames/fuzzed_server.ts";

/** How often a session is told its time limit again, which a mutated statement may have taken away. */
const STATEMENTS_PER_LIMIT = 20;

/** Runs so many statements; answers those that met a bug, each with what it was told. */
export async function runMutatedStatements(
  protocol: ProtocolName,
  { seed, count }: { readonly seed: number; readonly count: number },
): Promise<string[]> {
  const texts = await statements();
  await using server = await openFuzzedServer(protocol);
  const bugs: string[] = [];
  for (let each = 0; each < count; each++) {
    if (each % STATEMENTS_PER_LIMIT === 0) await server.run("SET statement_timeout = '200ms'");
    const sql = mutatedStatement(texts, seed + each);
    const code = await server.run(sql);
    const internal = server.internalErrors.splice(0).map((error) =>
      error instanceof Error ? error.stack : error
    );
    if (code?.startsWith("XX") || internal.length > 0) {
      bugs.push(`protocol ${protocol}, seed ${seed + each}: ${code} for\n${sql}\n${internal.join("\n")}`);
    }
  }
  await server.ping();
  return bugs;
}

/** The statement of a seed. */
function mutatedStatement(texts: readonly string[], seed: number): string {
  const random = new SeededRandom(seed);
  const words = (): string[] => random.pick(texts).split(/(\s+|[(),])/);
  const text = words();
  for (let changes = random.between(1, 4); changes > 0; changes--) {
    const at = random.between(0, text.length);
    const word = random.pick(words());
    text.splice(at, random.between(0, 2), ...random.chance(0.25) ? [] : [word]);
  }
  return text.join("");
}

async function statements(): Promise<string[]> {
  const folder = new URL("../slt/cases/", import.meta.url);
  const files: string[] = [];
  for await (const file of Deno.readDir(folder)) if (file.name.endsWith(".slt")) files.push(file.name);
  const texts: string[] = [];
  for (const name of files.sort()) {
    for (const record of parseLogicTests(await Deno.readTextFile(new URL(name, folder)), "db")) {
      texts.push(record.sql);
    }
  }
  return texts;
}
