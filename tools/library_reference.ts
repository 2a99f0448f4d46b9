/** Writes docs/library.md anew from the modules of the language's library. */
import { libraryReference } from "../lang/library/reference.ts";
import { projectRoot } from "./project.ts";

await Deno.writeTextFile(`${projectRoot}/docs/library.md`, libraryReference());
