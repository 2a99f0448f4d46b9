/**
 * Document 3, section 2: releases, manifest, lockfile, cache, credentials, artifacts. Tests are named after the rows.
 */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { createHash } from "node:crypto";
import { fetchPackages } from "../../../registry/client/fetch_packages.ts";
import { indexPath } from "../../../registry/client/indexes.ts";
import { storeToken } from "../../../registry/client/tokens.ts";
import { addDependency, updateDependencies } from "../../../registry/commands/change_dependencies.ts";
import { publishPackage } from "../../../registry/commands/publish.ts";
import { readPackageManifest } from "../../../registry/manifest/package_manifest.ts";
import { OFFICIAL_REGISTRY } from "../../../registry/names.ts";
import { manifest, SLUG, TOKEN, withEnvironment } from "../machine.ts";

const ask = { requirement: null, path: null, git: null, revision: null };

Deno.test("Release: tag | <package-name>-<version>; tags that do not parse are ignored", () =>
  withEnvironment(async ({ server, machine }) => {
    const author = machine("author", { hostToken: TOKEN });
    await author.write("fx-tools", {
      "project.toml": manifest("fx-tools", "1.0.0-beta.1"),
      "src/a.lang": "",
    });
    const { url } = await publishPackage(author.session("fx-tools"), { isDryRun: false });
    ok(url?.endsWith("/releases/tag/fx-tools-1.0.0-beta.1"));
    server.addRelease(SLUG, "v1.0.0", "", { "v1.0.0.tar.gz": "x" });
    server.addRelease(SLUG, "nightly", "", {});
    const user = machine("user");
    await user.write("app", { "project.toml": manifest("app", "1.0.0") });
    await updateDependencies(user.session("app"), { name: null, refresh: true });
    const index = JSON.parse(await user.read("app/.lang/registry/octo__games/index.json"));
    deepStrictEqual(index.releases.map(({ name, version }: Record<string, string>) => [name, version]), [
      ["fx-tools", "1.0.0-beta.1"],
    ]);
  }));

Deno.test("Release: asset 1 | gzipped tar, one top-level directory, deterministic bytes; asset 2 | one checksum line", () =>
  withEnvironment(async ({ server, machine }) => {
    const files = {
      "project.toml": manifest("fx", "0.3.2"),
      "src/b.lang": "b",
      "src/a.lang": "a",
      "README.md": "hi",
    };
    const tarballs: Uint8Array[] = [];
    for (const name of ["one", "two"]) {
      const author = machine(name, name === "one" ? { hostToken: TOKEN } : {});
      const folder = await author.write("fx", files);
      // Another clock, other times of files, another mask of modes.
      author.now += tarballs.length * 86_400_000;
      await Deno.utime(`${folder}/src/a.lang`, 1000 * tarballs.length + 5, 77);
      await Deno.chmod(`${folder}/README.md`, tarballs.length === 0 ? 0o600 : 0o664);
      await publishPackage(author.session("fx"), { isDryRun: false });
      tarballs.push(await Deno.readFile(`${folder}/.lang/publish/fx-0.3.2.tar.gz`));
    }
    deepStrictEqual(tarballs[0], tarballs[1]);
    const [release] = server.releases(SLUG);
    deepStrictEqual(release?.assets.map(({ name, type }) => [name, type]), [
      ["fx-0.3.2.tar.gz", "application/gzip"],
      ["fx-0.3.2.tar.gz.sha256", "text/plain"],
    ]);
    const [tarball, sidecar] = release.assets;
    deepStrictEqual(tarball?.bytes, tarballs[0]);
    const digest = createHash("sha256").update(tarballs[0] ?? "").digest("hex");
    strictEqual(new TextDecoder().decode(sidecar?.bytes), `${digest}  fx-0.3.2.tar.gz\n`);
  }));

Deno.test("Release: release body | the manifest of the published version, verbatim", () =>
  withEnvironment(async ({ server, machine }) => {
    const author = machine("author", { hostToken: TOKEN });
    const text = `# my package\r\n${manifest("fx", "0.3.2")}\n\n`;
    await author.write("fx", { "project.toml": text, "src/main.lang": "" });
    await publishPackage(author.session("fx"), { isDryRun: false });
    strictEqual(server.releases(SLUG)[0]?.body, text);
  }));

