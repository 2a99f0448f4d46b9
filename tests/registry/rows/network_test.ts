/**
 * Document 3, sections 4 to 8: calls of the hosting API, authentication, errors, limits. Tests are named after the
 * rows.
 */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { fetchPackages } from "../../../registry/client/fetch_packages.ts";
import { storeToken } from "../../../registry/client/tokens.ts";
import { updateDependencies } from "../../../registry/commands/change_dependencies.ts";
import { packageInfo, searchPackages } from "../../../registry/commands/look_up.ts";
import { publishPackage } from "../../../registry/commands/publish.ts";
import { failure, Machine, manifest, SLUG, TOKEN, withEnvironment, type World } from "../machine.ts";

const HOUR = 3_600_000;

/** Publishes a small package. */
async function publish({ machine }: World, name: string, version: string): Promise<string> {
  const author = machine("author", { hostToken: TOKEN });
  await author.write(name, { "project.toml": manifest(name, version), "src/main.lang": `// ${version}\n` });
  return (await publishPackage(author.session(name), { isDryRun: false })).hash;
}

/** A machine with a package that needs fx. */
async function userOf({ machine }: World, options: { readonly hostToken?: string } = {}): Promise<Machine> {
  const user = machine("user", options);
  await user.write("app", { "project.toml": manifest("app", "1.0.0", { fx: "^0.3" }) });
  return user;
}

const refresh = (user: Machine) => updateDependencies(user.session("app"), { name: null, refresh: true });

Deno.test("GET /repos/<owner>/<repo>/releases?per_page=100&page=<N>; conditional revalidation with If-Modified-Since", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world);
    await refresh(user);
    const [first] = world.server.takeRequests().filter(({ method }) => method === "GET");
    strictEqual(first?.path, "/repos/octo/games/releases?per_page=100&page=1");
    strictEqual(first.headers.get("if-modified-since"), null);
    user.now += HOUR;
    await searchPackages(user.session("app"), "fx");
    const [second, ...others] = world.server.takeRequests();
    strictEqual(second?.status, 304);
    ok(second.headers.get("if-modified-since"));
    strictEqual(others.length, 0);
  }));

Deno.test("POST /repos/<owner>/<repo>/releases: tag, release body, draft false, prerelease false; then both uploads", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const [create, ...uploads] = world.server.takeRequests();
    deepStrictEqual([create?.method, create?.path, create?.status], [
      "POST",
      "/repos/octo/games/releases",
      201,
    ]);
    deepStrictEqual(
      uploads.map(({ server, method, headers, status, path }) => [
        server,
        method,
        headers.get("content-type"),
        status,
        new URL(path, "http://x").searchParams.get("name"),
      ]),
      [
        ["uploads", "POST", "application/gzip", 201, "fx-0.3.2.tar.gz"],
        ["uploads", "POST", "text/plain", 201, "fx-0.3.2.tar.gz.sha256"],
      ],
    );
  }));

Deno.test("Read access to public registries needs no token; any token raises the rate limit", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    world.server.takeRequests();
    await fetchPackages((await userOf(world)).session("app"));
    ok(world.server.takeRequests().every(({ headers }) => !headers.has("authorization")));
    const other = world.machine("other", { hostToken: TOKEN });
    await other.write("app", { "project.toml": manifest("app", "1.0.0", { fx: "^0.3" }) });
    await fetchPackages(other.session("app"));
    const told = world.server.takeRequests();
    ok(told.some(({ headers }) => headers.get("authorization") === `Bearer ${TOKEN}`));
    // Not to the storage that the API redirects to.
    ok(
      told.filter(({ server }) => server === "storage").every(({ headers }) => !headers.has("authorization")),
    );
  }));

Deno.test("A token is looked up in auth.toml first, then in HOST_TOKEN, which applies to every registry", () =>
  withEnvironment(async (world) => {
    world.server.tokens.set("other", []);
    const user = await userOf(world, { hostToken: "other" });
    const told = async () => {
      await refresh(user);
      return world.server.takeRequests()[0]?.headers.get("authorization");
    };
    strictEqual(await told(), "Bearer other");
    await storeToken(user.host, "some/body", "unused");
    strictEqual(await told(), "Bearer other");
    await storeToken(user.host, SLUG, TOKEN);
    strictEqual(await told(), `Bearer ${TOKEN}`);
  }));

