/**
 * Sources in the language that stand in this repository: the library, templates, examples, the reference's code
 * blocks, the pages of the codes.
 */
import { CODE_PAGES } from "../../lang/diagnostics/codes/registry.ts";
import { SourceFile } from "../../lang/source/source_file.ts";
import { blocksOf } from "../support/document_blocks.ts";

const root = new URL("../../", import.meta.url);

/** All sources that should have no errors in their syntax. */
export function rightSources(): SourceFile[] {
  return [...langFiles("lang"), ...documentSources(), ...pageSources()];
}

/** Files that end with `.lang` below a folder. Those of the library are named as its modules. */
function langFiles(folder: string): SourceFile[] {
  const files: SourceFile[] = [];
  for (
    const entry of [...Deno.readDirSync(new URL(`${folder}/`, root))].sort((a, b) => a.name < b.name ? -1 : 1)
  ) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) files.push(...langFiles(path));
    else if (entry.name.endsWith(".lang") && !/\/(broken|failing|fixtures)\//.test(path)) {
      const name = folder.startsWith("lang/library") ? `std:${path}` : path;
      files.push(new SourceFile(name, Deno.readTextFileSync(new URL(path, root))));
    }
  }
  return files;
}

function documentSources(): SourceFile[] {
  const page = Deno.readTextFileSync(new URL("docs/language.md", root));
  return blocksOf(page).filter((block) => block.language === "lang").map((block) =>
    new SourceFile(`docs/language.md:${block.line}`, block.text)
  );
}

function pageSources(): SourceFile[] {
  // Those of packages are manifests.
  return CODE_PAGES.filter((page) => !page.code.startsWith("PK")).flatMap((page) => {
    const isSyntax = page.code.startsWith("SY");
    const programs = isSyntax ? page.fixed : [page.bad, ...page.fixed];
    return programs.map((text, index) => new SourceFile(`explain:${page.code}.${index}`, text));
  });
}
