/**
 * What validation finds out about the code of a module, and what the rewriter needs to know before it writes the first
 * function: what the functions call, what state they change, how large their frames are.
 */
import { LIMITS } from "../base/limits.ts";
import type { ModuleStructure } from "./module_structure.ts";

/** Bytes of a frame beside its variables and operands, roughly. */
const FRAME_BYTES = 64;
const SLOT_BYTES = 8;
/** The frame of a function that calls nothing is covered by a reserve up to this size, and costs nothing to enter. */
const SMALL_LEAF_BYTES = 2048;

/** What is known of one function. */
export interface FunctionFacts {
  /** Costs of the stretches of code without a branch, in the order of the code. */
  readonly charges: readonly number[];
  /** Parameters, variables, and the most operands. */
  readonly slots: number;
  /** Functions that it calls. */
  readonly callees: ReadonlySet<number>;
  /** Types that it calls through the table. */
  readonly indirectTypes: ReadonlySet<number>;
  /** Offset of its first loop, or -1. */
  readonly loopOffset: number;
}

/** What the functions of a module do to its state. */
export class ModuleFacts {
  /** Whether code writes to the memory. */
  writesMemory = false;
  /** Whether code grows the memory. */
  growsMemory = false;
  /** Whether code changes the table or drops segments, which only another instance undoes. */
  changesSegments = false;
  /** Globals that code sets. */
  readonly setGlobals = new Set<number>();
  /** Facts of each function. */
  readonly functions: FunctionFacts[] = [];
  readonly #structure: ModuleStructure;
  #tableFunctions: ReadonlyMap<string, readonly number[]> | undefined;

  constructor(structure: ModuleStructure) {
    this.#structure = structure;
  }

  /** What entering a function takes from the room of the stack; 0 when the reserve covers it. */
  frameCost(index: number): number {
    const facts = this.functions[index];
    if (facts === undefined) return 0;
    const bytes = FRAME_BYTES + SLOT_BYTES * facts.slots;
    const isLeaf = facts.callees.size === 0 && facts.indirectTypes.size === 0;
    return isLeaf && bytes <= SMALL_LEAF_BYTES ? 0 : bytes;
  }

  /** The same for a call through the table: that of the largest function that may be called. */
  indirectFrameCost(type: number): number {
    let largest = 0;
    for (const index of this.functionsInTable(type)) largest = Math.max(largest, this.frameCost(index));
    return largest;
  }

  /** The functions of a type that element segments name. */
  functionsInTable(type: number): readonly number[] {
    this.#tableFunctions ??= this.#groupTable();
    return this.#tableFunctions.get(this.#typeKey(type)) ?? [];
  }

  /**
   * Why a call of a function may go on for long without a bound that its code shows: a loop or recursion that it
   * reaches. `undefined` when there is none.
   */
  endlessReason(start: number): { readonly reason: string; readonly offset: number } | undefined {
    const finished = new Set<number>();
    const open = new Set<number>();
    // An explicit stack: chains of calls may be long.
    const stack: { index: number; next: number; callees: readonly number[] }[] = [];
    const enter = (index: number): void => {
      open.add(index);
      stack.push({ index, next: 0, callees: this.#calleesOf(index) });
    };
    enter(start);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const facts = this.functions[top.index];
      if (top.next === 0 && facts !== undefined && facts.loopOffset >= 0) {
        return { reason: "it reaches a loop", offset: facts.loopOffset };
      }
      const callee = top.callees[top.next++];
      if (callee === undefined) {
        finished.add(top.index);
        open.delete(top.index);
        stack.pop();
      } else if (open.has(callee)) {
        return { reason: "it reaches a recursion", offset: this.#structure.bodies[callee]?.start ?? 0 };
      } else if (!finished.has(callee)) {
        enter(callee);
      }
    }
    return undefined;
  }

  /**
   * Instructions that a call of a function takes at most when it reaches neither a loop nor a recursion; else, and
   * beyond `most`, `null`. What bulk instructions cost by their counts is not in it.
   */
  boundOf(index: number, most: number): number | null {
    if (this.endlessReason(index) !== undefined) return null;
    const bound = this.#boundBelow(index, most);
    return bound <= most ? bound : null;
  }

  /** The bound of what ends; something above `most` when it is more. Chains of calls may be as deep as `most`. */
  #boundBelow(index: number, most: number): number {
    const own = this.functions[index]?.charges.reduce((sum, each) => sum + each, 0) ?? 0;
    if (own > most) return own;
    let deepest = 0;
    for (const callee of this.#calleesOf(index)) {
      deepest = Math.max(deepest, this.#boundBelow(callee, most - own));
      if (deepest > most) return deepest;
    }
    // There are no more calls than instructions.
    return own * (1 + deepest);
  }

  /** These functions and all that they can call. */
  reachableFrom(roots: readonly (number | undefined)[]): ReadonlySet<number> {
    const reached = new Set(roots.filter((root) => root !== undefined));
    for (const each of reached) for (const callee of this.#calleesOf(each)) reached.add(callee);
    return reached;
  }

  #calleesOf(index: number): readonly number[] {
    const facts = this.functions[index];
    if (facts === undefined) return [];
    const all = new Set(facts.callees);
    for (const type of facts.indirectTypes) {
      for (const callee of this.functionsInTable(type)) all.add(callee);
    }
    return [...all];
  }

  #typeKey(type: number): string {
    const { parameters = [], results = [] } = this.#structure.types[type] ?? {};
    return `${parameters.join()}:${results.join()}`;
  }

  #groupTable(): ReadonlyMap<string, readonly number[]> {
    const named = new Set(this.#structure.elements.flatMap(({ functions }) => functions));
    const groups = new Map<string, number[]>();
    for (const index of named) {
      const key = this.#typeKey(this.#structure.functions[index] ?? -1);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [index]);
      else group.push(index);
    }
    return groups;
  }
}

/** What frames may take on the stack together. */
export const STACK_BYTES = LIMITS.wasmStackBytes;
