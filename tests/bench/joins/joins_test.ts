/** The ruler of join estimates at a small size: statistics make them better and change no answer. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { open } from "../../../mod.ts";
import { type QueryFigures, queryFigures, summary } from "./figures.ts";
import { QUERIES } from "./queries.ts";
import { makeTables } from "./schema.ts";

Deno.test("ANALYZE brings estimates of joins close to the truth, and changes no answer", async () => {
  await using database = await open(":memory:");
  await makeTables(database, 1, 0.03);
  const measured = async () => {
    const figures: QueryFigures[] = [];
    for await (const each of queryFigures(database)) figures.push(each);
    return figures;
  };
  const before = await measured();
  await database.execute("ANALYZE");
  const after = await measured();
  const answers = (figures: readonly QueryFigures[]) => figures.map(({ name, count }) => [name, count]);
  deepStrictEqual(answers(after), answers(before));
  strictEqual(after.length, Object.keys(QUERIES).length);
  const [rough, fine] = [summary(before), summary(after)];
  ok(fine.joins > 200, `${fine.joins} joins`);
  ok(fine.withinTen > rough.withinTen, `${fine.withinTen} after ${rough.withinTen}`);
  ok(fine.withinTen >= 0.8, `${fine.withinTen} of the joins within a factor of ten`);
});
