/**
 * The state of the model: three members, and what they have sent so far.
 *
 * A log is a text with one letter an op, which names the entry: the view and the life of the primary that prepared it.
 * Messages are never taken away, so that each can be lost, late or repeated; of those of one kind, view and sender only
 * the newest matters.
 */

/** Members of the model's group. */
export const MEMBERS = 3;

/** A member's answer for a view, as it was when it was sent. */
export interface ModelVote {
  readonly logView: number;
  readonly log: string;
  readonly have: number;
  readonly commit: number;
}

/** One member. */
export interface ModelMember {
  status: "normal" | "change" | "recovering";
  view: number;
  logView: number;
  /** The entries whose names are known. */
  log: string;
  /** Ops that are durable without a gap. */
  have: number;
  /** Ops whose names the superblock has. */
  named: number;
  commit: number;
  /** The log begins after this op: a checkpoint has those before. */
  base: number;
  /** View and op of the ban on its votes; view 0 and op -1 when there is none. */
  banView: number;
  banOp: number;
  /** The view whose primary may count on its promise; 0 for none. */
  promise: number;
  /** The view whose primary counts on a promise that it made; 0 for none. */
  countedView: number;
  /** Starts so far. */
  lives: number;
}

/** What was sent in one view. */
export interface ModelView {
  /** The log that the view began with; null before that. */
  started: string | null;
  /** All that its primary has sent. */
  sent: string;
  sentCommit: number;
  /** By member: the last op that it has acknowledged; -1 for none. */
  acknowledged: number[];
  /** Members that have said that they are in the view, one bit each. */
  entered: number;
  isRequested: boolean;
  votes: (ModelVote | null)[];
  isReleased: boolean;
}

/** Everything. Views begin at 1. */
export interface ModelState {
  members: ModelMember[];
  views: ModelView[];
  /** What clients were told is committed, and in which view, a digit an op. */
  committed: string;
  committedViews: string;
  /** Answers to the member whose disk was replaced. */
  responses: ({ readonly view: number; readonly op: number } | null)[];
  restarts: number;
  losses: number;
}

/** Nothing has happened yet: all members are in view 1, with empty logs. */
export function initialState(views: number): ModelState {
  return {
    members: Array.from({ length: MEMBERS }, () => ({
      status: "normal",
      view: 1,
      logView: 1,
      log: "",
      have: 0,
      named: 0,
      commit: 0,
      base: 0,
      banView: 0,
      banOp: -1,
      promise: 0,
      countedView: 0,
      lives: 0,
    })),
    views: Array.from({ length: views + 1 }, (_, view) => ({
      started: view === 1 ? "" : null,
      sent: "",
      sentCommit: 0,
      acknowledged: [-1, -1, -1],
      entered: 0,
      isRequested: false,
      votes: [null, null, null],
      isReleased: false,
    })),
    committed: "",
    committedViews: "",
    responses: [null, null, null],
    restarts: 0,
    losses: 0,
  };
}

/** A state of its own, equal to the given one. */
export function copyState(state: ModelState): ModelState {
  return {
    ...state,
    members: state.members.map((member) => ({ ...member })),
    views: state.views.map((view) => ({
      ...view,
      acknowledged: [...view.acknowledged],
      votes: [...view.votes],
    })),
    responses: [...state.responses],
  };
}

const STATUSES = ["normal", "change", "recovering"] as const;

/** Writes small numbers and logs as letters. */
class KeyWriter {
  readonly #codes: number[] = [];

  /** -1 and up. */
  put(...numbers: readonly number[]): void {
    for (const number of numbers) this.#codes.push(number + 1);
  }

  text(text: string): void {
    this.#codes.push(text.length);
    for (let at = 0; at < text.length; at++) this.#codes.push(text.charCodeAt(at));
  }

  finish(): string {
    return String.fromCharCode(...this.#codes);
  }
}

class KeyReader {
  readonly #key: string;
  #at = 0;

  constructor(key: string) {
    this.#key = key;
  }

  get(): number {
    return this.#key.charCodeAt(this.#at++) - 1;
  }

