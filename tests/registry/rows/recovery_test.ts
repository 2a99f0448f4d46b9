/**
 * What is left half done, damaged or changed behind the back of `lang pkg`, and several commands at the same time:
 * the next run mends it.
 */
import { deepStrictEqual, doesNotMatch, match, ok, rejects, strictEqual } from "node:assert/strict";
import { packTree } from "../../../registry/archive/pack.ts";
import { formatSidecar } from "../../../registry/archive/sidecar.ts";
import { sha256 } from "../../../registry/archive/tree.ts";
import { fetchPackages } from "../../../registry/client/fetch_packages.ts";
import { ensurePackages } from "../../../registry/client/ready.ts";
import { addDependency, updateDependencies } from "../../../registry/commands/change_dependencies.ts";
import { searchPackages } from "../../../registry/commands/look_up.ts";
import { publishPackage } from "../../../registry/commands/publish.ts";
import { vendorPackages, verifyPackages } from "../../../registry/commands/vendor.ts";
import { failure, type Machine, manifest, SLUG, TOKEN, withEnvironment, type World } from "../machine.ts";

const ask = { requirement: null, path: null, git: null, revision: null };
const isUnix = Deno.build.os !== "windows";

async function publish({ machine }: World, name: string, version: string): Promise<void> {
  const author = machine("author", { hostToken: TOKEN });
  await author.write(name, { "project.toml": manifest(name, version), "src/main.lang": `// ${version}\n` });
  await publishPackage(author.session(name), { isDryRun: false });
}

async function userOf(
  { machine }: World,
  dependencies: Readonly<Record<string, string>>,
): Promise<Machine> {
  const user = machine("user");
  await user.write("app", { "project.toml": manifest("app", "1.0.0", dependencies) });
  return user;
}

Deno.test("publish goes on with a release that an earlier run has left without its files", () =>
  withEnvironment(async (world) => {
    const author = world.machine("author", { hostToken: TOKEN });
    const text = manifest("fx", "0.3.2");
    await author.write("fx", { "project.toml": text, "src/main.lang": "" });
    const run = () => publishPackage(author.session("fx"), { isDryRun: false });
    for (const stopped of [/^POST .*\.tar\.gz$/, /^POST .*\.sha256$/]) {
      world.server.fail(stopped, { kind: "status", status: 500 });
      match((await failure(run())).hint ?? "", /is there, but not whole; `lang pkg publish` goes on with it/);
    }
    world.server.takeRequests();
    match((await run()).url ?? "", /releases\/tag\/fx-0\.3\.2$/);
    const sent = world.server.takeRequests().filter(({ server }) => server === "uploads");
    deepStrictEqual(sent.map(({ path }) => path.split("name=").at(-1)), ["fx-0.3.2.tar.gz.sha256"]);
    strictEqual(world.server.releases(SLUG).length, 1);
    match((await failure(run())).hint ?? "", /A version is published once/);
    // What somebody else has begun is not finished with these files.
    for (const [version, body] of [["0.3.3", "other"], ["0.3.4", manifest("fx", "0.3.4")]] as const) {
      world.server.addRelease(SLUG, `fx-${version}`, body, { [`fx-${version}.tar.gz`]: "other bytes" });
      await author.write("fx", { "project.toml": manifest("fx", version) });
      match((await failure(run())).hint ?? "", /A version is published once/);
      strictEqual(world.server.releases(SLUG)[0]?.assets.length, 1);
    }
  }));

Deno.test("publish gets 422 from the hosting service | the hint is about what it says", () =>
  withEnvironment(async (world) => {
    const author = world.machine("author", { hostToken: TOKEN });
    await author.write("fx", { "project.toml": manifest("fx", "0.3.2"), "src/main.lang": "" });
    const check = async (message: string, expected: RegExp) => {
      const body = JSON.stringify({ message });
      world.server.fail(/^POST .*releases$/, { kind: "status", status: 422, body });
      match((await failure(publishPackage(author.session("fx"), { isDryRun: false }))).hint ?? "", expected);
    };
    await check(
      "Repository is empty.",
      /^Tags point at a commit: octo\/games needs one, such as a README\. Both files/,
    );
    await check("tag_name was used by an immutable release", /^A version is published once/);
    await check("Something else", /^Both files are in/);
  }));

