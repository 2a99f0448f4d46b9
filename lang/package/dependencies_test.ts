/** Programs that use packages: what `use` names, two versions, what of a used package is reported and what is not. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { build } from "../commands/build.ts";
import { test } from "../commands/tests.ts";
import { Workspace } from "../commands/workspace.ts";
import { MemoryFiles } from "./package_files.ts";
import { textDigest } from "./text_digest.ts";

interface Used {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
}

const MANIFEST = 'name = "app"\nversion = "0.1.0"\n\n[dependencies]\nfx = "^1"\n';

/** A package that uses others, as `lang pkg fetch` leaves it. */
function packageOf(
  sources: Readonly<Record<string, string>>,
  direct: Readonly<Record<string, string>>,
  used: readonly Used[],
  place = ".lang/packages",
): MemoryFiles {
  const files = new MemoryFiles([["project.toml", MANIFEST], ...Object.entries(sources)]);
  addRecord(files, direct, used, place);
  return files;
}

function addRecord(
  files: MemoryFiles,
  direct: Readonly<Record<string, string>>,
  used: readonly Used[],
  place: string,
): void {
  const packages = used.map(({ name, version, dependencies = {}, files: own }) => {
    const folder = `${place}/${name}-${version}`;
    for (const [path, text] of Object.entries(own)) files.write(`${folder}/${path}`, text);
    const hashes = Object.fromEntries(Object.keys(own).map((path) => [path, ""]));
    return { name, version, hash: "", folder, dependencies, files: hashes };
  });
  const record = { format: 1, manifest: textDigest(MANIFEST), lock: textDigest(""), direct, packages };
  const path = place.endsWith("vendor") ? `${place}/packages.json` : `${place}.json`;
  files.write(path, JSON.stringify(record));
}

/** What is unpacked is no source of the package itself. */
function workspaceOf(files: MemoryFiles): Workspace {
  return new Workspace({
    list: () => files.list().filter((path) => !path.startsWith(".lang/")),
    read: (path) => files.read(path),
    write: (path, content) => files.write(path, content),
    remove: (path) => files.remove(path),
  });
}

/** All tests pass, and nothing is reported. */
async function passes(files: MemoryFiles, count: number): Promise<void> {
  const { diagnostics, results, isPassed } = await test(workspaceOf(files));
  deepStrictEqual(diagnostics.map(({ code, message }) => `${code} ${message}`), []);
  ok(isPassed);
  strictEqual(results?.length, count);
}

/** The package's errors. */
function errors(files: MemoryFiles): string[] {
  return workspaceOf(files).check().diagnostics.map(({ code, file }) => `${code} ${file.path}`);
}

const constant = (value: number) => `pub fn value() -> Int {\n  ${value}\n}\n`;

Deno.test("MD0001 says which package is to be fetched, and which modules one has that is there", () => {
  const hints = (files: MemoryFiles) => workspaceOf(files).check().diagnostics.map(({ hint }) => hint ?? "");
  const sources = { "src/main.lang": "use fx.particles as _a\nuse other as _b\n" };
  const fetch = "The package `fx` in project.toml has not been fetched yet: run `lang pkg fetch`.";
  const file = "A module of this package is a file: `src/other.lang`.";
  deepStrictEqual(hints(new MemoryFiles([["project.toml", MANIFEST], ...Object.entries(sources)])), [
    fetch,
    file,
  ]);
  // Fetched before it was named.
  deepStrictEqual(hints(packageOf(sources, {}, [])), [fetch, file]);
  const fx: Used = {
    name: "fx",
    version: "1.0.0",
    files: { "src/main.lang": constant(1), "src/sparks.lang": constant(2) },
  };
  deepStrictEqual(hints(packageOf(sources, { fx: "1.0.0" }, [fx])), [
    "The package `fx` 1.0.0 has `fx`, `fx.sparks`.",
    file,
  ]);
});

Deno.test("use fx.particles is a module of the package fx, use fx its root; inside, its own modules come first", async () => {
  const fx: Used = {
    name: "fx",
    version: "1.0.0",
    files: {
      "src/main.lang": "use helper\n\npub fn value() -> Int {\n  helper.value() + 1\n}\n",
      "src/particles.lang": "use deep.helper\n\npub fn value() -> Int {\n  helper.value() + 2\n}\n",
      "src/helper.lang": constant(10),
      "src/deep/helper.lang": constant(20),
    },
  };
  const files = packageOf(
    {
      "src/main.lang": `use fx
use fx.particles
use helper

test "all" {
  expect(fx.value() == 11)
  expect(particles.value() == 22)
  expect(helper.value() == 99)
}
`,
      "src/helper.lang": constant(99),
    },
    { fx: "1.0.0" },
    [fx],
  );
  await passes(files, 1);
  const { built } = await build(workspaceOf(files));
  ok(built !== null);
});

Deno.test("two versions of a package stand side by side, each for those who need it; a dash is written _", async () => {
  const used: Used[] = [
    { name: "big-noise", version: "1.0.0", files: { "src/main.lang": constant(1) } },
    { name: "big-noise", version: "2.0.0", files: { "src/main.lang": constant(2) } },
    {
      name: "fx",
      version: "1.0.0",
      dependencies: { "big-noise": "2.0.0" },
      files: { "src/main.lang": "use big_noise\n\npub fn value() -> Int {\n  big_noise.value()\n}\n" },
    },
  ];
  const source = `use fx
use big_noise

test "both" {
  expect(fx.value() == 2 and big_noise.value() == 1)
}
`;
  await passes(packageOf({ "src/main.lang": source }, { fx: "1.0.0", "big-noise": "1.0.0" }, used), 1);
});

