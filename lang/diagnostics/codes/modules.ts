/** Codes of modules. */
import type { CodePage } from "./code_page.ts";

/** `MD0001` and on. */
export const MODULE_PAGES: readonly CodePage[] = [
  {
    code: "MD0001",
    title: "Unknown module",
    severity: "error",
    explanation:
      "`use physics` is the file `src/physics.lang`; modules of the library begin with `std.`, `web.` or `host.`. `use fx.particles` is a module of the package `fx` when `[dependencies]` of `project.toml` names it; `lang pkg fetch` brings it.",
    bad: "use std.maths\n\npub fn start() -> Float {\n  1.0\n}\n",
    fixed: ["use std.math\n\npub fn start() -> Float {\n  1.0\n}\n"],
  },
  {
    code: "MD0002",
    title: "Circle of imports",
    severity: "error",
    explanation:
      "Modules import one another without circles, so that each can be understood before those that use it.",
    bad:
      "use physics\n\npub fn start() -> Int {\n  physics.gravity()\n}\n// src/physics.lang\nuse main\n\npub fn gravity() -> Int {\n  main.start()\n}\n",
    fixed: [
      "use physics\n\npub fn start() -> Int {\n  physics.gravity()\n}\n// src/physics.lang\npub fn gravity() -> Int {\n  9\n}\n",
    ],
  },
  {
    code: "MD0003",
    title: "Import of itself",
    severity: "error",
    explanation: "The names of a module are in scope in it.",
    bad: "use main\n\npub fn start() -> Int {\n  1\n}\n",
    fixed: ["\npub fn start() -> Int {\n  1\n}\n"],
  },
  {
    code: "MD0004",
    title: "Two modules of one name",
    severity: "error",
    explanation:
      "A module is known by the last name of its path, or by the one behind `as`. Two of them differ.",
    bad:
      "use physics\nuse fx.physics\n\npub fn start() -> Int {\n  physics.gravity()\n}\n// src/physics.lang\npub fn gravity() -> Int {\n  9\n}\n// src/fx/physics.lang\npub fn sparks() -> Int {\n  9\n}\n",
    fixed: [
      "use physics\nuse fx.physics as fx_physics\n\npub fn start() -> Int {\n  physics.gravity()\n}\n// src/physics.lang\npub fn gravity() -> Int {\n  9\n}\n// src/fx/physics.lang\npub fn sparks() -> Int {\n  9\n}\n",
    ],
  },
  {
    code: "MD0005",
    title: "Imported twice",
    severity: "warning",
    explanation: "One `use` of a module is enough.",
    bad:
      "use physics\nuse physics\n\npub fn start() -> Int {\n  physics.gravity()\n}\n// src/physics.lang\npub fn gravity() -> Int {\n  9\n}\n",
    fixed: [
      "use physics\n\npub fn start() -> Int {\n  physics.gravity()\n}\n// src/physics.lang\npub fn gravity() -> Int {\n  9\n}\n",
    ],
  },
  {
    code: "MD0006",
    title: "Module of the library alone",
    severity: "error",
    explanation:
      "Some modules trust their callers: they check neither indexes nor texts. Only the library uses them.",
    bad: "use std.raw\n\npub fn start(list: List[Int]) -> Int {\n  raw.list_get(list, 0)\n}\n",
    fixed: ["pub fn start(list: List[Int]) -> Int {\n  list[0]\n}\n"],
  },
  {
    code: "MD0007",
    title: "Name of a module of the library",
    severity: "error",
    explanation:
      "Modules of a package have names of their own; those that begin with `std`, `web` and `host` are the library's.",
    bad: "pub fn start() -> Int {\n  1\n}\n// src/std/math.lang\npub fn half(n: Int) -> Int {\n  n / 2\n}\n",
    fixed: [
      "pub fn start() -> Int {\n  1\n}\n// src/tools/math.lang\npub fn half(n: Int) -> Int {\n  n / 2\n}\n",
    ],
  },
  {
    code: "MD0008",
    title: "Module that hides a package's",
    severity: "warning",
    explanation:
      "`use fx.particles` is a module of the package `fx`, unless this package has a file `src/fx/particles.lang`: a package's own modules come first, so that a new version of what it uses never changes what its names mean. Give your own file or folder another name to reach the package's module.",
    bad:
      "use fx.particles\n\npub fn start() -> Int {\n  particles.count()\n}\n// src/fx/particles.lang\npub fn count() -> Int {\n  1\n}\n// packages/fx/src/particles.lang\npub fn count() -> Int {\n  2\n}\n",
    fixed: [
      "use fx.particles\n\npub fn start() -> Int {\n  particles.count()\n}\n// src/effects/particles.lang\npub fn count() -> Int {\n  1\n}\n// packages/fx/src/particles.lang\npub fn count() -> Int {\n  2\n}\n",
    ],
  },
];
