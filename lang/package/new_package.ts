/** New packages: the files of a template with the package's name put in, and the scripts of its page. */
import { PAGE_RUNTIME } from "../page_runtime/page_runtime.ts";
import { TEMPLATE_FILES } from "../templates/templates.generated.ts";
import { isPackageName } from "./manifest.ts";

/** The templates, the one that is taken by itself first. */
export const TEMPLATES = ["game", "tool", "library", "db-function"] as const;

/** One of them. */
export type TemplateName = typeof TEMPLATES[number];

/** What git leaves alone. */
const GIT_IGNORE = "target/\n.lang/\n";

/** The files of a new package by path. */
export function newPackageFiles(name: string, template: TemplateName): ReadonlyMap<string, string> {
  if (!isPackageName(name)) {
    throw new RangeError(`Cannot make a package: ${name} is not a valid package name`);
  }
  const files = new Map<string, string>();
  for (const [path, text] of Object.entries(TEMPLATE_FILES[template] ?? {})) {
    files.set(path, path === "project.toml" ? text.replace(/^name = .*$/m, `name = "${name}"`) : text);
  }
  if (files.has("web/index.html")) {
    for (const [path, text] of PAGE_RUNTIME) files.set(`web/${path}`, text);
  }
  files.set(".gitignore", GIT_IGNORE);
  return files;
}
