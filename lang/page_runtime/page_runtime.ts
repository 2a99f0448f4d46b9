/**
 * The page runtime: the scripts that load a game's module into its page, paint its frames and pass its input.
 *
 * This is their only copy. `lang new` writes them into a game's `web/`; `lang serve` and `lang build --zip` supply
 * those that a page uses and its `web/` does not have.
 */
import loader from "./web/loader.js" with { type: "text" };
import player from "./web/player.js" with { type: "text" };
import reader from "./web/reader.js" with { type: "text" };
import screen from "./web/screen.js" with { type: "text" };
import sound from "./web/sound.js" with { type: "text" };
import state from "./web/state.js" with { type: "text" };
import trace from "./web/trace.js" with { type: "text" };

/** The scripts by their paths below `web/`. */
export const PAGE_RUNTIME: ReadonlyMap<string, string> = new Map([
  ["loader.js", loader],
  ["player.js", player],
  ["reader.js", reader],
  ["screen.js", screen],
  ["sound.js", sound],
  ["state.js", state],
  ["trace.js", trace],
]);

/** Whether a page loads the runtime. A page with scripts of its own only gets nothing added. */
export function usesPageRuntime(indexHtml: string): boolean {
  return indexHtml.includes("./loader.js");
}
