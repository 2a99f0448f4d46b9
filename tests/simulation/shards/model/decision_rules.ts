/**
 * The rules by which a router and its shards commit (`docs/sharding.md`), each as an action, and the invariants that no
 * order of actions breaks.
 *
 * A process has all of them, so that a crash takes all of them; what is not durable is lost. Messages to a shard keep
 * their order. Row locks are left out: validation must do without them.
 */
import type { Model, Step } from "../../model/explore.ts";
import { type Program, SHARDS, type Workload } from "./epoch_state.ts";
import { hasCycle } from "./order.ts";

/** How far the model goes. */
export interface DecisionBounds extends Workload {
  readonly crashes: number;
}

/** A rule that is left out on purpose: an invariant must fail. */
export type BrokenDecisionRule =
  | "shards are told before the decision is durable"
  | "shards are told in turns of their own"
  | "snapshots are asked for in turns of their own"
  | "commits pass what is prepared"
  | "what was read is not validated"
  | "reads are shown before they are durable"
  | "decisions are not told again"
  | "decisions are told again to all"
  | "a client's repetition does not ask what was committed";

/** A shard: its log (`L<t>` a commit of one shard, `D<t>` a decision), and the router's messages on their way to it. */
interface Shard {
  log: string[];
  durable: number;
  /** `B<t>` begin, `C<t>` commit alone, `P<t>` prepare, `D<t>` decided, `A<t>` given up. */
  queue: string[];
  /** Requests to commit that have come. */
  waiting: string[];
  prepared: number | null;
}

interface Client {
  status: "idle" | "open" | "asked" | "decided" | "unknown" | "committed" | "aborted";
  /** By shard: entries of its log that it sees; null before its begin has come. */
  at: (number | null)[];
  seen: (number | null)[];
  /** By shard: whether it has agreed. */
  votes: (boolean | null)[];
  /** Transactions that clients knew to have committed when it began: a bit each. */
  before: number;
}

/** Everything. */
export interface DecisionState {
  /** The router's log: what was decided. */
  decisions: number[];
  durableDecisions: number;
  shards: Shard[];
  clients: Client[];
  crashes: number;
}

type May = (name: string, change: (next: DecisionState) => void) => void;

/** The actions of one state. */
export class DecisionRules implements Model<DecisionState> {
  readonly first: DecisionState;
  readonly #bounds: DecisionBounds;
  readonly #broken: BrokenDecisionRule | null;

