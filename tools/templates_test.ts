/** The list of the templates' files is what the folder has. */
import { strictEqual } from "node:assert/strict";
import { isOutdated } from "./templates.ts";

Deno.test("deno task templates has been run", async () => {
  strictEqual(await isOutdated(), false);
});
