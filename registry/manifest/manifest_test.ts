/** The manifest, its editor, the lockfile. */
import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { formatLockfile, readLockfile } from "./lockfile.ts";
import { readPackageManifest } from "./package_manifest.ts";
import { editToml } from "./toml_edit.ts";

const edited = (text: string, key: string, value: string | null) =>
  editToml(text, { table: "dependencies", key, value });

Deno.test("editToml() keeps comments, order and spacing", () => {
  const before = `# my game
name = "pong"   # the name

[dependencies]   # from elsewhere
fx   = "^0.3"  # sparks

# drawing
ui = { path = "../ui" }

[registry]
default = "a/b"
`;
  strictEqual(edited(before, "fx", '"^0.4"'), before.replace('"^0.3"', '"^0.4"'));
  strictEqual(edited(before, "fx", null), before.replace('fx   = "^0.3"  # sparks\n', ""));
  strictEqual(
    edited(before, "noise", '"1"'),
    before.replace("  # sparks\n", '  # sparks\nnoise = "1"\n'),
  );
  strictEqual(edited(before, "art", '"1"'), before.replace("fx ", 'art = "1"\nfx '));
  const commented = '[dependencies]\n# drawing\nui = "1"\n';
  strictEqual(edited(commented, "fx", '"1"'), commented.replace("# drawing", 'fx = "1"\n# drawing'));
  strictEqual(edited(before, "zoom", '"1"'), before.replace('../ui" }\n', '../ui" }\nzoom = "1"\n'));
  strictEqual(edited(before, "other", null), before);
});

Deno.test("editToml() makes the table, at the end", () => {
  strictEqual(edited('name = "a"\n', "fx", '"1"'), 'name = "a"\n\n[dependencies]\nfx = "1"\n');
  strictEqual(edited('name = "a"', "fx", '"1"'), 'name = "a"\n\n[dependencies]\nfx = "1"\n');
  strictEqual(edited('name = "a"\r\n', "fx", '"1"'), 'name = "a"\r\n\r\n[dependencies]\r\nfx = "1"\r\n');
  strictEqual(edited("", "fx", '"1"'), '[dependencies]\nfx = "1"\n');
  strictEqual(edited("[dependencies]\n", "fx", '"1"'), '[dependencies]\nfx = "1"\n');
});

Deno.test("editToml() edits inline tables, dotted keys and tables of a dependency", () => {
  const inline = 'dependencies = { fx = "1", ui = "2" } # all\n';
  strictEqual(edited(inline, "fx", '"3"'), inline.replace('"1"', '"3"'));
  strictEqual(edited(inline, "fx", null), 'dependencies = { ui = "2" } # all\n');
  strictEqual(edited(inline, "ui", null), 'dependencies = { fx = "1" } # all\n');
  strictEqual(edited(inline, "z", '"3"'), 'dependencies = { fx = "1", ui = "2", z = "3" } # all\n');
  const lines = 'dependencies = {\n  fx = "1", # sparks\n  # drawing\n  ui = "2"\n}\n';
  strictEqual(edited(lines, "fx", null), lines.replace('  fx = "1", # sparks\n', ""));
  strictEqual(edited(lines, "z", '"3"'), lines.replace('ui = "2"', 'ui = "2",\n  z = "3"'));
  const trailing = lines.replace('"2"', '"2", # here').replaceAll("\n", "\r\n");
  strictEqual(edited(trailing, "z", '"3"'), trailing.replace("# here", '# here\r\n  z = "3",'));
  strictEqual(
    edited('dependencies.fx = "1"\n', "ui", '"2"'),
    'dependencies.fx = "1"\ndependencies.ui = "2"\n',
  );
  strictEqual(edited('dependencies.fx = "1"\n', "fx", null), "");
  const table = '[dependencies.fx]\nversion = "1"\n\n[registry]\ndefault = "a/b"\n';
  strictEqual(edited(table, "fx", null), '\n[registry]\ndefault = "a/b"\n');
  strictEqual(
    edited(table, "fx", '"2"'),
    '\n[registry]\ndefault = "a/b"\n\n[dependencies]\nfx = "2"\n',
  );
  strictEqual(edited('[dependencies]\n"fx" = "1"\n', "fx", '"2"'), '[dependencies]\n"fx" = "2"\n');
});

Deno.test("editToml() is not fooled by texts and comments that look like tables", () => {
  const before = `description = """
[dependencies]
fx = "no"
"""
authors = ["[dependencies]", # fx = "no"
  'x']
# [dependencies]
[dependencies]
fx = "1"
`;
  strictEqual(edited(before, "fx", '"2"'), before.replace('fx = "1"', 'fx = "2"'));
});