  text(): string {
    const start = this.#at + 1;
    this.#at = start + this.#key.charCodeAt(this.#at);
    return this.#key.slice(start, this.#at);
  }
}

/** A text that two states share only if they are equal. */
export function keyOf(state: ModelState): string {
  const writer = new KeyWriter();
  writer.put(state.restarts, state.losses);
  writer.text(state.committed);
  writer.text(state.committedViews);
  for (const one of state.members) {
    writer.put(STATUSES.indexOf(one.status), one.view, one.logView);
    writer.text(one.log);
    writer.put(one.have, one.named, one.commit, one.base, one.banView, one.banOp);
    writer.put(one.promise, one.countedView, one.lives);
  }
  for (const view of state.views) {
    writer.put(view.started === null ? 0 : 1);
    writer.text(view.started ?? "");
    writer.text(view.sent);
    writer.put(view.sentCommit, ...view.acknowledged, view.entered);
    writer.put(Number(view.isRequested), Number(view.isReleased));
    for (const vote of view.votes) {
      if (vote === null) writer.put(-1);
      else {
        writer.put(vote.logView, vote.have, vote.commit);
        writer.text(vote.log);
      }
    }
  }
  for (const response of state.responses) {
    if (response === null) writer.put(-1);
    else writer.put(response.view, response.op);
  }
  return writer.finish();
}

/** The state of such a text. */
export function stateOf(key: string, views: number): ModelState {
  const reader = new KeyReader(key);
  const [restarts, losses] = [reader.get(), reader.get()];
  const [committed, committedViews] = [reader.text(), reader.text()];
  const members = Array.from({ length: MEMBERS }, (): ModelMember => ({
    status: STATUSES[reader.get()] ?? "normal",
    view: reader.get(),
    logView: reader.get(),
    log: reader.text(),
    have: reader.get(),
    named: reader.get(),
    commit: reader.get(),
    base: reader.get(),
    banView: reader.get(),
    banOp: reader.get(),
    promise: reader.get(),
    countedView: reader.get(),
    lives: reader.get(),
  }));
  const sent = Array.from({ length: views + 1 }, (): ModelView => {
    const hasStarted = reader.get() === 1;
    const started = reader.text();
    return {
      started: hasStarted ? started : null,
      sent: reader.text(),
      sentCommit: reader.get(),
      acknowledged: [reader.get(), reader.get(), reader.get()],
      entered: reader.get(),
      isRequested: reader.get() === 1,
      isReleased: reader.get() === 1,
      votes: Array.from({ length: MEMBERS }, () => {
        const logView = reader.get();
        if (logView < 0) return null;
        return { logView, have: reader.get(), commit: reader.get(), log: reader.text() };
      }),
    };
  });
  const responses = Array.from({ length: MEMBERS }, () => {
    const view = reader.get();
    return view < 0 ? null : { view, op: reader.get() };
  });
  return { members, views: sent, committed, committedViews, responses, restarts, losses };
}

/**
 * Forgets what no action can look at any more, so that states that differ in nothing else are one. At most one disk is
 * lost. A member with a new disk recovers in a view that is no earlier than any of the others', and not in one of which
 * it is the primary itself.
 */
export function forgetDead(state: ModelState, maxRestarts: number): void {
  const { members, views } = state;
  const isAlive = [false, false, false];
  for (const [number, view] of views.entries()) {
    if (number === 0) continue;
    const primary = number % MEMBERS;
    const own = members[primary] as ModelMember;
    const others = members.filter((one) => one !== own);
    const isBehind = others.some((one) => one.status !== "recovering" && one.view >= number);
    // Nobody takes the view over any more.
    const isTaken = isBehind && (own.status === "recovering" || own.logView >= number || own.view > number);
    const leads = own.status === "normal" && own.view === number;
    if (isTaken) {
      view.entered = 0;
      view.isRequested = false;
      view.votes = [null, null, null];
      if (!leads) view.acknowledged = [-1, -1, -1];
    }
    if (leads || !isTaken) isAlive[primary] = true;
    if (!members.every((one) => one.status !== "recovering" && one.view > number)) continue;
    view.started = null;
    view.sent = "";
    view.sentCommit = 0;
  }
  for (const [index, member] of members.entries()) {
    // Its entries are named by how often it has started.
    if (isAlive[index] !== true) member.lives = 0;
    if (member.named <= member.have || state.restarts >= maxRestarts) member.named = 0;
  }
  if (!members.some((one) => one.status === "recovering")) state.responses = [null, null, null];
}
