/**
 * `lang pkg` as a process, compiled as it ships: three packages that need one another go from one machine over a
 * registry to another one and are built there.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { type ProgramResult, runProgram } from "../support/programs.ts";
import { manifest, SLUG, TOKEN, withEnvironment, type World } from "../registry/machine.ts";

const programs = await compiledPrograms();

/** One machine: a home of its own, and the registry that it asks. */
class Shell {
  readonly home: string;
  readonly #world: World;
  readonly #token: string;

  constructor(world: World, name: string, token = "") {
    this.home = `${world.folder}/${name}`;
    this.#world = world;
    this.#token = token;
  }

  async write(name: string, files: Readonly<Record<string, string>>): Promise<void> {
    await this.#world.machine(this.home.split("/").at(-1) ?? "").write(name, files);
  }

  /** Runs `lang` in a package. */
  async lang(name: string, ...parameters: readonly string[]): Promise<ProgramResult> {
    const result = await runProgram(programs.lang, parameters, {
      directory: `${this.home}/${name}`,
      environment: {
        HOME: this.home,
        LANG_API_URL: this.#world.server.apiUrl,
        LANG_CACHE: `${this.home}/.cache/lang`,
        // The executable unpacks itself once for all machines.
        XDG_CACHE_HOME: `${this.#world.folder}/cache`,
        HOST_TOKEN: "",
        PKG_LOGIN_TOKEN: this.#token,
      },
    });
    ok(
      !/^\s+at .*:\d+:\d+|internal error/m.test(result.stdout + result.stderr),
      result.stderr + result.stdout,
    );
    return result;
  }
}

const NOISE = "/// A number that looks random.\npub fn at(x: Int) -> Int {\n  (x *% 73 +% 11) % 100\n}\n";
const PARTICLES = `use noise
use sparks

/// How bright a particle is.
pub fn brightness(x: Int) -> Int {
  noise.at(x) + sparks.extra()
}
`;
const SPARKS = "/// Added to every particle.\npub fn extra() -> Int {\n  1000\n}\n";
const MAIN = `use fx.particles
use noise as chance

pub fn main() -> Int uses Log {
  print("{particles.brightness(3)} {chance.at(1)}")
  0
}

test "bright" {
  expect_snapshot(particles.brightness(3), "1030")
}
`;

Deno.test("three packages: publish, add, fetch, build, from two machines", () =>
  withEnvironment(async (world) => {
    const author = new Shell(world, "author", TOKEN);
    await author.write("noise", { "project.toml": manifest("noise", "1.0.0"), "src/main.lang": NOISE });
    // The first start says that it unpacks itself.
    await author.lang("noise", "--version");
    const login = await author.lang("noise", "pkg", "login");
    deepStrictEqual([login.code, login.stderr], [0, ""]);
    const published = await author.lang("noise", "pkg", "publish");
    deepStrictEqual([published.code, published.stderr], [0, ""]);
    strictEqual(published.stdout, `${world.server.apiUrl}/${SLUG}/releases/tag/noise-1.0.0\n`);
    await author.write("fx", {
      "project.toml": manifest("fx", "0.3.2"),
      "src/particles.lang": PARTICLES,
      "src/sparks.lang": SPARKS,
    });
    strictEqual(
      (await author.lang("fx", "pkg", "update", "--refresh")).stdout,
      "there are no dependencies\n",
    );
    strictEqual((await author.lang("fx", "pkg", "add", "noise")).stdout, 'added noise = "^1.0.0" (1.0.0)\n');
    strictEqual((await author.lang("fx", "check")).stdout, "no errors or warnings\n");
    strictEqual((await author.lang("fx", "pkg", "publish")).code, 0);

    const user = new Shell(world, "user");
    await user.write("app", { "project.toml": manifest("app", "0.1.0"), "src/main.lang": MAIN });
    strictEqual((await user.lang("app", "pkg", "update", "--refresh")).code, 0);
    const added = await user.lang("app", "pkg", "add", "fx@^0.3");
    strictEqual(added.stdout, 'added fx = "^0.3" (0.3.2)\n  + noise 1.0.0\n');
    strictEqual((await user.lang("app", "pkg", "add", "noise", "--version", "^1")).code, 0);
    const built = await user.lang("app", "build");
    deepStrictEqual([built.code, built.stderr], [0, ""]);
    const run = await user.lang("app", "run");
    deepStrictEqual([run.code, run.stdout], [0, "1030 84\n"]);
    strictEqual((await user.lang("app", "test")).stdout, "1 passed, 0 failed\n");
    const listed = await user.lang("app", "pkg", "list");
    strictEqual(
      listed.stdout,
      `fx 0.3.2     registry+host://${SLUG}\nnoise 1.0.0  registry+host://${SLUG}\n`,
    );
    strictEqual((await user.lang("app", "pkg", "verify", "--locked")).code, 0);

    // A fresh checkout on a third machine: build alone fetches and verifies, once.
    const fresh = new Shell(world, "fresh");
    const read = (path: string) => Deno.readTextFile(`${user.home}/app/${path}`);
    await fresh.write("app", {
      "project.toml": await read("project.toml"),
      "project.lock": await read("project.lock"),
      "src/main.lang": MAIN,
    });
    world.server.takeRequests();
    const first = await fresh.lang("app", "build");
    deepStrictEqual([first.code, first.stderr], [0, ""]);
    ok(world.server.takeRequests().length > 0);
    strictEqual((await fresh.lang("app", "build")).code, 0);
    strictEqual(world.server.takeRequests().length, 0);
    deepStrictEqual(
      await Deno.readFile(`${fresh.home}/app/target/main.wasm`),
      await Deno.readFile(`${user.home}/app/target/main.wasm`),
    );
    strictEqual(await Deno.readTextFile(`${fresh.home}/app/project.lock`), await read("project.lock"));

    // The next version of fx uses an effect that it did not use before.
    await author.write("fx", {
      "project.toml": manifest("fx", "0.3.3", { noise: "^1" }),
      "src/sparks.lang": SPARKS.replace(
        "pub fn extra() -> Int {",
        'pub fn extra() -> Int uses Log {\n  print("spark")',
      ),
      "src/particles.lang": PARTICLES.replace("-> Int {", "-> Int uses Log {"),
    });
    strictEqual((await author.lang("fx", "pkg", "publish")).code, 0);
    strictEqual((await user.lang("app", "pkg", "fetch")).code, 0);
    const updated = await user.lang("app", "pkg", "update", "--refresh");
    strictEqual(updated.stdout, "  ~ fx 0.3.2 -> 0.3.3\nfx 0.3.3 newly uses Log\nfetched fx 0.3.3\n");
  }));

