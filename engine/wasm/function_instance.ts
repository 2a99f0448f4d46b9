/**
 * An exported function that can be called: an instance of the rewritten module, under gas, whose state is that of the
 * start whenever a call begins.
 *
 * A function over numbers is called through {@link FunctionInstance.raw}. One that passes values in memory takes
 * several steps over one state and one amount of gas: `reset()`, `write()` and `next()` as often as needed, `read()`.
 */
import { assert, assertDefined, AssertionError } from "../base/assert.ts";
import { LIMITS } from "../base/limits.ts";
import { type InstanceHolder, type InstancePool, sharedInstances } from "./instance_pool.ts";
import { CHEAP_CODE_BYTES, CHEAP_PAGES, LARGE_CODE_COST, LARGE_PAGE_COST } from "./instruction_table.ts";
import { CHUNK_SHIFT } from "./layout.ts";
import { entryName, globalName, numberEntryName } from "./module_rewriter.ts";
import type { PreparedModule } from "./prepared_module.ts";
import { trapError, type TrapKind, trapKind } from "./trap.ts";

/** A number as it passes into and out of WebAssembly: i64 is a bigint, the rest numbers. */
export type WasmValue = number | bigint;

/** A function of WebAssembly: nothing, one value, or an array of several. */
export type WasmFunction = (...values: WasmValue[]) => WasmValue | WasmValue[] | undefined;

/** What a call may take. */
export interface CallLimits {
  /** Instructions of one call. */
  readonly gas: number;
  /** What errors call it; the export's name unless given. */
  readonly name?: string;
  /** Where the instance is counted; that of the process unless given. */
  readonly pool?: InstancePool;
}

/** What is used of a live instance. */
interface LiveInstance {
  readonly exports: WebAssembly.Exports;
  readonly fresh: WasmFunction;
  readonly reset: () => void;
  readonly gas: WebAssembly.Global;
  readonly depth: WebAssembly.Global;
  readonly failure: WebAssembly.Global;
  /** The entry over numbers, when there is one. */
  readonly numbers: WasmFunction | null;
  readonly wide: WebAssembly.Global;
  readonly memory: WebAssembly.Memory | null;
  readonly map: Uint8Array | null;
}

const compiled = new WeakMap<PreparedModule, WebAssembly.Module>();

function compile(module: PreparedModule): WebAssembly.Module {
  const known = compiled.get(module);
  if (known !== undefined) return known;
  const made = new WebAssembly.Module(module.rewritten);
  compiled.set(module, made);
  return made;
}

/** Instances of a module are made of what V8 has compiled of it beside other work. */
export function provideCompiled(module: PreparedModule, made: WebAssembly.Module): void {
  compiled.set(module, made);
}

/** How many steps of an expression a number of instructions counts as. */
export function expressionSteps(instructions: number): number {
  return Math.ceil(instructions / LIMITS.wasmInstructionsPerStep);
}

/** What every call pays for the memory that it begins with, and for the code that it may have to wait for. */
function standingCost({ memory, codeBytesOf }: PreparedModule, exportName: string): number {
  const pages = Math.max(0, (memory?.initialPages ?? 0) - CHEAP_PAGES);
  const bytes = Math.max(0, codeBytesOf(exportName) - CHEAP_CODE_BYTES);
  return pages * LARGE_PAGE_COST + Math.ceil(bytes / 1024) * LARGE_CODE_COST;
}

function isFunction(value: unknown): value is WasmFunction {
  return typeof value === "function";
}

/** A callable export. */
export class FunctionInstance implements InstanceHolder {
  readonly module: PreparedModule;
  readonly exportName: string;
  /** Instructions of one call. */
  readonly gas: number;
  readonly #name: string;
  readonly #index: number;
  readonly #pool: InstancePool;
  #live: LiveInstance | null = null;
  /** Whether the state may not be that of the start, although `fresh` would not reset it. */
  #mustReset = false;
  /** What calls pay before their first instruction; more than the gas: they are refused before anything is compiled. */
  readonly #standingCost: number;
  readonly #refuse: WasmFunction = () => {
    throw trapError(this.#name, "out of gas", this.gas);
  };
  readonly #checkedRaw: WasmFunction = (...values) => this.#ready().fresh(...values);

