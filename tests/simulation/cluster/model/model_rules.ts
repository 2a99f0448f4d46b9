/**
 * The rules of the replication protocol, each as an action that a member may take, and the invariants that no order of
 * actions breaks. `docs/replication.md` has both in words.
 *
 * The rules are those of the document, not of the code: what takes several messages and syncs in the code is one action
 * where nothing can come between. Time is not modeled; a promise ends at any moment after its primary no longer counts
 * on it, and members leave views whenever they like. Damaged entries are not modeled.
 */
import type { Model, Step } from "../../model/explore.ts";
import {
  copyState,
  forgetDead,
  initialState,
  keyOf,
  MEMBERS,
  type ModelMember,
  type ModelState,
  type ModelView,
  type ModelVote,
  stateOf,
} from "./model_state.ts";

/** How far the model goes. */
export interface ModelBounds {
  readonly views: number;
  readonly entries: number;
  readonly restarts: number;
  /** Disks that are replaced, one at a time. */
  readonly losses: number;
  readonly hasCheckpoints: boolean;
  readonly hasLeases: boolean;
}

/** A rule that is left out on purpose: an invariant must fail. */
export type BrokenRule =
  | "one member commits"
  | "the longest log wins"
  | "acknowledges across a gap"
  | "a backup applies what it has"
  | "serves before its suffix is committed"
  | "a restarted primary goes on"
  | "votes within its promise"
  | "a restart ends a promise"
  | "a replaced disk votes"
  | "an old vote counts"
  | "a checkpoint above the commit number"
  | "a checkpoint replaces the whole log"
  | "an old start of a view is taken";

const QUORUM = 2;

function primaryOf(view: number): number {
  return view % MEMBERS;
}

