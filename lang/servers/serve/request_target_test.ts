/** Tests of reading request targets: what leads upwards is refused in every spelling. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { readTarget } from "./request_target.ts";

Deno.test("readTarget() refuses `..` in every spelling, before anything is normalized", () => {
  const refused = [
    "/..",
    "/../project.toml",
    "/a/../../b",
    "/a/..",
    "/..a",
    "/a..b",
    "/a..",
    "/%2e%2e/x",
    "/%2E%2E/x",
    "/%2e./x",
    "/.%2E/x",
    "/%252e%252e/x",
    "/%252E./x",
    "/%25252e%25252e/x",
    "/%2%65%2e/x",
    "/..%2fx",
    "/%2e%2e%2fx",
    "/..%5cx",
    "/..\\x",
    "/a\\..\\b",
    "/%c0%ae%c0%ae/x",
    "/%C0%AE./x",
    "/%25c0%25ae%25c0%25ae/x",
    "http://127.0.0.1:8000/../x",
    "http://localhost/a/%2e%2e/x",
    "/..?q",
    "/../x#y",
    `/${"%25".repeat(3)}2e%2e`,
    // Encoded more often than anybody does, to hide something.
    `/%${"25".repeat(12)}2e`,
  ];
  for (const target of refused) strictEqual(readTarget(target).kind, "forbidden", target);
});

Deno.test("readTarget() decodes once what leads nowhere else", () => {
  const paths: Readonly<Record<string, string>> = {
    "/": "/",
    "/loader.js": "/loader.js",
    "/loader.js?v=../..": "/loader.js",
    "/a/b%20c.png": "/a/b c.png",
    "/%C3%A4.svg": "/ä.svg",
    "/a.b/c.d": "/a.b/c.d",
    "/100%25.txt": "/100%.txt",
    "/a%2fb": "/a/b",
    "http://127.0.0.1:8000/x": "/x",
    "http://127.0.0.1:8000": "/",
    "/./x": "/./x",
    "/%2e": "/.",
  };
  for (const [target, path] of Object.entries(paths)) {
    deepStrictEqual(readTarget(target), { kind: "path", path });
  }
});

Deno.test("readTarget() knows no file of a name that cannot be one", () => {
  for (
    const target of ["*", "x", "/a%00b", "/a%0ab", "/a\\b", "/a%5cb", "/%ff", "/%", "/%zz", "//x", "/a//b"]
  ) {
    strictEqual(readTarget(target).kind, "unknown", target);
  }
});
