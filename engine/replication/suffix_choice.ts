/**
 * Which log a new view begins with: a pure function of the votes.
 *
 * Canonical is the longest log of the highest log view. An op above the commit number is left out only by a nack
 * quorum: f+1 members which know that they never prepared it. A slot that was stored and cannot be read is neither a
 * copy nor a nack; with too few of both, the view waits for more votes. (Protocol-aware recovery: Alagappan et al.,
 * FAST 2018.)
 */
import { assert } from "../base/assert.ts";
import type { DoViewChange } from "./message.ts";
import { type EntryHeader, isSameEntry, type Slot } from "./ports.ts";

/** The log that a view begins with. */
export interface SuffixChoice {
  /** The highest commit number of the votes: ops up to here are committed. */
  readonly commit: number;
  /** Headers of the ops `commit + 1` and up. */
  readonly headers: readonly EntryHeader[];
  /**
   * The lowest commit number of the votes, and what is known of the ops between it and `commit`: a log of the highest
   * log view has every committed entry. Null: those who voted have forgotten the header, for they know it is committed.
   */
  readonly lowestCommit: number;
  readonly committedHeaders: readonly (EntryHeader | null)[];
}

const ABSENT: Slot = { kind: "absent" };

function slotOf(vote: DoViewChange, op: number): Slot {
  return vote.slots[op - vote.commit - 1] ?? ABSENT;
}

/** What the votes of the highest log view know of an op: its header if any knows it. They never disagree. */
function canonicalHeader(candidates: readonly DoViewChange[], op: number): EntryHeader | null {
  let header: EntryHeader | null = null;
  for (const vote of candidates) {
    const slot = slotOf(vote, op);
    if (slot.kind !== "present" && slot.kind !== "missing") continue;
    assert(header === null || isSameEntry(header, slot.header), `two logs of one view differ at op ${op}`);
    header = slot.header;
  }
  return header;
}

/** Whether the vote proves that its member never prepared the entry. */
function isNack(vote: DoViewChange, op: number, header: EntryHeader | null): boolean {
  const slot = slotOf(vote, op);
  switch (slot.kind) {
    case "absent":
      return true;
    case "unreadable":
      return false;
    case "missing":
      return !slot.isLost;
    case "present":
      return header !== null && !isSameEntry(slot.header, header);
  }
}

function isCopy(vote: DoViewChange, op: number, header: EntryHeader): boolean {
  const slot = slotOf(vote, op);
  return slot.kind === "present" && isSameEntry(slot.header, header);
}

/**
 * Chooses the log of a view from votes of different members, at least f+1. Null when the votes do not decide it and
 * more are needed.
 */
export function chooseSuffix(votes: readonly DoViewChange[], quorum: number): SuffixChoice | null {
  if (votes.length < quorum) return null;
  const logView = Math.max(...votes.map((vote) => vote.logView));
  const commit = Math.max(...votes.map((vote) => vote.commit));
  const candidates = votes.filter((vote) => vote.logView === logView);
  const lowestCommit = Math.min(...votes.map((vote) => vote.commit));
  const committedHeaders: (EntryHeader | null)[] = [];
  for (let op = lowestCommit + 1; op <= commit; op++) committedHeaders.push(canonicalHeader(candidates, op));
  const headers: EntryHeader[] = [];
  const choice: SuffixChoice = { commit, headers, lowestCommit, committedHeaders };
  for (let op = commit + 1;; op++) {
    if (candidates.every((vote) => slotOf(vote, op).kind === "absent")) return choice;
    const header = canonicalHeader(candidates, op);
    if (header !== null && votes.some((vote) => isCopy(vote, op, header))) {
      headers.push(header);
      continue;
    }
    const nacks = votes.filter((vote) => isNack(vote, op, header)).length;
    return nacks >= quorum ? choice : null;
  }
}
