/**
 * The version of the product, as every program prints it. The same number is in `deno.json`; a test compares them.
 */

/** Semantic version of this build. */
export const version = "0.1.0";
