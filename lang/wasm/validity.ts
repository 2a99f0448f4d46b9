/**
 * Whether a module is valid, for tests: by the engine at hand and by Binaryen, with no features but those that
 * releases may use.
 *
 * Tests and fuzzers hand every module that they build to {@link expectValid}.
 */
import binaryen from "binaryen";
import { allowedFeatures } from "./release.ts";

let count = 0;

/** How many modules have been found valid in this process. */
export function validated(): number {
  return count;
}

/** Throws unless both find the module valid. */
export function expectValid(bytes: Uint8Array<ArrayBuffer>): void {
  if (!WebAssembly.validate(bytes)) {
    // Compiling says what is wrong.
    new WebAssembly.Module(bytes);
    throw new Error("Cannot use the module: the engine finds it not valid");
  }
  const module = binaryen.readBinary(bytes);
  try {
    module.setFeatures(allowedFeatures(binaryen));
    if (module.validate() !== 1) throw new Error("Cannot use the module: Binaryen finds it not valid");
  } finally {
    module.dispose();
  }
  count++;
}
