/** The library, the templates and the examples are in the formatter's own style. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { SourceFile } from "../source/source_file.ts";
import { format } from "../syntax/format.ts";

function sourcesIn(folder: URL): URL[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory
      ? sourcesIn(new URL(`${name}/`, folder))
      : name.endsWith(".lang")
      ? [new URL(name, folder)]
      : []
  );
}

Deno.test("sources of the library, templates and examples are formatted", () => {
  const sources = ["./", "../templates/", "../examples/"].flatMap((folder) =>
    sourcesIn(new URL(folder, import.meta.url))
  );
  ok(sources.length >= 40, String(sources.length));
  const other = sources.filter((url) => {
    const text = Deno.readTextFileSync(url);
    return format(new SourceFile(url.pathname, text)) !== text;
  });
  deepStrictEqual(other.map(({ pathname }) => pathname), []);
});