  constructor(bounds: DecisionBounds, broken: BrokenDecisionRule | null = null) {
    this.#bounds = bounds;
    this.#broken = broken;
    this.first = {
      decisions: [],
      durableDecisions: 0,
      shards: Array.from(
        { length: SHARDS },
        () => ({ log: [], durable: 0, queue: [], waiting: [], prepared: null }),
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
  keyOf(state: DecisionState): string {
    return JSON.stringify(state);
  }

  /** {@inheritDoc Model.steps} */
  steps(state: DecisionState): Step<DecisionState>[] {
    const steps: Step<DecisionState>[] = [];
    const may: May = (name, change) => {
      const next = structuredCloneOf(state);
      change(next);
      steps.push({ name, state: next });
    };
    for (const [index, client] of state.clients.entries()) this.#clientSteps(state, index, client, may);
    for (const [index, shard] of state.shards.entries()) this.#shardSteps(index, shard, may);
    if (state.durableDecisions < state.decisions.length) {
      may("the router syncs", (next) => {
        next.durableDecisions = next.decisions.length;
      });
    }
    if (state.crashes < this.#bounds.crashes) may("all crash, and start again", (next) => this.#crash(next));
    return steps;
  }

  /** {@inheritDoc Model.violation} */
  violation(state: DecisionState): string | null {
    for (const [index, { status }] of state.clients.entries()) {
      const times = state.shards.map(({ log }) =>
        log.filter((entry) => entry.slice(1) === String(index)).length
      );
      times.push(state.decisions.filter((decided) => decided === index).length);
      if (times.some((each) => each > 1)) return `transaction ${index} is applied twice`;
      if (status === "aborted" && times.some((each) => each > 0)) {
        return `transaction ${index} has failed and is applied`;
      }
      const writes = this.#program(index).writes.length > 0;
      if (status === "committed" && writes && !this.#isDurable(state, index)) {
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

  #isDurable(state: DecisionState, index: number): boolean {
    return state.decisions.slice(0, state.durableDecisions).includes(index) ||
      state.shards.some(({ log, durable }) => log.slice(0, durable).includes(`L${index}`));
  }

  #valueAt(log: readonly string[], end: number, key: number): number {
    return Number(
      log.slice(0, end).findLast((entry) => this.#program(Number(entry.slice(1))).writes.includes(key))
        ?.slice(1) ?? -1,
    );
  }

  #clientSteps(state: DecisionState, index: number, client: Client, may: May): void {
    const shards = this.#shardsOf(index);
    const isLocal = shards.length === 1;
    const program = this.#program(index);
    if (client.status === "idle") {
      may(`${index} begins`, (next) => {
        const self = next.clients[index] as Client;
        self.status = "open";
        self.before = next.clients.reduce(
          (set, { status }, at) => status === "committed" ? set | 1 << at : set,
          0,
        );
        const lazy = this.#broken === "snapshots are asked for in turns of their own";
        for (const shard of lazy ? shards.slice(0, 1) : shards) next.shards[shard]?.queue.push(`B${index}`);
      });
    }
    if (client.status === "open") {
      if (this.#broken === "snapshots are asked for in turns of their own") {
        this.#askLater(state, index, client, may);
      }
      if (shards.every((shard) => client.at[shard] !== null)) {
        if (program.writes.length > 0) {
          may(`${index} asks to commit`, (next) => {
            (next.clients[index] as Client).status = "asked";
            for (const shard of shards) next.shards[shard]?.queue.push(`${isLocal ? "C" : "P"}${index}`);
          });
        } else this.#answerReader(state, index, client, may);
      }
    }
    if (client.status === "asked" && isLocal && this.#isDurable(state, index)) {
      this.#finish(index, "committed", may);
    }
    if (client.status === "asked" && !isLocal && shards.every((shard) => client.votes[shard] !== null)) {
      const agrees = shards.every((shard) => client.votes[shard] === true);
      may(agrees ? `${index} is decided` : `${index} is given up`, (next) => {
        (next.clients[index] as Client).status = agrees ? "decided" : "aborted";
        if (agrees) next.decisions.push(index);
        else for (const shard of shards) if (client.votes[shard]) next.shards[shard]?.queue.push(`A${index}`);
      });
    }
    if (client.status === "decided") this.#tell(state, index, shards, may);
    if (client.status === "unknown") this.#repeat(state, index, may);
  }

  #askLater(state: DecisionState, index: number, client: Client, may: May): void {
    for (const shard of this.#shardsOf(index)) {
      if (client.at[shard] !== null || state.shards[shard]?.queue.includes(`B${index}`)) continue;
      may(`${index} asks shard ${shard} for a snapshot`, (next) => {
        next.shards[shard]?.queue.push(`B${index}`);
      });
    }
  }

  #answerReader(state: DecisionState, index: number, client: Client, may: May): void {
    const isShown = this.#broken === "reads are shown before they are durable" ||
      client.at.every((at, shard) => (at ?? 0) <= (state.shards[shard]?.durable ?? 0));
    if (isShown) this.#finish(index, "committed", may);
  }

  #finish(index: number, status: "committed", may: May): void {
    may(`the client hears that ${index} is ${status}`, (next) => {
      (next.clients[index] as Client).status = status;
    });
  }

  #tell(state: DecisionState, index: number, shards: readonly number[], may: May): void {
    const isDurable = state.decisions.indexOf(index) < state.durableDecisions;
    if (!isDurable && this.#broken !== "shards are told before the decision is durable") return;
    const told = shards.filter((shard) => {
      const { log, queue } = state.shards[shard] as Shard;
      return queue.includes(`D${index}`) || log.includes(`D${index}`);
    });
    const inTurns = this.#broken === "shards are told in turns of their own";
    const open = shards.filter((shard) => !told.includes(shard));
    may(`the shards and the client are told of ${index}`, (next) => {
      for (const shard of inTurns ? open.slice(0, 1) : open) next.shards[shard]?.queue.push(`D${index}`);
      if (!inTurns || open.length <= 1) (next.clients[index] as Client).status = "committed";
    });
  }

  #repeat(state: DecisionState, index: number, may: May): void {
    const asks = this.#broken !== "a client's repetition does not ask what was committed";
    if (asks && this.#isDurable(state, index)) return this.#finish(index, "committed", may);
    may(`${index} runs anew`, (next) => {
      Object.assign(next.clients[index] as Client, {
        status: "idle",
        at: [null, null],
        seen: this.#bounds.keys.map(() => null),
        votes: [null, null],
      });
    });
  }

  #shardSteps(index: number, shard: Shard, may: May): void {
    if (shard.durable < shard.log.length) {
      may(`shard ${index} syncs`, (next) => {
        (next.shards[index] as Shard).durable = shard.log.length;
      });
    }
    const [message] = shard.queue;
    if (message !== undefined) {
      const mayRead = this.#mayRead(shard, message);
      if (mayRead) {
        may(`shard ${index} takes ${message}`, (next) => {
          const self = next.shards[index] as Shard;
          self.queue.shift();
          this.#take(next, index, self, message);
        });
      }
    }
    const [request] = shard.waiting;
    const isFree = shard.prepared === null ||
      this.#broken === "commits pass what is prepared" && request?.[0] === "C";
    if (request === undefined || !isFree) return;
    may(`shard ${index} works on ${request}`, (next) => {
      const self = next.shards[index] as Shard;
      self.waiting.shift();
      this.#work(next, index, self, request);
    });
  }

  /** Rows are shown when what they come from is durable. */
  #mayRead(shard: Shard, message: string): boolean {
    return message[0] !== "B" || shard.durable === shard.log.length ||
      this.#broken === "reads are shown before they are durable";
  }