for (const form of ["bare hex", "sha256:<hex>", "the full checksum line"] as const) {
  Deno.test(`fetch accepts the checksum as ${form}`, () =>
    withEnvironment(async ({ server, machine }) => {
      const author = machine("author");
      await author.write("fx", { "project.toml": manifest("fx", "0.3.2"), "src/main.lang": "" });
      const { hash } = await publishPackage(author.session("fx"), { isDryRun: false });
      const sidecar = form === "bare hex"
        ? hash.toUpperCase()
        : form === "sha256:<hex>"
        ? `sha256:${hash}`
        : `${hash}  fx-0.3.2.tar.gz\n`;
      server.addRelease(SLUG, "fx-0.3.2", "", {
        "fx-0.3.2.tar.gz": await Deno.readFile(`${author.home}/fx/.lang/publish/fx-0.3.2.tar.gz`),
        "fx-0.3.2.tar.gz.sha256": sidecar,
      });
      const user = machine("user");
      await user.write("app", { "project.toml": manifest("app", "1.0.0", { fx: "^0.3" }) });
      const { unpacked } = await fetchPackages(user.session("app"));
      deepStrictEqual(unpacked, [{ name: "fx", version: "0.3.2" }]);
      strictEqual(await user.has("app/.lang/packages/fx-0.3.2/src/main.lang"), true);
    }));
}

Deno.test("[registry]: default | first registry searched; the official registry when the section is omitted", () => {
  deepStrictEqual(readPackageManifest('name = "a"\n').registries, [OFFICIAL_REGISTRY]);
  deepStrictEqual(readPackageManifest('name = "a"\n[registry]\ndefault = "o/r"\n').registries, ["o/r"]);
});

Deno.test("[registry]: extras | further registries, searched in declared order; default empty", () => {
  const { registries } = readPackageManifest(
    'name = "a"\n[registry]\ndefault = "o/r"\nextras = ["z/z", "a/a"]\n',
  );
  deepStrictEqual(registries, ["o/r", "z/z", "a/a"]);
});

Deno.test("[[package]]: name, version, source registry+host://<owner>/<repo>, hash sha256:<hex>", () =>
  withEnvironment(async ({ machine }) => {
    const author = machine("author", { hostToken: TOKEN });
    await author.write("fx", { "project.toml": manifest("fx", "0.3.2"), "src/main.lang": "" });
    const { hash } = await publishPackage(author.session("fx"), { isDryRun: false });
    const user = machine("user");
    await user.write("app", { "project.toml": manifest("app", "1.0.0", { fx: "^0.3" }) });
    await fetchPackages(user.session("app"));
    match(
      await user.read("app/project.lock"),
      new RegExp(
        `\\n\\[\\[package\\]\\]\\nname = "fx"\\nversion = "0.3.2"\\nsource = "registry\\+host://octo/games"\\nhash = "sha256:${hash}"\\n$`,
      ),
    );
  }));

Deno.test("Local catalog cache: .lang/registry/<owner>__<repo>/index.json holds the parsed list of releases", () =>
  withEnvironment(async ({ server, machine }) => {
    const author = machine("author", { hostToken: TOKEN });
    await author.write("fx", {
      "project.toml": `${manifest("fx", "0.3.2", { noise: "^1" })}`,
      "src/main.lang": "",
    });
    await publishPackage(author.session("fx"), { isDryRun: false });
    const user = machine("user");
    const root = await user.write("app", { "project.toml": manifest("app", "1.0.0") });
    await updateDependencies(user.session("app"), { name: null, refresh: true });
    strictEqual(indexPath(root, SLUG), `${root}/.lang/registry/octo__games/index.json`);
    const index = JSON.parse(await user.read("app/.lang/registry/octo__games/index.json"));
    deepStrictEqual(Object.keys(index), ["slug", "fetched_at", "last_modified", "etag", "releases"]);
    strictEqual(index.fetched_at, 1_790_000_000);
    deepStrictEqual(index.releases, [{
      name: "fx",
      version: "0.3.2",
      tag: "fx-0.3.2",
      tarball_url: `${server.apiUrl}/octo/games/releases/download/fx-0.3.2/fx-0.3.2.tar.gz`,
      sha256_url: `${server.apiUrl}/octo/games/releases/download/fx-0.3.2/fx-0.3.2.tar.gz.sha256`,
      html_url: `${server.apiUrl}/octo/games/releases/tag/fx-0.3.2`,
      dependencies: { noise: "^1" },
      tarball_api_url: `${server.apiUrl}/repos/octo/games/releases/assets/2`,
      sha256_api_url: `${server.apiUrl}/repos/octo/games/releases/assets/3`,
    }]);
  }));

