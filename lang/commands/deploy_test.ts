/** Deploying: signatures, comments and bounds of gas as SQL, and what is refused. */
import assert from "node:assert/strict";
import { MemoryFiles } from "../package/package_files.ts";
import { CommandError } from "./command_error.ts";
import { planDeploy } from "./deploy.ts";
import { Workspace } from "./workspace.ts";

function workspaceOf(source: string): Workspace {
  return new Workspace(
    new MemoryFiles([["project.toml", 'name = "p"\ntarget = "wasm32-db"\n'], ["src/main.lang", source]]),
  );
}

const DEBUG = { isRelease: false };

const source = `
/// The price of it's pieces.
///
/// \`\`\`
/// expect(Order.price(2, 3) == 6)
/// \`\`\`
pub fn Order.price(pieces: Int, cents: Int) -> Int { pieces * cents }
pub type Order = { pieces: Int }
pub fn all_of(a: Bool, b: Int64, c: F32, d: String, e: List[Float]) -> Bytes { [] }
pub fn longest(texts: Option[String], count: Option[Int]) -> Option[Int64] { None }
pub fn total(values: List[Int64]) -> Int64 {
  var sum = 0.to_int64()
  for value in values { sum += value }
  sum
}
fn helper(n: (Int, Int)) -> Int { n.0 }
`;

Deno.test("planDeploy() gives a statement and a comment for each public function", async () => {
  const { plan, diagnostics } = await planDeploy(
    workspaceOf(source.replace("-> Bytes { [] }", "-> Bytes { d.to_bytes() }")),
  );
  assert(plan !== null, JSON.stringify(diagnostics));
  const shown = plan.statements.map((each) => each.replace(/'\\x[0-9a-f]+'/, "…"));
  assert.match(
    shown[0] ?? "",
    /^CREATE OR REPLACE FUNCTION "order_price"\("pieces" integer, "cents" integer\) RETURNS integer LANGUAGE WASM IMMUTABLE STRICT AS … EXPORT 'Order.price' GAS \d+;$/,
  );
  assert.equal(
    shown[1],
    `COMMENT ON FUNCTION "order_price"(integer, integer) IS 'The price of it''s pieces.';`,
  );
  assert.match(
    shown[2] ?? "",
    /^CREATE OR REPLACE FUNCTION "all_of"\("a" boolean, "b" bigint, "c" real, "d" text, "e" double precision\[\]\) RETURNS bytea /,
  );
  assert.equal(
    shown[3],
    'COMMENT ON FUNCTION "all_of"(boolean, bigint, real, text, double precision[]) IS NULL;',
  );
  assert.match(shown[4] ?? "", /"texts" text, "count" integer\) RETURNS bigint .* CALLED ON NULL INPUT /);
  assert.doesNotMatch(shown[6] ?? "", /GAS/);
  assert.deepEqual(plan.functions.map(({ gas }) => gas !== null), [true, false, false, false]);
});

Deno.test("planDeploy() refuses functions that SQL has no types for, and names that meet", async () => {
  const refused = (text: string, message: RegExp) =>
    assert.rejects(
      planDeploy(workspaceOf(text), DEBUG),
      (error) => error instanceof CommandError && message.test(error.message),
    );
  await refused(
    "pub fn one() -> Int { 1 }\npub fn pair(n: Int) -> (Int, Int) { (n, n) }\n",
    /Cannot deploy `pair` of src\/main.lang: its result has the type `\(Int, Int\)`/,
  );
  await refused(
    "pub fn one() -> Int { 1 }\npub fn texts(x: List[String]) -> Int { 1 }\n",
    /its parameter `x` has the type/,
  );
  await refused("pub fn one() -> Int { 1 }\npub fn any[T](x: T) -> Int { 1 }\n", /has no type parameters/);
  await refused(
    "pub type A = { n: Int }\npub fn A.b(n: Int) -> Int { n }\npub fn a_b(n: Int) -> Int { n }\n",
    /Cannot deploy `a_b`: it would be `"a_b"\(integer\)`/,
  );
  const { plan } = await planDeploy(workspaceOf("pub fn one() -> Int { 1"), DEBUG);
  assert.equal(plan, null);
});
