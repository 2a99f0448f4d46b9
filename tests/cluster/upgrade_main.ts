/**
 * `deno task soak:upgrade COMMIT`: members of the sources of that commit are replaced by those of these sources, one by
 * one and under load; one goes back before all are new, and is refused afterwards.
 */
import { SOURCES, sourcesIn } from "./other_release.ts";
import { upgradeAndBack } from "./upgrade.ts";

const [commit] = Deno.args;
if (commit === undefined) {
  console.error("name the commit of the older release");
  Deno.exit(2);
}

async function git(...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("git", { args, cwd: SOURCES }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

const folder = await Deno.makeTempDir({ prefix: "older-release-" });
await git("worktree", "add", "--detach", folder, commit);
try {
  const { increments, reads, longestPause } = await upgradeAndBack({
    before: sourcesIn(folder),
    after: sourcesIn(SOURCES),
  });
  console.log(`${increments} changes, ${reads} reads, the longest pause ${Math.round(longestPause)} ms`);
} finally {
  await git("worktree", "remove", "--force", folder);
}