Deno.test("publish wants a version of the package's own", () =>
  withEnvironment(async ({ machine }) => {
    const author = machine("author");
    await author.write("fx", { "project.toml": 'name = "fx"\n\n[dependencies.noise]\nversion = "^1"\n' });
    await rejects(publishPackage(author.session("fx"), { isDryRun: true }), /project\.toml has no version/);
  }));

Deno.test("fetch of a release that was deleted since the index was read | a clear 'release not found' error", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world, { fx: "^0.3" });
    await updateDependencies(user.session("app"), { name: null, refresh: true });
    world.server.releases(SLUG)[0]?.assets.splice(0);
    for (const machine of [user, Object.assign(user, { hostToken: TOKEN })]) {
      const error = await failure(fetchPackages(machine.session("app")));
      strictEqual(
        error.message,
        "Cannot fetch fx 0.3.2: release not found in octo/games, though its index names it",
      );
      match(error.hint ?? "", /`lang pkg update --refresh`/);
    }
  }));

Deno.test("a registry that takes another one's place must have the same bytes of what is locked", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const [original] = world.server.releases(SLUG);
    const user = await userOf(world, { fx: "^0.3" });
    await fetchPackages(user.session("app"));
    const lock = await user.read("app/project.lock");
    const move = async (slug: string, files: Readonly<Record<string, string | Uint8Array>>) => {
      world.server.addRepository(slug);
      world.server.addRelease(slug, "fx-0.3.2", original?.body ?? "", files);
      const text = await user.read("app/project.toml");
      await user.write("app", { "project.toml": text.replace(/default = .*/, `default = "${slug}"`) });
      await updateDependencies(user.session("app"), { name: null, refresh: true });
      await Deno.remove(`${user.home}/cache`, { recursive: true });
      await Deno.remove(`${user.home}/app/.lang/packages`, { recursive: true });
      return await fetchPackages(user.session("app"));
    };
    const files = Object.fromEntries((original?.assets ?? []).map(({ name, bytes }) => [name, bytes]));
    strictEqual((await move("octo/mirror", files)).downloaded.length, 1);
    strictEqual(await user.read("app/project.lock"), lock.replace(SLUG, "octo/mirror"));
    const other = { ...files, "fx-0.3.2.tar.gz.sha256": "0".repeat(64) };
    await rejects(move("octo/forger", other), /its checksum file says 0+, project\.lock says/);
  }));

Deno.test("the rest of a download that is longer than the file is begun anew", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world, { fx: "^0.3" });
    const [tarball] = world.server.releases(SLUG)[0]?.assets ?? [];
    const hash = sha256(tarball?.bytes ?? new Uint8Array());
    await user.write("cache/archives", { [`${hash}.part`]: "x".repeat(100_000) });
    strictEqual((await fetchPackages(user.session("app"))).downloaded.length, 1);
    deepStrictEqual(await user.host.files.names(`${user.home}/cache/archives`), [`${hash}.tar.gz`]);
  }));

Deno.test("path dependencies | a library's example that uses it is not copied into itself", () =>
  withEnvironment(async (world) => {
    const user = world.machine("user");
    await user.write("ui", { "project.toml": manifest("ui", "0.1.0"), "src/main.lang": "" });
    await user.write("ui/examples/demo", {
      "project.toml": `${manifest("demo", "0.1.0")}[dependencies]\nui = { path = "../.." }\n`,
      "src/main.lang": "",
    });
    const demo = () => user.session("ui/examples/demo");
    strictEqual(await ensurePackages(demo()), true);
    const lock = await user.read("ui/examples/demo/project.lock");
    // What a build leaves in the example is nothing of the library.
    await user.write("ui/examples/demo", { "target/main.wasm": "built" });
    strictEqual(await ensurePackages(demo()), false);
    await user.write("ui/examples/demo", { "target/main.wasm": "again" });
    strictEqual(await ensurePackages(demo()), false);
    const copy = "ui/examples/demo/.lang/packages/ui-0.1.0";
    strictEqual(await user.has(`${copy}/examples/demo/src/main.lang`), true);
    strictEqual(await user.has(`${copy}/examples/demo/.lang`), false);
    strictEqual(await user.has(`${copy}/examples/demo/target`), false);
    ok(lock.includes("path+file://../.."));
  }));

