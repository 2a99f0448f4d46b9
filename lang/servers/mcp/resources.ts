/**
 * What a model can read: the language, the library, what codes mean, and the files of the package.
 *
 * Files are read by the names that the package lists, so no name leads anywhere else. Everything is text.
 */
import { CommandError } from "../../commands/command_error.ts";
import { explain, renderExplanation } from "../../commands/explain.ts";
import { CODE_PAGES, findCodePage } from "../../diagnostics/codes/registry.ts";
import { LIBRARY_MODULES, type LibraryModule } from "../../library/library.ts";
import { libraryModuleReference } from "../../library/reference.ts";
import { LANG_LIMITS } from "../../limits.ts";
import type { PackageFiles } from "../../package/package_files.ts";
import { languageReference } from "./language_reference.ts";

/** A resource as it is listed. */
export interface ResourceEntry {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
}

/** A resource as it is read. */
export interface ResourceText {
  readonly uri: string;
  readonly mimeType: string;
  readonly text: string;
}

/** The open parts of addresses. */
export type ResourceVariable = "module" | "code" | "path";

/** A family of resources with one part of their address left open. */
export interface ResourceFamily {
  readonly template: string;
  readonly variable: ResourceVariable;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
}

const MARKDOWN = "text/markdown";

/** Kinds of files that are text, by their endings. */
const TEXT_KINDS: Readonly<Record<string, string>> = {
  css: "text/css",
  csv: "text/csv",
  html: "text/html",
  js: "text/javascript",
  json: "application/json",
  lang: "text/x-lang",
  md: MARKDOWN,
  svg: "image/svg+xml",
  toml: "application/toml",
  txt: "text/plain",
};

/** Resources with fixed addresses. */
export const FIXED_RESOURCES: readonly ResourceEntry[] = [
  {
    uri: "lang://language",
    name: "language",
    title: "The language",
    description:
      "How programs are written and what they mean: values, types, functions, effects, games. Read it before the first program.",
    mimeType: MARKDOWN,
  },
  {
    uri: "lang://library",
    name: "library",
    title: "The library, in short",
    description:
      "Modules of the library and the names in each; lang://library/{module} has signatures and documentation.",
    mimeType: MARKDOWN,
  },
  {
    uri: "lang://explain",
    name: "explain",
    title: "Diagnostic codes",
    description:
      "All codes that the compiler reports, with what each means; lang://explain/{code} has the page.",
    mimeType: MARKDOWN,
  },
];

/** Resources whose addresses have an open part. */
export const FAMILIES: readonly ResourceFamily[] = [
  {
    template: "lang://library/{module}",
    variable: "module",
    name: "library module",
    title: "A module of the library",
    description: "Signatures and documentation of one module, by its name: list, std.math, web.canvas.",
    mimeType: MARKDOWN,
  },
  {
    template: "lang://explain/{code}",
    variable: "code",
    name: "explanation",
    title: "What a code means",
    description:
      "What a code of the compiler means, a program that raises it, and the program after each fix.",
    mimeType: "text/plain",
  },
  {
    template: "lang://package/{+path}",
    variable: "path",
    name: "package file",
    title: "A file of the package",
    description: "A source, a document or a text of the page, by its path in the package: src/main.lang.",
    mimeType: "text/plain",
  },
];

/** The resources of one package. */
export class Resources {
  readonly #files: () => PackageFiles | null;

  /** `files` gives those of the package as it is now; null where there is none. */
  constructor(files: () => PackageFiles | null) {
    this.#files = files;
  }

