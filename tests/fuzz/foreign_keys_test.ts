/**
 * Random transactions over foreign keys: nothing without a parent passes by, and nothing else is refused at the
 * commit.
 */
import assert from "node:assert/strict";
import { open } from "../../mod.ts";
import { Choices } from "./choices.ts";
import { checkByScans } from "./foreign_keys.ts";

/** Seed 441 moves a row to another id while its parent is missing. */
const firstSeed = 420;
const seeds = 40;
const statements = 60;

Deno.test("foreign keys hold after every statement and commit, whatever was deferred or taken back", async () => {
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    await using database = await open(":memory:");
    const hasTriggers = seed % 2 === 0;
    const failure = await checkByScans(database, Choices.ofSeed(seed), { statements, hasTriggers });
    assert.equal(failure, null, `seed ${seed}: ${failure}`);
  }
});