Deno.test("vendor | serves whatever else changes in the manifest, and no longer when a folder was changed", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world, { fx: "^0.3" });
    await user.write("ui", { "project.toml": manifest("ui", "0.1.0"), "src/main.lang": "one" });
    await addDependency(user.session("app"), { ...ask, name: "ui", path: "../ui" });
    await vendorPackages(user.session("app"));
    for (const gone of ["app/.lang/packages", "app/.lang/packages.json", "app/.lang/registry", "cache"]) {
      await Deno.remove(`${user.home}/${gone}`, { recursive: true });
    }
    const text = await user.read("app/project.toml");
    await user.write("app", { "project.toml": text.replace("1.0.0", "1.1.0") });
    const offline = () => ensurePackages(user.session("app", { isOffline: true }));
    strictEqual(await offline(), false);
    await user.write("app", { "project.toml": text.replace("^0.3", ">=0.3.1") });
    strictEqual(await offline(), false);
    await user.write("app", { "project.toml": text.replace("^0.3", "^0.4") });
    await rejects(offline(), /Cannot fetch fx 0\.4\.0/);
    await user.write("app", { "project.toml": `${text}noise = "^1"\n` });
    await rejects(offline(), /Cannot fetch/);
    await user.write("app", { "project.toml": text });
    strictEqual(await offline(), false);
    deepStrictEqual(user.warnings.length, 2);
    await user.write("ui", { "src/main.lang": "two" });
    strictEqual(await ensurePackages(user.session("app")), true);
  }));

Deno.test("files keep their rights and stay links; what is unpacked is as readable as the rest", {
  ignore: !isUnix,
}, () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world, {});
    const file = `${user.home}/app/project.toml`;
    await Deno.rename(file, `${user.home}/real.toml`);
    await Deno.symlink("../real.toml", file);
    await Deno.chmod(`${user.home}/real.toml`, 0o640);
    await addDependency(user.session("app"), { ...ask, name: "fx", requirement: "^0.3" });
    strictEqual((await Deno.lstat(file)).isSymlink, true);
    match(await user.read("real.toml"), /fx = "\^0\.3"/);
    strictEqual(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o640);
    await fetchPackages(user.session("app"));
    const [above, unpacked] = await Promise.all(
      ["packages", "packages/fx-0.3.2"].map((path) => Deno.stat(`${user.home}/app/.lang/${path}`)),
    );
    strictEqual(unpacked?.mode, above?.mode);
  }));

Deno.test("files of an unpacked package that are missing or changed are unpacked anew", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world, { fx: "^0.3" });
    await fetchPackages(user.session("app"));
    const file = "app/.lang/packages/fx-0.3.2/src/main.lang";
    await Deno.remove(`${user.home}/${file}`);
    strictEqual(await ensurePackages(user.session("app", { isOffline: true })), true);
    strictEqual(await user.read(file), "// 0.3.2\n");
    await user.write(".", { [file]: "changed" });
    strictEqual((await fetchPackages(user.session("app"))).unpacked.length, 1);
    strictEqual(await user.read(file), "// 0.3.2\n");
    match(user.notes.join("\n"), /\.lang\/packages\/fx-0\.3\.2 was changed; it is unpacked anew/);
  }));

Deno.test("publish --locked | wants a lockfile that fits the manifest", () =>
  withEnvironment(async (world) => {
    await publish(world, "noise", "1.0.0");
    const author = await userOf(world, { noise: "^1" });
    const run = () => publishPackage(author.session("app", { isLocked: true }), { isDryRun: true });
    await rejects(run(), /Cannot keep to project\.lock: it has no noise that fits/);
    await fetchPackages(author.session("app"));
    deepStrictEqual((await run()).release, { name: "app", version: "1.0.0" });
    await author.write("app", { "project.toml": manifest("app", "1.0.0", { noise: "^2" }) });
    await rejects(run(), /it has no noise that fits/);
  }));

