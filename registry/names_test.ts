/** Names of the convention, versions and requirements. */
import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { checkSlug, hasReadableTag, isSlug, parseSource, parseTag, sourceText, tagOf } from "./names.ts";
import { compareVersions, compatibleLine, isVersion, parseRequirement } from "./requirement.ts";

Deno.test("parseTag() splits at the last dash that precedes a digit", () => {
  const check = (tag: string, expected: string | null) => {
    const parsed = parseTag(tag);
    strictEqual(parsed === null ? null : `${parsed.name} ${parsed.version}`, expected, tag);
  };
  check("fx-0.3.2", "fx 0.3.2");
  check("fx-2d-0.1.0", "fx-2d 0.1.0");
  check("fx-tools-1.0.0-beta.1", "fx-tools 1.0.0-beta.1");
  check("fx-1.0.0+build.5", "fx 1.0.0+build.5");
  check("v1.0.0", null);
  check("fx-1.0", null);
  check("fx-1.0.0-1", null);
  check("Fx-1.0.0", null);
  check("-1.0.0", null);
  check("fx-", null);
  check("", null);
  check("fx-99999999999999999999.0.0", null);
});

Deno.test("hasReadableTag() refuses a version whose tag reads as another package", () => {
  strictEqual(hasReadableTag({ name: "fx", version: "1.0.0-beta" }), true);
  strictEqual(hasReadableTag({ name: "fx", version: "1.0.0-1" }), false);
  strictEqual(tagOf({ name: "fx", version: "1.0.0-1" }), "fx-1.0.0-1");
});

Deno.test("isSlug() takes owner/repository alone", () => {
  for (const slug of ["a/b", "octo-games/pack.ages_1"]) strictEqual(isSlug(slug), true, slug);
  for (const slug of ["a", "a/b/c", "../b", "a/..", "a/.", "-a/b", "a b/c", "a/b?x", "a/"]) {
    strictEqual(isSlug(slug), false, slug);
  }
  throws(() => checkSlug("a/../b"), /no owner\/repository/);
});

Deno.test("sourceText() and parseSource() are inverse", () => {
  const commit = "0123456789abcdef0123456789abcdef01234567";
  for (
    const text of ["registry+host://a/b", "path+file://../fx", `git+https://host.example/fx.git#${commit}`]
  ) {
    const source = parseSource(text);
    strictEqual(source === null ? null : sourceText(source), text);
  }
  for (const text of ["", "registry+host://a", "git+https://x#main", "https://x"]) {
    strictEqual(parseSource(text), null, text);
  }
});

Deno.test("parseRequirement(): what each notation allows, and its floor", () => {
  const check = (text: string, allowed: string[], refused: string[], floor: string) => {
    const requirement = parseRequirement(text);
    strictEqual(requirement?.floor, floor, text);
    for (const version of allowed) strictEqual(requirement?.allows(version), true, `${text} ${version}`);
    for (const version of refused) strictEqual(requirement?.allows(version), false, `${text} ${version}`);
  };
  check("0.3.2", ["0.3.2", "0.3.9"], ["0.3.1", "0.4.0", "0.3.3-beta"], "0.3.2");
  check("^0.3.2", ["0.3.2"], ["0.4.0"], "0.3.2");
  check("^1.2", ["1.2.0", "1.9.0"], ["2.0.0", "1.1.9"], "1.2.0");
  check("~0.3.2", ["0.3.5"], ["0.4.0"], "0.3.2");
  check("~1", ["1.9.0"], ["2.0.0"], "1.0.0");
  check("=0.3.2", ["0.3.2"], ["0.3.3"], "0.3.2");
  check(">=0.3.2", ["0.3.2", "7.0.0"], ["0.3.1"], "0.3.2");
  check(">0.3.2", ["0.3.3"], ["0.3.2"], "0.3.3");
  check("<0.5", ["0.4.9"], ["0.5.0"], "0.0.0");
  check("<=0.5.0", ["0.5.0"], ["0.5.1"], "0.0.0");
  check(">=0.3, <0.5", ["0.3.0", "0.4.9"], ["0.5.0"], "0.3.0");
  check("*", ["0.0.1", "9.0.0"], ["1.0.0-rc.1"], "0.0.0");
  check("0.3.*", ["0.3.7"], ["0.4.0"], "0.3.0");
  check("^1.0.0-beta.2", ["1.0.0-beta.3", "1.2.0"], ["1.0.0-beta.1"], "1.0.0-beta.2");
});

Deno.test("parseRequirement() refuses what is written loosely", () => {
  for (
    const text of [
      "",
      "v1",
      "1 || 2",
      "1 - 2",
      "1.2-beta",
      "latest",
      "^^1",
      "1..2",
      "01.0.0",
      "x",
      ">=*",
      ",",
      "1,",
    ]
  ) {
    strictEqual(parseRequirement(text), null, text);
  }
});

Deno.test("versions: order, lines and what is none", () => {
  const sorted = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.0.1", "2.0.0"];
  deepStrictEqual(sorted.toReversed().toSorted(compareVersions), sorted);
  deepStrictEqual(["1.4.0", "0.3.2", "0.0.7"].map(compatibleLine), ["1", "0.3", "0.0.7"]);
  for (const text of ["1.0", "v1.0.0", "01.0.0", "1.0.0 ", "=1.0.0", "1.0.0-"]) {
    strictEqual(isVersion(text), false, text);
  }
});
