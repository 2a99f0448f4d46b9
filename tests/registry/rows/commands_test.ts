/** Document 3, section 4: the commands and the rules of resolving. Tests are named after the rows. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { fetchPackages } from "../../../registry/client/fetch_packages.ts";
import { ensurePackages } from "../../../registry/client/ready.ts";
import {
  addDependency,
  removeDependency,
  updateDependencies,
} from "../../../registry/commands/change_dependencies.ts";
import { listPackages, packageInfo, searchPackages } from "../../../registry/commands/look_up.ts";
import { publishPackage } from "../../../registry/commands/publish.ts";
import { vendorPackages, verifyPackages } from "../../../registry/commands/vendor.ts";
import { type Machine, manifest, SLUG, TOKEN, withEnvironment, type World } from "../machine.ts";

const ask = { requirement: null, path: null, git: null, revision: null };

async function publish(
  { machine }: World,
  name: string,
  version: string,
  dependencies: Readonly<Record<string, string>> = {},
): Promise<void> {
  const author = machine("author", { hostToken: TOKEN });
  await author.write(name, {
    "project.toml": manifest(name, version, dependencies),
    "src/main.lang": `// ${name} ${version}\n`,
  });
  await publishPackage(author.session(name), { isDryRun: false });
}

async function userOf(
  { machine }: World,
  dependencies: Readonly<Record<string, string>> = {},
): Promise<Machine> {
  const user = machine("user");
  await user.write("app", { "project.toml": manifest("app", "1.0.0", dependencies) });
  return user;
}

const refresh = (user: Machine) => updateDependencies(user.session("app"), { name: null, refresh: true });
const versions = async (user: Machine) =>
  (await listPackages(user.session("app"))).map(({ name, version }) => `${name} ${version}`);

Deno.test("lang pkg add | resolves offline from the cache and records it in the manifest and lockfile", () =>
  withEnvironment(async (world) => {
    await publish(world, "noise", "1.0.0");
    await publish(world, "fx", "0.3.2", { noise: "^1" });
    const user = await userOf(world);
    await refresh(user);
    world.server.takeRequests();
    const { version, changes } = await addDependency(user.session("app"), {
      ...ask,
      name: "fx",
      requirement: "^0.3",
    });
    strictEqual(version, "0.3.2");
    deepStrictEqual(changes.map(({ kind, name }) => [kind, name]), [["added", "fx"], ["added", "noise"]]);
    match(await user.read("app/project.toml"), /\[dependencies\]\nfx = "\^0\.3"\n$/);
    match(await user.read("app/project.lock"), /name = "fx"\nversion = "0\.3\.2"\n.*\nhash = ""/);
    strictEqual(world.server.takeRequests().length, 0);
  }));

Deno.test("lang pkg update | re-resolves; with --refresh first re-pulls the index of every configured registry", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world, { fx: "^0.3" });
    await fetchPackages(user.session("app"));
    await publish(world, "fx", "0.3.3");
    await publish(world, "fx", "0.4.0");
    world.server.takeRequests();
    deepStrictEqual(
      (await updateDependencies(user.session("app"), { name: null, refresh: false })).changes,
      [],
    );
    strictEqual(world.server.takeRequests().length, 0);
    const { changes } = await refresh(user);
    deepStrictEqual(changes, [{ kind: "changed", name: "fx", from: "0.3.2", to: "0.3.3" }]);
    ok(world.server.takeRequests().every(({ headers }) => !headers.has("if-modified-since")));
    deepStrictEqual(await versions(user), ["fx 0.3.3"]);
  }));

Deno.test("lang pkg update <name> | changes this package alone", () =>
  withEnvironment(async (world) => {
    for (const name of ["fx", "noise"]) await publish(world, name, "1.0.0");
    const user = await userOf(world, { fx: "^1", noise: "^1" });
    await fetchPackages(user.session("app"));
    for (const name of ["fx", "noise"]) await publish(world, name, "1.1.0");
    await updateDependencies(user.session("app"), { name: "fx", refresh: true });
    deepStrictEqual(await versions(user), ["fx 1.1.0", "noise 1.0.0"]);
    await rejects(
      updateDependencies(user.session("app"), { name: "fy", refresh: false }),
      /Cannot find the dependency fy/,
    );
  }));

Deno.test("lang pkg fetch | downloads the tarball and verifies its SHA-256; nothing on the network the second time", () =>
  withEnvironment(async (world) => {
    await publish(world, "noise", "1.0.0");
    await publish(world, "fx", "0.3.2", { noise: "^1" });
    const user = await userOf(world, { fx: "^0.3" });
    const { downloaded } = await fetchPackages(user.session("app"));
    deepStrictEqual(downloaded.map(({ name }) => name), ["fx", "noise"]);
    world.server.takeRequests();
    user.now += 10 * 3_600_000;
    strictEqual(await ensurePackages(user.session("app")), false);
    strictEqual((await fetchPackages(user.session("app"))).unpacked.length, 0);
    // Another package of the same machine takes them from the shared cache.
    await user.write("other", {
      "project.toml": manifest("other", "1.0.0", { fx: "^0.3" }),
      "project.lock": await user.read("app/project.lock"),
    });
    strictEqual((await fetchPackages(user.session("other", { isLocked: true }))).unpacked.length, 2);
    strictEqual(world.server.takeRequests().length, 0);
  }));

Deno.test("a fresh checkout with a lockfile fetches exactly what is locked", () =>
  withEnvironment(async (world) => {
    await publish(world, "noise", "1.0.0");
    await publish(world, "fx", "0.3.2", { noise: "^1" });
    const user = await userOf(world, { fx: "^0.3" });
    await fetchPackages(user.session("app"));
    await publish(world, "fx", "0.3.9", { noise: "^1" });
    const fresh = world.machine("fresh");
    const lock = await user.read("app/project.lock");
    await fresh.write("app", { "project.toml": await user.read("app/project.toml"), "project.lock": lock });
    strictEqual(await ensurePackages(fresh.session("app", { isLocked: true })), true);
    deepStrictEqual(await versions(fresh), ["fx 0.3.2", "noise 1.0.0"]);
    strictEqual(await fresh.read("app/project.lock"), lock);
  }));

Deno.test("Resolution 1 to 3: default first, then extras; the highest matching version of the first registry with a match", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    world.server.addRepository("octo/extra");
    for (const version of ["0.3.9", "0.4.0"]) {
      world.server.addRelease("octo/extra", `fx-${version}`, "", { [`fx-${version}.tar.gz`]: "x" });
    }
    const user = await userOf(world);
    await user.write("app", {
      "project.toml": manifest("app", "1.0.0").replace('games"', 'games"\nextras = ["octo/extra"]'),
    });
    await refresh(user);
    const add = async (requirement: string) =>
      (await addDependency(user.session("app"), { ...ask, name: "fx", requirement })).version;
    strictEqual(await add("^0.3"), "0.3.2");
    strictEqual(await add("^0.3.5"), "0.3.9");
    strictEqual(await add("*"), "0.3.2");
  }));

Deno.test("Resolution 4: when no registry matches, the requirement's floor; the lockfile pins the default registry slug", () =>
  withEnvironment(async (world) => {
    const user = await userOf(world);
    const { version, isUnresolved } = await addDependency(user.session("app"), {
      ...ask,
      name: "fx",
      requirement: "^0.3.2",
    });
    deepStrictEqual([version, isUnresolved], ["0.3.2", true]);
    match(
      await user.read("app/project.lock"),
      /# unresolved: .*\n\[\[package\]\]\nname = "fx"\nversion = "0\.3\.2"\nsource = "registry\+host:\/\/octo\/games"\nhash = ""/,
    );
    strictEqual((await listPackages(user.session("app")))[0]?.isUnresolved, true);
    await rejects(fetchPackages(user.session("app", { isLocked: true })), /it has no hash of fx 0\.3\.2/);
    await publish(world, "fx", "0.3.4");
    await refresh(user);
    deepStrictEqual(await versions(user), ["fx 0.3.4"]);
  }));

Deno.test("--locked | fails when the lockfile would change, and changes nothing", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world, { fx: "^0.3" });
    await fetchPackages(user.session("app"));
    await publish(world, "fx", "0.3.3");
    const before = [await user.read("app/project.toml"), await user.read("app/project.lock")];
    const locked = user.session("app", { isLocked: true });
    await rejects(updateDependencies(locked, { name: null, refresh: true }), /fx would be changed/);
    await rejects(addDependency(locked, { ...ask, name: "noise", requirement: "1" }), /noise would be added/);
    await rejects(removeDependency(locked, "fx"), /fx would be removed/);
    deepStrictEqual([await user.read("app/project.toml"), await user.read("app/project.lock")], before);
    strictEqual((await fetchPackages(locked)).changes.length, 0);
  }));

Deno.test("remove | takes out what only it needed", () =>
  withEnvironment(async (world) => {
    await publish(world, "noise", "1.0.0");
    await publish(world, "fx", "0.3.2", { noise: "^1" });
    const user = await userOf(world, { fx: "^0.3" });
    await fetchPackages(user.session("app"));
    const { changes } = await removeDependency(user.session("app"), "fx");
    deepStrictEqual(changes.map(({ kind, name }) => [kind, name]), [["removed", "fx"], ["removed", "noise"]]);
    await fetchPackages(user.session("app"));
    strictEqual(await user.has("app/.lang/packages/fx-0.3.2"), false);
  }));

Deno.test("yanked | skipped by add and update, still installed from a lock, with the reason shown", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.1");
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world, { fx: "^0.3" });
    await fetchPackages(user.session("app"));
    const [release] = world.server.releases(SLUG);
    if (release !== undefined) release.body += '\n[package]\nyanked = "it eats saves"\n';
    await updateDependencies(user.session("app"), { name: "fx", refresh: true });
    deepStrictEqual(await versions(user), ["fx 0.3.1"]);
    const other = world.machine("other");
    await other.write("app", { "project.toml": manifest("app", "1.0.0", { fx: "=0.3.2" }) });
    await rejects(
      updateDependencies(other.session("app"), { name: null, refresh: true }),
      /fx 0\.3\.2 was taken back: it eats saves/,
    );
    const hash = JSON.stringify(
      release?.assets[1]?.bytes === undefined
        ? ""
        : `sha256:${new TextDecoder().decode(release.assets[1].bytes).slice(0, 64)}`,
    );
    await other.write("app", {
      "project.lock":
        `[[package]]\nname = "fx"\nversion = "0.3.2"\nsource = "registry+host://${SLUG}"\nhash = ${hash}\n`,
    });
    strictEqual((await fetchPackages(other.session("app"))).unpacked.length, 1);
    strictEqual((await listPackages(other.session("app")))[0]?.yanked, "it eats saves");
    deepStrictEqual((await packageInfo(other.session("app"), "fx")).versions.map(({ yanked }) => yanked), [
      "it eats saves",
      null,
    ]);
    const [, first] = world.server.releases(SLUG);
    if (first !== undefined) first.body += "\n[package]\nyanked = true\n";
    const late = world.machine("late");
    await late.write("app", { "project.toml": manifest("app", "1.0.0") });
    await updateDependencies(late.session("app"), { name: null, refresh: true });
    await rejects(
      addDependency(late.session("app"), { ...ask, name: "fx" }),
      /each that fits was taken back/,
    );
    deepStrictEqual(late.warnings, []);
  }));

Deno.test("search and info | names, descriptions, versions, dependencies", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2", { noise: "^1" });
    const author = world.machine("author", { hostToken: TOKEN });
    await author.write("noise", {
      "project.toml": manifest("noise", "1.0.0").replace(
        "[registry]",
        'description = "Clouds\\u001b[2J of numbers"\n[registry]',
      ),
      "src/main.lang": "",
    });
    await publishPackage(author.session("noise"), { isDryRun: false });
    const user = await userOf(world);
    deepStrictEqual((await searchPackages(user.session("app"), "cloud NUMBERS")).map(({ name }) => name), [
      "noise",
    ]);
    deepStrictEqual((await searchPackages(user.session("app"), "")).map(({ name }) => name), ["fx", "noise"]);
    deepStrictEqual((await packageInfo(user.session("app"), "fx")).dependencies, { noise: "^1" });
    await rejects(packageInfo(user.session("app"), "noize"), /Cannot find the package noize/);
  }));

Deno.test("vendor and verify | copies with a hash list; every changed, missing or added file is found", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world, { fx: "^0.3" });
    await vendorPackages(user.session("app"));
    const session = user.session("app");
    deepStrictEqual((await verifyPackages(session)).problems, []);
    const list = await user.read("app/.lang/vendor/SHA256SUMS");
    match(list, /^[0-9a-f]{64} {2}fx-0\.3\.2\/project\.toml\n[0-9a-f]{64} {2}fx-0\.3\.2\/src\/main\.lang\n$/);
    const check = async (path: string, change: (file: string) => Promise<void>, expected: RegExp) => {
      const file = `${user.home}/${path}`;
      const before = await Deno.readFile(file).catch(() => null);
      await change(file);
      const { problems } = await verifyPackages(session);
      strictEqual(problems.length, 1, problems.join("\n"));
      match(problems[0] ?? "", expected);
      if (before === null) await Deno.remove(file);
      else await Deno.writeFile(file, before);
    };
    const write = (file: string) => Deno.writeTextFile(file, "changed");
    await check("app/.lang/packages/fx-0.3.2/src/main.lang", write, /main\.lang: it was changed/);
    await check("app/.lang/vendor/fx-0.3.2/src/main.lang", write, /vendor.*main\.lang: it was changed/);
    await check("app/.lang/packages/fx-0.3.2/src/main.lang", (file) => Deno.remove(file), /it is missing/);
    await check("app/.lang/packages/fx-0.3.2/src/new.lang", write, /does not belong there/);
    const { hash } = JSON.parse(await user.read("app/.lang/packages.json")).packages[0];
    await check(`cache/archives/${hash}.tar.gz`, write, /archive in the cache has another hash/);
    deepStrictEqual((await verifyPackages(session)).problems, []);
  }));

Deno.test("path dependencies | lock with the hash of the sorted tree, follow what changes", () =>
  withEnvironment(async (world) => {
    const user = await userOf(world);
    await user.write("ui", { "project.toml": manifest("ui", "0.1.0"), "src/main.lang": "one" });
    await addDependency(user.session("app"), { ...ask, name: "ui", path: "../ui" });
    match(await user.read("app/project.toml"), /ui = \{ path = "\.\.\/ui" \}/);
    match(
      await user.read("app/project.lock"),
      /source = "path\+file:\/\/\.\.\/ui"\nhash = "sha256:[0-9a-f]{64}"/,
    );
    strictEqual(await ensurePackages(user.session("app")), true);
    strictEqual(await ensurePackages(user.session("app")), false);
    await user.write("ui", { "src/main.lang": "two" });
    strictEqual(await ensurePackages(user.session("app")), true);
    strictEqual(await user.read("app/.lang/packages/ui-0.1.0/src/main.lang"), "two");
    deepStrictEqual((await verifyPackages(user.session("app"))).problems, []);
  }));

async function git(folder: string, ...parameters: readonly string[]): Promise<string> {
  const identity = [
    "-c",
    "user.name=Octo",
    "-c",
    "user.email=octo@host.example",
    "-c",
    "init.defaultBranch=main",
  ];
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args: ["-C", folder, ...identity, ...parameters],
  }).output();
  ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim();
}

Deno.test("git dependencies | lock as git+<url>#<commit> with the hash of the sorted tree, and stay at the commit", () =>
  withEnvironment(async (world) => {
    const user = await userOf(world);
    const folder = await user.write("repository", {
      "project.toml": manifest("ui", "0.1.0"),
      "src/main.lang": "one",
    });
    await git(folder, "init", "--quiet");
    await git(folder, "add", ".");
    await git(folder, "commit", "--quiet", "-m", "one");
    const commit = await git(folder, "rev-parse", "HEAD");
    const url = `file://${folder}`;
    await addDependency(user.session("app"), { ...ask, name: "ui", git: url });
    const lock = await user.read("app/project.lock");
    match(lock, new RegExp(`source = "git\\+${url}#${commit}"\\nhash = "sha256:[0-9a-f]{64}"`));
    await user.write("repository", { "src/main.lang": "two" });
    await git(folder, "commit", "--quiet", "-a", "-m", "two");
    await fetchPackages(user.session("app", { isLocked: true }));
    strictEqual(await user.read("app/.lang/packages/ui-0.1.0/src/main.lang"), "one");
    strictEqual(await ensurePackages(user.session("app")), false);
    await updateDependencies(user.session("app"), { name: "ui", refresh: false });
    await fetchPackages(user.session("app"));
    strictEqual(await user.read("app/.lang/packages/ui-0.1.0/src/main.lang"), "two");
    deepStrictEqual((await verifyPackages(user.session("app"))).problems, []);
    const add = (url: string, revision: string | null = null) =>
      addDependency(user.session("app"), { ...ask, name: "ui", git: url, revision });
    await rejects(add("ext::sh -c true"), /of no kind that is allowed/);
    await rejects(add("--upload-pack=x"), /of no kind that is allowed/);
    await rejects(add(url, "--output=x"), /Cannot use the revision/);
    await rejects(add(url, "nowhere"), /has no revision nowhere/);
    await rejects(add(`file://${folder}/none`), /Cannot run git: .*does not appear to be a git repository/);
  }));

Deno.test("several packages, and several builds of one, fetch the same archives at the same time", () =>
  withEnvironment(async (world) => {
    await publish(world, "noise", "1.0.0");
    await publish(world, "fx", "0.3.2", { noise: "^1" });
    const user = await userOf(world, { fx: "^0.3" });
    const names = ["app", "second", "third"];
    for (const name of names) {
      await user.write(name, { "project.toml": manifest(name, "1.0.0", { fx: "^0.3" }) });
    }
    world.server.fail(/storage/, { kind: "slow", milliseconds: 50 }, 2);
    world.server.takeRequests();
    await Promise.all([...names, ...names].map((name) => ensurePackages(user.session(name))));
    for (const name of names) deepStrictEqual((await verifyPackages(user.session(name))).problems, []);
    const tarballs = world.server.takeRequests().filter(({ path }) => path.endsWith(".tar.gz"));
    strictEqual(tarballs.length, 2);
    deepStrictEqual(
      await user.host.files.names(`${user.home}/app/.lang/packages`),
      ["fx-0.3.2", "noise-1.0.0"],
    );
  }));

Deno.test("fetch clears away what an interrupted run has left, and mends what is missing", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world, { fx: "^0.3" });
    await user.write("app", {
      ".lang/packages/.unpacking-1/src/main.lang": "half",
      ".lang/packages/old-1.0.0/project.toml": "",
    });
    await fetchPackages(user.session("app"));
    deepStrictEqual(await user.host.files.names(`${user.home}/app/.lang/packages`), ["fx-0.3.2"]);
    await Deno.remove(`${user.home}/app/.lang/packages/fx-0.3.2`, { recursive: true });
    strictEqual(await ensurePackages(user.session("app")), true);
    deepStrictEqual((await verifyPackages(user.session("app"))).problems, []);
  }));
