/** The files of the templates by path. Written by `deno task templates`; do not edit. */
// deno-fmt-ignore-file
import file0 from "./game/project.toml" with { type: "text" };
import file1 from "./game/src/main.lang" with { type: "text" };
import file2 from "./game/src/physics.lang" with { type: "text" };
import file3 from "./game/web/index.html" with { type: "text" };
import file4 from "./game/web/loader.js" with { type: "text" };
import file5 from "./game/web/player.js" with { type: "text" };
import file6 from "./game/web/screen.js" with { type: "text" };
import file7 from "./game/web/sound.js" with { type: "text" };

/** Files of each template. */
export const TEMPLATE_FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "game": {
    "project.toml": file0,
    "src/main.lang": file1,
    "src/physics.lang": file2,
    "web/index.html": file3,
    "web/loader.js": file4,
    "web/player.js": file5,
    "web/screen.js": file6,
    "web/sound.js": file7,
  },
};