Deno.test("several add, and several vendor, at the same time: each takes its turn", () =>
  withEnvironment(async (world) => {
    const names = ["fx", "noise", "ui", "art"];
    for (const name of names) await publish(world, name, "1.0.0");
    const user = await userOf(world, {});
    await updateDependencies(user.session("app"), { name: null, refresh: true });
    await Promise.all(names.map((name) => addDependency(user.session("app"), { ...ask, name })));
    await Promise.all(names.map(() => vendorPackages(user.session("app"))));
    deepStrictEqual((await verifyPackages(user.session("app"))).problems, []);
    const written = await user.read("app/project.toml");
    for (const name of names) ok(written.includes(`${name} = "^1.0.0"`), written);
    ok(user.notes.some((text) => /Another `lang` is at work on this package/.test(text)));
    deepStrictEqual((await user.host.files.names(`${user.home}/app/.lang/vendor`)).length, names.length + 2);
  }));

Deno.test("what a killed command has left beside manifest and lockfile goes, and nothing else", () =>
  withEnvironment(async (world) => {
    const user = await userOf(world, {});
    await user.write("app", {
      "project.toml.77.0.tmp": "half",
      "project.lock.77.1.tmp": "half",
      ".lang/packages.json.77.2.tmp": "half",
      "project.toml.backup": "mine",
      "notes.tmp": "mine",
    });
    await fetchPackages(user.session("app"));
    deepStrictEqual(await user.host.files.names(`${user.home}/app`), [
      ".lang",
      "notes.tmp",
      "project.toml",
      "project.toml.backup",
    ]);
    deepStrictEqual(
      (await user.host.files.names(`${user.home}/app/.lang`)).filter((name) => name.endsWith(".tmp")),
      [],
    );
    await rejects(fetchPackages(user.session("nowhere")), /there is no project\.toml/);
    strictEqual(await user.has("nowhere"), false);
  }));

Deno.test("an index that cannot be kept serves the command all the same", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world, {});
    // Stands where the index's folder would be; being root would not help.
    await user.write("app", { ".lang/registry": "a file" });
    strictEqual((await searchPackages(user.session("app"), "fx")).length, 1);
    match(user.warnings.join("\n"), /^Cannot write .*index\.json: .*; the next command will ask again$/);
  }));

Deno.test("a damaged index is said to be so where it would have been used, and is read anew where it may be", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world, {});
    await user.write("app", { ".lang/registry/octo__games/index.json": "{" });
    await updateDependencies(user.session("app"), { name: null, refresh: false });
    match(user.warnings.join("\n"), /is damaged and is not used; `lang pkg update --refresh` reads it anew$/);
    strictEqual((await searchPackages(user.session("app"), "fx")).length, 1);
    strictEqual(user.warnings.length, 1);
  }));

Deno.test("a manifest that cannot be read in a tarball is the package's error, and says nothing to a terminal", () =>
  withEnvironment(async (world) => {
    const release = { name: "fx", version: "0.3.2" };
    const text = 'name = "fx"\nversion = "0.3.2"\n[dependencies]\nx = "\\u001b[31m\\nerror: fake"\n';
    const bytes = new TextEncoder().encode(text);
    const files = [{ path: "project.toml", size: bytes.length, isExecutable: false }];
    const pieces = await Array.fromAsync(packTree(release, files, () => Promise.resolve(bytes)));
    const tarball = new Uint8Array(await new Blob(pieces).arrayBuffer());
    world.server.addRelease(SLUG, "fx-0.3.2", "", {
      "fx-0.3.2.tar.gz": tarball,
      "fx-0.3.2.tar.gz.sha256": formatSidecar(release, sha256(tarball)),
    });
    const user = await userOf(world, { fx: "^0.3" });
    const error = await failure(fetchPackages(user.session("app")));
    deepStrictEqual([error.code, error.kind], ["bad-archive", "failure"]);
    match(error.message, /^Cannot unpack fx 0\.3\.2: project\.toml: `dependencies\.x` has no requirement/);
    // deno-lint-ignore no-control-regex
    doesNotMatch(error.message, /[\u0000-\u001f]/);
    deepStrictEqual(await user.host.files.names(`${user.home}/app/.lang/packages`), []);
  }));
