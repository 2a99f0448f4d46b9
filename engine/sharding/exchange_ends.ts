/**
 * What the shards of a database send each other, and the router, while they run one fragment: batches.
 *
 * An edge leads from one shard to another (or itself) for one exchange in one pass, or to the router for the rows of
 * the fragment itself. Whoever reads grants credits: four batches may be on an edge before the first of them has been
 * read, so that nobody is ahead by more. Batches are read in turns, one of each shard, so that their order does not
 * depend on who is faster. Only who has used up its credits is read out of turn: the one whose turn it is may wait for
 * it, by way of others.
 */
import { assertDefined } from "../base/assert.ts";
import type { BatchSource, GatheredBatch } from "../execution/runtime/execution.ts";

/** Batches that may be on an edge. */
export const CREDITS = 4;

/** The name of the edges that lead to the router. */
export const TO_ROUTER = "router";

/** What one shard says to another. */
export interface PeerMessage {
  /** Tells runs of fragments apart; later ones have higher numbers. */
  readonly run: number;
  /** Exchange and pass. */
  readonly edge: string;
  readonly from: number;
  /** null: a batch was read, and another may come. */
  readonly batch: GatheredBatch | null;
  readonly isLast: boolean;
}

/** Carries a message to another shard; messages to one keep their order. */
export type SendToPeer = (shard: number, message: PeerMessage) => void;

/** Which exchange in which pass. */
export function edgeName(exchange: number, pass: number): string {
  return `${exchange}/${pass}`;
}

/** Of one edge's name, at one shard: what has come, and what may be sent. */
interface Edge {
  readonly arrived: GatheredBatch[][];
  readonly ended: boolean[];
  /** By receiver: how many batches may still be sent. */
  readonly credits: number[];
  /** Whose batch is read next. */
  turn: number;
}

/** The exchanges of one running fragment at one shard. */
export class ExchangeEnds {
  readonly count: number;
  readonly place: number;
  readonly #run: number;
  readonly #send: SendToPeer;
  readonly #routerCredits: number;
  readonly #edges = new Map<string, Edge>();
  #wakers: (() => void)[] = [];
  #changes = 0;

  /** `routerCredits`: how many batches the router takes before it has read the first. */
  constructor(
    { run, count, place }: { readonly run: number; readonly count: number; readonly place: number },
    send: SendToPeer,
    routerCredits = CREDITS,
  ) {
    this.#run = run;
    this.count = count;
    this.place = place;
    this.#send = send;
    this.#routerCredits = routerCredits;
  }

  /** The router's place, behind those of the shards. */
  get routerPlace(): number {
    return this.count;
  }

  /** Grows with everything that comes. */
  get changes(): number {
    return this.#changes;
  }

  /** Resolves when something has come since there were so many changes, or all are let look again. */
  changed(since: number): Promise<void> {
    if (this.#changes !== since) return Promise.resolve();
    return new Promise((resolve) => this.#wakers.push(resolve));
  }

  /** Lets all that wait look again. */
  wake(): void {
    this.#changes++;
    const wakers = this.#wakers;
    this.#wakers = [];
    for (const waker of wakers) waker();
  }

  /** Whether there is a credit. */
  mayStillSend(edge: string, to: number): boolean {
    return assertDefined(this.#edge(edge).credits[to], `credits of place ${to}`) > 0;
  }

  /** Sends a batch if there is a credit. false: there is none. */
  send(edge: string, to: number, batch: GatheredBatch, isLast: boolean): boolean {
    if (!this.mayStillSend(edge, to)) return false;
    const { credits } = this.#edge(edge);
    credits[to] = (credits[to] ?? 0) - 1;
    this.#deliver(to, { run: this.#run, edge, from: this.place, batch, isLast });
    return true;
  }

  /** What comes on an edge. */
  source(edge: string): BatchSource {
    return () => {
      const state = this.#edge(edge);
      const { ended } = state;
      for (let looked = 0; looked < this.count; looked++) {
        const from = state.turn;
        const batch = this.#take(edge, from);
        if (batch === undefined && ended[from] !== true) return this.#takeFull(edge);
        state.turn = (from + 1) % this.count;
        if (batch !== undefined) return batch;
      }
      return undefined;
    };
  }

  /** A batch of a place that may send no more before it is read; null: there is none. */
  #takeFull(edge: string): GatheredBatch | null {
    const from = this.#edge(edge).arrived.findIndex((batches) => batches.length >= CREDITS);
    return from < 0 ? null : this.#take(edge, from) ?? null;
  }

  /** What comes of one place. */
  sourceOf(edge: string, from: number): BatchSource {
    return () => this.#take(edge, from) ?? (this.#edge(edge).ended[from] === true ? undefined : null);
  }

  /** How many batches of a place have come and were not read. */
  unread(edge: string, from: number): number {
    return this.#edge(edge).arrived[from]?.length ?? 0;
  }

  /** Reads a batch, and grants a credit for it if there is need of more. */
  #take(edge: string, from: number): GatheredBatch | undefined {
    const { arrived, ended } = this.#edge(edge);
    const batch = arrived[from]?.shift();
    if (batch !== undefined && ended[from] !== true) {
      this.#deliver(from, { run: this.#run, edge, from: this.place, batch: null, isLast: false });
    }
    return batch;
  }

  /** Takes a message of a shard. */
  receive({ edge, from, batch, isLast }: PeerMessage): void {
    const { arrived, ended, credits } = this.#edge(edge);
    if (batch === null) credits[from] = (credits[from] ?? 0) + 1;
    else {
      arrived[from]?.push(batch);
      if (isLast) ended[from] = true;
    }
    this.wake();
  }

  #deliver(to: number, message: PeerMessage): void {
    if (to === this.place) this.receive(message);
    else this.#send(to, message);
  }

  #edge(name: string): Edge {
    let edge = this.#edges.get(name);
    if (edge === undefined) {
      const length = this.count + 1;
      const all = <Value>(make: () => Value): Value[] => Array.from({ length }, make);
      edge = { arrived: all(() => []), ended: all(() => false), credits: all(() => CREDITS), turn: 0 };
      edge.credits[this.routerPlace] = this.#routerCredits;
      this.#edges.set(name, edge);
    }
    return edge;
  }
}

/** All running exchanges of one shard. */
export class RunningExchanges {
  readonly #running = new Map<number, ExchangeEnds>();
  /** What has come before the router's request. */
  readonly #early = new Map<number, PeerMessage[]>();
  #newest = 0;

  /** Begins a run, whose number is higher than all before. */
  begin(run: number, ends: ExchangeEnds): void {
    this.#newest = run;
    this.#running.set(run, ends);
    for (const message of this.#early.get(run) ?? []) ends.receive(message);
    this.#early.delete(run);
  }

  /** Ends a run: what still comes of it is for nobody. */
  end(run: number): void {
    this.#running.delete(run);
  }

  /** Takes a message of another shard. */
  receive(message: PeerMessage): void {
    const { run } = message;
    const running = this.#running.get(run);
    if (running !== undefined) running.receive(message);
    else if (run > this.#newest) {
      const early = this.#early.get(run);
      if (early === undefined) this.#early.set(run, [message]);
      else early.push(message);
    }
  }
}
