/** The page about editors and models: its settings are JSON that starts `lang mcp`, and all that is served is named. */
import { ok, strictEqual } from "node:assert/strict";
import { READ_TOOL } from "../../../lang/servers/mcp/read_tool.ts";
import { FAMILIES, FIXED_RESOURCES } from "../../../lang/servers/mcp/resources.ts";
import { PROMPTS } from "../../../lang/servers/mcp/prompts.ts";
import { TOOLS } from "../../../lang/servers/mcp/tools.ts";

const page = await Deno.readTextFile(new URL("../../../docs/editors.md", import.meta.url));
const section = page.slice(page.indexOf("\n## Models: `lang mcp`\n")).replace(
  /^(\n## [^]*?)\n## [^]*$/,
  "$1",
);

Deno.test("docs/editors.md: settings of clients are JSON, and start lang mcp", () => {
  const blocks = [...section.matchAll(/^```json\n([^]*?)^```$/gm)].map(([, text = ""]) => JSON.parse(text));
  strictEqual(blocks.length, 6);
  for (const block of blocks) {
    const servers: unknown = Object.values(block)[0];
    ok(typeof servers === "object" && servers !== null && "lang" in servers);
    const { command, args, url } = {
      command: "lang",
      args: ["mcp"],
      url: "http://127.0.0.1/mcp",
      ...Object(servers.lang),
    };
    strictEqual(command, "lang");
    strictEqual(args[0], "mcp");
    strictEqual(new URL(url).pathname, "/mcp");
  }
});

Deno.test("docs/editors.md names every tool, resource and prompt", () => {
  const names = [
    ...TOOLS.map(({ op }) => `\`${op}\``),
    `\`${READ_TOOL.name}\``,
    ...FIXED_RESOURCES.map(({ uri }) => `\`${uri}\``),
    ...FAMILIES.map(({ template }) => `\`${template}\``),
    ...PROMPTS.map(({ name }) => `\`${name}\``),
  ];
  for (const name of names) ok(section.includes(name), name);
});
