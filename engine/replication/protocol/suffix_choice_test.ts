/** Which log a view begins with, vote by vote. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { DoViewChange } from "./message.ts";
import type { EntryHeader, Slot } from "./entry_header.ts";
import { chooseSuffix } from "./suffix_choice.ts";

/** The header of the entry called `name` at the op; entries of one name are chained. */
function header(op: number, name: string): EntryHeader {
  const digestOf = (at: number) => BigInt(name.charCodeAt(0)) * 1000n + BigInt(at);
  return { op, view: 1, digest: digestOf(op), previousDigest: digestOf(op - 1) };
}

/**
 * A vote in short: `A1 c4 a5a5?-` is member A with log view 1, commit number 4, and slots from op 5 on: a letter is a
 * present entry of that name, `?` unreadable, `-` absent, `a!` a lost one whose header is known, `a.` one never stored.
 */
function vote(text: string): DoViewChange {
  const [member = "", commitText = "", slotText = ""] = text.split(" ");
  const commit = Number(commitText.slice(1));
  const slots = [...slotText.matchAll(/[a-z][!.]?|\?|-/g)].map(([sign], index): Slot => {
    const op = commit + 1 + index;
    if (sign === "?") return { kind: "unreadable" };
    if (sign === "-") return { kind: "absent" };
    const named = header(op, sign);
    return sign.length === 1
      ? { kind: "present", header: named }
      : { kind: "missing", header: named, isLost: sign.endsWith("!") };
  });
  return {
    kind: "do_view_change",
    from: member.charCodeAt(0) - 65,
    view: 9,
    round: 0,
    logView: Number(member.slice(1)),
    commit,
    commitDigest: null,
    slots,
  };
}

/** What is chosen, as `commit:names`, names of the entries above the commit number; null when more votes are needed. */
function choose(votes: readonly string[], quorum = 2): string | null {
  const choice = chooseSuffix(votes.map(vote), quorum);
  if (choice === null) return null;
  return `${choice.commit}:${
    choice.headers.map(({ digest }) => String.fromCharCode(Number(digest / 1000n))).join("")
  }`;
}

const CASES: readonly (readonly [what: string, votes: string[], chosen: string | null])[] = [
  ["one vote of three is too few", ["A1 c4 aa"], null],
  ["the longest log of the highest log view", ["A1 c4 aa", "B1 c4 a"], "4:aa"],
  ["the highest log view wins over a longer log", ["A1 c4 aaaa", "B2 c4 b"], "4:b"],
  ["the highest commit number", ["A1 c6 a", "B1 c4 aaa"], "6:a"],
  ["an unreadable entry is there in another log", ["A1 c4 a?", "B1 c4 aa"], "4:aa"],
  ["an unreadable entry may be committed with the third member", ["A1 c4 a?", "B1 c4 a"], null],
  ["a nack quorum drops an unreadable entry", ["A1 c4 a?", "B1 c4 a", "C1 c4 a"], "4:a"],
  ["a lost entry is no nack", ["A2 c4 aa!", "B2 c4 aa."], null],
  ["a lost entry is dropped with all that follow it", ["A2 c4 aa!a", "B2 c4 aa.", "C1 c4 a"], "4:a"],
  ["a lost entry is there in an older log", ["A2 c4 aa!", "B1 c4 aa"], "4:aa"],
  ["another entry in an older log is a nack", ["A2 c4 aa!", "B1 c4 ab", "C1 c4 a"], "4:a"],
  ["an older log names what is below an entry that both have", ["A2 c4 ??aa", "B1 c4 aaa"], "4:aaaa"],
  ["an older log names what is below an entry that is lost", ["A2 c4 ??a!a", "B1 c4 aaa"], "4:aaaa"],
  ["an older log names what only a third one still has", ["A2 c6 ?aa", "B1 c4 aa?aa", "C1 c4 aaa"], "6:aaa"],
  ["an older log does not name what is below another entry", ["A2 c4 ??bb", "B1 c4 aaaa"], null],
  ["an older log does not name what is below an entry that it lacks", ["A2 c4 ??aa", "B1 c4 a"], null],
  ["nobody can name it: the only one that may be committed", ["A2 c4 a?", "B1 c4 aa", "C1 c4 a"], "4:aa"],
  ["nobody can name it, and not all have voted", ["A2 c4 a?", "B1 c4 aa"], null],
  ["nobody can name it: another chain cannot be committed", ["A2 c4 a?", "B1 c4 bb", "C1 c4 a"], "4:a"],
  ["nobody can name it: most cannot be read", ["A2 c4 a?", "B2 c4 a?", "C1 c4 bb"], null],
  [
    "nobody can name it: what follows another is a nack",
    ["A2 c4 a?", "B2 c4 a", "C2 c4 a", "D1 c4 bb"],
    "4:a",
  ],
  ["nobody can name it: what follows the same is none", ["A2 c4 a?", "B2 c4 a", "C2 c4 a", "D1 c4 aa"], null],
];

