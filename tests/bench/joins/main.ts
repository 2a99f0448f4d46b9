/**
 * `deno task estimates [QUERY …] [--seed N] [--scale N] [--plain]`: prints for each query the worst of its joins'
 * estimates and times, and for all how many joins are estimated within a factor of ten. `--plain` leaves the
 * statistics of groups of columns away.
 */
import { parseArgs } from "node:util";
import { RUNTIME_FILTERS } from "../../../engine/execution/operators/runtime_filter.ts";
import { open } from "../../../mod.ts";
import { errorFactor, type QueryFigures, queryFigures, summary } from "./figures.ts";
import { makeTables, STATISTICS } from "./schema.ts";

const { values, positionals } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: {
    seed: { type: "string", default: "1" },
    scale: { type: "string", default: "1" },
    plain: { type: "boolean", default: false },
    joins: { type: "boolean", default: false },
  },
});

// What is estimated is what conditions leave of a join's rows.
RUNTIME_FILTERS.areOffered = false;
await using database = await open(":memory:");
await makeTables(database, Number(values.seed), Number(values.scale));
if (!values.plain) { for (const each of STATISTICS) await database.execute(each); }
await database.execute("ANALYZE");
const figures: QueryFigures[] = [];
console.log("query  joins      rows  worst factor   plan ms    run ms");
for await (const each of queryFigures(database, positionals.length === 0 ? undefined : positionals)) {
  figures.push(each);
  const worst = Math.max(...each.joins.map(errorFactor));
  console.log(
    each.name.padEnd(5) + String(each.joins.length).padStart(7) + String(each.count).padStart(10) +
      worst.toFixed(1).padStart(14) + each.planMilliseconds.toFixed(1).padStart(10) +
      each.runMilliseconds.toFixed(1).padStart(10),
  );
  if (!values.joins) continue;
  for (const join of each.joins) {
    const { title, expected, actual } = join;
    console.log(`        ${title}: expected ${expected}, got ${actual} (${errorFactor(join).toFixed(1)})`);
  }
}
const { joins, withinTen, withinTwo, median, worst } = summary(figures);
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
console.log(
  `${joins} joins: ${percent(withinTen)} within a factor of 10, ${percent(withinTwo)} within 2; ` +
    `median ${median.toFixed(2)}, worst ${worst.toFixed(1)}; ` +
    `${figures.reduce((sum, each) => sum + each.planMilliseconds, 0).toFixed(0)} ms of planning, ` +
    `${figures.reduce((sum, each) => sum + each.runMilliseconds, 0).toFixed(0)} ms of running`,
);
