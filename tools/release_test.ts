/** A release: notes from the changelog, archives that are the same twice, and machines that cannot be had are named. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { run } from "./project.ts";
import { notesOf, release, TARGETS } from "./release.ts";

Deno.test("notesOf() is the section of the version", () => {
  const changelog =
    "# Changelog\n\n## [Unreleased]\n\n- new\n\n## [0.2.0] - 2026-01-01\n\n### Added\n\n- old\n";
  strictEqual(notesOf(changelog, "0.2.0"), "### Added\n\n- old\n");
  strictEqual(notesOf(changelog, "Unreleased"), "- new\n");
  strictEqual(notesOf(changelog, "0.3.0"), null);
});

Deno.test("the image is not root, keeps data in a volume, opens the three ports and checks its health by itself", async () => {
  const text = await Deno.readTextFile(new URL("../Containerfile", import.meta.url));
  for (
    const line of [
      /^USER 10001:10001$/m,
      /^VOLUME \/data$/m,
      /^EXPOSE 6532 6533 5432$/m,
      /^HEALTHCHECK .*CMD \["\/opt\/db\/dbd", "health"\]$/m,
      /^ENTRYPOINT \["\/opt\/db\/dbd"\]$/m,
      /DB_LISTEN_ADDR=0\.0\.0\.0:6532/,
      /DB_HTTP_ADDR=0\.0\.0\.0:6533/,
      /DB_PG_ADDR=0\.0\.0\.0:5432/,
    ]
  ) match(text, line);
});

Deno.test("release() makes the same archives twice, with checksums, and names what it cannot make", async () => {
  const folder = await Deno.makeTempDir({ prefix: "release-" });
  try {
    const make = async (output: string, dryRun: boolean) => {
      const lines: string[] = [];
      const code = await release({
        dryRun,
        targets: TARGETS,
        output: `${folder}/${output}`,
        print: (line) => lines.push(line),
        compile: async (target, to) => {
          if (target.includes("darwin")) return "no base binary";
          const suffix = target.includes("windows") ? ".exe" : "";
          for (const program of ["dbd", "dbcli", "lang"]) {
            await Deno.writeTextFile(`${to}/${program}${suffix}`, `#!/bin/sh\necho ${program} ${target}\n`);
          }
          return null;
        },
      });
      return { code, lines };
    };
    const first = await make("a", true);
    strictEqual(first.code, 0);
    strictEqual(first.lines.filter((line) => /^NOT MADE: .*darwin \(no base binary\)$/.test(line)).length, 2);
    strictEqual((await make("b", true)).code, 0);
    strictEqual((await make("c", false)).code, 1, "a release without a machine is none");
    const sums = await Deno.readTextFile(`${folder}/a/SHA256SUMS`);
    strictEqual(sums, await Deno.readTextFile(`${folder}/b/SHA256SUMS`));
    strictEqual(sums.trim().split("\n").length, 3);
    strictEqual((await run("sha256sum", ["-c", "SHA256SUMS"], { directory: `${folder}/a` })).code, 0);
    ok((await Deno.readTextFile(`${folder}/a/NOTES.md`)).length > 100);
    const [name] = [...Deno.readDirSync(`${folder}/a`)].map((entry) => entry.name)
      .filter((each) => each.includes("linux")).sort();
    const { stdout } = await run("tar", ["-tvzf", `${folder}/a/${name}`]);
    const entries = stdout.trim().split("\n");
    deepStrictEqual(entries.map((line) => line.replace(/.*\//, "")).sort(), [
      "CHANGELOG.md",
      "Containerfile",
      "LICENSE",
      "dbcli",
      "dbd",
      "lang",
    ]);
    for (const line of entries) match(line, /\/(dbd|dbcli|lang)$/.test(line) ? /^-rwxr-xr-x/ : /^-rw-r--r--/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
