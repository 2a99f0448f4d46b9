/**
 * What a client does with a server, the same over every transport: lists and calls every tool, reads resources, takes
 * prompts.
 *
 * The client is the protocol's own; it holds what tools give against the schemas that they promised.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import type { CallToolResult, Client } from "@modelcontextprotocol/client";

/**
 * Sources of the package that is toured: it runs, its test passes, and there is something to fix, to format and to
 * rename.
 */
export const TOURED: Readonly<Record<string, string>> = {
  "project.toml": 'name = "tried"\nversion = "0.1.0"\n',
  "src/main.lang": `/// Twice as much.
pub fn double(count: Int) -> Int {
  count * 2
}

pub fn main(args: List[String]) -> Int uses Log {
  let unused = 1
  print("hello {double(args.len())}")
  7
}

test "double" {
  expect(double(2) == 4)
}
`,
  "src/shapes.lang": "pub fn area(width: Float)->Float { width*width }\n",
  "docs/notes.md": "# Notes\n\nTwice is enough.\n",
};

/** All tools, as they are listed. */
export const TOOL_NAMES = [
  "check",
  "fix",
  "explain",
  "test",
  "run",
  "inspect",
  "find",
  "fmt",
  "symbols",
  "references",
  "rename",
  "hover",
  "complete",
  "read",
];

type Values = Readonly<Record<string, unknown>>;

/** Calls a tool that has to succeed; gives its text and what is structured. */
async function call(client: Client, name: string, values: Values = {}) {
  const result: CallToolResult = await client.callTool({ name, arguments: { ...values } });
  const text = textOf(result);
  ok(!result.isError, `${name}: ${text}`);
  const { structuredContent } = result;
  ok(typeof structuredContent === "object" && structuredContent !== null, name);
  return { text, value: { ...structuredContent } as Values };
}

/** The text of a result. */
export function textOf({ content }: CallToolResult): string {
  return content.map((part) => part.type === "text" ? part.text : "").join("");
}

/** The whole tour of {@link TOURED}; afterwards its sources are fixed, formatted and renamed. */
export async function tour(client: Client): Promise<void> {
  await listTools(client);
  await callTools(client);
  await callLookUps(client);
  await callWithErrors(client);
  await readResources(client);
  await takePrompts(client);
}

async function listTools(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  deepStrictEqual(tools.map(({ name }) => name), TOOL_NAMES);
  for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
    ok((title ?? "").length > 3 && (description ?? "").length > 80, name);
    strictEqual(inputSchema.additionalProperties, false, name);
    // A page is a text.
    strictEqual(outputSchema?.type, name === "read" ? undefined : "object", name);
    ok(!("op" in (inputSchema.properties ?? {})) && !("id" in (inputSchema.properties ?? {})), name);
    const writes = ["fix", "fmt", "rename", "run", "test"].includes(name);
    strictEqual(annotations?.readOnlyHint, !writes, name);
    strictEqual(annotations?.destructiveHint, writes, name);
    strictEqual(annotations?.openWorldHint, false, name);
  }
}

async function callTools(client: Client): Promise<void> {
  const check = await call(client, "check", { include_source: true });
  strictEqual(check.value["ok"], true);
  strictEqual(check.value["diagnostics_count"], 1);
  match(check.text, /warning LI0001 src\/main\.lang:7:7: Unused variable\n {2}\| {3}let unused = 1\n/);
  match(check.text, /fix 0 \(\w+\): /);

  const broken = { "src/main.lang": 'pub fn main(args: List[String]) -> Int { args.len() + "x" }\n' };
  const tried = await call(client, "check", { files: broken, max_diagnostics: 0 });
  strictEqual(tried.value["ok"], false);
  strictEqual(tried.value["truncated"], tried.value["diagnostics_count"]);
  match(tried.text, /that are not shown/);

  match((await call(client, "explain", { code: "TY0001" })).text, /TY0001/);

  const preview = await call(client, "fix", { code: "LI0001" });
  match(preview.text, /would fix src\/main\.lang:7:7/);
  match(preview.text, /^- {2}let unused = 1$/m);
  const fixed = await call(client, "fix", { code: "LI0001", write: true });
  strictEqual(fixed.value["written"], true);
  match((await call(client, "check")).text, /^no errors or warnings$/m);

  const test = await call(client, "test", { filter: "double" });
  strictEqual(test.value["passed"], 1);
  match(test.text, /1 passed, 0 failed/);

  const run = await call(client, "run", { args: ["a", "b"] });
  strictEqual(run.value["stdout"], "hello 4\n");
  strictEqual(run.value["exit_code"], 7);
  match(run.text, /^hello 4\nexit code 7\n$/);

  match((await call(client, "inspect")).text, /fn double\(count: Int\) -> Int/);
  match((await call(client, "inspect", { cost: true })).text, /double/);
  match((await call(client, "find", { query: "twice" })).text, /^docs\/notes\.md:3: Twice is enough\.$/m);

  const unformatted = await call(client, "fmt", { check: true });
  match(unformatted.text, /would format src\/shapes\.lang/);
  strictEqual((await call(client, "fmt")).value["written"], true);
  strictEqual((await call(client, "fmt", { check: true })).value["ok"], true);
}