  #take(next: DecisionState, index: number, shard: Shard, message: string): void {
    const number = Number(message.slice(1));
    const client = next.clients[number] as Client;
    switch (message[0]) {
      case "B":
        client.at[index] = shard.log.length;
        for (const key of this.#keysOf(number, index)) {
          if (!this.#program(number).reads.includes(key)) continue;
          client.seen[key] = this.#valueAt(shard.log, shard.log.length, key);
        }
        return;
      case "D":
        shard.log.push(message);
        shard.prepared = null;
        return;
      case "A":
        shard.prepared = null;
        return;
      default:
        shard.waiting.push(message);
    }
  }

  #work(next: DecisionState, index: number, shard: Shard, request: string): void {
    const number = Number(request.slice(1));
    const client = next.clients[number] as Client;
    const keys = this.#keysOf(number, index);
    const isValid = this.#broken === "what was read is not validated" ||
      !shard.log.slice(client.at[index] ?? 0).some((entry) =>
        this.#program(Number(entry.slice(1))).writes.some((key) => keys.includes(key))
      );
    if (request.startsWith("P")) {
      client.votes[index] = isValid;
      if (isValid) shard.prepared = number;
    } else if (isValid) shard.log.push(`L${number}`);
    else client.status = "aborted";
  }

  #crash(next: DecisionState): void {
    next.crashes++;
    next.decisions.length = next.durableDecisions;
    for (const [index, shard] of next.shards.entries()) {
      shard.log.length = shard.durable;
      Object.assign(shard, { queue: [], waiting: [], prepared: null });
      for (const decided of next.decisions) {
        const isThere = shard.log.includes(`D${decided}`) &&
          this.#broken !== "decisions are told again to all";
        if (isThere || !this.#shardsOf(decided).includes(index)) continue;
        if (this.#broken !== "decisions are not told again") shard.log.push(`D${decided}`);
      }
      shard.durable = shard.log.length;
    }
    for (const client of next.clients) {
      if (!["idle", "committed", "aborted"].includes(client.status)) client.status = "unknown";
    }
  }

  /** A cycle of reads, writes and what clients knew; null when there is an order that explains all. */
  #cycle(state: DecisionState): string | null {
    const committed = [...state.clients.entries()].filter(([index, { status }]) =>
      this.#program(index).writes.length === 0
        ? status === "committed"
        : state.decisions.includes(index) || state.shards.some(({ log }) => log.includes(`L${index}`))
    ).map(([index]) => index);
    const edges = new Map<number, Set<number>>(committed.map((index) => [index, new Set()]));
    const add = (from: number, to: number) => {
      if (from !== to && edges.has(to)) edges.get(from)?.add(to);
    };
    for (const [key, shard] of this.#bounds.keys.entries()) {
      const writes = (index: number) => this.#program(index).writes.includes(key);
      const logged = (state.shards[shard]?.log ?? []).map((entry) => Number(entry.slice(1))).filter(writes);
      // What is decided and not told yet comes after what the log has.
      const writers = [
        ...logged,
        ...state.decisions.filter((index) => writes(index) && !logged.includes(index)),
      ];
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

function structuredCloneOf(state: DecisionState): DecisionState {
  return {
    ...state,
    decisions: [...state.decisions],
    shards: state.shards.map((shard) => ({
      ...shard,
      log: [...shard.log],
      queue: [...shard.queue],
      waiting: [...shard.waiting],
    })),
    clients: state.clients.map((client) => ({
      ...client,
      at: [...client.at],
      seen: [...client.seen],
      votes: [...client.votes],
    })),
  };
}
