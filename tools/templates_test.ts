/** The list of templates is what `deno task templates` writes. */
import { strictEqual } from "node:assert/strict";
import { projectRoot } from "./project.ts";
import { templatesSource } from "./templates.ts";

Deno.test("templates.generated.ts lists the files of the templates", async () => {
  const path = `${projectRoot}/lang/templates/templates.generated.ts`;
  strictEqual(await Deno.readTextFile(path), await templatesSource());
});