Deno.test("Scopes: reading a private repository needs a token", () =>
  withEnvironment(async (world) => {
    world.server.addRepository(SLUG, { isPrivate: true });
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world);
    const { message, hint } = await failure(fetchPackages(user.session("app")));
    match(message, /octo\/games does not exist, or it is private/);
    match(hint ?? "", /lang pkg login octo\/games/);
    await storeToken(user.host, SLUG, TOKEN);
    strictEqual((await fetchPackages(user.session("app"))).unpacked.length, 1);
  }));

for (const status of [401, 403, 404] as const) {
  Deno.test(`publish gets ${status} from the hosting service | local artifacts stay on disk for manual upload`, () =>
    withEnvironment(async (world) => {
      const author = world.machine("author", { hostToken: TOKEN });
      await author.write("fx", { "project.toml": manifest("fx", "0.3.2"), "src/main.lang": "" });
      const body = JSON.stringify({ message: "You shall not" });
      world.server.fail(/^POST .*releases$/, {
        kind: "status",
        status,
        body,
        headers: { "content-type": "application/json" },
      });
      const error = await failure(publishPackage(author.session("fx"), { isDryRun: false }));
      match(error.message, /^Cannot publish fx 0\.3\.2 in octo\/games: .*\(You shall not\)$/);
      match(error.hint ?? "", /Both files are in \.lang\/publish\//);
      strictEqual(await author.has("fx/.lang/publish/fx-0.3.2.tar.gz"), true);
      strictEqual(await author.has("fx/.lang/publish/fx-0.3.2.tar.gz.sha256"), true);
      strictEqual(world.server.releases(SLUG).length, 0);
    }));
}

Deno.test("publish of a version that exists is refused: releases are immutable", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const error = await failure(publish(world, "fx", "0.3.2"));
    match(error.message, /the hosting service refuses it \(Validation Failed: tag name already exists\)/);
    match(error.hint ?? "", /raise `version`/);
  }));

Deno.test("fetch of a release that does not exist | a clear 'release not found' error", () =>
  withEnvironment(async (world) => {
    const user = await userOf(world);
    const error = await failure(fetchPackages(user.session("app")));
    strictEqual(error.message, "Cannot fetch fx 0.3.0: release not found in octo/games");
    match(error.hint ?? "", /taken from the requirement/);
  }));

Deno.test("tarball hash differs from the sidecar | fetch fails before extraction", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const [tarball] = world.server.releases(SLUG)[0]?.assets ?? [];
    if (tarball !== undefined) tarball.bytes = tarball.bytes.slice(0, -1);
    const user = await userOf(world);
    await rejects(fetchPackages(user.session("app")), /the tarball's SHA-256 is [0-9a-f]{64}, not/);
    strictEqual(await user.has("app/.lang/packages/fx-0.3.2"), false);
    strictEqual(await user.has("app/project.lock"), false);
    deepStrictEqual(await user.host.files.names(`${user.home}/cache/archives`), []);
  }));

Deno.test("tarball hash differs from the lockfile | fetch fails on later fetches", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world);
    await fetchPackages(user.session("app"));
    // Somebody publishes other bytes, with a checksum that fits them, and the machine forgets what it had.
    const [tarball, sidecar] = world.server.releases(SLUG)[0]?.assets ?? [];
    const author = world.machine("forger");
    await author.write("fx", { "project.toml": manifest("fx", "0.3.2"), "src/main.lang": "evil" });
    await publishPackage(author.session("fx"), { isDryRun: false });
    const folder = `${author.home}/fx/.lang/publish/fx-0.3.2.tar.gz`;
    if (tarball !== undefined) tarball.bytes = await Deno.readFile(folder);
    if (sidecar !== undefined) sidecar.bytes = await Deno.readFile(`${folder}.sha256`);
    await Deno.remove(`${user.home}/cache`, { recursive: true });
    await Deno.remove(`${user.home}/app/.lang`, { recursive: true });
    await rejects(
      fetchPackages(user.session("app")),
      /its checksum file says [0-9a-f]{64}, project\.lock says/,
    );
    strictEqual(await user.has("app/.lang/packages/fx-0.3.2"), false);
  }));

Deno.test("a release without a checksum file, or with another one, fails", () =>
  withEnvironment(async (world) => {
    world.server.addRelease(SLUG, "fx-0.3.2", "", { "fx-0.3.2.tar.gz": "x" });
    const user = await userOf(world);
    await rejects(fetchPackages(user.session("app")), /its release has no checksum file/);
    world.server.addRelease(SLUG, "fx-0.3.3", "", {
      "fx-0.3.3.tar.gz": "x",
      "fx-0.3.3.tar.gz.sha256": `${"0".repeat(64)}  other-0.3.3.tar.gz\n`,
    });
    await refreshOnly(user);
    await rejects(fetchPackages(user.session("app")), /its checksum file has no SHA-256 of fx-0\.3\.3/);
  }));

