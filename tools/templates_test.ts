/** The list of the templates' files, and the scripts of the examples' pages, are those of the templates. */
import { deepStrictEqual } from "node:assert/strict";
import { outdatedFiles } from "./templates.ts";

Deno.test("deno task templates has been run", async () => {
  deepStrictEqual(await outdatedFiles(), []);
});
