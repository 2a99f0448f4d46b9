/**
 * The way of a module into the database: decoded, validated, rewritten. The same bytes give the same bytes.
 */
import { BodyValidator } from "./body_validator.ts";
import { hasState } from "./helper_functions.ts";
import { PAGE_BYTES } from "./layout.ts";
import { ModuleError } from "./module_error.ts";
import { ModuleFacts } from "./module_facts.ts";
import { FUNCTIONS_PER_STEP, rewriteModule } from "./module_rewriter.ts";
import type { FunctionType, ModuleStructure } from "./module_structure.ts";
import { decodeSections } from "./section_decoder.ts";
import { LIMITS } from "../base/limits.ts";
import { type StraightCode, straightCode } from "./straight_code.ts";

/** The memory of a module. */
export interface ModuleMemory {
  /** Pages of 64 KiB that it begins with. */
  readonly initialPages: number;
  /** Pages that it may grow to; the module's own maximum or the limit of all, whichever is smaller. */
  readonly maximumPages: number;
  /** The name it is exported as, or `null`. */
  readonly exportName: string | null;
}

/** A module that may run. */
export interface PreparedModule {
  /** What was given. */
  readonly original: Uint8Array;
  /** What runs. */
  readonly rewritten: Uint8Array<ArrayBuffer>;
  /** Exported functions by name. */
  readonly functions: ReadonlyMap<string, FunctionType>;
  /** Indexes of the exported functions by name. */
  readonly functionIndexes: ReadonlyMap<string, number>;
  readonly memory: ModuleMemory | null;
  /** Whether no call can change what another one sees. */
  readonly isStateless: boolean;
  /** Whether a call resets the state by itself; otherwise only what a host wrote is left to be reset. */
  readonly entriesReset: boolean;
  /** Whether an instance may end a call in a state that only a new instance undoes. */
  readonly needsNewInstances: boolean;
  /** Whether calls may grow the memory. */
  readonly mayGrow: boolean;
  /**
   * Instructions that exported functions take at most, by name: those of few instructions whose code shows it, in
   * modules without state.
   */
  readonly bounds: ReadonlyMap<string, number>;
  /** Of those of {@link bounds}, the ones that are also there as JavaScript. */
  readonly straight: ReadonlyMap<string, StraightCode>;
  /** Names of the exported globals. */
  readonly globals: ReadonlySet<string>;
  /** Bytes of the rewritten code that calls of an export can reach, with `allocate` and the start function. */
  readonly codeBytesOf: (exportName: string) => number;
  /** Memory of one instance at its start, in bytes. */
  readonly instanceBytes: number;
}

/** Decodes, validates and rewrites a module. Throws a {@link ModuleError} for one that is not accepted. */
export function prepareModule(bytes: Uint8Array): PreparedModule {
  const steps = modulePreparation(bytes);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same in steps, of which each takes a moment. */
export function* modulePreparation(bytes: Uint8Array): Generator<void, PreparedModule> {
  const original = bytes.slice();
  const structure = decodeSections(original);
  const facts = new ModuleFacts(structure);
  const validator = new BodyValidator(structure, facts);
  for (const index of structure.bodies.keys()) {
    facts.functions.push(yield* validator.validate(index));
    if (index % FUNCTIONS_PER_STEP === 0) yield;
  }
  checkStart(structure, facts);
  const functions = new Map<string, FunctionType>();
  const functionIndexes = new Map<string, number>();
  let memoryName: string | null = null;
  for (const [name, { kind, index }] of structure.exports) {
    const type = structure.types[structure.functions[index] ?? -1];
    if (kind === "function" && type !== undefined) {
      functions.set(name, type);
      functionIndexes.set(name, index);
    } else if (kind === "memory") {
      memoryName ??= name;
    }
  }
  const { memory } = structure;
  const isStateless = !hasState(structure, facts) && !facts.growsMemory && !facts.changesSegments;
  const bounds = new Map<string, number>();
  const straight = new Map<string, StraightCode>();
  let exported = 0;
  for (const [name, index] of isStateless ? functionIndexes : []) {
    if (exported++ % FUNCTIONS_PER_STEP === 0) yield;
    const bound = facts.boundOf(index, LIMITS.shortWasmInstructions);
    if (bound === null) continue;
    bounds.set(name, bound);
    const code = straightCode(structure, index);
    if (code !== null) straight.set(name, code);
  }
  const rewritten = yield* rewriteModule(structure, facts, validator);
  return {
    original,
    rewritten: rewritten.bytes,
    functions,
    functionIndexes,
    memory: memory === null ? null : {
      initialPages: memory.initial,
      maximumPages: Math.min(memory.maximum ?? PAGE_BYTES, LIMITS.maximumWasmMemoryPages),
      exportName: memoryName,
    },
    isStateless,
    bounds,
    straight,
    globals: new Set(
      [...structure.exports].filter(([, { kind }]) => kind === "global").map(([name]) => name),
    ),
    entriesReset: hasState(structure, facts),
    needsNewInstances: facts.changesSegments,
    mayGrow: facts.growsMemory,
    codeBytesOf: (name) => {
      const roots = [
        functionIndexes.get(name),
        functionIndexes.get("allocate"),
        structure.start ?? undefined,
      ];
      let total = 0;
      for (const each of facts.reachableFrom(roots)) total += rewritten.codeBytes[each] ?? 0;
      return total;
    },
    instanceBytes: (memory?.initial ?? 0) * PAGE_BYTES,
  };
}

/** The start function runs before every call, so nothing in it may go on for long. */
function checkStart(structure: ModuleStructure, facts: ModuleFacts): void {
  if (structure.start === null) return;
  const endless = facts.endlessReason(structure.start);
  if (endless !== undefined) {
    throw new ModuleError(`the start function may not loop: ${endless.reason}`, endless.offset);
  }
}