function isPrimary(member: ModelMember, index: number): boolean {
  return member.status === "normal" && primaryOf(member.view) === index;
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** The log that votes give a new primary; ops above the commit number that no voter has are left out. */
export function chooseLog(
  votes: readonly ModelVote[],
  broken: BrokenRule | null,
): { log: string; commit: number } {
  const commit = Math.max(...votes.map((vote) => vote.commit));
  const logView = Math.max(...votes.map((vote) => vote.logView));
  const canonical = votes.filter((vote) => vote.logView === logView || broken === "the longest log wins")
    .reduce((a, b) => b.log.length > a.log.length ? b : a).log;
  let log = votes.find((vote) => vote.commit === commit)?.log.slice(0, commit) ?? "";
  for (let op = commit + 1; op <= canonical.length; op++) {
    const entry = canonical.slice(0, op);
    if (!votes.some((vote) => vote.have >= op && vote.log.startsWith(entry))) break;
    log = entry;
  }
  return { log, commit };
}

/** The actions of one state. */
export class ModelRules implements Model<ModelState> {
  readonly first: ModelState;
  readonly #bounds: ModelBounds;
  readonly #broken: BrokenRule | null;

  readonly #forgets: boolean;

  /** `forgets`: whether what no action looks at is forgotten; one may look at it where a rule is left out. */
  constructor(bounds: ModelBounds, broken: BrokenRule | null = null, { forgets = broken === null } = {}) {
    this.#bounds = bounds;
    this.#broken = broken;
    this.#forgets = forgets;
    this.first = initialState(bounds.views);
  }

  /** {@inheritDoc Model.keyOf} */
  keyOf(state: ModelState): string {
    return keyOf(state);
  }

  /** {@inheritDoc Model.stateOf} */
  readonly stateOf = (key: string): ModelState => stateOf(key, this.#bounds.views);

  /** All states that one action leads to. */
  steps(state: ModelState): Step<ModelState>[] {
    const steps: Step<ModelState>[] = [];
    const may = (name: string, change: (next: ModelState) => void) => {
      const next = copyState(state);
      change(next);
      for (const member of next.members) this.#endBan(member);
      if (this.#forgets) forgetDead(next, this.#bounds.restarts);
      steps.push({ name, state: next });
    };
    for (let index = 0; index < MEMBERS; index++) {
      const member = state.members[index] as ModelMember;
      this.#normalSteps(state, index, member, may);
      this.#viewSteps(state, index, member, may);
      this.#faultSteps(state, index, member, may);
      if (this.#bounds.hasLeases) this.#leaseSteps(state, index, member, may);
      if (this.#bounds.hasCheckpoints) this.#checkpointSteps(state, index, member, may);
    }
    return steps;
  }

  /** The invariant that a state breaks; null when it breaks none. */
  violation(state: ModelState): string | null {
    const { members, committed } = state;
    for (const [index, member] of members.entries()) {
      if (member.commit > committed.length) return `member ${index} applies what is not committed`;
      if (!member.log.startsWith(committed.slice(0, member.commit))) {
        return `member ${index} has another entry than is committed`;
      }
      if (member.commit < member.base) return `member ${index} has a checkpoint of what is not committed`;
      for (const other of members) {
        const [a, b] = [member, other];
        if (a.logView !== b.logView || a.status === "recovering" || b.status === "recovering") continue;
        const known = Math.max(a.commit, b.commit);
        const length = Math.min(a.log.length, b.log.length);
        if (length > known && a.log.slice(known, length) !== b.log.slice(known, length)) {
          return `two logs of view ${a.logView} differ`;
        }
      }
      if (!isPrimary(member, index) || !this.#canServe(state, member)) continue;
      for (let op = 1; op <= committed.length; op++) {
        if (Number(state.committedViews[op - 1]) >= member.view) continue;
        if (member.commit < op || member.log[op - 1] !== committed[op - 1]) {
          return `primary ${index} serves without op ${op}`;
        }
      }
      const isLeased = members.some((one) => one.countedView === member.view);
      if (isLeased && !member.log.startsWith(committed)) {
        return `primary ${index} reads under its lease what is old`;
      }
    }
    return null;
  }

  #canServe(state: ModelState, member: ModelMember): boolean {
    if (this.#broken === "serves before its suffix is committed") return true;
    return member.commit >= (viewOf(state, member).started?.length ?? Infinity);
  }

  #mayVote(member: ModelMember): boolean {
    if (member.status !== "change" || member.view <= member.logView) return false;
    const isPromised = member.promise > 0 && this.#broken !== "votes within its promise";
    return !isPromised && (member.banOp < 0 || this.#broken === "a replaced disk votes");
  }

  #endBan(member: ModelMember): void {
    if (member.banOp >= 0 && member.logView >= member.banView && member.have >= member.banOp) {
      member.banView = 0;
      member.banOp = -1;
    }
  }

  // --- normal operation ---

  #normalSteps(state: ModelState, index: number, member: ModelMember, may: May): void {
    if (member.status !== "normal") return;
    const view = viewOf(state, member);
    if (isPrimary(member, index)) {
      if (member.log.length < this.#bounds.entries && this.#canServe(state, member)) {
        may(`${index} prepares`, (next) => {
          const own = at(next.members, index);
          own.log += String.fromCharCode(93 + 4 * member.view + member.lives);
          viewOf(next, own).sent = own.log;
        });
      }
      if (member.have < member.log.length) {
        may(`${index} syncs`, (next) => at(next.members, index).have = member.log.length);
      }
      const durable = view.acknowledged.map((op, other) => other === index ? member.have : op);
      const commit = durable.sort((a, b) => b - a)[this.#broken === "one member commits" ? 0 : QUORUM - 1] ??
        0;
      if (commit > member.commit) {
        may(`${index} commits ${commit}`, (next) => this.#commit(next, index, commit));
      }
      return;
    }
    for (let op = member.have + 1; op <= view.sent.length; op++) {
      if (!isFetchable(state, index, view.sent, { from: member.have, to: op })) break;
      may(`${index} stores ${op}`, (next) => {
        const own = at(next.members, index);
        if (own.log.length < op) own.log = view.sent.slice(0, op);
        own.have = op;
        this.#acknowledge(next, index);
      });
    }
    const known = this.#broken === "a backup applies what it has"
      ? member.have
      : Math.min(view.sentCommit, member.log.length);
    if (known > member.commit) may(`${index} learns`, (next) => at(next.members, index).commit = known);
  }

  #acknowledge(next: ModelState, index: number): void {
    const member = at(next.members, index);
    const { acknowledged } = viewOf(next, member);
    const op = this.#broken === "acknowledges across a gap" ? member.log.length : member.have;
    acknowledged[index] = Math.max(acknowledged[index] ?? -1, op);
  }

  #commit(next: ModelState, index: number, commit: number): void {
    const member = at(next.members, index);
    member.commit = commit;
    viewOf(next, member).sentCommit = commit;
    for (let op = next.committed.length + 1; op <= commit; op++) {
      next.committed += member.log[op - 1];
      next.committedViews += member.view;
    }
  }

  // --- view changes ---

  #viewSteps(state: ModelState, index: number, member: ModelMember, may: May): void {
    if (member.status === "recovering") return this.#recoverySteps(state, index, may);
    for (let later = member.view + 1; later <= this.#bounds.views; later++) {
      may(`${index} enters ${later}`, (next) => {
        leaveView(next, index);
        at(next.members, index).view = later;
      });
    }
    for (let begun = member.view; begun <= this.#bounds.views; begun++) {
      this.#joinSteps(state, index, begun, may);
    }
    if (!this.#mayVote(member)) return;
    const { view } = member;
    const sent = viewOf(state, member);
    const isIn = (sent.entered & (1 << index)) !== 0;
    const vote: ModelVote = {
      logView: member.logView,
      log: member.log,
      have: member.have,
      commit: member.commit,
    };
    if (!isIn) {
      may(`${index} is in ${view}`, (next) => {
        const own = at(next.views, view);
        own.entered |= 1 << index;
        if (this.#broken === "an old vote counts" && primaryOf(view) !== index) own.votes[index] = vote;
      });
    }
    if (primaryOf(view) === index) {
      if (isIn && !sent.isRequested && (sent.entered & (sent.entered - 1)) !== 0) {
        may(`${index} requests votes`, (next) => at(next.views, view).isRequested = true);
      }
      if (sent.isRequested) this.#takeoverSteps(state, index, vote, may);
    } else if (sent.isRequested && isIn && sent.votes[index] === null) {
      may(`${index} votes`, (next) => at(next.views, view).votes[index] = vote);
    }
  }

  #takeoverSteps(state: ModelState, index: number, own: ModelVote, may: May): void {
    const member = at(state.members, index);
    const others = viewOf(state, member).votes.filter((vote) => vote !== null);
    const quorums = others.length === 2
      ? [[others[0]], [others[1]], others]
      : others.length === 1
      ? [others]
      : [];
    for (const quorum of quorums) {
      const votes = [own, ...quorum.filter((vote) => vote !== undefined)];
      const { log, commit } = chooseLog(votes, this.#broken);
      const from = Math.min(member.have, commonLength(member.log, log));
      if (!isFetchable(state, index, log, { from, to: log.length })) continue;
      may(`${index} takes over with ${log}`, (next) => {
        const primary = at(next.members, index);
        Object.assign(primary, {
          status: "normal",
          logView: member.view,
          log,
          have: log.length,
          named: log.length,
        });
        primary.commit = Math.max(member.commit, commit);
        primary.promise = 0;
        const view = viewOf(next, primary);
        view.started = log;
        view.sent = log;
        view.sentCommit = primary.commit;
      });
    }
  }

  #joinSteps(state: ModelState, index: number, begun: number, may: May): void {
    const member = at(state.members, index);
    const view = at(state.views, begun);
    const hasJoined = member.view === begun && member.status === "normal";
    if (view.started === null || primaryOf(begun) === index || hasJoined) return;
    for (const log of new Set([view.started, view.sent])) {
      // A checkpoint may have brought the member further than the view had come when the message left, or ever came.
      const isOutdated = commonLength(log, member.log) < Math.min(member.commit, member.have) ||
        log.length < member.commit;
      if (isOutdated && this.#broken !== "an old start of a view is taken") continue;
      may(`${index} joins ${begun} with ${log}`, (next) => {
        leaveView(next, index);
        const own = at(next.members, index);
        const have = Math.min(member.have, commonLength(member.log, log));
        Object.assign(own, { status: "normal", view: begun, logView: begun, log, have, named: log.length });
        if (own.promise < begun) own.promise = 0;
        if (own.banOp >= 0 && own.banView < begun) {
          own.banView = begun;
          own.banOp = Math.min(own.banOp, log.length);
        }
        this.#acknowledge(next, index);
      });
    }
  }

  // --- faults, and what repairs them ---

  #faultSteps(state: ModelState, index: number, member: ModelMember, may: May): void {
    if (state.restarts < this.#bounds.restarts) {
      may(`${index} restarts`, (next) => {
        const own = at(next.members, index);
        const goesOn = this.#broken === "a restarted primary goes on";
        leaveView(next, index);
        next.restarts++;
        own.lives++;
        own.log = member.log.slice(0, Math.max(member.have, member.named));
        own.commit = member.base;
        const isStopped = member.view > member.logView || (primaryOf(member.view) === index && !goesOn);
        own.status = member.status === "recovering" ? "recovering" : isStopped ? "change" : "normal";
        if (this.#broken === "a restart ends a promise") own.promise = 0;
      });
    }
    const isAnyBanned = state.members.some((one) => one.banOp >= 0);
    if (state.losses >= this.#bounds.losses || isAnyBanned) return;
    may(`${index} loses its disk`, (next) => {
      leaveView(next, index);
      next.losses++;
      next.responses = [null, null, null];
      const empty = { view: 0, logView: 0, log: "", have: 0, named: 0, commit: 0, base: 0 };
      Object.assign(at(next.members, index), { ...empty, status: "recovering", banView: 0, banOp: 9 });
    });
  }

  #recoverySteps(state: ModelState, index: number, may: May): void {
    const responses: { view: number; op: number }[] = [];
    for (let other = 0; other < MEMBERS; other++) {
      if (other === index) continue;
      const peer = at(state.members, other);
      const op = isPrimary(peer, other) ? peer.log.length : -1;
      const known = state.responses[other] ?? null;
      if (known?.view !== peer.view || known.op !== op) {
        may(`${other} answers ${index}`, (next) => next.responses[other] = { view: peer.view, op });
      }
      if (known !== null) responses.push(known);
    }
    if (responses.length < QUORUM) return;
    const view = Math.max(...responses.map((response) => response.view));
    const answer = state.responses[primaryOf(view)] ?? null;
    if (answer === null || answer.view !== view || answer.op < 0) return;
    may(`${index} recovers in ${view}`, (next) => {
      Object.assign(at(next.members, index), { status: "change", view, banView: view, banOp: answer.op });
    });
  }

  #leaseSteps(state: ModelState, index: number, member: ModelMember, may: May): void {
    const primary = at(state.members, primaryOf(member.view));
    const isBackup = member.status === "normal" && primaryOf(member.view) !== index;
    if (isBackup && member.promise !== member.view) {
      may(`${index} promises`, (next) => {
        at(next.members, index).promise = member.view;
      });
    }
    const { promise } = member;
    const counting = at(state.members, primaryOf(promise));
    const mayCount = promise > 0 && counting.status === "normal" && counting.view === promise;
    if (mayCount && member.countedView !== promise) {
      may(
        `${primaryOf(promise)} counts on ${index}`,
        (next) => at(next.members, index).countedView = promise,
      );
    }
    if (member.countedView > 0) {
      may(`${index} is not counted on`, (next) => at(next.members, index).countedView = 0);
    }
    if (promise > 0 && member.countedView !== promise) {
      may(`the promise of ${index} ends`, (next) => at(next.members, index).promise = 0);
    }
    if (isPrimary(member, index) && primary === member) {
      for (let later = member.view + 1; later <= this.#bounds.views; later++) {
        if (primaryOf(later) === index) continue;
        may(`${index} hands over to ${later}`, (next) => {
          leaveView(next, index);
          at(next.members, index).view = later;
          at(next.views, member.view).isReleased = true;
        });
      }
    }
    const released = state.views.findLastIndex((view) => view.isReleased);
    if (promise > 0 && promise <= released) {
      may(`${index} hears the release`, (next) => at(next.members, index).promise = 0);
    }
  }

  #checkpointSteps(state: ModelState, index: number, member: ModelMember, may: May): void {
    const end = this.#broken === "a checkpoint above the commit number"
      ? member.have
      : Math.min(member.commit, member.have);
    if (end > member.base) {
      may(`${index} makes a checkpoint at ${end}`, (next) => {
        const own = at(next.members, index);
        own.base = end;
        own.commit = Math.max(own.commit, end);
      });
    }
    if (isPrimary(member, index) || member.status === "recovering") return;
    for (const [other, { base, log }] of state.members.entries()) {
      if (other === index || base <= member.have) continue;
      may(`${index} takes the checkpoint of ${other}`, (next) => {
        const own = at(next.members, index);
        const whole = log.slice(0, base);
        const isKept = member.log.startsWith(whole) && this.#broken !== "a checkpoint replaces the whole log";
        if (!isKept) own.log = whole;
        own.have = base;
        own.named = Math.min(own.named, own.log.length);
        own.base = base;
        own.commit = Math.max(own.commit, base);
        if (own.status === "normal") own.status = "change";
      });
    }
  }
}

type May = (name: string, change: (next: ModelState) => void) => void;

function at<T>(items: readonly T[], index: number): T {
  return items[index] as T;
}

function viewOf(state: ModelState, { view }: ModelMember): ModelView {
  return at(state.views, view);
}

/** Takes no part in its view any more; who was its primary counts on no promise. */
function leaveView(next: ModelState, index: number): void {
  const member = at(next.members, index);
  if (isPrimary(member, index)) {
    for (const one of next.members) {
      if (one.countedView === member.view) one.countedView = 0;
    }
  }
  if (member.status === "normal") member.status = "change";
}

/** Whether other members' logs have the entries of these ops. */
function isFetchable(
  state: ModelState,
  index: number,
  log: string,
  { from, to }: { from: number; to: number },
): boolean {
  for (let op = from + 1; op <= to; op++) {
    const hasIt = (one: ModelMember, other: number) =>
      other !== index && one.base < op && one.log.startsWith(log.slice(0, op)) &&
      (one.have >= op || isPrimary(one, other));
    if (!state.members.some(hasIt)) return false;
  }
  return true;
}
