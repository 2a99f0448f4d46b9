/**
 * `deno task soak:upgrade COMMIT`: members of the sources of that commit are replaced by those of these sources, one by
 * one and under load. There is no way back: older releases do not read what newer ones have written.
 */
import { fileURLToPath } from "node:url";
import { upgradeUnderLoad } from "./upgrade.ts";

const [commit] = Deno.args;
if (commit === undefined) {
  console.error("name the commit of the older release");
  Deno.exit(2);
}
const root = fileURLToPath(new URL("../..", import.meta.url));

async function git(...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("git", { args, cwd: root }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** A server that runs from sources. */
function sources(folder: string): { readonly dbd: string; readonly programArguments: readonly string[] } {
  return {
    dbd: Deno.execPath(),
    programArguments: ["run", "-A", "--no-check", "--config", `${folder}/deno.json`, `${folder}/cli/dbd.ts`],
  };
}

const folder = await Deno.makeTempDir({ prefix: "older-release-" });
await git("worktree", "add", "--detach", folder, commit);
try {
  const { increments, reads, longestPause } = await upgradeUnderLoad({
    before: sources(folder),
    after: sources(root),
  });
  console.log(`${increments} changes, ${reads} reads, the longest pause ${Math.round(longestPause)} ms`);
} finally {
  await git("worktree", "remove", "--force", folder);
}