async function refreshOnly(user: Machine): Promise<void> {
  user.now += HOUR;
  await searchPackages(user.session("app"), "");
}

Deno.test("index older than its TTL (1 hour) | revalidated on the next operation; a 304 keeps the list and refreshes the timestamp", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world);
    await refresh(user);
    const read = async () => JSON.parse(await user.read("app/.lang/registry/octo__games/index.json"));
    const before = await read();
    world.server.takeRequests();
    user.now += HOUR - 1000;
    await packageInfo(user.session("app"), "fx");
    strictEqual(world.server.takeRequests().length, 0);
    user.now += 1000;
    await packageInfo(user.session("app"), "fx");
    deepStrictEqual(world.server.takeRequests().map(({ status }) => status), [304]);
    deepStrictEqual(await read(), { ...before, fetched_at: before.fetched_at + 3600 });
    await publish(world, "fx", "0.3.3");
    user.now += HOUR;
    strictEqual((await packageInfo(user.session("app"), "fx")).versions.length, 2);
  }));

Deno.test("releases per page 100, pages per registry 50: at most 5000 releases; raw releases end the paging", () =>
  withEnvironment(async (world) => {
    const { server } = world;
    for (let number = 0; number < 150; number++) server.addRelease(SLUG, `nightly${number}`, "", {});
    server.addRelease(SLUG, "fx-0.3.0", "", { "fx-0.3.0.tar.gz": "x" });
    for (let number = 0; number < 100; number++) server.addRelease(SLUG, `weekly${number}`, "", {});
    const user = await userOf(world);
    await refresh(user).catch(() => {});
    deepStrictEqual(server.takeRequests().map(({ path }) => path.split("page=").at(-1)), ["1", "2", "3"]);
    const index = JSON.parse(await user.read("app/.lang/registry/octo__games/index.json"));
    deepStrictEqual(index.releases.map(({ tag }: { tag: string }) => tag), ["fx-0.3.0"]);
    for (let number = 251; number < 5000; number++) server.addRelease(SLUG, `daily${number}`, "", {});
    await refresh(user).catch(() => {});
    strictEqual(server.takeRequests().filter(({ path }) => path.includes("page=")).length, 50);
    deepStrictEqual(user.warnings.filter((text) => text.includes("more than 5000 releases")), []);
    server.addRelease(SLUG, "last", "", {});
    await refresh(user).catch(() => {});
    strictEqual(server.takeRequests().filter(({ path }) => path.includes("page=")).length, 50);
    ok(user.warnings.some((text) => text.includes("more than 5000 releases")));
  }));

Deno.test("hosting API rate limit: waits until the reset when that is near, and says so", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world);
    const reset = String(Math.floor(user.now / 1000) + 30);
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset };
    world.server.fail(/releases\?/, { kind: "status", status: 403, headers });
    await refresh(user);
    deepStrictEqual(user.sleeps, [30_000]);
    deepStrictEqual(user.notes, [
      "Cannot read the releases of octo/games yet: the rate limit is used up; trying again in 30 seconds",
    ]);
  }));

Deno.test("hosting API rate limit, no token: a clear message when the wait is long", () =>
  withEnvironment(async (world) => {
    const user = await userOf(world);
    world.server.remaining = 0;
    world.server.reset = Math.floor(user.now / 1000) + 1800;
    const error = await failure(fetchPackages(user.session("app")));
    match(error.message, /rate limit is used up; it takes requests again in 30 minutes/);
    match(error.hint ?? "", /5000 requests an hour instead of 60/);
    deepStrictEqual(user.sleeps, []);
    world.server.takeRequests();
  }));

Deno.test("5xx, cut and slow answers are asked for again, with growing pauses; then it is given up", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world);
    world.server.fail(/releases\?/, { kind: "status", status: 502 });
    world.server.fail(/releases\?/, { kind: "cut", after: 10 });
    world.server.fail(/releases\?/, { kind: "slow", milliseconds: 50 });
    await refresh(user);
    deepStrictEqual(user.sleeps, [500, 1000]);
    world.server.fail(/releases\?/, { kind: "status", status: 503 }, 10);
    user.now += 2 * HOUR;
    await fetchPackages(user.session("app"));
    world.server.fail(/releases\?/, { kind: "status", status: 503 }, 10);
    await Deno.remove(`${user.home}/app/.lang/registry`, { recursive: true });
    await rejects(
      searchPackages(user.session("app"), "fx"),
      /Cannot read the releases of octo\/games: .* status 503/,
    );
  }));