  /**
   * Those of a family that are listed by themselves: modules of the library and files of the package; codes are too
   * many.
   */
  listed(variable: ResourceVariable): readonly ResourceEntry[] {
    switch (variable) {
      case "module":
        return publicModules().map(({ name, isPrelude }) => ({
          uri: `lang://library/${name}`,
          name,
          title: `Library: ${name}`,
          description: `Signatures and documentation of ${name}${isPrelude ? ", there without `use`" : ""}.`,
          mimeType: MARKDOWN,
        }));
      case "path":
        return this.#paths().slice(0, LANG_LIMITS.mcpListedFiles).map((path) => ({
          uri: `lang://package/${encodedPath(path)}`,
          name: path,
          title: path,
          description: `The file ${path} of the package.`,
          mimeType: kindOf(path) ?? "text/plain",
        }));
      case "code":
        return [];
    }
  }

  /** What an open part may be, for those who complete it. */
  complete(variable: ResourceVariable, written: string): readonly string[] {
    const wanted = written.toLowerCase();
    return this.#choices(variable).filter((choice) => choice.toLowerCase().includes(wanted));
  }

  #choices(variable: ResourceVariable): readonly string[] {
    switch (variable) {
      case "module":
        return publicModules().map(({ name }) => name);
      case "code":
        return CODE_PAGES.map(({ code }) => code);
      case "path":
        return this.#paths();
    }
  }

  /** The text behind an address; null when there is none. */
  read(uri: string): ResourceText | null {
    const [, host = "", rest = ""] = /^lang:\/\/([^/?#]*)(?:\/([^?#]*))?$/.exec(uri) ?? [];
    const name = decoded(rest);
    if (name === null) return null;
    switch (host) {
      case "language":
        return name === "" ? markdown(uri, languageReference()) : null;
      case "library":
        return name === "" ? markdown(uri, libraryIndex()) : moduleText(uri, name);
      case "explain":
        return name === "" ? markdown(uri, codeIndex()) : codeText(uri, name);
      case "package":
        return this.#fileText(uri, name);
      default:
        return null;
    }
  }

  #fileText(uri: string, path: string): ResourceText | null {
    const mimeType = kindOf(path);
    if (mimeType === null || !this.#paths().includes(path)) return null;
    const text = this.#files()?.read(path);
    return text === undefined ? null : { uri, mimeType, text };
  }

  #paths(): readonly string[] {
    return this.#files()?.list().filter((path) => kindOf(path) !== null) ?? [];
  }
}

function kindOf(path: string): string | null {
  const ending = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return Object.hasOwn(TEXT_KINDS, ending) ? TEXT_KINDS[ending] ?? null : null;
}

function encodedPath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function markdown(uri: string, text: string): ResourceText {
  return { uri, mimeType: MARKDOWN, text };
}

function publicModules(): readonly LibraryModule[] {
  return LIBRARY_MODULES.filter(({ isInternal }) => !isInternal);
}

/** `std.list`, or `list` alone. */
function moduleText(uri: string, name: string): ResourceText | null {
  const module = publicModules().find((each) => each.name === name || each.name.split(".").at(-1) === name);
  return module === undefined ? null : markdown(uri, libraryModuleReference(module));
}

function codeText(uri: string, name: string): ResourceText | null {
  const code = name.toUpperCase();
  if (findCodePage(code) === undefined) return null;
  try {
    return { uri, mimeType: "text/plain", text: renderExplanation(explain(code)) };
  } catch (error) {
    if (error instanceof CommandError) return null;
    throw error;
  }
}

function codeIndex(): string {
  const lines = CODE_PAGES.map(({ code, severity, title }) => `- ${code} (${severity}): ${title}`);
  return `# Diagnostic codes\n\nlang://explain/{code} has the page of each.\n\n${lines.join("\n")}\n`;
}

function libraryIndex(): string {
  const lines = publicModules().map((module) => {
    const names = libraryModuleReference(module).split("\n").flatMap((line) => {
      const [, name] = /^(?:fn|type|interface|const) ([A-Za-z_][\w.]*)/.exec(line) ?? [];
      return name === undefined ? [] : [name];
    });
    return `- ${module.name}${module.isPrelude ? "" : ` (\`use ${module.name}\`)`}: ${names.join(", ")}`;
  });
  return `# The library\n\nModules without \`use\` behind their names are there always. lang://library/{module} has signatures and documentation.\n\n${
    lines.join("\n")
  }\n`;
}
