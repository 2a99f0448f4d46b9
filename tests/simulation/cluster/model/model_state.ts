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

/** A text that two states share only if they are equal. */
export function keyOf(state: ModelState): string {
  let key = `${state.committed},${state.committedViews},${state.restarts}${state.losses}`;
  for (const one of state.members) {
    key +=
      `|${one.status[0]}${one.view}${one.logView}${one.log},${one.have}${one.named}${one.commit}${one.base}` +
      `${one.banView}${one.banOp},${one.promise}${one.countedView}${one.lives}`;
  }
  for (const view of state.views) {
    key += `|${view.started ?? "-"},${view.sent},${view.sentCommit}${view.acknowledged.join("")}` +
      `,${view.entered}${view.isRequested ? 1 : 0}${view.isReleased ? 1 : 0}`;
    for (const vote of view.votes) {
      if (vote !== null) key += `;${vote.logView}${vote.log},${vote.have}${vote.commit}`;
      else key += ";";
    }
  }
  for (const response of state.responses) {
    key += response === null ? "|" : `|${response.view},${response.op}`;
  }
  return key;
}
