/** Values that were read from JSON or TOML, before anything is known of them. */

/** An object, whose fields may be anything. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether it is an object and no list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
