/**
 * Which log a new view begins with: a pure function of the votes.
 *
 * Canonical is the longest log of the highest log view. An op above the commit number is left out only by a nack
 * quorum: f+1 members which know that they never prepared it. A slot that was stored and cannot be read is neither a
 * copy nor a nack; with too few of both, the view waits for more votes. (Protocol-aware recovery: Alagappan et al.,
 * FAST 2018.)
 */
import { assert } from "../../base/assert.ts";
import type { DoViewChange } from "./message.ts";
import { type EntryHeader, isSameEntry, type Slot } from "./entry_header.ts";

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

function headerOf(slot: Slot): EntryHeader | null {
  return slot.kind === "present" || slot.kind === "missing" ? slot.header : null;
}

/** What the votes of the highest log view know of an op: its header if any knows it. They never disagree. */
function canonicalHeader(candidates: readonly DoViewChange[], op: number): EntryHeader | null {
  let known: EntryHeader | null = null;
  for (const vote of candidates) {
    const header = headerOf(slotOf(vote, op));
    if (header === null) continue;
    assert(known === null || isSameEntry(known, header), `two logs of one view differ at op ${op}`);
    // A name that the following entry gave is the lesser one.
    if (known === null || known.previousDigest === null) known = header;
  }
  return known;
}

/** The header with the digest among all votes; any log has the same entry with the same digest. */
function headerWithDigest(votes: readonly DoViewChange[], op: number, digest: bigint): EntryHeader {
  let known: EntryHeader = { op, view: null, digest, previousDigest: null };
  for (const vote of votes) {
    const header = headerOf(slotOf(vote, op));
    if (header?.digest === digest && known.previousDigest === null) known = header;
  }
  return known;
}

function commitDigest(votes: readonly DoViewChange[], commit: number): bigint | null {
  return votes.find((vote) => vote.commit === commit && vote.commitDigest !== null)?.commitDigest ?? null;
}

/**
 * Headers of ops above the commit number, by op, from the newest down: each names the one before, and any log that has
 * the entry so named has the same entries before it. What logs of the highest log view cannot read, an older one names.
 */
function canonicalHeaders(
  votes: readonly DoViewChange[],
  candidates: readonly DoViewChange[],
  commit: number,
): ReadonlyMap<number, EntryHeader> {
  const headers = new Map<number, EntryHeader>();
  let named: bigint | null = null;
  for (let op = Math.max(...candidates.map((vote) => vote.commit + vote.slots.length)); op > commit; op--) {
    let header = canonicalHeader(candidates, op);
    const digest: bigint | null = header?.digest ?? named;
    if (digest !== null && (header?.previousDigest ?? null) === null) {
      header = headerWithDigest(votes, op, digest);
    }
    if (header !== null) headers.set(op, header);
    named = header?.previousDigest ?? null;
  }
  return headers;
}

/** Headers of ops that not all members know as committed, from the newest down. */
function headersOfCommitted(
  votes: readonly DoViewChange[],
  candidates: readonly DoViewChange[],
  { lowestCommit, commit, next }: { lowestCommit: number; commit: number; next: EntryHeader | undefined },
): (EntryHeader | null)[] {
  const headers: (EntryHeader | null)[] = [];
  let digest = next?.previousDigest ?? commitDigest(votes, commit);
  for (let op = commit; op > lowestCommit; op--) {
    const header = digest === null ? canonicalHeader(candidates, op) : headerWithDigest(votes, op, digest);
    headers.push(header);
    digest = header?.previousDigest ?? null;
  }
  return headers.reverse();
}

/**
 * Whether the vote proves that its member never prepared the entry. Where nobody can name that, it is known what it
 * follows: an entry that follows another one is another entry.
 */
function isNack(
  vote: DoViewChange,
  op: number,
  { header, previousDigest }: { header: EntryHeader | null; previousDigest: bigint | null },
): boolean {
  const slot = slotOf(vote, op);
  switch (slot.kind) {
    case "absent":
      return true;
    case "unreadable":
      return false;
    case "missing":
      return !slot.isLost;
    case "present": {
      if (header !== null) return !isSameEntry(slot.header, header);
      const follows = slot.header.previousDigest;
      return follows !== null && previousDigest !== null && follows !== previousDigest;
    }
  }
}

function isCopy(vote: DoViewChange, op: number, header: EntryHeader): boolean {
  const slot = slotOf(vote, op);
  return slot.kind === "present" && isSameEntry(slot.header, header);
}

/**
 * What to keep where no log of the highest log view can name what it has, and all members have voted: the only entry
 * that may be committed, for keeping one that follows the entry before it is right in any case; null if none may be,
 * undefined if that is open.
 */
function onlyPossibleEntry(
  votes: readonly DoViewChange[],
  op: number,
  { quorum, previousDigest }: { quorum: number; previousDigest: bigint | null },
): EntryHeader | null | undefined {
  if (votes.length < 2 * quorum - 1 || previousDigest === null) return undefined;
  const unreadable = votes.filter((vote) => slotOf(vote, op).kind === "unreadable").length;
  const possible = new Map<bigint, EntryHeader>();
  for (const vote of votes) {
    const slot = slotOf(vote, op);
    if (slot.kind !== "present" || slot.header.previousDigest !== previousDigest) continue;
    const copies = votes.filter((other) => isCopy(other, op, slot.header)).length;
    if (copies + unreadable >= quorum) possible.set(slot.header.digest, slot.header);
  }
  const [only = null] = possible.values();
  // A quorum that cannot read what it has may have had an entry that nobody else ever had.
  return possible.size <= 1 && unreadable < quorum ? only : undefined;
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
  const known = canonicalHeaders(votes, candidates, commit);
  const committedHeaders = headersOfCommitted(votes, candidates, {
    lowestCommit,
    commit,
    next: known.get(commit + 1),
  });
  const headers: EntryHeader[] = [];
  const choice: SuffixChoice = { commit, headers, lowestCommit, committedHeaders };
  for (let op = commit + 1;; op++) {
    if (candidates.every((vote) => slotOf(vote, op).kind === "absent")) return choice;
    const header = known.get(op) ?? null;
    if (header !== null && votes.some((vote) => isCopy(vote, op, header))) {
      headers.push(header);
      continue;
    }
    const previousDigest = headers.at(-1)?.digest ?? committedHeaders.at(-1)?.digest ??
      commitDigest(votes, commit);
    if (votes.filter((vote) => isNack(vote, op, { header, previousDigest })).length >= quorum) return choice;
    const only = header === null ? onlyPossibleEntry(votes, op, { quorum, previousDigest }) : undefined;
    if (only === undefined) return null;
    if (only === null) return choice;
    headers.push(only);
  }
}
