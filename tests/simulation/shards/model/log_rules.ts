/**
 * The rules by which a router and its shards commit (`docs/sharding.md`), each as an action, and the invariants that no
 * order of actions breaks.
 *
 * A process has all of them, so that a crash takes all of them. The router's log is the only one: what it has not made
 * durable is lost, and shards have what they saved last. Messages to a shard keep their order. Row locks are left out:
 * validation must do without them.
 */
import type { Model, Step } from "../../model/explore.ts";
import { type Program, SHARDS, type Workload } from "./epoch_state.ts";
import { hasCycle } from "./order.ts";

/** How far the model goes. */
export interface LogBounds extends Workload {
  readonly crashes: number;
  /** How often each shard may save what it has. */
  readonly saves: number;
  /** Shards are told when the entry is appended, as where there is no other member that could lose it. */
  readonly tellsAtOnce?: boolean;
}

/** A rule that is left out on purpose: an invariant must fail. */
export type BrokenLogRule =
  | "clients hear before the entry is durable"
  | "readers hear before what they have seen is durable"
  | "shards save what is not durable"
  | "shards are told in turns of their own"
  | "parts are applied out of the log's order"
  | "snapshots are asked for in turns of their own"
  | "a cut one op late"
  | "an entry without the last vote"
  | "entries in the order of their votes"
  | "pending parts are not validated against"
  | "what was read is not validated"
  | "clients hear before the shards"
  | "the log is not replayed"
  | "replay applies twice"
  | "what is saved says an op more than there is"
  | "the log is cut behind what one shard has saved"
  | "a client's repetition does not ask what was committed";

/** A shard: what it has applied, by transaction, and the router's messages on their way to it. */
interface Shard {
  applied: number[];
  /** The newest op that it was told. */
  op: number;
  /** What it has on disk: entries up to this op, and how many of them were its own. */
  saved: { readonly op: number; readonly count: number };
  saves: number;
  /** `B<t>` begin, `P<t>` validate, `A<t>` given up, `E<op>` entry. */
  queue: string[];
  /** Transactions that were validated here, and are neither in the log nor given up. */
  pending: number[];
}

interface Client {
  status: "idle" | "open" | "asked" | "logged" | "unknown" | "committed" | "aborted";
  /** By shard: how many of its entries it sees; null before its begin has come. */
  at: (number | null)[];
  seen: (number | null)[];
  votes: (boolean | null)[];
  /** Transactions that clients knew to have committed when it began: a bit each. */
  before: number;
}

/** Everything. */
export interface LogState {
  /** The router's log. */
  log: number[];
  durable: number;
  /** Entries that each shard was told of. */
  told: number[];
  /** Who has asked to commit and is not in the log, in the order of asking. */
  asked: number[];
  shards: Shard[];
  clients: Client[];
  crashes: number;
}

type May = (name: string, change: (next: LogState) => void) => void;

/** The actions of one state. */
export class LogRules implements Model<LogState> {
  readonly first: LogState;
  readonly #bounds: LogBounds;
  readonly #broken: BrokenLogRule | null;

  constructor(bounds: LogBounds, broken: BrokenLogRule | null = null) {
    this.#bounds = bounds;
    this.#broken = broken;
    this.first = {
      log: [],
      durable: 0,
      told: Array.from({ length: SHARDS }, () => 0),
      asked: [],
      shards: Array.from(
        { length: SHARDS },
        () => ({ applied: [], op: 0, saved: { op: 0, count: 0 }, saves: 0, queue: [], pending: [] }),
      ),
      clients: bounds.programs.map(() => ({
        status: "idle",
        at: [null, null],
        seen: bounds.keys.map(() => null),
        votes: [null, null],
        before: 0,
      })),
      crashes: 0,
    };
  }

  /** {@inheritDoc Model.keyOf} */
  keyOf(state: LogState): string {
    return JSON.stringify(state);
  }

  /** {@inheritDoc Model.stateOf} */
  stateOf(key: string): LogState {
    return JSON.parse(key);
  }