Deno.test("a download that is cut off goes on where it stopped", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const size = world.server.releases(SLUG)[0]?.assets[0]?.bytes.length ?? 0;
    const user = await userOf(world);
    const tarball = world.server.releases(SLUG)[0]?.assets[0]?.id;
    world.server.fail(new RegExp(`/storage/${tarball}$`), { kind: "cut", after: Math.floor(size / 2) });
    strictEqual((await fetchPackages(user.session("app"))).downloaded.length, 1);
    const ranges = world.server.takeRequests().filter(({ path }) => path === `/storage/${tarball}`)
      .map(({ headers }) => headers.get("range"));
    strictEqual(ranges.length, 2);
    match(ranges[1] ?? "", /^bytes=[1-9]\d*-$/);
  }));

Deno.test("a token is never sent to another host on redirect, nor is an unsafe address followed", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world, { hostToken: TOKEN });
    world.server.fail(/releases\/assets\//, { kind: "redirect", to: "file:///etc/passwd" });
    await rejects(fetchPackages(user.session("app")), /redirects to no safe address/);
    world.server.fail(/releases\/assets\//, { kind: "redirect", to: "http://other.example/x" });
    await rejects(fetchPackages(user.session("app")), /redirects to no safe address/);
  }));

Deno.test("a file that is redirected to where nobody answers: the message names that place", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world);
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    listener.close();
    world.server.fail(/download.*sha256$/, { kind: "redirect", to: `http://127.0.0.1:${port}/x` }, 4);
    await rejects(
      fetchPackages(user.session("app")),
      new RegExp(`Cannot fetch fx 0\\.3\\.2: 127\\.0\\.0\\.1:${port}: nobody answers there`),
    );
  }));

Deno.test("a failing extra registry is a warning and its cache serves; a failing default without a cache is an error", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world);
    const text = (await user.read("app/project.toml")).replace(
      "[dependencies]",
      'extras = ["no/where"]\n\n[dependencies]',
    );
    await user.write("app", { "project.toml": text });
    await fetchPackages(user.session("app"));
    match(user.warnings.join("\n"), /^Cannot read the releases of no\/where: .*; it is left out$/);
    user.now += HOUR;
    world.server.fail(/games\/releases\?/, { kind: "status", status: 500 }, 4);
    strictEqual((await searchPackages(user.session("app"), "fx")).length, 1);
    match(user.warnings.join("\n"), /octo\/games.*; its cached index is used/);
  }));

Deno.test("no network: a clear message, and --offline asks nothing", () =>
  withEnvironment(async (world) => {
    await publish(world, "fx", "0.3.2");
    const user = await userOf(world);
    await fetchPackages(user.session("app"));
    await Deno.remove(`${user.home}/app/.lang`, { recursive: true });
    world.server.takeRequests();
    strictEqual((await fetchPackages(user.session("app", { isOffline: true }))).unpacked.length, 1);
    await Deno.remove(`${user.home}/cache`, { recursive: true });
    await Deno.remove(`${user.home}/app/.lang`, { recursive: true });
    await rejects(fetchPackages(user.session("app", { isOffline: true })), /--offline forbids the network/);
    strictEqual(world.server.takeRequests().length, 0);
  }));

Deno.test("nobody answers: four attempts, then a message that names the host and what to do", async () => {
  await withEnvironment(async ({ machine, server }) => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    listener.close();
    const user = machine("user");
    await user.write("app", { "project.toml": manifest("app", "1.0.0", { fx: "^0.3" }) });
    const lonely = new Machine(user.home, `http://127.0.0.1:${port}`);
    const error = await failure(fetchPackages(lonely.session("app")));
    strictEqual(
      error.message,
      `Cannot read the releases of octo/games: 127.0.0.1:${port}: nobody answers there (connection refused)`,
    );
    match(error.hint ?? "", /--offline.*HTTPS_PROXY/);
    deepStrictEqual(lonely.sleeps, [500, 1000, 2000]);
    strictEqual(server.requests.length, 0);
  });
});
