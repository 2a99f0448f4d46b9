/** Fixes and patches: which errors are fixed, and that a file that changed meanwhile is left alone. */
import assert from "node:assert/strict";
import { MemoryFiles } from "../package/package_files.ts";
import { newPackageFiles, TEMPLATES } from "../package/new_package.ts";
import { CommandError } from "./command_error.ts";
import { fix } from "./fix.ts";
import { makePatch, textDigest, writePatches } from "./patch.ts";
import { Workspace } from "./workspace.ts";

function workspaceOf(source: string): { readonly workspace: Workspace; readonly files: MemoryFiles } {
  const files = new MemoryFiles([["project.toml", 'name = "p"\n'], ["src/main.lang", source]]);
  return { workspace: new Workspace(files), files };
}

const source = `pub fn a(flag: Bool) -> Int {
  match flag { true => 1 }
}

pub fn b(flag: Bool) -> Int {
  match flag { false => 1 }
}
`;

Deno.test("fix() fixes every error of a code, or those of a line, and writes when asked", () => {
  const { workspace, files } = workspaceOf(source);
  const shown = fix(workspace, { code: "mx0001", alternative: 1 });
  assert.deepEqual([shown.fixed.length, shown.left.length, shown.isWritten], [2, 0, false]);
  assert.equal(files.read("src/main.lang"), source);
  const second = fix(workspace, { code: "MX0001", line: 6, write: true });
  assert.deepEqual([second.fixed.length, second.isWritten], [1, true]);
  assert.deepEqual(workspace.check().diagnostics.map(({ code }) => code), ["MX0001"]);
  const none = fix(workspace, { code: "MX0001", alternative: 7, write: true });
  assert.deepEqual([none.fixed.length, none.left.length, none.isWritten], [0, 1, false]);
  assert.throws(() => fix(workspace, { code: "XX0001" }), CommandError);
});

Deno.test("writePatches() writes all or nothing, and only what the patches were made for", () => {
  const files = new MemoryFiles([["a", "1\n"], ["b", "2\n"]]);
  const patches = [makePatch("a", "1\n", "one\n"), makePatch("b", "2\n", "two\n")];
  assert.equal(patches[0]?.sha256, "4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865");
  assert.equal(textDigest("1\n"), patches[0]?.sha256);
  files.write("b", "changed\n");
  assert.throws(() => writePatches(files, patches), /Cannot change b: it changed meanwhile/);
  assert.equal(files.read("a"), "1\n");
  files.write("b", "2\n");
  writePatches(files, patches);
  assert.deepEqual([files.read("a"), files.read("b")], ["one\n", "two\n"]);
});

Deno.test("newPackageFiles() gives a package of that name for every template", () => {
  for (const template of TEMPLATES) {
    const files = newPackageFiles("some_name", template);
    const { diagnostics, manifest } = new Workspace(new MemoryFiles(files)).check();
    assert.deepEqual(diagnostics.map(({ message }) => message), [], template);
    assert.equal(manifest?.name, "some_name");
  }
});
