/**
 * The release build: Binaryen's optimizer over our module. Loaded when it is first used, because it is large.
 *
 * Only features that every engine of the last years has are allowed to it. Trap sites stay valid, because a site's
 * number is stored before the trap; names of functions stay in the name section. Places in the source are handed to
 * the optimizer, which gives them back as a source map. The same module gives the same bytes.
 */
import { anchorsOf, sectionsOf } from "./anchors.ts";
import type { CodePosition } from "./function_encoder.ts";

/** How a release is optimized. */
export interface ReleaseOptions {
  /** For pages, size counts as much as speed. */
  readonly isSmall: boolean;
}

/** A module and where the places of its source begin. */
export interface LocatedModule {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly places: readonly CodePosition[];
}

/** An optimized module and its source map. */
export interface OptimizedModule {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** As JSON. */
  readonly sourceMap: string;
}

type Binaryen = typeof import("binaryen").default;
type BinaryenModule = ReturnType<Binaryen["readBinary"]>;

/** The features that modules may use, as Binaryen's mask. */
export function allowedFeatures({ Features }: Binaryen): number {
  // `memory.copy` and `memory.fill` have a flag of their own, which the package's types do not know.
  const copying: unknown = Reflect.get(Features, "BulkMemoryOpt");
  return Features.MutableGlobals | Features.NontrappingFPToInt | Features.SignExt | Features.BulkMemory |
    Features.Multivalue | (typeof copying === "number" ? copying : 0);
}

/** Optimizes a module. */
export async function optimizeModule(
  bytes: Uint8Array<ArrayBuffer>,
  options: ReleaseOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  return (await optimizeLocated({ bytes, places: [] }, options, "")).bytes;
}

/** Optimizes a module and carries its places along; the source map is for a file of this name. */
export async function optimizeLocated(
  { bytes, places }: LocatedModule,
  options: ReleaseOptions,
  fileName: string,
): Promise<OptimizedModule> {
  const { default: binaryen } = await import("binaryen");
  const module = binaryen.readBinary(bytes);
  module.setFeatures(allowedFeatures(binaryen));
  binaryen.setOptimizeLevel(3);
  binaryen.setShrinkLevel(0);
  binaryen.setDebugInfo(true);
  try {
    locate(binaryen, module, { bytes, places });
    module.optimize();
    if (options.isSmall) {
      // Smaller in a second round than with shrinking from the start, and as quick as without.
      binaryen.setOptimizeLevel(2);
      binaryen.setShrinkLevel(1);
      module.optimize();
    }
    const { binary, sourceMap } = module.emitBinary(`${fileName}.map`);
    return {
      bytes: withoutMapName(binary),
      sourceMap: JSON.stringify({ ...JSON.parse(sourceMap ?? "{}"), file: fileName }),
    };
  } finally {
    module.dispose();
  }
}

/**
 * The module without the name of its source map: debug builds do not have it either, and a page would ask for it in
 * vain.
 */
function withoutMapName(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const kept = sectionsOf(bytes).filter(({ name }) => name !== "sourceMappingURL");
  const out = new Uint8Array(8 + kept.reduce((sum, { start, end }) => sum + end - start, 0));
  out.set(bytes.subarray(0, 8));
  let at = 8;
  for (const { start, end } of kept) {
    out.set(bytes.subarray(start, end), at);
    at += end - start;
  }
  return out;
}

/**
 * Tells the optimizer where in the source each instruction comes from. Gives the number of functions that it could
 * not be told of.
 */
