/**
 * `deno task large [terms …] [--only TEXT]`: runs the wide statements at the given sizes (10 000 and 50 000 terms
 * unless said otherwise), checks each answer, and prints how long each took and how the time grows with the terms (1
 * is linear).
 *
 * Exit codes: 0 all answered rightly, 1 not.
 */
import { parseArgs } from "node:util";
import { open } from "../../mod.ts";
import { type LargeStatement, SETUP, WIDE_SHAPES } from "./statement_shapes.ts";

/**
 * Milliseconds that a statement takes when it is planned and run for the first time; raises when its answer is wrong.
 */
async function measure({ sql, parameters, expected }: LargeStatement): Promise<number> {
  await using database = await open(":memory:");
  for (const statement of SETUP) await database.execute(statement);
  const begin = performance.now();
  const answer = sql.startsWith("INSERT")
    ? (await database.execute(sql, parameters)).rowCount
    : Object.values((await database.query(sql, parameters))[0] ?? {})[0];
  const milliseconds = performance.now() - begin;
  if (Number(answer) !== expected) throw new Error(`answered ${answer} instead of ${expected}`);
  return milliseconds;
}

const { values, positionals } = parseArgs({
  args: Deno.args,
  options: { only: { type: "string", default: "" } },
  allowPositionals: true,
});
const sizes = positionals.length === 0 ? [10_000, 50_000] : positionals.map(Number);
let failures = 0;
for (const [name, shape] of Object.entries(WIDE_SHAPES)) {
  if (!name.includes(values.only)) continue;
  const parts: string[] = [];
  let before: { readonly terms: number; readonly milliseconds: number } | null = null;
  for (const terms of sizes) {
    try {
      const milliseconds = await measure(shape(terms));
      const growth = before === null
        ? ""
        : ` (growth ${
          (Math.log(milliseconds / before.milliseconds) / Math.log(terms / before.terms)).toFixed(2)
        })`;
      parts.push(`${terms}: ${milliseconds.toFixed(0)} ms${growth}`);
      before = { terms, milliseconds };
    } catch (error) {
      failures++;
      parts.push(`${terms}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  console.log(`${name.padEnd(28)} ${parts.join("   ")}`);
}
Deno.exit(failures === 0 ? 0 : 1);
