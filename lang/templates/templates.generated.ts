/** The files of the templates by path. Written by `deno task templates`; do not edit. */
// deno-fmt-ignore-file
import file0 from "./db-function/project.toml" with { type: "text" };
import file1 from "./db-function/src/main.lang" with { type: "text" };
import file2 from "./game/project.toml" with { type: "text" };
import file3 from "./game/src/main.lang" with { type: "text" };
import file4 from "./game/src/physics.lang" with { type: "text" };
import file5 from "./game/web/index.html" with { type: "text" };
import file6 from "./game/web/loader.js" with { type: "text" };
import file7 from "./game/web/player.js" with { type: "text" };
import file8 from "./game/web/reader.js" with { type: "text" };
import file9 from "./game/web/screen.js" with { type: "text" };
import file10 from "./game/web/sound.js" with { type: "text" };
import file11 from "./game/web/state.js" with { type: "text" };
import file12 from "./game/web/trace.js" with { type: "text" };
import file13 from "./library/project.toml" with { type: "text" };
import file14 from "./library/src/shapes.lang" with { type: "text" };
import file15 from "./library/src/vector.lang" with { type: "text" };
import file16 from "./tool/project.toml" with { type: "text" };
import file17 from "./tool/src/csv.lang" with { type: "text" };
import file18 from "./tool/src/main.lang" with { type: "text" };

/** Files of each template. */
export const TEMPLATE_FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "db-function": {
    "project.toml": file0,
    "src/main.lang": file1,
  },
  "game": {
    "project.toml": file2,
    "src/main.lang": file3,
    "src/physics.lang": file4,
    "web/index.html": file5,
    "web/loader.js": file6,
    "web/player.js": file7,
    "web/reader.js": file8,
    "web/screen.js": file9,
    "web/sound.js": file10,
    "web/state.js": file11,
    "web/trace.js": file12,
  },
  "library": {
    "project.toml": file13,
    "src/shapes.lang": file14,
    "src/vector.lang": file15,
  },
  "tool": {
    "project.toml": file16,
    "src/csv.lang": file17,
    "src/main.lang": file18,
  },
};