for (const [what, votes, chosen] of CASES) {
  Deno.test(`chooseSuffix() ${what}`, () => {
    // Four vote where members are five.
    const quorum = votes.length > 3 ? 3 : 2;
    strictEqual(choose(votes, quorum), chosen);
    strictEqual(choose(votes.toReversed(), quorum), chosen);
  });
}

const QUORUM_OF_FIVE = 3;

/** A vote of one of five: the entries that it has stored, each named by its view, some of which it cannot read. */
interface Ballot {
  readonly logView: 1 | 2;
  readonly log: string;
  readonly isReadable: readonly boolean[];
  /** What its view began with, which its superblock names. */
  readonly start: string;
}

/** An entry is named by all that lead to it, itself included. */
function digestOf(log: string): bigint {
  return BigInt(`0x1${[...log].map((letter) => letter.charCodeAt(0).toString(16)).join("")}`);
}

function voteOf({ logView, log, isReadable, start }: Ballot, from: number): DoViewChange {
  const whole = log.length < start.length ? start : log;
  const slots = [...whole].map((_, at): Slot => {
    const [digest, previousDigest] = [digestOf(whole.slice(0, at + 1)), digestOf(whole.slice(0, at))];
    const header: EntryHeader = { op: at + 1, view: null, digest, previousDigest };
    if (at >= log.length) return { kind: "missing", header, isLost: false };
    // The superblock may have forgotten its name.
    return isReadable[at] === true ? { kind: "present", header } : { kind: "unreadable" };
  });
  const commitDigest = digestOf("");
  return { kind: "do_view_change", from, view: 9, round: 0, logView, commit: 0, commitDigest, slots };
}

/** The logs of a view, of two entries at most, that begins with some of those of the view before. */
function logsAfter(log: string, letter: string): string[] {
  const starts = Array.from({ length: log.length + 1 }, (_, length) => log.slice(0, length));
  const logs = starts.flatMap((start) => [start, start + letter, start + letter + letter]);
  return [...new Set(logs)].filter(({ length }) => length <= 2);
}

function ballotsOf(logView: 1 | 2, whole: string): Ballot[] {
  const start = logView === 1 ? "" : whole.replaceAll("b", "");
  return Array.from({ length: whole.length + 1 }, (_, length) => whole.slice(0, length)).flatMap((log) =>
    Array.from({ length: 2 ** log.length }, (_, bits) => {
      return { logView, log, start, isReadable: [...log].map((_, at) => (bits >> at & 1) === 0) };
    })
  );
}

/** All choices of so many, in which one may come again. */
function* multisets<T>(items: readonly T[], count: number): Generator<T[]> {
  if (count === 0) return yield [];
  for (const [at, item] of items.entries()) {
    for (const others of multisets(items.slice(at), count - 1)) yield [item, ...others];
  }
}

/** Logs of which a quorum of five has, or had, all entries durable in a view; who does not vote may have been there. */
function committed(ballots: readonly Ballot[], logs: readonly [string, string]): string[] {
  const found: string[] = [];
  for (const [index, log] of logs.entries()) {
    for (let length = 1; length <= log.length; length++) {
      const entries = log.slice(0, length);
      // A later view has what was committed before it.
      if (!logs[1].startsWith(entries)) break;
      const had = ballots.filter((each) => each.logView > index && each.log.startsWith(entries));
      if (had.length + 5 - ballots.length >= QUORUM_OF_FIVE) found.push(entries);
    }
  }
  return found;
}

Deno.test("chooseSuffix() keeps what may be committed, whichever of five members vote and whatever they cannot read", () => {
  for (const first of logsAfter("", "a")) {
    for (const second of logsAfter(first, "b")) {
      const kinds = [...ballotsOf(1, first), ...ballotsOf(2, second)];
      for (let count = QUORUM_OF_FIVE; count <= 5; count++) {
        for (const ballots of multisets(kinds, count)) {
          if (!ballots.some(({ logView }) => logView === 2)) continue;
          const choice = chooseSuffix(ballots.map(voteOf), QUORUM_OF_FIVE);
          for (const log of committed(ballots, [first, second])) {
            const kept = choice?.headers[log.length - 1]?.digest ?? null;
            const isKept = choice === null || kept === digestOf(log);
            ok(isKept, `${log} of ${first} and ${second} is lost: ${JSON.stringify(ballots)}`);
          }
        }
      }
    }
  }
});

Deno.test("chooseSuffix() names committed entries that not all members know as committed", () => {
  const votes = [vote("A2 c4 aaaa"), vote("B2 c7 a")];
  const choice = chooseSuffix(votes, 2);
  strictEqual(choice?.lowestCommit, 4);
  deepStrictEqual(choice.committedHeaders, [5, 6, 7].map((op) => header(op, "a")));
  // The newer log forgot the header of 7; its entry 8 names it, and the older log has it.
  const older = chooseSuffix([vote("A1 c4 aaa"), vote("B2 c7 a")], 2);
  deepStrictEqual(older?.committedHeaders, [5, 6, 7].map((op) => header(op, "a")));
});
