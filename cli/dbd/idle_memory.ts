/**
 * Gives memory back to the system while the server has nothing to do.
 *
 * V8 collects garbage when something is allocated, so that a server that became idle keeps all that its last work has
 * left, for hours; and what its collector frees may stay with the C library. Here the process looks at itself every
 * second: when it has used next to no processor time for twenty seconds and holds much more memory than after the
 * last collection, it asks for one, which takes about a tenth of a second for 100 MB of objects, and has the C
 * library return free pages. Nothing happens while there is work, nor again before memory has grown anew.
 *
 * It is not done sooner because it has a price that is paid afterwards: with the objects of past statements V8
 * forgets the shapes that its machine code was made for, and statements take twice the processor time for some ten
 * seconds (measured with TPC-B; neither `--retain-maps-for-n-gc` nor `--no-flush-bytecode` changes it). Short pauses
 * must not cost that.
 *
 * Limits: the C library's part is done with glibc only, and where foreign functions are permitted.
 */
import process from "node:process";
import { turnWork } from "../../engine/host/turn_work.ts";

const LOOK_MILLISECONDS = 1000;
/** Looks in a row without work. */
const IDLE_LOOKS = 20;
/** Processor time between two looks that timers and the looks themselves may take. */
const IDLE_MICROSECONDS = 10_000;
/** Growth that is worth a collection. */
const GROWTH_BYTES = 64_000_000;

/** What the process has used. */
export interface Usage {
  /** Processor time since its start. */
  readonly processorMicroseconds: number;
  readonly residentBytes: number;
}

/** Decides when to collect. */
export class IdleWatch {
  #processorMicroseconds: number;
  #keptBytes: number;
  #idleLooks = 0;

  /** `usage`: after the start, when there is nothing to collect yet. */
  constructor(usage: Usage) {
    this.#processorMicroseconds = usage.processorMicroseconds;
    this.#keptBytes = usage.residentBytes;
  }

  /** One look; answers whether to collect now. Then {@link collected} must be called. */
  isDue({ processorMicroseconds, residentBytes }: Usage): boolean {
    const isIdle = processorMicroseconds - this.#processorMicroseconds <= IDLE_MICROSECONDS;
    this.#processorMicroseconds = processorMicroseconds;
    this.#idleLooks = isIdle ? this.#idleLooks + 1 : 0;
    return this.#idleLooks >= IDLE_LOOKS && residentBytes - this.#keptBytes >= GROWTH_BYTES;
  }

  /** Notes what is left after a collection. */
  collected({ processorMicroseconds, residentBytes }: Usage): void {
    this.#processorMicroseconds = processorMicroseconds;
    this.#keptBytes = residentBytes;
    this.#idleLooks = 0;
  }
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { processorMicroseconds: user + system, residentBytes: Deno.memoryUsage().rss };
}

/** Watches this process from now on; answers how to stop that. */
export function collectWhenIdle(): () => void {
  const watch = new IdleWatch(usage());
  let isCollecting = false;
  const look = async (): Promise<void> => {
    if (isCollecting || !watch.isDue(usage())) return;
    isCollecting = true;
    await collectMemory();
    watch.collected(usage());
    isCollecting = false;
  };
  const timer = setInterval(look, LOOK_MILLISECONDS);
  Deno.unrefTimer(timer);
  return () => clearInterval(timer);
}

/** Collects garbage, all of it, and returns free memory to the system. */
export async function collectMemory(): Promise<void> {
  // Loaded at the first use: a server that never needs them starts sooner.
  const [v8, vm] = await Promise.all([import("node:v8"), import("node:vm")]);
  v8.setFlagsFromString("--expose-gc");
  const collect: unknown = vm.runInNewContext("gc");
  turnWork.began("collection while idle");
  // The thorough kind: it also frees the buffers at once and shrinks the space of young objects.
  if (typeof collect === "function") collect({ type: "major", flavor: "last-resort" });
  returnFreePages();
}

function returnFreePages(): void {
  if (Deno.build.os !== "linux") return;
  if (Deno.permissions.querySync({ name: "ffi" }).state !== "granted") return;
  try {
    using library = openLibrary();
    library.trim();
  } catch (error) {
    // Another C library, which has its own ways.
    if (!(error instanceof Error)) throw error;
  }
}

function openLibrary(): Disposable & { trim(): void } {
  const library = Deno.dlopen("libc.so.6", { malloc_trim: { parameters: ["usize"], result: "i32" } });
  return {
    trim: () => void library.symbols.malloc_trim(0n),
    [Symbol.dispose]: () => library.close(),
  };
}
