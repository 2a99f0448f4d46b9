/**
 * The server of the Model Context Protocol: tools, resources and prompts of one package, put before the protocol's
 * own implementation.
 *
 * One is made for each connection or session, or, for clients that ask without one, for each request; what they know
 * of the package is in the {@link PackageContext} that all share.
 */
import type { CallToolResult, GetPromptResult, McpServer, ServerContext } from "@modelcontextprotocol/server";
import * as z from "zod";
import { LANG_LIMITS } from "../../limits.ts";
import { type Prompt, type PromptPart, PROMPTS } from "./prompts.ts";
import { READ_ARGUMENTS, READ_TOOL, readPage } from "./read_tool.ts";
import { FAMILIES, FIXED_RESOURCES, type ResourceFamily, type Resources } from "./resources.ts";
import { describedSchema } from "./tool_schema.ts";
import { outputOf } from "./tool_answer.ts";
import type { ToolSession } from "./tool_session.ts";
import { argumentsOf, type LangTool, TOOLS } from "./tools.ts";

/** A package as servers see it. */
export interface PackageContext {
  /** The implementation of the protocol. */
  readonly sdk: typeof import("./sdk.ts");
  readonly version: string;
  readonly tools: ToolSession;
  readonly resources: Resources;
  /** Calls back again and again; what it gives ends that. */
  readonly every: (milliseconds: number, call: () => void) => () => void;
}

const INSTRUCTIONS =
  `Tools for a package of the language \`lang\`: statically typed, deterministic, compiled to WebAssembly, for web games, commands and database functions.
The language is its own: read lang://language before you write it, and look names of the library up in lang://library/{module} instead of guessing; the tool \`read\` gives these resources as well.
A package is a folder with project.toml (name = "pong", version = "0.1.0") and sources under src/. src/main.lang has the entry points: \`pub fn main(args: List[String]) -> Int\` of a command; \`init\`, \`step\` and \`draw\` of a game, whose page is in web/. Tests are next to the code that they test.
Work in small steps: change a file, \`check\`, fix what it reports (\`fix\`, \`explain\`), \`test\`, and \`fmt\` at the end. Paths are relative to the package: src/main.lang. Lines and columns count from 1.`;

/** Milliseconds between two words on what still goes on. */
const PROGRESS_MILLISECONDS = 1_000;

/** Makes a server. */
export function createServer(context: PackageContext): McpServer {
  const server = new context.sdk.McpServer({ name: "lang", title: "lang", version: context.version }, {
    instructions: INSTRUCTIONS,
    capabilities: {
      tools: { listChanged: false },
      resources: { listChanged: false },
      prompts: { listChanged: false },
    },
    maxToolInputElements: LANG_LIMITS.mcpArgumentValues,
  });
  for (const tool of TOOLS) addTool(server, tool, context);
  addReadTool(server, context);
  for (const { uri, name, ...metadata } of FIXED_RESOURCES) {
    server.registerResource(name, uri, metadata, () => resourceContents(context, uri));
  }
  for (const family of FAMILIES) addFamily(server, family, context);
  for (const prompt of PROMPTS) addPrompt(server, prompt, context);
  return server;
}

const described = new WeakMap<z.ZodObject, ReturnType<typeof describedSchema>>();

/** Servers come and go, descriptions stay. */
function describedOnce(validator: z.ZodObject): ReturnType<typeof describedSchema> {
  const known = described.get(validator) ?? describedSchema(validator);
  described.set(validator, known);
  return known;
}

function addTool(server: McpServer, tool: LangTool, context: PackageContext): void {
  const { op, title, description, isReadOnly, isDestructive, isIdempotent } = tool;
  server.registerTool(op, {
    title,
    description,
    inputSchema: describedOnce(argumentsOf(op)),
    outputSchema: describedOnce(outputOf(op)),
    annotations: {
      title,
      readOnlyHint: isReadOnly,
      destructiveHint: isDestructive,
      idempotentHint: isIdempotent,
      // Whatever it runs is confined to the package.
      openWorldHint: false,
    },
  }, async (values, call): Promise<CallToolResult> => {
    const endProgress = reportProgress(tool, call, context);
    try {
      const { text, value } = await context.tools.call(op, values, call.mcpReq.signal);
      const content = [{ type: "text" as const, text }];
      return value === null ? { content, isError: true } : { content, structuredContent: { ...value } };
    } finally {
      endProgress();
    }
  });
}

function addReadTool(server: McpServer, { resources }: PackageContext): void {
  const { name, title, description } = READ_TOOL;
  server.registerTool(name, {
    title,
    description,
    inputSchema: describedOnce(READ_ARGUMENTS),
    annotations: {
      title,
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  }, (values) => readPage(resources, values));
}

/** While a call goes on, tells for how long, when the caller asked for it. */
function reportProgress(tool: LangTool, { mcpReq }: ServerContext, { every }: PackageContext): () => void {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => {};
  const tell = (seconds: number) => {
    mcpReq.notify({
      method: "notifications/progress",
      params: {
        progressToken,
        progress: seconds,
        message: seconds === 0 ? tool.title : `${tool.title}: ${seconds} s`,
      },
      // Who has gone does not want to know any more.
    }).catch(() => {});
  };
  let seconds = 0;
  tell(seconds);
  return every(PROGRESS_MILLISECONDS, () => tell(++seconds));
}

function resourceContents({ resources, sdk }: PackageContext, uri: string) {
  const found = resources.read(uri);
  if (found === null) throw new sdk.ResourceNotFoundError(uri);
  return { contents: [{ uri: found.uri, mimeType: found.mimeType, text: found.text }] };
}

function addFamily(server: McpServer, family: ResourceFamily, context: PackageContext): void {
  const { template, variable, name, title, description, mimeType } = family;
  const { resources, sdk } = context;
  server.registerResource(
    name,
    new sdk.ResourceTemplate(template, {
      list: () => ({ resources: resources.listed(variable).map((entry) => ({ ...entry })) }),
      complete: { [variable]: (written) => [...resources.complete(variable, written)] },
    }),
    { title, description, mimeType },
    (uri) => resourceContents(context, uri.href),
  );
}

function addPrompt(server: McpServer, prompt: Prompt, { tools }: PackageContext): void {
  const { name, title, description } = prompt;
  const argsSchema = z.object(Object.fromEntries(prompt.arguments.map((each) => {
    const text = z.string().max(each.maximumLength).describe(each.description);
    return [each.name, each.isRequired ? text.min(1) : text.optional()];
  })));
  server.registerPrompt(name, { title, description, argsSchema }, async (values, { mcpReq }) => {
    const given = new Map(
      Object.entries(values).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]),
    );
    const check = async () => {
      const { text, value } = await tools.call("check", { include_source: true }, mcpReq.signal);
      return value === null ? null : text;
    };
    const parts = await prompt.parts(given, { check });
    return { description, messages: parts.map(messageOf) };
  });
}

function messageOf(part: PromptPart): GetPromptResult["messages"][number] {
  if (part.kind === "text") return { role: "user", content: { type: "text", text: part.text } };
  const { uri, mimeType, text } = part;
  return { role: "user", content: { type: "resource", resource: { uri, mimeType, text } } };
}
