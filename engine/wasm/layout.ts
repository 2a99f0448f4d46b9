/**
 * Where the rewriter's own parts are in a rewritten module: globals, functions and a second memory after the module's.
 *
 * The second memory has a map, one byte for each chunk of the first memory that was written, and after it an image of
 * what the first memory begins with. Resetting copies the marked chunks back.
 */
import { LIMITS } from "../base/limits.ts";
import type { ModuleFacts } from "./module_facts.ts";
import type { ModuleStructure } from "./module_structure.ts";

/** Bytes of a page. */
export const PAGE_BYTES = 65_536;
/** A chunk of memory has 512 bytes. */
export const CHUNK_SHIFT = 9;
/** A mark covers its own chunk and the next one. */
export const MARKED_BYTES = 2 << CHUNK_SHIFT;

/** The second memory. */
export interface MapLayout {
  /** Offset of the image. */
  readonly imageStart: number;
  /** Bytes of the first memory that the image has; what follows begins as zeros. */
  readonly imageBytes: number;
  readonly pages: number;
  /** The function that marks a range. */
  readonly markFunction: number;
}

/** Where everything is. */
export interface Layout {
  /** What is left of the gas; below 0 after it ran out. */
  readonly gasGlobal: number;
  /** The gas of a call. */
  readonly gasLimitGlobal: number;
  /** What is left of the stack; below 0 after it ran out. */
  readonly depthGlobal: number;
  /** 1 after the memory could not grow although its limits allowed it. */
  readonly failureGlobal: number;
  /** The i64 that an entry over numbers has given last. */
  readonly wideGlobal: number;
  /** The function that makes everything as at the start. */
  readonly resetFunction: number;
  /** The function that fills the first memory from the image, once. */
  readonly initFunction: number;
  /** The function in the place of `memory.grow`; -1 when it is not used. */
  readonly growFunction: number;
  /** The first of the functions that are exported. */
  readonly firstEntryFunction: number;
  /** `null` when the memory need not be reset. */
  readonly map: MapLayout | null;
  /** Most pages of the first memory. */
  readonly maximumPages: number;
}

/** The layout of a module. */
export function layoutOf(structure: ModuleStructure, facts: ModuleFacts): Layout {
  const { memory } = structure;
  const firstGlobal = structure.globals.length;
  const maximumPages = Math.min(memory?.maximum ?? PAGE_BYTES, LIMITS.maximumWasmMemoryPages);
  let nextFunction = structure.functions.length;
  const resetFunction = nextFunction++;
  const initFunction = nextFunction++;
  const growFunction = facts.growsMemory ? nextFunction++ : -1;
  const isExported = [...structure.exports.values()].some(({ kind }) => kind === "memory");
  let map: MapLayout | null = null;
  if (memory !== null && (facts.writesMemory || isExported)) {
    const mapBytes = (maximumPages * PAGE_BYTES) >> CHUNK_SHIFT;
    const imageStart = Math.ceil(mapBytes / PAGE_BYTES) * PAGE_BYTES;
    let imageBytes = 0;
    for (const { offset, bytes } of structure.data) {
      if (offset !== null && bytes.length > 0) imageBytes = Math.max(imageBytes, offset + bytes.length);
    }
    map = {
      imageStart,
      imageBytes,
      pages: Math.ceil((imageStart + imageBytes + MARKED_BYTES) / PAGE_BYTES),
      markFunction: nextFunction++,
    };
  }
  return {
    gasGlobal: firstGlobal,
    gasLimitGlobal: firstGlobal + 1,
    depthGlobal: firstGlobal + 2,
    failureGlobal: firstGlobal + 3,
    wideGlobal: firstGlobal + 4,
    resetFunction,
    initFunction,
    growFunction,
    firstEntryFunction: nextFunction,
    map,
    maximumPages,
  };
}
