/**
 * Waits for the next request awake for a moment, where the last ones came in quick succession.
 *
 * A thread that has nothing to do sleeps in the system until its event loop has something; to wake it takes 20 to 60
 * microseconds on a virtual machine, which halts a processor that sleeps, and a client that sends one request at a
 * time pays them for each. Here the event loop's own `epoll` instance is asked, again and again, whether anything has
 * come, and the loop goes on as soon as it has: requests, messages of threads, all that would have woken it.
 *
 * It is done only while it pays: the last answers went to fewer connections than there are processors, so that no
 * client is kept from running, and polls in vain are followed by ever fewer. A server that is idle
 * does not poll at all. Timers come later by no more than the length of one poll.
 *
 * Limits: Linux, on the thread that opens it, where foreign functions are permitted and there are two processors.
 */

/** How long one poll goes on; the next request of a client on the same machine comes within 30 to 80 µs. */
const POLL_MILLISECONDS = 0.1;
/** Answers to the same few connections in a row before the first poll. */
const MIN_STREAK = 8;
/** Connections that may take turns; more than a few keep a server busy anyway. */
const MAX_CONNECTIONS = 4;
/** After n polls in vain 2^(n-1) - 1 answers go by without one; n does not grow beyond this. */
const MAX_FRUITLESS = 7;

/** Waits for the next request awake for a moment, where the last ones came in quick succession. */
export class BusyPoll {
  #isReady: (() => boolean) | null = null;
  /** Whom the last answers went to. */
  readonly #recent: object[] = [];
  #maximumConnections = 0;
  #streak = 0;
  #isDue = false;
  #fruitless = 0;
  #skips = 0;

  /** Polls from now on; `isReady`: whether the event loop has something to do; `processors`: of the machine. */
  start(isReady: () => boolean, processors: number): void {
    this.#isReady = isReady;
    this.#maximumConnections = Math.min(processors - 1, MAX_CONNECTIONS);
  }

  /** Does not poll any more. */
  stop(): void {
    this.#isReady = null;
  }

  /** A connection is sent an answer; the poll begins at the end of this turn of the event loop. */
  answered(connection: object): void {
    if (this.#isReady === null || this.#isDue) return;
    if (!this.#recent.includes(connection)) {
      this.#recent.push(connection);
      if (this.#recent.length > this.#maximumConnections) this.#recent.shift();
      this.#streak = 0;
    } else if (this.#skips > 0) this.#skips--;
    else if (++this.#streak >= MIN_STREAK) {
      this.#isDue = true;
      setImmediate(this.#poll);
    }
  }

  readonly #poll = (): void => {
    this.#isDue = false;
    if (this.#isReady === null) return;
    const end = performance.now() + POLL_MILLISECONDS;
    do {
      if (this.#isReady()) {
        this.#fruitless = 0;
        return;
      }
    } while (performance.now() < end);
    this.#fruitless = Math.min(this.#fruitless + 1, MAX_FRUITLESS);
    this.#skips = (1 << (this.#fruitless - 1)) - 1;
  };
}

/** Of this thread. */
export const busyPoll: BusyPoll = new BusyPoll();

/** Has the requests of this thread polled for, where that can be done, until that is disposed of. */
export function startBusyPoll(): Disposable {
  const processors = navigator.hardwareConcurrency;
  const readiness = processors < 2 ? null : loopReadiness();
  if (readiness !== null) busyPoll.start(readiness.isReady, processors);
  return {
    [Symbol.dispose]: () => {
      busyPoll.stop();
      readiness?.[Symbol.dispose]();
    },
  };
}

/** What `poll` is asked for, and answers: there is something to read. */
const POLLIN = 1;

/** Says whether the event loop of the thread that opens this has something to do; null: it cannot be known here. */
export function loopReadiness(): Disposable & { readonly isReady: () => boolean } | null {
  if (Deno.build.os !== "linux") return null;
  if (Deno.permissions.querySync({ name: "ffi" }).state !== "granted") return null;
  try {
    const instances = epollInstances();
    const library = Deno.dlopen("libc.so.6", {
      poll: { parameters: ["buffer", "usize", "i32"], result: "i32" },
    });
    // Each a `struct pollfd`: the descriptor, and two shorts: what is asked for and what there is.
    const descriptors = new Int32Array(instances.flatMap((instance) => [instance, POLLIN]));
    const count = BigInt(instances.length);
    return {
      isReady: () => library.symbols.poll(descriptors, count, 0) > 0,
      [Symbol.dispose]: () => library.close(),
    };
  } catch (error) {
    // Another C library, or no /proc: nobody is polled for, and requests are only answered later. Whatever is amiss
    // with the library is a plain Error.
    if (!(error instanceof Error)) throw error;
    return null;
  }
}

/** The descriptors of the event loops of this process; those of other threads among them, once there are some. */
function epollInstances(): number[] {
  const instances: number[] = [];
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    try {
      const isEpoll = Deno.readLinkSync(`/proc/self/fd/${name}`) === "anon_inode:[eventpoll]";
      if (isEpoll) instances.push(Number(name));
    } catch (error) {
      // The descriptor of the directory that is being read.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return instances;
}