export function locate(
  binaryen: Binaryen,
  module: BinaryenModule,
  { bytes, places }: LocatedModule,
): number {
  const walker = new TreeWalker(binaryen);
  const files = new Map<string, number>();
  const all = anchorsOf(bytes);
  const imports = module.getNumFunctions() - all.length;
  let missed = 0;
  let next = 0;
  for (const [index, { start, offsets }] of all.entries()) {
    while ((places[next]?.offset ?? Infinity) < start) next++;
    const target = module.getFunctionByIndex(imports + index);
    const found = walker.anchors(binaryen.getFunctionInfo(target).body);
    if (found.length !== offsets.length) {
      missed++;
      continue;
    }
    let place: CodePosition | undefined;
    for (const [position, offset] of offsets.entries()) {
      while ((places[next]?.offset ?? Infinity) <= offset) place = places[next++];
      if (place === undefined) continue;
      const { file, offset: at } = place.place;
      let number = files.get(file.path);
      if (number === undefined) {
        number = module.addDebugInfoFileName(file.path);
        files.set(file.path, number);
      }
      const line = file.lineIndexAt(at);
      const column = at - (file.lineStarts[line] ?? 0);
      for (const expression of found[position] ?? []) {
        module.setDebugLocation(target, expression, number, line + 1, column);
      }
    }
  }
  return missed;
}

/** Walks Binaryen's trees in the order of the instructions. */
class TreeWalker {
  readonly #binaryen: Binaryen;
  /** The operands of an expression by its kind, in the order in which they are worked out. */
  readonly #operands: ReadonlyMap<number, readonly string[]>;
  readonly #anchors: ReadonlySet<number>;

  constructor(binaryen: Binaryen) {
    this.#binaryen = binaryen;
    this.#operands = new Map<number, readonly string[]>([
      [binaryen.BlockId, ["children"]],
      [binaryen.IfId, ["condition", "ifTrue", "ifFalse"]],
      [binaryen.LoopId, ["body"]],
      [binaryen.BreakId, ["value", "condition"]],
      [binaryen.SwitchId, ["value", "condition"]],
      [binaryen.CallId, ["operands"]],
      [binaryen.CallIndirectId, ["operands", "target"]],
      [binaryen.LocalSetId, ["value"]],
      [binaryen.GlobalSetId, ["value"]],
      [binaryen.LoadId, ["ptr"]],
      [binaryen.StoreId, ["ptr", "value"]],
      [binaryen.UnaryId, ["value"]],
      [binaryen.BinaryId, ["left", "right"]],
      [binaryen.SelectId, ["ifTrue", "ifFalse", "condition"]],
      [binaryen.DropId, ["value"]],
      [binaryen.ReturnId, ["value"]],
      [binaryen.MemoryGrowId, ["delta"]],
      [binaryen.MemoryCopyId, ["dest", "source", "size"]],
      [binaryen.MemoryFillId, ["dest", "value", "size"]],
      [binaryen.TupleMakeId, ["operands"]],
      [binaryen.TupleExtractId, ["tuple"]],
    ]);
    this.#anchors = new Set<number>([
      binaryen.CallId,
      binaryen.CallIndirectId,
      binaryen.GlobalGetId,
      binaryen.GlobalSetId,
      binaryen.LoadId,
      binaryen.StoreId,
      binaryen.ConstId,
      binaryen.UnaryId,
      binaryen.BinaryId,
      binaryen.SelectId,
      binaryen.MemorySizeId,
      binaryen.MemoryGrowId,
      binaryen.MemoryCopyId,
      binaryen.MemoryFillId,
    ]);
  }

  /** The anchors of a body, each with what follows it up to the next. */
  anchors(body: number): number[][] {
    const found: number[][] = [];
    this.#walk(body, found);
    return found;
  }

  #walk(expression: number, found: number[][]): void {
    const info = this.#binaryen.getExpressionInfo(expression);
    for (const name of this.#operands.get(info.id) ?? []) {
      const operand: unknown = Reflect.get(info, name);
      for (const each of Array.isArray(operand) ? operand : [operand]) {
        // Operands that are not there are 0.
        if (typeof each === "number" && each !== 0) this.#walk(each, found);
      }
    }
    if (this.#anchors.has(info.id)) found.push([expression]);
    else found[found.length - 1]?.push(expression);
  }
}
