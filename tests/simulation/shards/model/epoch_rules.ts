/**
 * The rules by which transactions over shards commit, each as an action, and the invariants that no order of actions
 * breaks: `docs/sharding.md` has both in words.
 *
 * A snapshot and the locks of a branch are taken in one action, votes and the append of their entry in another. Time is
 * not modeled, and whoever waits may wait forever: only safety is checked.
 */
import type { Model, Step } from "../../model/explore.ts";
import {
  copyState,
  type EpochState,
  initialState,
  keyOf,
  type ModelTransaction,
  type Program,
  SHARDS,
  type Workload,
} from "./epoch_state.ts";
import { hasCycle } from "./order.ts";

/** How far the model goes. */
export interface EpochBounds extends Workload {
  /** Crashes of shards and of the router together. */
  readonly crashes: number;
  /**
   * Whether what a client knew to be committed comes before what it starts then (strict serializability), which needs
   * that a snapshot is asked for in all shards at once.
   */
  readonly isStrict: boolean;
}

/** A rule that is left out on purpose: an invariant must fail. */
export type BrokenRule =
  | "slices out of order"
  | "a decision without the last vote"
  | "a vote counts before it is durable"
  | "slices before their epoch is durable"
  | "a client's repetition does not ask what was committed"
  | "slices are taken again after a crash"
  | "a cut one entry late"
  | "a snapshot does not wait for decisions"
  | "an earlier one of the epoch is not looked at"
  | "pending slices are not waited for"
  | "a lost branch votes for its transaction"
  | "what was read is not validated"
  | "a snapshot moves whatever was read"
  | "snapshots are taken when they are needed"
  | "a lost snapshot is taken anew"
  | "commits pass snapshots that wait";

type May = (name: string, change: (next: EpochState) => void) => void;

/** An entry of a shard's log. */
interface Entry {
  readonly kind: string;
  /** The transaction of `L`, the epoch of others. */
  readonly number: number;
  /** A letter for each transaction of the epoch. */
  readonly verdicts: string;
}

function entryOf(text: string): Entry {
  const [head = "", verdicts = ""] = text.split(":");
  return { kind: head[0] ?? "", number: Number(head.slice(1)), verdicts };
}

/** Where an epoch's entry of this kind is in a log; -1 if it is not there. */
function indexOfEpoch(log: readonly string[], kind: "S" | "D", epoch: number): number {
  return log.findIndex((text) => text.startsWith(`${kind}${epoch}:`));
}

/** The actions of one state. */
export class EpochRules implements Model<EpochState> {
  readonly first: EpochState;
  readonly #bounds: EpochBounds;
  readonly #broken: BrokenRule | null;
  readonly #keys: readonly number[];

  constructor(bounds: EpochBounds, broken: BrokenRule | null = null) {
    this.#bounds = bounds;
    this.#broken = broken;
    this.#keys = bounds.keys;
    this.first = initialState(bounds);
  }

  /** {@inheritDoc Model.keyOf} */
  keyOf(state: EpochState): string {
    return keyOf(state);
  }

  /** {@inheritDoc Model.steps} */
  steps(state: EpochState): Step<EpochState>[] {
    const steps: Step<EpochState>[] = [];
    const may: May = (name, change) => {
      const next = copyState(state);
      change(next);
      steps.push({ name, state: next });
    };
    for (const [index, one] of state.transactions.entries()) {
      this.#clientSteps(state, index, one, may);
      for (let shard = 0; shard < SHARDS; shard++) this.#branchSteps(state, index, one, shard, may);
    }
    this.#sequencerSteps(state, may);
    for (let shard = 0; shard < SHARDS; shard++) this.#shardSteps(state, shard, may);
    if (state.crashes < this.#bounds.crashes) this.#crashSteps(may);
    return steps;
  }

  /** {@inheritDoc Model.violation} */
  violation(state: EpochState): string | null {
    for (const [index, one] of state.transactions.entries()) {
      const outcomes = state.shards.map(({ log }) => this.#timesApplied(state, index, log));
      if (outcomes.some((times) => times > 1)) return `transaction ${index} is applied twice`;
      if (one.status === "committed" && this.#writesOf(index).length > 0 && !this.#isDurable(state, index)) {
        return `transaction ${index} is acknowledged and can be lost`;
      }
      if (one.status === "aborted" && outcomes.some((times) => times > 0)) {
        return `transaction ${index} has failed and is applied`;
      }
    }
    for (const epoch of state.epochs.keys()) {
      const decisions = state.shards.map(({ log }) => log[indexOfEpoch(log, "D", epoch + 1)]);
      if (decisions.every((one) => one !== undefined) && new Set(decisions).size > 1) {
        return `shards decide epoch ${epoch + 1} differently`;
      }
    }
    return this.#cycle(state);
  }

  #program(index: number): Program {
    const program = this.#bounds.programs[index];
    if (program === undefined) throw new RangeError(`no transaction ${index}`);
    return program;
  }

  #writesOf(index: number, shard?: number): readonly number[] {
    return this.#program(index).writes.filter((key) => shard === undefined || this.#keys[key] === shard);
  }

