/** What is read as a text, by which two descriptions are compared. */

/** A text that equal ones have in common. */
export function readKey(read: object): string {
  return JSON.stringify(read, (_, value) => {
    if (typeof value === "bigint") return { big: String(value) };
    if (value instanceof Uint8Array) return { bytes: value.toHex() };
    if (typeof value === "number" && !Number.isFinite(value)) return { number: String(value) };
    return Object.is(value, -0) ? 0 : value;
  });
}