  /** {@inheritDoc Model.steps} */
  steps(state: LogState): Step<LogState>[] {
    const steps: Step<LogState>[] = [];
    const may: May = (name, change) => {
      const next = copyOf(state);
      change(next);
      steps.push({ name, state: next });
    };
    for (const [index, client] of state.clients.entries()) this.#clientSteps(state, index, client, may);
    this.#routerSteps(state, may);
    for (const [index, shard] of state.shards.entries()) this.#shardSteps(index, shard, { state, may });
    if (state.crashes < this.#bounds.crashes) may("all crash, and start again", (next) => this.#crash(next));
    return steps;
  }

  /** {@inheritDoc Model.violation} */
  violation(state: LogState): string | null {
    for (const [index, { status }] of state.clients.entries()) {
      const times = [...state.shards.map(({ applied }) => applied), state.log]
        .map((list) => list.filter((each) => each === index).length);
      if (times.some((each) => each > 1)) return `transaction ${index} is applied twice`;
      if (status === "aborted" && times.some((each) => each > 0)) {
        return `transaction ${index} has failed and is applied`;
      }
      const writes = this.#program(index).writes.length > 0;
      if (status === "committed" && writes && !state.log.slice(0, state.durable).includes(index)) {
        return `transaction ${index} is acknowledged and can be lost`;
      }
    }
    return this.#cycle(state);
  }

  #program(index: number): Program {
    const program = this.#bounds.programs[index];
    if (program === undefined) throw new RangeError(`no transaction ${index}`);
    return program;
  }

  #keysOf(index: number, shard: number): number[] {
    const { reads, writes } = this.#program(index);
    return [...new Set([...reads, ...writes])].filter((key) => this.#bounds.keys[key] === shard);
  }

