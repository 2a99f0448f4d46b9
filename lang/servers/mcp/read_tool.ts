/** The tool `read`: what there is as resources, for the many clients that show their models tools and nothing else. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import * as z from "zod";
import { FAMILIES, FIXED_RESOURCES, type Resources } from "./resources.ts";

/** Addresses of everything that can be read. */
const ADDRESSES: readonly string[] = [
  ...FIXED_RESOURCES.map(({ uri }) => uri),
  ...FAMILIES.map(({ template }) => template.replace("+", "")),
];

/** How models are told of it. */
export const READ_TOOL = {
  name: "read",
  title: "Read about the language, the library and the package",
  description:
    "Reads a page: lang://language is how programs are written, and all that one needs to know before the first; lang://library lists the modules of the library and their names, lang://library/{module} has signatures and documentation of one (list, string, web.canvas); lang://explain lists the codes of errors; lang://package/{path} is a file of the package. The pages are the same as the resources.",
} as const;

/** Its arguments. */
export const READ_ARGUMENTS: z.ZodObject = z.strictObject({
  uri: z.string().min(1).max(1024).describe("address of the page, such as lang://language"),
});

/** Reads a page. */
export function readPage(resources: Resources, values: unknown): CallToolResult {
  const { uri } = z.object({ uri: z.string() }).parse(values);
  const found = resources.read(uri.includes("://") ? uri : `lang://${uri}`);
  const text = found?.text ??
    `Cannot read ${uri}: there is no such page\nThere are ${ADDRESSES.join(", ")}.`;
  return { content: [{ type: "text", text }], ...(found === null ? { isError: true } : {}) };
}
