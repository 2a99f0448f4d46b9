/** The files of the templates by path. Written by `deno task templates`; do not edit. */
// deno-fmt-ignore-file
import file0 from "./db-function/project.toml" with { type: "text" };
import file1 from "./db-function/src/main.lang" with { type: "text" };
import file2 from "./game/project.toml" with { type: "text" };
import file3 from "./game/src/main.lang" with { type: "text" };
import file4 from "./game/src/physics.lang" with { type: "text" };
import file5 from "./game/web/index.html" with { type: "text" };
import file6 from "./library/project.toml" with { type: "text" };
import file7 from "./library/src/shapes.lang" with { type: "text" };
import file8 from "./library/src/vector.lang" with { type: "text" };
import file9 from "./tool/project.toml" with { type: "text" };
import file10 from "./tool/src/csv.lang" with { type: "text" };
import file11 from "./tool/src/main.lang" with { type: "text" };

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
  },
  "library": {
    "project.toml": file6,
    "src/shapes.lang": file7,
    "src/vector.lang": file8,
  },
  "tool": {
    "project.toml": file9,
    "src/csv.lang": file10,
    "src/main.lang": file11,
  },
};