Deno.test("lang pkg: exit codes, forms of output, help", () =>
  withEnvironment(async (world) => {
    const user = new Shell(world, "user");
    await user.write("app", { "project.toml": manifest("app", "0.1.0"), "src/main.lang": MAIN });
    const check = async (code: number, expected: RegExp, ...parameters: readonly string[]) => {
      const result = await user.lang("app", "pkg", ...parameters);
      strictEqual(result.code, code, `${parameters.join(" ")}: ${result.stderr}${result.stdout}`);
      match(result.stderr + result.stdout, expected);
    };
    await check(2, /PKG_LOGIN_TOKEN is not set/, "login");
    await check(2, /is no name of a package/, "add", "F X");
    await check(2, /unknown option '--frozen'/, "fetch", "--frozen");
    await check(2, /there is no project\.toml/, "fetch", "--manifest-dir", "..");
    await check(0, /locked as 0\.3\.2, unresolved/, "add", "fx@^0.3.2");
    await check(1, /Cannot fetch fx 0\.3\.2: release not found in octo\/games/, "fetch");
    await check(
      1,
      /^\{"ok":false,"error":\{"code":"release-not-found","message":"Cannot fetch fx 0\.3\.2: .*\}\}\n$/,
      "fetch",
      "--format",
      "json",
    );
    await check(0, /nothing was sent, because there is no token for octo\/games/, "publish");
    strictEqual((await user.lang("app", "build")).code, 1);
  }));

Deno.test("lang build: dependencies that cannot be read, or not be fetched, end it with a message", () =>
  withEnvironment(async (world) => {
    const user = new Shell(world, "user");
    const check = async (dependencies: string, code: number, expected: RegExp) => {
      await user.write("app", {
        "project.toml": `${manifest("app", "0.1.0")}\n[dependencies]\n${dependencies}\n`,
        "src/main.lang": "pub fn main() -> Int {\n  0\n}\n",
      });
      const result = await user.lang("app", "build");
      deepStrictEqual([result.code, result.stdout], [code, ""]);
      match(result.stderr, expected);
    };
    await check('fx = "latest"', 2, /`dependencies\.fx` has no requirement: "latest"/);
    await check('fx = "^0.3"', 1, /Cannot fetch fx 0\.3\.0: release not found in octo\/games/);
    await check('fx = { path = "../none" }', 1, /there is no package in \.\.\/none/);
    await check("fx = = 1", 1, /PK0001/);
  }));
