/**
 * What validation finds out about the code of a module, and what the rewriter needs to know before it writes the first
 * function: what the functions call, what state they change, how large their frames are.
 */
import { AssertionError } from "../base/assert.ts";
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

/** Why calls may go on for long: a loop or recursion, and where it is. */
export interface EndlessReason {
  readonly reason: string;
  readonly offset: number;
}

/** The node of a type in the graph of calls; -1 for the first. */
function nodeOfType(type: number): number {
  return -1 - type;
}

/** The type of a node below zero. */
function typeOfNode(node: number): number {
  return -1 - node;
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
  readonly #indirectFrameCosts = new Map<number, number>();
  readonly #measured = new Map<number, number | EndlessReason>();

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
    let largest = this.#indirectFrameCosts.get(type);
    if (largest !== undefined) return largest;
    largest = 0;
    for (const index of this.functionsInTable(type)) largest = Math.max(largest, this.frameCost(index));
    this.#indirectFrameCosts.set(type, largest);
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
  endlessReason(start: number): EndlessReason | undefined {
    const measured = this.#measure(start);
    return typeof measured === "number" ? undefined : measured;
  }

  /**
   * Instructions that a call of a function takes at most when it reaches neither a loop nor a recursion; else, and
   * beyond `most`, `null`. What bulk instructions cost by their counts is not in it.
   */
  boundOf(index: number, most: number): number | null {
    const measured = this.#measure(index);
    return typeof measured === "number" && measured <= most ? measured : null;
  }

  /** The bound of a node of the graph of calls, or why it has none; found once for each node, so in linear time. */
  #measure(start: number): number | EndlessReason {
    const known = this.#measured.get(start);
    if (known !== undefined) return known;
    const open = new Set<number>();
    // An explicit stack: chains of calls may be long.
    const stack: { node: number; next: number; callees: readonly number[]; deepest: number }[] = [];
    const endless = (reason: EndlessReason): EndlessReason => {
      for (const { node } of stack) this.#measured.set(node, reason);
      return reason;
    };
    const enter = (node: number): void => {
      open.add(node);
      stack.push({ node, next: 0, callees: this.#calleesOf(node), deepest: 0 });
    };
    enter(start);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const { node } = top;
      const loopOffset = this.functions[node]?.loopOffset ?? -1;
      if (top.next === 0 && loopOffset >= 0) {
        return endless({ reason: "it reaches a loop", offset: loopOffset });
      }
      const callee = top.callees[top.next++];
      if (callee === undefined) {
        open.delete(node);
        stack.pop();
        const bound = this.#ownBound(node, top.deepest);
        this.#measured.set(node, bound);
        const caller = stack.at(-1);
        if (caller === undefined) return bound;
        caller.deepest = Math.max(caller.deepest, bound);
      } else if (open.has(callee)) {
        const repeated = callee >= 0
          ? callee
          : this.functionsInTable(typeOfNode(callee)).find((each) => open.has(each)) ?? 0;
        const offset = this.#structure.bodies[repeated]?.start ?? 0;
        return endless({ reason: "it reaches a recursion", offset });
      } else {
        const measured = this.#measured.get(callee);
        if (measured === undefined) enter(callee);
        else if (typeof measured !== "number") return endless(measured);
        else top.deepest = Math.max(top.deepest, measured);
      }
    }
    throw new AssertionError("a walk ends with the node where it began");
  }

  /** The bound of a node whose callees take at most `deepest`: there are no more calls than instructions. */
  #ownBound(node: number, deepest: number): number {
    if (node < 0) return deepest;
    const own = this.functions[node]?.charges.reduce((sum, each) => sum + each, 0) ?? 0;
    return Math.min(own * (1 + deepest), Number.MAX_SAFE_INTEGER);
  }

  /** These functions and all that they can call. */
  reachableFrom(roots: readonly (number | undefined)[]): ReadonlySet<number> {
    const reached = new Set(roots.filter((root) => root !== undefined));
    for (const each of reached) for (const callee of this.#calleesOf(each)) reached.add(callee);
    return new Set([...reached].filter((node) => node >= 0));
  }

  /** What a node calls. Beside functions, each type that is called through the table is a node, below zero. */
  #calleesOf(node: number): readonly number[] {
    if (node < 0) return this.functionsInTable(typeOfNode(node));
    const facts = this.functions[node];
    if (facts === undefined) return [];
    return [...facts.callees, ...[...facts.indirectTypes].map(nodeOfType)];
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
