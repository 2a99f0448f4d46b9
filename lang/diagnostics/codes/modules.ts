/** Codes of modules. */
import type { CodePage } from "./code_page.ts";

/** `MD0001` and on. */
export const MODULE_PAGES: readonly CodePage[] = [
  {
    code: "MD0001",
    title: "Unknown module",
    severity: "error",
    explanation:
      "`use physics` imports the file `src/physics.lang`. Library modules begin with `std.`, `web.` or `host.`. `use fx.particles` imports a module of the package `fx` if `[dependencies]` in `project.toml` lists it; `lang pkg fetch` downloads it.",
    bad: "use std.maths\n\npub fn start() -> Float {\n  1.0\n}\n",
    fixed: ["use std.math\n\npub fn start() -> Float {\n  1.0\n}\n"],
  },
  {
    code: "MD0002",
    title: "Import cycle",
    severity: "error",
    explanation:
      "Modules cannot import each other in a cycle, so that each one can be checked before the modules that import it.",
    bad:
      "use physics\n\npub fn start() -> Int {\n  physics.gravity()\n}\n// src/physics.lang\nuse main\n\npub fn gravity() -> Int {\n  main.start()\n}\n",
    fixed: [
      "use physics\n\npub fn start() -> Int {\n  physics.gravity()\n}\n// src/physics.lang\npub fn gravity() -> Int {\n  9\n}\n",
    ],
  },
  {
    code: "MD0003",
    title: "Module imports itself",
    severity: "error",
    explanation: "The names of a module are already in scope in that module.",
    bad: "use main\n\npub fn start() -> Int {\n  1\n}\n",
    fixed: ["\npub fn start() -> Int {\n  1\n}\n"],
  },
  {
    code: "MD0004",
    title: "Two modules with the same name",
    severity: "error",
    explanation:
      "An imported module is known by the last name of its path, or by the name after `as`. These names must be distinct.",
    bad:
      "use physics\nuse fx.physics\n\npub fn start() -> Int {\n  physics.gravity()\n}\n// src/physics.lang\npub fn gravity() -> Int {\n  9\n}\n// src/fx/physics.lang\npub fn sparks() -> Int {\n  9\n}\n",
    fixed: [
      "use physics\nuse fx.physics as fx_physics\n\npub fn start() -> Int {\n  physics.gravity()\n}\n// src/physics.lang\npub fn gravity() -> Int {\n  9\n}\n// src/fx/physics.lang\npub fn sparks() -> Int {\n  9\n}\n",
    ],
  },
  {
    code: "MD0005",
    title: "Duplicate import",
    severity: "warning",
    explanation: "Import a module only once.",
    bad:
      "use physics\nuse physics\n\npub fn start() -> Int {\n  physics.gravity()\n}\n// src/physics.lang\npub fn gravity() -> Int {\n  9\n}\n",
    fixed: [
      "use physics\n\npub fn start() -> Int {\n  physics.gravity()\n}\n// src/physics.lang\npub fn gravity() -> Int {\n  9\n}\n",
    ],
  },
  {
    code: "MD0006",
    title: "Internal library module",
    severity: "error",
    explanation: "Some modules check neither indexes nor strings, so only the library can import them.",
    bad: "use std.raw\n\npub fn start(list: List[Int]) -> Int {\n  raw.list_get(list, 0)\n}\n",
    fixed: ["pub fn start(list: List[Int]) -> Int {\n  list[0]\n}\n"],
  },
  {
    code: "MD0007",
    title: "Reserved module name",
    severity: "error",
    explanation: "Module names that begin with `std`, `web` or `host` are reserved for the library.",
    bad: "pub fn start() -> Int {\n  1\n}\n// src/std/math.lang\npub fn half(n: Int) -> Int {\n  n / 2\n}\n",
    fixed: [
      "pub fn start() -> Int {\n  1\n}\n// src/tools/math.lang\npub fn half(n: Int) -> Int {\n  n / 2\n}\n",
    ],
  },
  {
    code: "MD0008",
    title: "Module shadows a package's module",
    severity: "warning",
    explanation:
      "`use fx.particles` imports a module of the package `fx`, unless this package has a file `src/fx/particles.lang`. A package's own modules take precedence, so a new version of a dependency never changes what its names mean. Rename your own file or folder to import the package's module.",
    bad:
      "use fx.particles\n\npub fn start() -> Int {\n  particles.count()\n}\n// src/fx/particles.lang\npub fn count() -> Int {\n  1\n}\n// packages/fx/src/particles.lang\npub fn count() -> Int {\n  2\n}\n",
    fixed: [
      "use fx.particles\n\npub fn start() -> Int {\n  particles.count()\n}\n// src/effects/particles.lang\npub fn count() -> Int {\n  1\n}\n// packages/fx/src/particles.lang\npub fn count() -> Int {\n  2\n}\n",
    ],
  },
];
