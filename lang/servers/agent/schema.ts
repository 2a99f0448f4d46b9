/**
 * What `schema` and `version` answer: the JSON Schema of every request and line, made of the validators that the
 * server uses, and the protocol's version.
 */
import * as z from "zod";
import { LINES } from "./lines.ts";
import { OPS, REQUESTS } from "./requests.ts";

/** `<major>.<minor>`; another major number means that old requests may be refused. */
export const PROTOCOL_VERSION = "1.0";

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

let made: JsonSchema | null = null;

/**
 * The schema of requests and lines, JSON Schema 2020-12: `$defs` has `request` and `line`, and each request and line
 * by its name.
 */
export function protocolSchema(): JsonSchema {
  made ??= makeSchema();
  return made;
}

function makeSchema(): JsonSchema {
  const defs: Record<string, unknown> = {};
  const requests = OPS.map((op) => {
    const name = `${op}_request`;
    defs[name] = plain(REQUESTS[op], "input", defs);
    return { $ref: `#/$defs/${name}` };
  });
  const lines = Object.entries(LINES).map(([kind, line]) => {
    const name = `${kind}_line`;
    defs[name] = plain(line, "output", defs);
    return { $ref: `#/$defs/${name}` };
  });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: `lang agent ${PROTOCOL_VERSION}`,
    anyOf: [{ $ref: "#/$defs/request" }, { $ref: "#/$defs/line" }],
    $defs: { request: { anyOf: requests }, line: { anyOf: lines }, ...defs },
  };
}

/** The schema of one validator, without a heading of its own; what it defines goes to the common definitions. */
function plain(validator: z.ZodType, io: "input" | "output", defs: Record<string, unknown>): JsonSchema {
  const { $schema: _, $defs = {}, ...schema } = z.toJSONSchema(validator, { io });
  for (const [name, definition] of Object.entries($defs)) defs[name] = definition;
  return schema;
}