Deno.test("packages whose names differ in a dash alone are kept apart", async () => {
  const used: Used[] = [
    { name: "big-noise", version: "1.0.0", files: { "src/main.lang": constant(1) } },
    { name: "big_noise", version: "1.0.0", files: { "src/main.lang": constant(2) } },
    ...["fx", "ui"].map((name): Used => ({
      name,
      version: "1.0.0",
      dependencies: { [name === "fx" ? "big-noise" : "big_noise"]: "1.0.0" },
      files: { "src/main.lang": "use big_noise\n\npub fn value() -> Int {\n  big_noise.value()\n}\n" },
    })),
  ];
  const sources = {
    "src/main.lang": 'use fx\nuse ui\n\ntest "both" {\n  expect(fx.value() * 10 + ui.value() == 12)\n}\n',
  };
  const direct = { fx: "1.0.0", ui: "1.0.0" };
  await passes(packageOf(sources, direct, used), 1);
  await passes(packageOf(sources, { ...direct, "big-noise": "1.0.0" }, used), 1);
});

Deno.test("what is vendored for this lockfile is used, and only then", async () => {
  const used = (
    value: number,
  ): Used[] => [{ name: "fx", version: "1.0.0", files: { "src/main.lang": constant(value) } }];
  const source = 'use fx\n\ntest "which" {\n  expect(fx.value() == 2)\n}\n';
  const files = packageOf({ "src/main.lang": source }, { fx: "1.0.0" }, used(1));
  addRecord(files, { fx: "1.0.0" }, used(2), ".lang/vendor");
  await passes(files, 1);
  files.write("project.lock", "# another");
  strictEqual((await test(workspaceOf(files))).isPassed, false);
});

Deno.test("tests, examples and warnings of a used package are its author's; its errors are told", () => {
  const fx = (text: string): Used => ({ name: "fx", version: "1.0.0", files: { "src/main.lang": text } });
  const check = (text: string, expected: readonly string[]) => {
    const source = "use fx\n\npub fn start() -> Int {\n  fx.value()\n}\n";
    deepStrictEqual(errors(packageOf({ "src/main.lang": source }, { fx: "1.0.0" }, [fx(text)])), expected);
  };
  const tested = `${constant(1)}\nfn unused() {\n  let x = 1\n}\n\ntest "wrong" {\n  expect(nothing())\n}\n`;
  check(tested, []);
  check("/// ```\n/// expect(nothing())\n/// ```\npub fn value() -> Int {\n  1\n}\n", []);
  check("pub fn value() -> Int {\n  true\n}\n", ["TY0001 .lang/packages/fx-1.0.0/src/main.lang"]);
});

Deno.test("a used package may do no more than its user: neither intrinsics nor the library's own modules", () => {
  const check = (text: string) => {
    const fx: Used = { name: "fx", version: "1.0.0", files: { "src/main.lang": text } };
    const source = "use fx\n\npub fn start() -> Int {\n  fx.value()\n}\n";
    const found = errors(packageOf({ "src/main.lang": source }, { fx: "1.0.0" }, [fx]));
    ok(found.some((each) => each.endsWith(".lang/packages/fx-1.0.0/src/main.lang")), found.join());
  };
  check(`use std.raw\n\n${constant(1)}`);
  check(`extern "lang:evil@1.0.0" fn reach() -> Int\n\n${constant(1)}`);
  check(`pub intrinsic fn value() -> Int\n`);
});

Deno.test("a module that no package has, and one of a package that is only used through another, is unknown", () => {
  const used: Used[] = [
    {
      name: "fx",
      version: "1.0.0",
      dependencies: { noise: "1.0.0" },
      files: { "src/main.lang": constant(1) },
    },
    { name: "noise", version: "1.0.0", files: { "src/main.lang": constant(1) } },
  ];
  for (const path of ["fx.nothing", "noise"]) {
    const source = `use ${path} as other\n\npub fn start() -> Int {\n  other.value()\n}\n`;
    match(
      errors(packageOf({ "src/main.lang": source }, { fx: "1.0.0" }, used)).join(),
      /^MD0001 src\/main\.lang/,
    );
  }
});

Deno.test("MD0008 says that a module of one's own hides one of a package, also when the package comes later", () => {
  const sources = {
    "src/main.lang":
      "use fx\nuse fx.particles\n\npub fn start() -> Int {\n  fx.value() + particles.value()\n}\n",
    "src/fx/particles.lang": constant(1),
  };
  const fx = { name: "fx", version: "1.0.0", files: { "src/main.lang": constant(2) } };
  const files = packageOf(sources, { fx: "1.0.0" }, [fx]);
  const workspace = workspaceOf(files);
  const told = () =>
    workspace.check().diagnostics.map(({ code, severity, message }) => `${code} ${severity} ${message}`);
  deepStrictEqual(told(), []);
  addRecord(files, { fx: "1.0.1" }, [{
    name: "fx",
    version: "1.0.1",
    files: { "src/main.lang": constant(2), "src/particles.lang": constant(3) },
  }], ".lang/packages");
  const hidden =
    "MD0008 warning `fx.particles` is `src/fx/particles.lang` of this package; the package `fx` has a module of that name too, which it hides.";
  deepStrictEqual(told(), [hidden]);
  deepStrictEqual(told(), [hidden]);
});
