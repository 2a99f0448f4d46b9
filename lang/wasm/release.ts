/**
 * The release build: Binaryen's optimiser over our module. Loaded when it is first used, because it is large.
 *
 * Only features that every engine of the last years has are allowed to it. Trap sites stay valid, because a site's number is stored before the trap;
 * names of functions stay in the name section. The same module gives the same bytes.
 */

/** How a release is optimised. */
export interface ReleaseOptions {
  /** For pages, size counts as much as speed. */
  readonly isSmall: boolean;
}

/** Optimises a module. */
export async function optimiseModule(
  bytes: Uint8Array<ArrayBuffer>,
  options: ReleaseOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const { default: binaryen } = await import("binaryen");
  const module = binaryen.readBinary(bytes);
  const { Features } = binaryen;
  // `memory.copy` and `memory.fill` have a flag of their own, which the package's types do not know.
  const copying: unknown = Reflect.get(Features, "BulkMemoryOpt");
  module.setFeatures(
    Features.MutableGlobals | Features.NontrappingFPToInt | Features.SignExt | Features.BulkMemory |
      Features.Multivalue | (typeof copying === "number" ? copying : 0),
  );
  binaryen.setOptimizeLevel(3);
  binaryen.setShrinkLevel(0);
  binaryen.setDebugInfo(true);
  try {
    module.optimize();
    if (options.isSmall) {
      // Smaller in a second round than with shrinking from the start, and as quick as without.
      binaryen.setOptimizeLevel(2);
      binaryen.setShrinkLevel(1);
      module.optimize();
    }
    return new Uint8Array(module.emitBinary());
  } finally {
    module.dispose();
  }
}
