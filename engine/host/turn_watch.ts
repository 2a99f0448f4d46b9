/**
 * How long turns of the event loop take: a timer that is due every ten milliseconds tells how late it comes.
 *
 * While one piece of work holds the loop, nobody is heard: clients wait, and the other members of a cluster take the
 * process for dead. What is noted is what a timer saw, so that a turn has taken at least so long. What the thread waits
 * for a processor, or a disk, is part of it: where that is most of it, the work is noted as waiting. When the thread
 * hardly works the timer comes ten times a second only, since each time wakes it.
 */
import process from "node:process";
import { decodeUtf8 } from "../base/bytes.ts";
import { turnWork } from "./turn_work.ts";

const BUSY_LOOK_MILLISECONDS = 10;
const IDLE_LOOK_MILLISECONDS = 100;
/** Processor time between two looks, as a share of the time, below which there is nothing to be late for. */
const IDLE_SHARE = 0.05;
/** Processor time of a turn, as a share of its time, below which it was a wait. */
const WAITING_SHARE = 0.5;
/** What no single piece of work should take. */
const LONG_MILLISECONDS = 50;
/** "Recent" is this long at least, and twice as long at most. */
const RECENT_MILLISECONDS = 30_000;

/** What is known of the turns of the event loop. */
export class TurnTimes {
  /** Turns that took longer than 50 ms. */
  longCount = 0;
  /** Since the start. */
  longestMilliseconds = 0;
  /** The longest time that the thread has used a processor in one turn, since the start. */
  longestWorkMilliseconds = 0;
  /** The longest of more than 50 ms, by the work that took most of it. */
  readonly longestOf = new Map<string, number>();
  #recent = 0;
  #before = 0;
  #recentSince: number;

  constructor(now: number) {
    this.#recentSince = now;
  }

  /** In the last half to whole minute. */
  get recentMilliseconds(): number {
    return Math.max(this.#recent, this.#before);
  }

  /** A turn of at least this length has ended, most of which was such work. */
  note(milliseconds: number, now: number, work = "other"): void {
    if (now - this.#recentSince >= RECENT_MILLISECONDS) {
      this.#before = now - this.#recentSince < 2 * RECENT_MILLISECONDS ? this.#recent : 0;
      this.#recent = 0;
      this.#recentSince = now;
    }
    if (milliseconds > this.#recent) this.#recent = milliseconds;
    if (milliseconds > this.longestMilliseconds) this.longestMilliseconds = milliseconds;
    if (milliseconds <= LONG_MILLISECONDS) return;
    this.longCount++;
    if (milliseconds > (this.longestOf.get(work) ?? 0)) this.longestOf.set(work, milliseconds);
  }
}

/** Watches over this thread's event loop; it does not keep the process alive. */
export class TurnWatch {
  readonly times = new TurnTimes(performance.now());
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due = 0;
  #lookedAt = performance.now();
  readonly #thread = new ThreadTime();
  #usedMilliseconds = this.#thread.usedMilliseconds();

  constructor() {
    this.#wait(IDLE_LOOK_MILLISECONDS);
  }

  /** Stops watching. */
  close(): void {
    clearTimeout(this.#timer);
    this.#thread.close();
  }

  #wait(milliseconds: number): void {
    this.#due = performance.now() + milliseconds;
    this.#timer = setTimeout(this.#look, milliseconds);
    Deno.unrefTimer(Number(this.#timer));
  }

  readonly #look = (): void => {
    const now = performance.now(), used = this.#thread.usedMilliseconds();
    const spent = used - this.#usedMilliseconds;
    const isIdle = spent < (now - this.#lookedAt) * IDLE_SHARE;
    this.#lookedAt = now;
    this.#usedMilliseconds = used;
    const late = Math.max(0, now - this.#due);
    this.#wait(isIdle ? IDLE_LOOK_MILLISECONDS : BUSY_LOOK_MILLISECONDS);
    const work = turnWork.take(now, this.#due), { times } = this;
    times.note(late, now, nameOf(work, spent, late));
    times.longestWorkMilliseconds = Math.max(times.longestWorkMilliseconds, Math.min(spent, late));
  };
}

/** What a turn is noted as in which the thread has used a processor for so long. */
export function nameOf(work: string, spentMilliseconds: number, turnMilliseconds: number): string {
  return spentMilliseconds < turnMilliseconds * WAITING_SHARE ? `${work}, waiting` : work;
}

/** Processor time of the thread that makes it; of the process where the system says nothing of threads. */
class ThreadTime {
  readonly #file = openScheduling();
  readonly #bytes = new Uint8Array(64);

  usedMilliseconds(): number {
    if (this.#file === null) {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    }
    this.#file.seekSync(0, Deno.SeekMode.Start);
    const length = this.#file.readSync(this.#bytes) ?? 0;
    // Nanoseconds, before those that it has waited for a processor.
    return parseInt(decodeUtf8(this.#bytes.subarray(0, length))) / 1e6;
  }

  close(): void {
    this.#file?.close();
  }
}

/** What Linux says of this thread; kept open, for that is five times as quick as opening it each time. */
function openScheduling(): Deno.FsFile | null {
  try {
    return Deno.openSync("/proc/thread-self/schedstat");
  } catch (_error) {
    // Another system, or not permitted.
    return null;
  }
}
