/** Tests of what pages are told of builds, and of the script in them. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { PackageAnalyzer } from "../../check/package_analysis.ts";
import { renderReport } from "../../diagnostics/human.ts";
import { buildMessage } from "./messages.ts";
import { reportPieces } from "./report_pieces.ts";
import { watchedPage } from "./watched_page.ts";

function errorsOf(text: string) {
  return new PackageAnalyzer().analyze(new Map([["src/main.lang", text]])).diagnostics;
}

Deno.test("reportPieces() are what the terminal shows, with what each piece is", () => {
  const diagnostics = errorsOf(
    'fn main() -> Int {\n  let text = "a"\n  text + 1\n}\nfn other() -> Int { "<b>" }\n',
  );
  ok(diagnostics.length >= 2);
  const pieces = reportPieces(diagnostics);
  strictEqual(pieces.map(([, text]) => text).join(""), renderReport(diagnostics));
  ok(pieces.some(([role, text]) => role === "error" && /^error\[TY\d{4}\]$/.test(text)));
  ok(pieces.some(([role, text]) => role === "error" && /^\^+$/.test(text)));
  deepStrictEqual(reportPieces([]), []);
});

Deno.test("buildMessage() tells a hundred errors, errors first, and how many more there are", () => {
  const lines = Array.from({ length: 150 }, (_, n) => `fn f${n}() -> Int { "x" }`);
  const diagnostics = errorsOf(lines.join("\n"));
  strictEqual(diagnostics.filter(({ severity }) => severity === "error").length, 150);
  const message = buildMessage({ kind: "errors", diagnostics: [...diagnostics].reverse() }, {
    version: "v-1",
    reload: null,
    milliseconds: 3,
    isBuilt: true,
  });
  strictEqual(message.diagnostics.length, 100);
  ok(message.diagnostics.every(({ severity }) => severity === "error"));
  strictEqual(message.truncated, diagnostics.length - 100);
  ok(message.state === "failed");
  match(message.title, /^150 errors/);
  match(message.report.at(-1)?.[1] ?? "", new RegExp(`^and ${diagnostics.length - 100} more`));
});

Deno.test("buildMessage() tells a fault of the compiler apart from a package that cannot be built", () => {
  const options = { version: "v-1", reload: null, milliseconds: 3, isBuilt: false };
  const fault = buildMessage({ kind: "failed", message: "boom", fault: { thrown: null } }, options);
  ok(fault.state === "failed" && fault.title === "The compiler has failed");
  const missing = buildMessage({ kind: "failed", message: "no manifest", fault: null }, options);
  ok(missing.state === "failed" && missing.title === "The package cannot be built" && !missing.isBuilt);
  deepStrictEqual(missing.report, [["error", "error"], ["", ": no manifest\n"]]);
});

Deno.test("watchedPage() puts the script before everything of the page's own, behind its document type", () => {
  const place = (html: string) => watchedPage(html, "v-1").replace(/<script>[^]*?<\/script>/, "[script]");
  strictEqual(
    place("<!DOCTYPE html>\n<html><head lang='en'><title>x</title></head></html>"),
    "<!DOCTYPE html>\n<html><head lang='en'>[script]<title>x</title></head></html>",
  );
  strictEqual(place("<!doctype html>\n<p>text"), "<!doctype html>[script]\n<p>text");
  strictEqual(place("<header>text</header>"), "[script]<header>text</header>");
  strictEqual(place(""), "[script]");
  // The version is a text of the script, whatever it is made of.
  match(watchedPage("", "a$&b"), /let version = "a\$&b";/);
});
