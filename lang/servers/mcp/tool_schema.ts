/**
 * Validators as the protocol's implementation takes them: they check values as they are, and describe themselves in
 * fewer words.
 *
 * A model reads the descriptions with every conversation, so what tells it nothing is left out (the range of whole
 * numbers, that names are texts), and what occurs again and again in what tools give is described once.
 */
import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import * as z from "zod";

/** A validator with its description, made once. */
export function describedSchema(validator: z.ZodObject): StandardSchemaWithJSON<Record<string, unknown>> {
  const once = (io: "input" | "output") => {
    let made: Record<string, unknown> | null = null;
    return () => made ??= jsonSchemaOf(validator, io);
  };
  return {
    "~standard": {
      ...validator["~standard"],
      jsonSchema: { input: once("input"), output: once("output") },
    },
  };
}

/** JSON Schema of a validator, in few words. */
export function jsonSchemaOf(validator: z.ZodType, io: "input" | "output"): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(validator, {
    io,
    reused: io === "output" ? "ref" : "inline",
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      delete jsonSchema.propertyNames;
    },
  });
  return schema;
}
