/** Tests of what a model can read. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { CODE_PAGES } from "../../diagnostics/codes/registry.ts";
import { MemoryFiles } from "../../package/package_files.ts";
import { compactMarkdown, languageReference } from "./language_reference.ts";
import { FIXED_RESOURCES, Resources } from "./resources.ts";

const SECRET = "not of the package";

const files = new MemoryFiles([
  ["project.toml", 'name = "pong"\nversion = "0.1.0"\n'],
  ["src/main.lang", "fn main() -> Int { 1 }\n"],
  ["docs/how to play.md", "# Pong\n"],
  ["web/ball.png", new Uint8Array([0x89, 0x50])],
]);

/** Files that also answer for what they do not list, as a disk does. */
const careless = {
  list: () => files.list(),
  read: (path: string) => files.read(path) ?? SECRET,
  write: () => {},
  remove: () => {},
};

Deno.test("Resources.read() gives every fixed resource, module, code and file that is listed", () => {
  const resources = new Resources(() => files);
  const listed = [...FIXED_RESOURCES, ...resources.listed("module"), ...resources.listed("path")];
  ok(listed.length > 25);
  for (const { uri, mimeType } of listed) {
    const found = resources.read(uri);
    strictEqual(found?.uri, uri);
    strictEqual(found.mimeType, mimeType);
    ok(found.text.length > 0, uri);
  }
  for (const { code } of CODE_PAGES.slice(0, 5)) {
    match(resources.read(`lang://explain/${code}`)?.text ?? "", new RegExp(code));
  }
  deepStrictEqual(resources.listed("path").map(({ name }) => name), [
    "docs/how to play.md",
    "project.toml",
    "src/main.lang",
  ]);
  strictEqual(resources.read("lang://package/docs/how%20to%20play.md")?.text, "# Pong\n");
  strictEqual(resources.read("lang://library/list")?.text, resources.read("lang://library/std.list")?.text);
  match(resources.read("lang://library")?.text ?? "", /- std\.list: .*List\.push/);
});

Deno.test("Resources.read() gives nothing that the package does not list", () => {
  const resources = new Resources(() => careless);
  const uris = [
    "lang://package/../secret.md",
    "lang://package/src/../../secret.md",
    "lang://package/%2e%2e/secret.md",
    "lang://package/..%2fsecret.md",
    "lang://package//etc/hosts.txt",
    "lang://package/secret.md",
    "lang://package/web/ball.png",
    "lang://package/%",
    "lang://package",
    "lang://elsewhere/src/main.lang",
    "file:///etc/passwd",
    "lang://library/std.raw",
    "lang://library/__proto__",
    "lang://explain/XX9999",
    "lang://explain/constructor",
    "lang://language/more",
    "lang:language",
    "",
  ];
  for (const uri of uris) strictEqual(resources.read(uri), null, uri);
  strictEqual(new Resources(() => null).read("lang://package/src/main.lang"), null);
});

Deno.test("Resources.complete() finds modules, codes and files by any part of their names", () => {
  const resources = new Resources(() => files);
  deepStrictEqual(resources.complete("path", "MAIN"), ["src/main.lang"]);
  ok(resources.complete("module", "canv").includes("web.canvas"));
  ok(resources.complete("code", "ty00").every((code) => code.startsWith("TY00")));
});

Deno.test("compactMarkdown() takes the padding out of tables and leaves code alone", () => {
  const text = "| a    | b   |\n| ---- | --- |\n| c    |     |\n\n\n\n```lang\n|   a   |\n```\n";
  strictEqual(compactMarkdown(text), "| a | b |\n| --- | --- |\n| c | |\n\n```lang\n|   a   |\n```\n");
});

Deno.test("languageReference() has the whole page but its grammar", () => {
  const text = languageReference();
  match(text, /^# The language\n/);
  match(text, /### Effects/);
  ok(!text.includes("```ebnf"));
});
