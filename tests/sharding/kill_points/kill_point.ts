/**
 * The places at which a server of shards is killed: the steps of a commit, in the router's thread and in those of the
 * shards. A file beside the data directory names one of them and how many times to pass it: the thread that comes
 * there for the last time writes down where it is, and kills the process with all its threads.
 */

/** Steps of the router, which has the log. */
const ROUTER_STEPS = [
  "asks",
  "has asked",
  "hears a vote",
  "has heard a vote",
  "has all votes",
  "appends",
  "has appended",
  "writes its log",
  "has written its log",
  "syncs its log",
  "has synced its log",
  "hands over",
  "has handed over",
  "tells",
  "has told",
  "answers",
  "has answered",
  "names a checkpoint",
  "has named a checkpoint",
] as const;

/** What a shard is asked; it may be killed before and after. */
const SHARD_REQUESTS = [
  "begin",
  "fetch",
  "run",
  "agree",
  "keep",
  "apply",
  "checkpoint",
  "built",
  "installed",
];

/** All of them, for so many shards. */
export function killPoints(shards: number): string[] {
  const steps = [
    ...SHARD_REQUESTS.flatMap((kind) => [kind, `after ${kind}`]),
    ...["answers", "has answered", "writes a file", "has written a file"],
  ];
  const of = (thread: string, each: readonly string[]) => each.map((step) => `${thread}: ${step}`);
  return [
    ...of("router", ROUTER_STEPS),
    ...Array.from({ length: shards }, (_, shard) => of(`shard ${shard}`, steps)).flat(),
  ];
}

/** What the file says that a server is to be killed by. */
export interface KillOrder {
  readonly point: string;
  /** At which time that it is there. */
  readonly count: number;
  /** Instead of being killed: an error that nobody catches, a turn without end, more memory than there is. */
  readonly instead?: "error" | "hang" | "memory";
}

/** Where the order is for a server with that data directory, and what it writes before it dies. */
export function orderFile(directory: string): { readonly order: string; readonly said: string } {
  return { order: `${directory}.kill`, said: `${directory}.killed` };
}

const LOOK_MILLISECONDS = 5;

let thread = "";
let said = "";
let order: KillOrder | null = null;
let passed = 0;

/** From now on this thread looks for orders. */
export function obeyOrders(name: string, directory: string): void {
  thread = name;
  const files = orderFile(directory);
  said = files.said;
  const look = (): void => {
    if (order !== null) return;
    try {
      const found = JSON.parse(Deno.readTextFileSync(files.order)) as KillOrder;
      if (found.point.startsWith(`${thread}: `)) order = found;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  };
  look();
  Deno.unrefTimer(setInterval(look, LOOK_MILLISECONDS));
}

/** The thread is at a step. */
export function at(step: string): void {
  if (order === null || order.point !== `${thread}: ${step}` || ++passed < order.count) return;
  Deno.writeTextFileSync(said, order.point);
  switch (order.instead) {
    case undefined:
      return Deno.kill(Deno.pid, "SIGKILL");
    case "error":
      // Whoever called goes on.
      order = null;
      return queueMicrotask(() => {
        throw new Error("planted in a thread");
      });
    case "hang":
      for (;;);
    case "memory":
      for (const all: unknown[][] = [];;) {
        all.push(Array.from({ length: 1 << 16 }, (_, index) => ({ index })));
      }
  }
}

type Method = (...parameters: never[]) => unknown;

/** Puts steps before and after a method of a class; a promise is waited for. `isStep` sees what it is called with. */
export function around<Prototype extends object, Name extends keyof Prototype>(
  prototype: Prototype,
  name: Name,
  [before, after]: readonly [before: string | null, after: string | null],
  isStep: (parameters: readonly unknown[], self: unknown) => boolean = () => true,
): void {
  const original = prototype[name] as Method;
  prototype[name] = function (this: unknown, ...parameters: never[]): unknown {
    if (!isStep(parameters, this)) return original.apply(this, parameters);
    if (before !== null) at(before);
    const result = original.apply(this, parameters);
    if (after === null) return result;
    if (result instanceof Promise) {
      return result.then((value) => {
        at(after);
        return value;
      });
    }
    at(after);
    return result;
  } as Prototype[Name];
}

/** Steps around what writes and syncs files whose path the pattern has. */
export function aroundFiles(
  disk: { openFile(path: string, options: { create: boolean; write: boolean }): object },
  pattern: RegExp,
  { writes, syncs }: {
    readonly writes: readonly [string, string];
    readonly syncs: readonly [string, string] | null;
  },
): void {
  const prototype = Object.getPrototypeOf(disk) as typeof disk;
  const original = prototype.openFile;
  let isDone = false;
  prototype.openFile = function (...parameters) {
    const file = original.apply(this, parameters);
    if (isDone) return file;
    isDone = true;
    const methods = Object.getPrototypeOf(file) as Record<"writeAt" | "syncData" | "syncDataNow", Method>;
    const isMeant = (_: readonly unknown[], self: unknown): boolean =>
      pattern.test((self as { readonly path: string }).path);
    around(methods, "writeAt", writes, isMeant);
    if (syncs !== null) {
      for (const name of ["syncData", "syncDataNow"] as const) around(methods, name, syncs, isMeant);
    }
    return file;
  };
}