Deno.test("Credentials file: [tokens] by slug, on Unix written with mode 0600", () =>
  withEnvironment(async ({ machine }) => {
    const user = machine("user");
    const { authFile } = user.host.surroundings;
    await storeToken(user.host, "a/b", "first");
    await Deno.chmod(authFile, 0o644);
    await storeToken(user.host, "c/d", "second");
    strictEqual(await Deno.readTextFile(authFile), '[tokens]\n"a/b" = "first"\n"c/d" = "second"\n');
    if (Deno.build.os !== "windows") strictEqual(((await Deno.stat(authFile)).mode ?? 0) & 0o777, 0o600);
  }));

Deno.test("Publish artifacts: .lang/publish/, without top-level .git/, target/, .lang/", () =>
  withEnvironment(async ({ machine }) => {
    const author = machine("author");
    const folder = await author.write("fx", {
      "project.toml": manifest("fx", "0.3.2"),
      "src/main.lang": "",
      "src/target/kept.txt": "",
      ".gitignore": "",
      ".git/config": "",
      "target/main.wasm": "",
      ".lang/other": "",
    });
    const outcome = await publishPackage(author.session("fx"), { isDryRun: false });
    deepStrictEqual(outcome.files, [".gitignore", "project.toml", "src/main.lang", "src/target/kept.txt"]);
    deepStrictEqual(outcome.artifacts, [
      ".lang/publish/fx-0.3.2.tar.gz",
      ".lang/publish/fx-0.3.2.tar.gz.sha256",
    ]);
    deepStrictEqual([...Deno.readDirSync(`${folder}/.lang/publish`)].map(({ name }) => name).sort(), [
      "fx-0.3.2.tar.gz",
      "fx-0.3.2.tar.gz.sha256",
    ]);
  }));

Deno.test("publish refuses links, unreadable tags and dependencies that nobody else has", () =>
  withEnvironment(async ({ machine }) => {
    const author = machine("author");
    const folder = await author.write("fx", {
      "project.toml": manifest("fx", "1.0.0-1"),
      "src/main.lang": "",
    });
    const publish = () => publishPackage(author.session("fx"), { isDryRun: false });
    await rejects(publish, /its tag fx-1\.0\.0-1 would be read as another package/);
    await author.write("fx", { "project.toml": manifest("fx", "1.0.0") });
    await Deno.symlink("/etc/passwd", `${folder}/src/link.lang`);
    await rejects(publish, /Cannot pack "src\/link\.lang": it is a link/);
    await Deno.remove(`${folder}/src/link.lang`);
    await author.write("fx", {
      "project.toml": `${manifest("fx", "1.0.0")}[dependencies]\nui = { path = "../ui" }\n`,
    });
    await rejects(publish, /it needs ui from a folder/);
    strictEqual(await author.has("fx/.lang/publish/fx-1.0.0.tar.gz"), false);
  }));

Deno.test("add keeps the manifest's comments, and names the highest version", () =>
  withEnvironment(async ({ machine }) => {
    const author = machine("author", { hostToken: TOKEN });
    for (const version of ["0.3.1", "0.3.10", "0.3.9"]) {
      await author.write("fx", { "project.toml": manifest("fx", version), "src/main.lang": "" });
      await publishPackage(author.session("fx"), { isDryRun: false });
    }
    const user = machine("user");
    const text = `# mine\n${manifest("app", "1.0.0")}# the end\n`;
    await user.write("app", { "project.toml": text });
    await updateDependencies(user.session("app"), { name: null, refresh: true });
    const { version } = await addDependency(user.session("app"), { ...ask, name: "fx" });
    strictEqual(version, "0.3.10");
    strictEqual(await user.read("app/project.toml"), `${text}\n[dependencies]\nfx = "^0.3.10"\n`);
  }));