  /** The export must be a function of the module. */
  constructor(
    module: PreparedModule,
    exportName: string,
    { gas, name = exportName, pool = sharedInstances }: CallLimits,
  ) {
    this.module = module;
    this.#name = name;
    this.exportName = exportName;
    this.gas = gas;
    this.#pool = pool;
    this.#standingCost = standingCost(module, exportName);
    this.#index = assertDefined(
      module.functionIndexes.get(exportName),
      `the exported function ${exportName}`,
    );
  }

  /**
   * The function itself: resets, takes full gas, runs. Throws what the engine throws; {@link explain} makes an error of
   * the database of it. Take it anew for each batch of rows, for the pool may let the instance go.
   */
  get raw(): WasmFunction {
    if (this.#standingCost > this.gas) return this.#refuse;
    if (this.module.mayGrow || this.module.needsNewInstances) return this.#checkedRaw;
    return this.#ready().fresh;
  }

  /**
   * The same over numbers: safe integers in the place of i64, and NaN for a result that is none; {@link wide} has it.
   * `null`: the function takes and gives no i64, or gives several values.
   */
  get numbers(): WasmFunction | null {
    if (this.#standingCost > this.gas) return this.#refuse;
    const { numbers } = this.#ready();
    if (numbers === null || !(this.module.mayGrow || this.module.needsNewInstances)) return numbers;
    return (...values) => this.#ready().numbers?.(...values);
  }

  /** The last result of {@link numbers}. */
  get wide(): bigint {
    return BigInt(this.#live?.wide.value ?? 0n);
  }

  /** Calls the function with full gas and a reset state. Throws a DatabaseError. */
  call(...values: WasmValue[]): WasmValue | WasmValue[] | undefined {
    const live = this.#ready();
    try {
      return live.fresh(...values);
    } catch (error) {
      throw this.explain(error);
    }
  }

  /** Sets state and gas to those of the start, for the calls of {@link next} that follow. */
  reset(): void {
    const live = this.#ready();
    try {
      live.reset();
    } catch (error) {
      throw this.explain(error);
    }
  }

  /** Calls any exported function with the state and the gas that are there. Throws a DatabaseError. */
  next(exportName: string, ...values: WasmValue[]): WasmValue | WasmValue[] | undefined {
    const live = this.#live ?? this.#ready();
    const index = assertDefined(
      this.module.functionIndexes.get(exportName),
      `the exported function ${exportName}`,
    );
    const entry = live.exports[entryName(index, false)];
    assert(isFunction(entry), `the exported function ${exportName} has an entry`);
    this.#mustReset = true;
    try {
      return entry(...values);
    } catch (error) {
      throw this.explain(error, exportName === this.exportName ? this.#name : exportName);
    }
  }

  /** The memory as it is now; not to be written to, and void after the next call. */
  get memory(): Uint8Array {
    const { memory } = this.#live ?? this.#ready();
    return new Uint8Array(assertDefined(memory, "the memory of the module").buffer);
  }

  /** Writes to the memory; returns whether the bytes fit in it. */
  write(offset: number, bytes: Uint8Array): boolean {
    const live = this.#live ?? this.#ready();
    const { memory } = this;
    if (offset < 0 || offset + bytes.length > memory.length) return false;
    memory.set(bytes, offset);
    if (bytes.length > 0) {
      assertDefined(live.map, "the map of an exported memory")
        .fill(1, offset >>> CHUNK_SHIFT, ((offset + bytes.length - 1) >>> CHUNK_SHIFT) + 1);
    }
    this.#mustReset = true;
    return true;
  }

  /** A copy of bytes in the memory; `undefined` when they are not all in it. */
  read(offset: number, count: number): Uint8Array<ArrayBuffer> | undefined {
    const { memory } = this;
    if (offset < 0 || count < 0 || offset + count > memory.length) return undefined;
    return new Uint8Array(memory.slice(offset, offset + count));
  }

  /** An exported global as the last call has left it; `undefined`: there is none, or no instance. */
  global(name: string): number | bigint | undefined {
    const global = this.#live?.exports[globalName(name)];
    const value: unknown = global instanceof WebAssembly.Global ? global.value : undefined;
    return typeof value === "number" || typeof value === "bigint" ? value : undefined;
  }

  /** Instructions since the last reset. */
  get gasUsed(): number {
    if (this.#live === null) return 0;
    return Math.min(this.gas, this.gas - Number(this.#live.gas.value));
  }

  /** The database's error for what a call has thrown; what is no trap is returned as it is. */
  explain(error: unknown, name: string = this.#name): unknown {
    const kind = trapKind(error);
    if (kind === undefined) return error;
    const live = this.#live;
    // What a trap left behind is reset with the next call, and what the depth of calls lost as well.
    this.#mustReset = true;
    return trapError(name, live === null ? kind : ownKind(live, kind), this.gas);
  }

  /** Lets the instance go; the next call makes another one. */
  release(): void {
    this.#live = null;
    this.#pool.forget(this);
  }

  /** The instance with nothing left of earlier calls that `fresh` does not reset. */
  #ready(): LiveInstance {
    const { module } = this;
    if (this.#standingCost > this.gas) this.#refuse();
    let live = this.#live;
    if (live !== null && (module.needsNewInstances || this.#hasGrown(live))) {
      this.release();
      live = null;
    }
    live ??= this.#instantiate();
    if (this.#mustReset) {
      this.#mustReset = false;
      if (!module.entriesReset) live.reset();
    }
    return live;
  }

  #hasGrown({ memory }: LiveInstance): boolean {
    return this.module.mayGrow && memory !== null && memory.buffer.byteLength !== this.module.instanceBytes;
  }

  #instantiate(): LiveInstance {
    const { exports } = new WebAssembly.Instance(compile(this.module));
    const live = liveInstance(exports, this.#index);
    this.#pool.hold(this, this.module.instanceBytes + (live.map?.length ?? 0));
    const { gas_limit: gasLimit, init } = exports;
    if (gasLimit instanceof WebAssembly.Global) gasLimit.value = this.gas - this.#standingCost;
    if (isFunction(init)) init();
    this.#live = live;
    this.#mustReset = false;
    return live;
  }
}

/** The counters tell why code of the rewriter has trapped. */
function ownKind(live: LiveInstance, kind: TrapKind): TrapKind {
  if (Number(live.gas.value) < 0) return "out of gas";
  if (Number(live.depth.value) < 0) return "call stack exhausted";
  return live.failure.value === 1 ? "out of memory" : kind;
}

function liveInstance(exports: WebAssembly.Exports, index: number): LiveInstance {
  const fresh = exports[entryName(index, true)];
  const numbers = exports[numberEntryName(index)];
  const { reset, gas, depth, failure, wide, memory, map } = exports;
  if (
    !isFunction(fresh) || !isFunction(reset) || !(gas instanceof WebAssembly.Global) ||
    !(depth instanceof WebAssembly.Global) || !(failure instanceof WebAssembly.Global) ||
    !(wide instanceof WebAssembly.Global)
  ) {
    throw new AssertionError("a rewritten module lacks an export");
  }
  return {
    exports,
    fresh,
    reset: () => void reset(),
    gas,
    depth,
    failure,
    numbers: isFunction(numbers) ? numbers : null,
    wide,
    memory: memory instanceof WebAssembly.Memory ? memory : null,
    map: map instanceof WebAssembly.Memory ? new Uint8Array(map.buffer) : null,
  };
}
