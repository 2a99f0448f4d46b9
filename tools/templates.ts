/**
 * `deno task templates [--check]`: writes `lang/templates/templates.generated.ts`, which imports the files of the
 * templates of `lang new` as texts, and gives the games of `lang/examples/` the page's scripts of the template.
 *
 * With `--check` it writes nothing and ends with exit code 1 when a file is not what it would write.
 */
import { projectRoot } from "./project.ts";

const folder = `${projectRoot}/lang/templates`;
const examples = `${projectRoot}/lang/examples`;
const target = `${folder}/templates.generated.ts`;

async function filesBelow(path: string): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(path)) {
    if (name === "target" || name.startsWith(".")) continue;
    if (isDirectory) files.push(...(await filesBelow(`${path}/${name}`)).map((below) => `${name}/${below}`));
    else files.push(name);
  }
  return files.sort();
}

/** The source of the list. */
export async function templatesSource(): Promise<string> {
  const imports: string[] = [];
  const templates: string[] = [];
  let count = 0;
  const names: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) if (isDirectory) names.push(name);
  for (const name of names.sort()) {
    const entries: string[] = [];
    for (const path of await filesBelow(`${folder}/${name}`)) {
      const variable = `file${count++}`;
      imports.push(`import ${variable} from "./${name}/${path}" with { type: "text" };`);
      entries.push(`    ${JSON.stringify(path)}: ${variable},`);
    }
    templates.push(`  ${JSON.stringify(name)}: {\n${entries.join("\n")}\n  },`);
  }
  return `/** The files of the templates by path. Written by \`deno task templates\`; do not edit. */
// deno-fmt-ignore-file
${imports.join("\n")}

/** Files of each template. */
export const TEMPLATE_FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
${templates.join("\n")}
};
`;
}

/** Scripts of the page of each example, by path, as they are in the template. */
async function exampleScripts(): Promise<Map<string, string>> {
  const scripts = new Map<string, string>();
  const web = `${folder}/game/web`;
  for await (const example of Deno.readDir(examples)) {
    for await (const { name } of Deno.readDir(web)) {
      if (!name.endsWith(".js")) continue;
      scripts.set(`${examples}/${example.name}/web/${name}`, await Deno.readTextFile(`${web}/${name}`));
    }
  }
  return scripts;
}

/** All that is written, by path. */
async function outputs(): Promise<Map<string, string>> {
  return new Map([[target, await templatesSource()], ...await exampleScripts()]);
}

/** Paths of files that are not what they would be written as. */
export async function outdatedFiles(): Promise<string[]> {
  const outdated: string[] = [];
  for (const [path, text] of await outputs()) {
    const before = await Deno.readTextFile(path).catch((error: unknown) => {
      if (error instanceof Deno.errors.NotFound) return null;
      throw error;
    });
    if (before !== text) outdated.push(path);
  }
  return outdated;
}

if (import.meta.main) {
  if (!Deno.args.includes("--check")) {
    for (const [path, text] of await outputs()) await Deno.writeTextFile(path, text);
  } else {
    const outdated = await outdatedFiles();
    for (const path of outdated) {
      console.error(`Cannot use ${path}: the templates changed; run deno task templates`);
    }
    if (outdated.length > 0) Deno.exit(1);
  }
}