Deno.test("editToml() refuses what it would damage", () => {
  strictEqual(edited("dependencies = 1\n", "fx", '"1"'), null);
  strictEqual(edited("not toml", "fx", '"1"'), null);
});

Deno.test("readPackageManifest(): registries and dependencies", () => {
  const manifest = readPackageManifest(`
name = "pong"
version = "1.2.0"
[registry]
default = "a/b"
extras = ["c/d", "a/b"]
[dependencies]
fx = "^0.3"
ui = { path = "../ui" }
noise = { git = "https://host.example/noise.git", rev = "main" }
web = { version = "1" }
[package]
yanked = "it crashes"
`);
  deepStrictEqual(manifest.registries, ["a/b", "c/d"]);
  deepStrictEqual([...manifest.dependencies], [
    ["fx", { kind: "registry", requirement: "^0.3" }],
    ["ui", { kind: "path", path: "../ui" }],
    ["noise", { kind: "git", url: "https://host.example/noise.git", revision: "main" }],
    ["web", { kind: "registry", requirement: "1" }],
  ]);
  strictEqual(manifest.yanked, "it crashes");
  strictEqual(readPackageManifest('name = "a"\n[package]\nyanked = true\n').yanked, "no reason given");
  strictEqual(readPackageManifest('name = "a"\n[package]\nyanked = false\n').yanked, null);
});

Deno.test("readPackageManifest() says what is wrong", () => {
  const check = (text: string, expected: RegExp) =>
    throws(() => readPackageManifest(`name = "a"\n${text}\n`), expected);
  check("[dependencies]\nfx = 1", /`dependencies\.fx` is neither/);
  check('[dependencies]\nfx = "latest"', /no requirement: "latest"/);
  check('[dependencies]\nfx = { path = "x", git = "y" }', /wants one of/);
  check('[dependencies]\nfx = { registry = "x" }', /has `registry`/);
  check('[dependencies]\n"F X" = "1"', /`F X` is no name/);
  check('[dependencies]\nbig-fx = "1"\nbig_fx = "1"', /`big-fx` and `big_fx` are both `big_fx` in `use`/);
  check('[registry]\ndefault = "a"', /no owner\/repository/);
  check('[registry]\nextras = "a/b"', /no list/);
  check("[registry]\nmirror = 1", /`registry\.mirror` means nothing/);
  check("version = '1'", /no semantic version/);
  check("x = ", /line 2 is no TOML/);
});

const hash = "9f".repeat(32);

Deno.test("formatLockfile() and readLockfile() are inverse, sorted by name and version", () => {
  const text = formatLockfile([
    {
      name: "fx",
      version: "0.10.0",
      source: { kind: "registry", slug: "a/b" },
      hash: null,
      isUnresolved: true,
    },
    { name: "fx", version: "0.9.0", source: { kind: "registry", slug: "a/b" }, hash, isUnresolved: false },
    { name: "art", version: "1.0.0", source: { kind: "path", path: "../art" }, hash, isUnresolved: false },
  ]);
  strictEqual(
    text,
    `# Written by \`lang pkg\`: the versions that are used, and their hashes. Commit it; do not edit it.

[[package]]
name = "art"
version = "1.0.0"
source = "path+file://../art"
hash = "sha256:${hash}"

[[package]]
name = "fx"
version = "0.9.0"
source = "registry+host://a/b"
hash = "sha256:${hash}"

# unresolved: no index that is cached has it; \`lang pkg update --refresh\` asks the registries
[[package]]
name = "fx"
version = "0.10.0"
source = "registry+host://a/b"
hash = ""
`,
  );
  const read = readLockfile(text);
  deepStrictEqual(read.map(({ isUnresolved }) => isUnresolved), [false, false, true]);
  strictEqual(formatLockfile(read), text);
});

Deno.test("readLockfile() refuses what is damaged", () => {
  const entry = '[[package]]\nname = "fx"\nversion = "1.0.0"\nsource = "registry+host://a/b"\nhash = ""\n';
  const check = (text: string, expected: RegExp) => throws(() => readLockfile(text), expected);
  check(entry + entry, /stands in it twice/);
  check(entry.replace("1.0.0", "1.0"), /fx has no version/);
  check(entry.replace("registry+host", "https"), /no source that is known/);
  check(entry.replace('hash = ""', 'hash = "md5:1"'), /hash of fx 1\.0\.0/);
  check(entry.replace('"fx"', '"../fx"'), /no name/);
  check("[[package]", /is no TOML/);
  check(`${entry}<<<<<<< ours\n=======\n>>>>>>> theirs\n`, /line 6 begins a conflict of git/);
});
