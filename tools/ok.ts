/**
 * `deno task ok`: every check that is not a test, each run to its end, and a table of what failed.
 *
 * Order: cheap first. `deno doc --lint` looks at what `mod.ts` exports, the library's public face.
 */
import { projectRoot } from "./project.ts";

interface Step {
  readonly name: string;
  readonly parameters: readonly string[];
}

const steps: readonly Step[] = [
  { name: "fmt", parameters: ["fmt", "--check"] },
  { name: "lint", parameters: ["lint"] },
  { name: "check", parameters: ["check"] },
  { name: "doc lint", parameters: ["doc", "--lint", "mod.ts"] },
  { name: "layers", parameters: ["run", "-A", "tools/check_layers.ts"] },
  { name: "tidy", parameters: ["run", "-A", "tools/tidy.ts"] },
];

async function runStep({ name, parameters }: Step): Promise<boolean> {
  console.log(`== ${name}`);
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: [...parameters],
    cwd: projectRoot,
    stdin: "null",
    stdout: name === "doc lint" ? "null" : "inherit",
    stderr: "inherit",
  }).output();
  return success;
}

const failed: string[] = [];
for (const step of steps) {
  if (!await runStep(step)) failed.push(step.name);
}
console.log(failed.length === 0 ? "ok: all checks pass" : `not ok: ${failed.join(", ")}`);
Deno.exit(failed.length === 0 ? 0 : 1);
