/**
 * Programs and editors that work on a package see what `lang pkg` has fetched, and say what to do while it is
 * missing.
 */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { fetchPackages } from "../../registry/client/fetch_packages.ts";
import { publishPackage } from "../../registry/commands/publish.ts";
import { agent, answersOf } from "../lang/agent/agent_client.ts";
import { Editor, uriOf } from "../lang/lsp/editor.ts";
import { type Machine, manifest, TOKEN, withEnvironment, type World } from "./machine.ts";

const MAIN = `use fx

pub fn double() -> Int {
  fx.value() * 2
}

test "double" {
  expect_snapshot(double(), "")
}
`;

async function userOf({ machine }: World): Promise<Machine> {
  const author = machine("author", { hostToken: TOKEN });
  await author.write("fx", {
    "project.toml": manifest("fx", "0.3.2"),
    "src/main.lang": "pub fn value() -> Int {\n  21\n}\n",
  });
  await publishPackage(author.session("fx"), { isDryRun: false });
  const user = machine("user");
  await user.write("app", {
    "project.toml": manifest("app", "1.0.0", { fx: "^0.3" }),
    "src/main.lang": MAIN,
  });
  return user;
}

Deno.test("lang agent: a package that is not there is told with what brings it, and used as soon as it is", () =>
  withEnvironment(async (world) => {
    const user = await userOf(world);
    const folder = `${user.home}/app`;
    const requests = [
      { op: "check" },
      { op: "test", update: true },
      { op: "test" },
      { op: "version" },
    ];
    const before = answersOf((await agent(folder, requests)).lines);
    match(
      String(before[0]?.[0]?.["hint"]),
      /The package `fx` in project\.toml has not been fetched yet: run `lang pkg fetch`/,
    );
    strictEqual(before[0]?.at(-1)?.["exit_code"], 1);
    // One agent, and the package comes while it runs.
    const pieces = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
    const running = agent(folder, pieces.readable);
    const writer = pieces.writable.getWriter();
    const ask = (request: object) => writer.write(new TextEncoder().encode(`${JSON.stringify(request)}\n`));
    await ask({ op: "check" });
    await fetchPackages(user.session("app"));
    for (const request of requests) await ask(request);
    await writer.close();
    const answers = answersOf((await running).lines);
    deepStrictEqual(answers.slice(1).map((lines) => lines.at(-1)?.["exit_code"]), [0, 0, 0, 0]);
    match(await user.read("app/src/main.lang"), /expect_snapshot\(double\(\), "42"\)/);
  }));

Deno.test("lang lsp: a package that is not there is told with what brings it, and used once the editor says so", () =>
  withEnvironment(async (world) => {
    const user = await userOf(world);
    const folder = await Deno.realPath(`${user.home}/app`);
    await using editor = new Editor();
    await editor.initialize(folder);
    const uri = uriOf(`${folder}/src/main.lang`);
    await editor.open(uri, MAIN);
    const [missing] = await editor.diagnostics(uri, (found) => found.length > 0);
    match(JSON.stringify(missing), /Unknown module `fx`\.[\s\S]*run `lang pkg fetch`/);
    await fetchPackages(user.session("app"));
    await editor.connection.sendNotification("workspace/didChangeWatchedFiles", {
      changes: [{ uri: uriOf(`${folder}/.lang/packages.json`), type: 1 }],
    });
    await editor.diagnostics(uri, (found) => found.length === 0);
    strictEqual(await editor.end(), 0);
  }));