  #shardsOf(index: number): number[] {
    return Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) =>
      this.#keysOf(index, shard).length > 0
    );
  }

  #writesAt(index: number, shard: number): boolean {
    return this.#program(index).writes.some((key) => this.#bounds.keys[key] === shard);
  }

  // ---------------------------------------------------------------- clients

  #clientSteps(state: LogState, index: number, client: Client, may: May): void {
    const shards = this.#shardsOf(index);
    const isLazy = this.#broken === "snapshots are asked for in turns of their own";
    if (client.status === "idle") {
      may(`${index} begins`, (next) => {
        const self = next.clients[index] as Client;
        self.status = "open";
        self.before = next.clients.reduce(
          (set, { status }, at) => status === "committed" ? set | 1 << at : set,
          0,
        );
        for (const shard of isLazy ? shards.slice(0, 1) : shards) next.shards[shard]?.queue.push(`B${index}`);
      });
    }
    if (client.status === "open") {
      for (const shard of isLazy ? shards : []) {
        if (client.at[shard] !== null || state.shards[shard]?.queue.includes(`B${index}`)) continue;
        may(`${index} asks shard ${shard} for a snapshot`, (next) => {
          next.shards[shard]?.queue.push(`B${index}`);
        });
      }
      if (shards.some((shard) => client.at[shard] === null)) return;
      if (this.#program(index).writes.length === 0) {
        if (this.#mayHear(state, client)) this.#finish(index, may);
        return;
      }
      may(`${index} asks to commit`, (next) => {
        (next.clients[index] as Client).status = "asked";
        next.asked.push(index);
        for (const shard of shards) next.shards[shard]?.queue.push(`P${index}`);
      });
    }
    if (client.status === "logged") {
      const op = state.log.indexOf(index) + 1;
      const areTold = shards.every((shard) =>
        !this.#writesAt(index, shard) || (state.told[shard] ?? 0) >= op
      );
      const isEarly = this.#broken === "clients hear before the shards" && state.durable >= op;
      const isDurable = state.durable >= op || this.#broken === "clients hear before the entry is durable";
      if (areTold && isDurable || isEarly) this.#finish(index, may);
    }
    if (client.status === "unknown") this.#repeat(state, index, may);
  }

  /** Whether all that a reader has seen will stay. */
  #mayHear(state: LogState, { seen }: Client): boolean {
    if (this.#broken === "readers hear before what they have seen is durable") return true;
    const durable = state.log.slice(0, state.durable);
    return seen.every((each) => each === null || each < 0 || durable.includes(each));
  }

  #finish(index: number, may: May): void {
    may(`the client hears that ${index} is committed`, (next) => {
      (next.clients[index] as Client).status = "committed";
    });
  }

  #repeat(state: LogState, index: number, may: May): void {
    const asks = this.#broken !== "a client's repetition does not ask what was committed";
    if (asks && state.log.slice(0, state.durable).includes(index)) return this.#finish(index, may);
    may(`${index} runs anew`, (next) => {
      Object.assign(next.clients[index] as Client, {
        status: "idle",
        at: [null, null],
        seen: this.#bounds.keys.map(() => null),
        votes: [null, null],
      });
    });
  }

  // ---------------------------------------------------------------- the router

  #routerSteps(state: LogState, may: May): void {
    const isInOrder = this.#broken !== "entries in the order of their votes";
    for (const index of isInOrder ? state.asked.slice(0, 1) : state.asked) this.#decide(state, index, may);
    if (state.durable < state.log.length) {
      may("the router syncs", (next) => {
        next.durable = next.log.length;
      });
    }
    const limit = this.#bounds.tellsAtOnce === true ? state.log.length : state.durable;
    if (this.#broken === "shards are told in turns of their own") {
      for (const [shard, told] of state.told.entries()) {
        if (told < limit) {
          may(`shard ${shard} is told of op ${told + 1}`, (next) => this.#tell(next, shard, told + 1));
        }
      }
      return;
    }
    const [told = 0] = state.told;
    if (told === limit) return;
    may(`the shards are told of op ${told + 1}`, (next) => {
      for (let shard = 0; shard < SHARDS; shard++) this.#tell(next, shard, told + 1);
    });
  }

  #tell(next: LogState, shard: number, op: number): void {
    next.told[shard] = op;
    if (this.#writesAt(next.log[op - 1] ?? 0, shard)) next.shards[shard]?.queue.push(`E${op}`);
  }

  #decide(state: LogState, index: number, may: May): void {
    const { votes } = state.clients[index] as Client;
    const shards = this.#shardsOf(index);
    const missing = shards.filter((shard) => votes[shard] === null).length;
    if (missing > (this.#broken === "an entry without the last vote" ? 1 : 0)) return;
    const agree = shards.every((shard) => votes[shard] !== false);
    may(agree ? `${index} gets its entry` : `${index} is given up`, (next) => {
      next.asked = next.asked.filter((each) => each !== index);
      (next.clients[index] as Client).status = agree ? "logged" : "aborted";
      if (agree) next.log.push(index);
      else for (const shard of shards) if (votes[shard]) next.shards[shard]?.queue.push(`A${index}`);
    });
  }

  // ---------------------------------------------------------------- shards

  #shardSteps(index: number, shard: Shard, { state, may }: { state: LogState; may: May }): void {
    const take = (at: number): void => {
      const message = shard.queue[at];
      if (message === undefined) return;
      may(`shard ${index} takes ${message}`, (next) => {
        const self = next.shards[index] as Shard;
        self.queue.splice(at, 1);
        this.#take(next, index, self, message);
      });
    };
    take(0);
    const passes = (from: string, over: string): void => {
      const at = shard.queue.findIndex((message) => message.startsWith(from));
      if (at > 0 && shard.queue.slice(0, at).every((message) => message.startsWith(over))) take(at);
    };
    if (this.#broken === "a cut one op late") passes("E", "B");
    if (this.#broken === "parts are applied out of the log's order") {
      const second = shard.queue.findIndex((message, at) => at > 0 && message.startsWith("E"));
      if (shard.queue[0]?.startsWith("E") === true && second > 0) take(second);
    }
    if (shard.saves >= this.#bounds.saves || shard.saved.op === shard.op) return;
    // A checkpoint begins behind an entry that is durable.
    const savesAll = this.#bounds.tellsAtOnce !== true || this.#broken === "shards save what is not durable";
    if (!savesAll && shard.op > state.durable) return;
    may(`shard ${index} saves op ${shard.op}`, (next) => {
      const self = next.shards[index] as Shard;
      const more = this.#broken === "what is saved says an op more than there is" ? 1 : 0;
      self.saved = { op: shard.op + more, count: shard.applied.length };
      self.saves++;
    });
  }

  #take(next: LogState, index: number, shard: Shard, message: string): void {
    const number = Number(message.slice(1));
    const client = next.clients[number] as Client;
    switch (message[0]) {
      case "B":
        client.at[index] = shard.applied.length;
        for (const key of this.#keysOf(number, index)) {
          if (this.#program(number).reads.includes(key)) client.seen[key] = this.#valueOf(shard, key);
        }
        return;
      case "P":
        client.votes[index] = this.#isValid(index, shard, number, client);
        if (client.votes[index] && this.#writesAt(number, index)) shard.pending.push(number);
        return;
      case "E":
        return this.#apply(shard, number, next.log[number - 1] ?? 0);
      default:
        shard.pending = shard.pending.filter((each) => each !== number);
    }
  }

  #apply(shard: Shard, op: number, transaction: number): void {
    shard.op = Math.max(shard.op, op);
    shard.applied.push(transaction);
    shard.pending = shard.pending.filter((each) => each !== transaction);
  }

  #valueOf({ applied }: Shard, key: number): number {
    return applied.findLast((each) => this.#program(each).writes.includes(key)) ?? -1;
  }

  #isValid(index: number, shard: Shard, number: number, client: Client): boolean {
    const keys = this.#keysOf(number, index);
    const since = this.#broken === "what was read is not validated"
      ? []
      : shard.applied.slice(client.at[index] ?? 0);
    const pending = this.#broken === "pending parts are not validated against" ? [] : shard.pending;
    return ![...since, ...pending].some((each) =>
      this.#program(each).writes.some((key) => keys.includes(key))
    );
  }

  #crash(next: LogState): void {
    next.crashes++;
    next.log.length = next.durable;
    next.asked = [];
    const cut = this.#broken === "the log is cut behind what one shard has saved"
      ? Math.max(...next.shards.map(({ saved }) => saved.op))
      : 0;
    for (const [index, shard] of next.shards.entries()) {
      const { op, count } = shard.saved;
      Object.assign(shard, { applied: shard.applied.slice(0, count), op, queue: [], pending: [] });
      const from = this.#broken === "replay applies twice" ? 0 : Math.max(op, cut);
      if (this.#broken === "the log is not replayed") continue;
      for (const [at, transaction] of next.log.entries()) {
        if (at >= from && this.#writesAt(transaction, index)) this.#apply(shard, at + 1, transaction);
      }
    }
    next.told = next.told.map(() => next.durable);
    for (const client of next.clients) {
      if (!["idle", "committed", "aborted"].includes(client.status)) client.status = "unknown";
    }
  }

  // ---------------------------------------------------------------- order

  /** A cycle of reads, writes and what clients knew; null when there is an order that explains all. */
  #cycle(state: LogState): string | null {
    const committed = [...state.clients.entries()].filter(([index, { status }]) =>
      this.#program(index).writes.length === 0 ? status === "committed" : state.log.includes(index)
    ).map(([index]) => index);
    const edges = new Map<number, Set<number>>(committed.map((index) => [index, new Set()]));
    const add = (from: number, to: number) => {
      if (from !== to && edges.has(to)) edges.get(from)?.add(to);
    };
    for (const key of this.#bounds.keys.keys()) {
      const writers = state.log.filter((index) => this.#program(index).writes.includes(key));
      for (const [place, writer] of writers.entries()) {
        for (const later of writers.slice(place + 1)) add(writer, later);
      }
      for (const reader of committed) {
        const seen = state.clients[reader]?.seen[key] ?? null;
        if (seen === null) continue;
        if (seen >= 0 && !writers.includes(seen)) return `transaction ${reader} has read what is not there`;
        if (seen >= 0) add(seen, reader);
        for (const later of writers.slice(writers.indexOf(seen) + 1)) add(reader, later);
      }
    }
    for (const later of committed) {
      for (const earlier of committed) {
        if (((state.clients[later]?.before ?? 0) & (1 << earlier)) !== 0) add(earlier, later);
      }
    }
    return hasCycle(edges) ? "no serial order explains what was read" : null;
  }
}

function copyOf(state: LogState): LogState {
  return {
    ...state,
    log: [...state.log],
    told: [...state.told],
    asked: [...state.asked],
    shards: state.shards.map((shard) => ({
      ...shard,
      applied: [...shard.applied],
      queue: [...shard.queue],
      pending: [...shard.pending],
    })),
    clients: state.clients.map((client) => ({
      ...client,
      at: [...client.at],
      seen: [...client.seen],
      votes: [...client.votes],
    })),
  };
}