  /** The keys of a shard that a transaction reads or writes. */
  #keysOf(index: number, shard: number): readonly number[] {
    const { reads, writes } = this.#program(index);
    return [...new Set([...reads, ...writes])].filter((key) => this.#keys[key] === shard);
  }

  #shardsOf(index: number): readonly number[] {
    return Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) =>
      this.#keysOf(index, shard).length > 0
    );
  }

  #isLocal(index: number): boolean {
    return this.#shardsOf(index).length === 1;
  }

  /** The place of a transaction in the epoch that logged it: [epoch, place]; null when none did. */
  #placeOf(state: EpochState, index: number): readonly [epoch: number, place: number] | null {
    const found = state.epochs.findLastIndex((members) => members.includes(String(index)));
    return found < 0 ? null : [found + 1, (state.epochs[found] as string).indexOf(String(index))];
  }

  /** How often a log has a transaction's effects, decided ones. */
  #timesApplied(state: EpochState, index: number, log: readonly string[]): number {
    let times = 0;
    for (const text of log) {
      const { kind, number, verdicts } = entryOf(text);
      if (kind === "L" && number === index) times++;
      const place = kind === "D" ? (state.epochs[number - 1] ?? "").indexOf(String(index)) : -1;
      if (place >= 0 && verdicts[place] === "y") times++;
    }
    return times;
  }

  /** Whether crashes of all can no longer undo a commit. */
  #isDurable(state: EpochState, index: number): boolean {
    if (this.#isLocal(index)) {
      return state.shards.some(({ log, durable }) => log.slice(0, durable).includes(`L${index}`));
    }
    return this.#outcome(state, index) === "y";
  }

  /** `y` or `n` when all votes for a logged transaction are durable, else null. */
  #outcome(state: EpochState, index: number): string | null {
    const place = this.#placeOf(state, index);
    if (place === null || place[0] > state.durableEpochs) return null;
    const outcomes = this.#outcomes(state, place[0]);
    return outcomes === null ? null : outcomes[place[1]] ?? null;
  }

  /** The decision of an epoch, a function of durable votes alone; null while one is missing. */
  #outcomes(state: EpochState, epoch: number): string | null {
    const votes: string[] = [];
    for (const [shard, { log, durable }] of state.shards.entries()) {
      const at = indexOfEpoch(log, "S", epoch);
      const isThere = at >= 0 && (at < durable || this.#broken === "a vote counts before it is durable");
      if (isThere) votes.push(entryOf(log[at] as string).verdicts);
      else if (this.#broken !== "a decision without the last vote" || shard === 0) return null;
    }
    const members = state.epochs[epoch - 1] ?? "";
    return [...members].map((_, place) => votes.every((vote) => vote[place] === "y") ? "y" : "n").join("");
  }

  /** The transactions whose slices in a shard wait for their decision. */
  #pending(state: EpochState, shard: number): number[] {
    const { log } = state.shards[shard] as EpochState["shards"][number];
    const found: number[] = [];
    for (const text of log) {
      const { kind, number, verdicts } = entryOf(text);
      if (kind !== "S" || indexOfEpoch(log, "D", number) >= 0) continue;
      for (const [place, member] of [...state.epochs[number - 1] ?? ""].entries()) {
        if (verdicts[place] === "y") found.push(Number(member));
      }
    }
    return found;
  }

  /** Who wrote a key last among the first entries of a log; effects count from their decision on. */
  #valueAt(state: EpochState, log: readonly string[], end: number, key: number): number {
    let value = -1;
    for (const text of log.slice(0, end)) {
      const { kind, number, verdicts } = entryOf(text);
      if (kind === "L" && this.#program(number).writes.includes(key)) value = number;
      if (kind !== "D") continue;
      for (const [place, member] of [...state.epochs[number - 1] ?? ""].entries()) {
        if (verdicts[place] === "y" && this.#program(Number(member)).writes.includes(key)) {
          value = Number(member);
        }
      }
    }
    return value;
  }

  /** Whether one of the keys was written in a log after a snapshot; pending writes count. */
  #wasWritten(state: EpochState, shard: number, from: number, keys: readonly number[]): boolean {
    const { log } = state.shards[shard] as EpochState["shards"][number];
    const wrote = (index: number) => this.#program(index).writes.some((key) => keys.includes(key));
    const decided = log.slice(from).some((text) => {
      const { kind, number, verdicts } = entryOf(text);
      if (kind === "L") return wrote(number);
      if (kind !== "D") return false;
      return [...state.epochs[number - 1] ?? ""].some((member, place) =>
        verdicts[place] === "y" && wrote(Number(member))
      );
    });
    if (this.#broken === "pending slices are not waited for") return decided;
    return decided || this.#pending(state, shard).some(wrote);
  }

  /** Entries that a snapshot of an epoch has in a shard; null while it must wait for a decision. */
  #cut(state: EpochState, shard: number, epoch: number): number | null {
    const { log } = state.shards[shard] as EpochState["shards"][number];
    if (this.#broken !== "a snapshot does not wait for decisions") {
      for (let number = 1; number <= epoch; number++) if (indexOfEpoch(log, "D", number) < 0) return null;
    }
    const later = log.findIndex((text) => {
      const { kind, number } = entryOf(text);
      return kind === "S" && number > epoch;
    });
    if (later < 0) return log.length;
    return this.#broken === "a cut one entry late" ? Math.min(log.length, later + 2) : later;
  }

  /** Whether another transaction, open or pending, has locked a key that this one writes. */
  #isLocked(state: EpochState, index: number, shard: number): boolean {
    const keys = this.#writesOf(index, shard);
    const pending = this.#broken === "pending slices are not waited for" ? [] : this.#pending(state, shard);
    return state.transactions.some((other, number) =>
      number !== index && (other.branches[shard]?.isAlive === true || pending.includes(number)) &&
      this.#writesOf(number, shard).some((key) => keys.includes(key))
    );
  }

  /** Whether snapshots that were asked for earlier have not been taken in a shard, so that later requests queue. */
  #hasPins(state: EpochState, shard: number, before: ModelTransaction): boolean {
    if (!this.#bounds.isStrict || this.#broken === "commits pass snapshots that wait") return false;
    return state.transactions.some((one) => one !== before && (one.pins & (1 << shard)) !== 0);
  }

  #clientSteps(state: EpochState, index: number, one: ModelTransaction, may: May): void {
    const isLocal = this.#isLocal(index);
    if (one.status === "idle") {
      may(`${index} begins`, (next) => {
        const self = next.transactions[index] as ModelTransaction;
        self.status = "open";
        self.epoch = next.epochs.length;
        self.before = next.transactions.reduce(
          (set, { status }, at) => status === "committed" ? set | 1 << at : set,
          0,
        );
        const isPinned = this.#bounds.isStrict && this.#broken !== "snapshots are taken when they are needed";
        const needsPins = isPinned && (!isLocal || this.#program(index).isBlock === true);
        self.pins = needsPins ? this.#shardsOf(index).reduce((set, shard) => set | 1 << shard, 0) : 0;
      });
    }
    const isCommitting = state.shards.some(({ log }) => log.includes(`L${index}`));
    if (one.status === "gathered" || one.status === "open" && !isCommitting) {
      may(`${index} is rolled back`, (next) => {
        Object.assign(next.transactions[index] as ModelTransaction, { status: "aborted", pins: 0 });
        this.#dropBranches(next, index);
        next.gathered = next.gathered.replace(String(index), "");
      });
    }
    const isReady = one.status === "open" &&
      this.#shardsOf(index).every((shard) => one.branches[shard] !== null);
    if (isReady && !isLocal && this.#program(index).writes.length > 0) {
      may(`${index} hands over its slices`, (next) => {
        (next.transactions[index] as ModelTransaction).status = "gathered";
        next.gathered += index;
      });
    }
    if (isReady) this.#advance(state, index, one, may);
    this.#answer(state, index, one, isReady, may);
    if (one.status === "unknown") this.#repeat(state, index, may);
  }

  /** A snapshot moves to the newest epoch, if nothing that was read has changed. */
  #advance(state: EpochState, index: number, one: ModelTransaction, may: May): void {
    if (one.epoch === state.epochs.length || this.#bounds.isStrict) return;
    const cuts = one.branches.map((branch, shard) => branch && this.#cut(state, shard, state.epochs.length));
    for (const [shard, branch] of one.branches.entries()) {
      if (branch === null) continue;
      const cut = cuts[shard] ?? null;
      if (cut === null || !branch.isAlive) return;
      const isSame = this.#keysOf(index, shard).every((key) => {
        const { log } = state.shards[shard] as EpochState["shards"][number];
        return this.#valueAt(state, log, cut, key) === this.#valueAt(state, log, branch.at, key);
      });
      if (!isSame && this.#broken !== "a snapshot moves whatever was read") return;
    }
    may(`${index} moves to epoch ${state.epochs.length}`, (next) => {
      const self = next.transactions[index] as ModelTransaction;
      self.epoch = next.epochs.length;
      for (const [shard, branch] of self.branches.entries()) {
        if (branch !== null) branch.at = cuts[shard] as number;
      }
    });
  }

  /** The client hears what became of it. */
  #answer(state: EpochState, index: number, one: ModelTransaction, isReady: boolean, may: May): void {
    const finish = (status: "committed" | "aborted") =>
      may(`the client hears that ${index} is ${status}`, (next) => {
        (next.transactions[index] as ModelTransaction).status = status;
        this.#dropBranches(next, index);
      });
    const isReader = this.#program(index).writes.length === 0;
    if (isReady && isReader) {
      const isThere = one.branches.every((branch, shard) =>
        branch === null || branch.isAlive && (state.shards[shard]?.durable ?? 0) >= branch.at
      );
      if (isThere) finish("committed");
    } else if (one.status === "open" && this.#isLocal(index)) {
      if (this.#isDurable(state, index)) finish("committed");
    } else if (one.status === "logged") {
      const outcome = this.#outcome(state, index);
      if (outcome !== null) finish(outcome === "y" ? "committed" : "aborted");
    }
  }

  /** A client asks again after a crash: what was committed is answered from its record, the rest runs anew. */
  #repeat(state: EpochState, index: number, may: May): void {
    const asks = this.#broken !== "a client's repetition does not ask what was committed";
    const isInLog = state.shards.some(({ log }) => log.includes(`L${index}`));
    const isLogged = this.#placeOf(state, index) !== null;
    const outcome = this.#outcome(state, index);
    if (asks && isInLog && !this.#isDurable(state, index)) return;
    if (asks && isLogged && outcome === null) return;
    if (asks && (isInLog || outcome === "y")) {
      may(`the record says that ${index} is committed`, (next) => {
        (next.transactions[index] as ModelTransaction).status = "committed";
      });
      return;
    }
    may(`${index} runs anew`, (next) => {
      const self = next.transactions[index] as ModelTransaction;
      Object.assign(self, {
        status: "idle",
        seen: self.seen.map(() => null),
        branches: [null, null],
        epoch: 0,
      });
    });
  }

  #dropBranches(next: EpochState, index: number): void {
    for (const branch of (next.transactions[index] as ModelTransaction).branches) {
      if (branch) branch.isAlive = false;
    }
  }

  /** What the router asks of one shard for one transaction. */
  #branchSteps(state: EpochState, index: number, one: ModelTransaction, shard: number, may: May): void {
    if (one.status !== "open" || !this.#shardsOf(index).includes(shard)) return;
    const { log } = state.shards[shard] as EpochState["shards"][number];
    const isBlock = !this.#isLocal(index) || this.#program(index).isBlock === true;
    const keys = this.#keysOf(index, shard);
    const branch = one.branches[shard] ?? null;
    const isPinned = (one.pins & (1 << shard)) !== 0;
    if (branch === null && (isPinned || !this.#hasPins(state, shard, one))) {
      const at = isBlock ? this.#cut(state, shard, one.epoch) : log.length;
      const mustWait = !isBlock && this.#broken !== "pending slices are not waited for" &&
        this.#pending(state, shard).some((other) =>
          this.#program(other).writes.some((key) => keys.includes(key))
        );
      if (at !== null && !mustWait && !this.#isLocked(state, index, shard)) {
        may(`${index} reads and locks in shard ${shard}`, (next) => {
          const self = next.transactions[index] as ModelTransaction;
          self.branches[shard] = { at, isAlive: true };
          self.pins &= ~(1 << shard);
          for (const key of keys) {
            if (this.#program(index).reads.includes(key)) self.seen[key] = this.#valueAt(state, log, at, key);
          }
        });
      }
    }
    const commitsHere = this.#isLocal(index) && this.#writesOf(index).length > 0;
    if (!commitsHere || branch?.isAlive !== true || log.includes(`L${index}`)) return;
    if (this.#hasPins(state, shard, one)) return;
    const isValid = this.#broken === "what was read is not validated" ||
      !this.#wasWritten(state, shard, branch.at, keys);
    if (!isValid) return;
    may(`${index} commits in shard ${shard}`, (next) => {
      next.shards[shard]?.log.push(`L${index}`);
      this.#dropBranches(next, index);
    });
  }

  #sequencerSteps(state: EpochState, may: May): void {
    if (state.gathered !== "") {
      may(`epoch ${state.epochs.length + 1} is logged`, (next) => {
        next.epochs.push(next.gathered);
        for (const member of next.gathered) {
          (next.transactions[Number(member)] as ModelTransaction).status = "logged";
        }
        next.gathered = "";
      });
    }
    if (state.durableEpochs < state.epochs.length) {
      may("the sequencer syncs", (next) => {
        next.durableEpochs = next.epochs.length;
      });
    }
  }

  #shardSteps(state: EpochState, shard: number, may: May): void {
    const { log, durable } = state.shards[shard] as EpochState["shards"][number];
    if (durable < log.length) {
      may(`shard ${shard} syncs`, (next) => {
        (next.shards[shard] as EpochState["shards"][number]).durable = log.length;
      });
    }
    const known = this.#broken === "slices before their epoch is durable"
      ? state.epochs.length
      : state.durableEpochs;
    for (let epoch = 1; epoch <= known; epoch++) {
      const has = indexOfEpoch(log, "S", epoch) >= 0;
      const isDecided = indexOfEpoch(log, "D", epoch) >= 0;
      const isInOrder = this.#broken === "slices out of order" || epoch === 1 ||
        indexOfEpoch(log, "D", epoch - 1) >= 0;
      const again = this.#broken === "slices are taken again after a crash" && state.crashes > 0 &&
        log.filter((text) => text.startsWith(`D${epoch}`)).length === 1;
      if (!has && isInOrder) {
        may(`shard ${shard} votes for epoch ${epoch}`, (next) => {
          next.shards[shard]?.log.push(`S${epoch}:${this.#votes(state, shard, epoch)}`);
        });
      }
      const outcomes = has && (!isDecided || again) ? this.#outcomes(state, epoch) : null;
      if (outcomes === null) continue;
      may(`shard ${shard} decides epoch ${epoch}`, (next) => {
        next.shards[shard]?.log.push(`D${epoch}:${outcomes}`);
        for (const member of next.epochs[epoch - 1] ?? "") {
          const branch = (next.transactions[Number(member)] as ModelTransaction).branches[shard];
          if (branch) branch.isAlive = false;
        }
      });
    }
  }

  /** A shard's votes for an epoch, validated at this place of its log. */
  #votes(state: EpochState, shard: number, epoch: number): string {
    const earlier: number[] = [];
    let votes = "";
    for (const member of state.epochs[epoch - 1] ?? "") {
      const index = Number(member);
      const branch = (state.transactions[index] as ModelTransaction).branches[shard] ?? null;
      const keys = this.#keysOf(index, shard);
      const isThere = branch !== null &&
        (branch.isAlive || this.#broken === "a lost branch votes for its transaction");
      let isValid = isThere && (this.#broken === "what was read is not validated" ||
        !this.#wasWritten(state, shard, branch.at, keys));
      if (this.#broken !== "an earlier one of the epoch is not looked at") {
        isValid &&= !earlier.some((other) => this.#program(other).writes.some((key) => keys.includes(key)));
      }
      votes += isValid ? "y" : "n";
      if (isValid) earlier.push(index);
    }
    return votes;
  }

  #crashSteps(may: May): void {
    const loseBranches = (next: EpochState, shard: number) => {
      for (const one of next.transactions) {
        const branch = one.branches[shard];
        if (branch) branch.isAlive = false;
        const isPinned = (one.pins & (1 << shard)) !== 0 && this.#broken !== "a lost snapshot is taken anew";
        if (one.status === "open" && (branch || isPinned)) one.status = "unknown";
        one.pins &= one.status === "open" ? ~(1 << shard) : 0;
      }
    };
    const loseRouter = (next: EpochState) => {
      next.epochs.length = next.durableEpochs;
      next.gathered = "";
      for (const [index, one] of next.transactions.entries()) {
        if (one.status !== "open" && one.status !== "gathered" && one.status !== "logged") continue;
        one.status = "unknown";
        one.pins = 0;
        if (this.#placeOf(next, index) === null) this.#dropBranches(next, index);
      }
    };
    for (let shard = 0; shard < SHARDS; shard++) {
      may(`shard ${shard} crashes`, (next) => {
        next.crashes++;
        const { log, durable } = next.shards[shard] as EpochState["shards"][number];
        log.length = durable;
        loseBranches(next, shard);
      });
    }
    may("the router crashes", (next) => {
      next.crashes++;
      loseRouter(next);
    });
    may("all crash", (next) => {
      next.crashes++;
      loseRouter(next);
      for (const [shard, one] of next.shards.entries()) {
        one.log.length = one.durable;
        loseBranches(next, shard);
      }
    });
  }

  /** Whether a transaction counts for the order: it has committed, whoever knows it. */
  #hasCommitted(state: EpochState, index: number): boolean {
    const { status } = state.transactions[index] as ModelTransaction;
    if (this.#program(index).writes.length === 0) return status === "committed";
    return state.shards.some(({ log }) => this.#timesApplied(state, index, log) > 0);
  }

  /** A cycle of reads, writes and what clients knew; null when there is an order that explains all. */
  #cycle(state: EpochState): string | null {
    const committed = [...state.transactions.keys()].filter((index) => this.#hasCommitted(state, index));
    const edges = new Map<number, Set<number>>(committed.map((index) => [index, new Set()]));
    const add = (from: number, to: number) => {
      if (from !== to && edges.has(to)) edges.get(from)?.add(to);
    };
    for (const [key, shard] of this.#keys.entries()) {
      const writers = this.#writersOf(state, key, shard, committed);
      for (const [place, writer] of writers.entries()) {
        for (const later of writers.slice(place + 1)) add(writer, later);
      }
      for (const reader of committed) {
        const seen = state.transactions[reader]?.seen[key] ?? null;
        if (seen === null) continue;
        if (seen >= 0 && !writers.includes(seen)) return `transaction ${reader} has read what is not there`;
        if (seen >= 0) add(seen, reader);
        for (const later of writers.slice(writers.indexOf(seen) + 1)) add(reader, later);
      }
    }
    if (this.#bounds.isStrict) {
      for (const later of committed) {
        for (const earlier of committed) {
          if (((state.transactions[later]?.before ?? 0) & (1 << earlier)) !== 0) add(earlier, later);
        }
      }
    }
    return hasCycle(edges) ? "no serial order explains what was read" : null;
  }

  /** Whether a shard has decided that a transaction of an epoch commits. */
  #isDecided(state: EpochState, epoch: number, place: number): boolean {
    return state.shards.some(({ log }) =>
      log.some((text) => text.startsWith(`D${epoch}:`) && entryOf(text).verdicts[place] === "y")
    );
  }

  /** Who wrote a key, in order; slices count where they were logged. */
  #writersOf(state: EpochState, key: number, shard: number, committed: readonly number[]): number[] {
    const writers: number[] = [];
    for (const text of state.shards[shard]?.log ?? []) {
      const { kind, number } = entryOf(text);
      const found = kind === "L"
        ? [number]
        : kind === "S"
        ? [...state.epochs[number - 1] ?? ""].filter((_, place) => this.#isDecided(state, number, place)).map(
          Number,
        )
        : [];
      for (const writer of found) {
        if (committed.includes(writer) && this.#program(writer).writes.includes(key)) writers.push(writer);
      }
    }
    return writers;
  }
}
