/**
 * `deno task templates [--check]`: writes `lang/templates/templates.generated.ts`, which imports the files of the
 * templates of `lang new` as texts. With `--check` it writes nothing and exits with code 1 when the list is outdated.
 */
import { projectRoot } from "./project.ts";

const folder = `${projectRoot}/lang/templates`;
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
async function templatesSource(): Promise<string> {
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

/** Whether the list is not what it would be written as. */
export async function isOutdated(): Promise<boolean> {
  return await Deno.readTextFile(target) !== await templatesSource();
}

if (import.meta.main) {
  if (!Deno.args.includes("--check")) await Deno.writeTextFile(target, await templatesSource());
  else if (await isOutdated()) {
    console.error(`Cannot use ${target}: the templates changed; run deno task templates`);
    Deno.exit(1);
  }
}