async function callLookUps(client: Client): Promise<void> {
  match((await call(client, "symbols", { query: "dbl" })).text, /fn double\(count: Int\) -> Int/);
  const place = { path: "src/main.lang", line: 2, column: 8 };
  const references = await call(client, "references", place);
  match(references.text, /src\/main\.lang:2:8 {2}definition/);
  match(references.text, /src\/main\.lang:13:10/);
  match((await call(client, "hover", place)).text, /Twice as much\./);
  const unfinished = { "src/main.lang": "fn main() -> Int {\n  let names = [1]\n  names.\n}\n" };
  match(
    (await call(client, "complete", { path: "src/main.lang", line: 3, column: 9, files: unfinished })).text,
    /\blen\b/,
  );
  const renamed = await call(client, "rename", { ...place, new_name: "twice", write: true });
  strictEqual(renamed.value["written"], true);
  match((await call(client, "check")).text, /^no errors or warnings$/m);
  strictEqual((await call(client, "test")).value["ok"], true);
}

/** Calls that cannot be carried out tell why, as results, and the server goes on. */
async function callWithErrors(client: Client): Promise<void> {
  const calls: readonly (readonly [string, Values, RegExp])[] = [
    ["check", { path: 1 }, /path/],
    ["check", { paht: "src" }, /paht/],
    ["explain", {}, /code/],
    ["explain", { code: "XX0000" }, /Cannot find the code XX0000/],
    ["find", { query: "" }, /query/],
    ["hover", { path: "src/main.lang", line: 9_999, column: 1 }, /no such place/],
    ["check", { path: "../../../../../../etc/passwd" }, /Cannot/],
    ["check", { files: { "../../outside.lang": "" } }, /Cannot use the path/],
    ["run", { args: [], timeout: -1 }, /timeout/],
  ];
  for (const [name, values, expected] of calls) {
    const result = await client.callTool({ name, arguments: { ...values } });
    strictEqual(result.isError, true, name);
    match(textOf(result), expected);
  }
}

async function readResources(client: Client): Promise<void> {
  for (
    const uri of ["lang://language", "lang://library", "lang://library/list", "lang://package/docs/notes.md"]
  ) {
    const { contents } = await client.readResource({ uri });
    const read: CallToolResult = await client.callTool({ name: "read", arguments: { uri } });
    strictEqual(
      textOf(read),
      contents[0] !== undefined && "text" in contents[0] ? contents[0].text : "",
      uri,
    );
  }
  const missing: CallToolResult = await client.callTool({ name: "read", arguments: { uri: "lang://lists" } });
  strictEqual(missing.isError, true);
  match(textOf(missing), /there is no such page\nThere are lang:\/\/language, /);
  const { resources } = await client.listResources();
  const uris = resources.map(({ uri }) => uri);
  for (
    const uri of [
      "lang://language",
      "lang://library",
      "lang://explain",
      "lang://library/std.list",
      "lang://package/src/main.lang",
      "lang://package/docs/notes.md",
    ]
  ) {
    ok(uris.includes(uri), uri);
    const [content] = (await client.readResource({ uri })).contents;
    ok(content !== undefined && "text" in content && content.text.length > 0, uri);
  }
  const { resourceTemplates } = await client.listResourceTemplates();
  deepStrictEqual(resourceTemplates.map(({ uriTemplate }) => uriTemplate), [
    "lang://library/{module}",
    "lang://explain/{code}",
    "lang://package/{+path}",
  ]);
  const [page] = (await client.readResource({ uri: "lang://explain/TY0001" })).contents;
  match(page !== undefined && "text" in page ? page.text : "", /TY0001/);
  for (
    const uri of [
      "lang://package/../secret",
      "lang://package/src/nothing.lang",
      "lang://explain/XX0000",
      "file:///etc/passwd",
    ]
  ) {
    let message = "";
    await client.readResource({ uri }).catch((error: Error) => message = error.message);
    ok(message !== "", uri);
  }
  const { completion } = await client.complete({
    ref: { type: "ref/resource", uri: "lang://library/{module}" },
    argument: { name: "module", value: "canv" },
  });
  deepStrictEqual(completion.values, ["web.canvas"]);
}

async function takePrompts(client: Client): Promise<void> {
  const { prompts } = await client.listPrompts();
  deepStrictEqual(prompts.map(({ name }) => name), ["mend_package", "write_game"]);
  const fix = await client.getPrompt({ name: "mend_package", arguments: { goal: "greet" } });
  const [first] = fix.messages;
  ok(first?.content.type === "text");
  match(first.content.text, /meant to do: greet/);
  match(first.content.text, /no errors or warnings/);
  const game = await client.getPrompt({ name: "write_game", arguments: { idea: "Pong for one" } });
  ok(
    game.messages.some(({ content }) =>
      content.type === "resource" && content.resource.uri === "lang://language"
    ),
  );
  await client.getPrompt({ name: "write_game", arguments: {} }).then(
    () => ok(false),
    (error: Error) => match(error.message, /idea/),
  );
}
