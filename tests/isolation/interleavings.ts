/**
 * Sessions that interleave, statement by statement, here and in PostgreSQL: which statement waits, which one is
 * answered what, and with which SQLSTATE, must be the same at READ COMMITTED and REPEATABLE READ. SERIALIZABLE is left
 * out: there the two find out by different means who loses.
 *
 * Statements touch one row each where it matters in which order rows are locked.
 */
import { type SeededRandom, seededRandom } from "../support/random.ts";

/** What has been asked of a session last. */
export interface Asked {
  /** Its answer, once it has come: the tag, the rows in order, or the SQLSTATE. */
  answer: string | null;
}

/** A server with sessions. */
export interface InterleavedServer {
  /** Makes the tables anew. */
  reset(sql: string, sessions: number): Promise<void>;
  /** Asks without waiting for the answer. */
  ask(session: number, sql: string): Asked;
  /** Returns when each of the sessions has been answered or waits for another one. */
  settle(pending: ReadonlyMap<number, Asked>): Promise<void>;
}

/** The tables that statements are about. */
export const TABLES = [
  "DROP TABLE IF EXISTS child, t, p",
  "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL, u int UNIQUE)",
  "INSERT INTO t VALUES (1, 10, 1), (2, 20, 2), (3, 30, 3)",
  "CREATE TABLE p (id int PRIMARY KEY, n int)",
  "INSERT INTO p VALUES (1, 0), (2, 0)",
  "CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES p)",
  "INSERT INTO child VALUES (1, 1)",
].join("; ");

const LEVELS = ["READ COMMITTED", "REPEATABLE READ"] as const;

type Maker = (random: SeededRandom) => string;

const id = (random: SeededRandom): number => 1 + random.below(4);
const STATEMENTS: readonly Maker[] = [
  (r) => `UPDATE t SET n = n + ${1 + r.below(5)} WHERE id = ${id(r)} RETURNING id, n, u`,
  (r) => `UPDATE t SET n = n * 2 WHERE id = ${id(r)} AND n < ${r.pick([11, 20, 25])} RETURNING n`,
  (r) => `UPDATE t SET u = ${1 + r.below(5)} WHERE id = ${id(r)} RETURNING id, n, u`,
  (r) => `UPDATE t SET id = ${id(r)} WHERE id = ${id(r)} RETURNING id, n`,
  (r) => `UPDATE t SET n = 0 WHERE u = ${id(r)} RETURNING id, n`,
  (r) => `DELETE FROM t WHERE id = ${id(r)} RETURNING id, n`,
  (r) => `DELETE FROM t WHERE id = ${id(r)} AND n > ${r.pick([10, 15, 20])} RETURNING id, n`,
  (r) =>
    `INSERT INTO t VALUES (${id(r)}, ${r.below(9)}, ${r.pick(["NULL", 1 + r.below(5)])}) RETURNING id, n`,
  (r) => `INSERT INTO t VALUES (${id(r)}, 7, NULL) ON CONFLICT DO NOTHING RETURNING id`,
  (r) => `INSERT INTO t VALUES (${id(r)}, 7, ${1 + r.below(5)}) ON CONFLICT DO NOTHING RETURNING id`,
  (r) =>
    `INSERT INTO t VALUES (${
      id(r)
    }, 100, NULL) ON CONFLICT (id) DO UPDATE SET n = t.n + excluded.n RETURNING id, n`,
  (r) =>
    `INSERT INTO t VALUES (${id(r)}, 5, ${
      1 + r.below(5)
    }) ON CONFLICT (u) DO UPDATE SET n = t.n + 1000 RETURNING id, n`,
  (r) =>
    `INSERT INTO t VALUES (${
      id(r)
    }, 3, NULL) ON CONFLICT (id) DO UPDATE SET n = 1 WHERE t.n < 25 RETURNING id, n`,
  (r) =>
    `MERGE INTO t USING (VALUES (${id(r)}, ${
      r.below(9)
    })) s(id, n) ON t.id = s.id WHEN MATCHED AND t.n > 15 THEN ` +
    "UPDATE SET n = t.n + s.n WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.n, NULL)",
  () => "SELECT id, n, u FROM t ORDER BY id",
  () => "SELECT id, n, u FROM t ORDER BY id",
  (r) =>
    `SELECT id, n FROM t WHERE id = ${id(r)} FOR ${r.pick(["UPDATE", "NO KEY UPDATE", "SHARE"])}${
      r.pick(["", "", "", " NOWAIT", " SKIP LOCKED"])
    }`,
  // Who changes a row of a table that no foreign key refers to keeps this one out, too.
  (r) =>
    `SELECT id, n FROM p WHERE id = ${1 + r.below(2)} FOR KEY SHARE${
      r.pick(["", " NOWAIT", " SKIP LOCKED"])
    }`,
  (r) => `SELECT id, n FROM t WHERE id = ${id(r)} AND n < 20 FOR UPDATE`,
  (r) => `INSERT INTO child VALUES (${id(r)}, ${r.pick([1, 2, 3, "NULL"])}) RETURNING id, p`,
  (r) => `DELETE FROM p WHERE id = ${1 + r.below(2)} RETURNING id`,
  (r) => `UPDATE p SET n = n + 1 WHERE id = ${1 + r.below(2)} RETURNING id, n`,
  (r) => `UPDATE p SET id = ${3 + r.below(2)} WHERE id = ${1 + r.below(2)} RETURNING id`,
  (r) => `INSERT INTO p VALUES (${1 + r.below(3)}, 0) RETURNING id`,
  (r) => `DELETE FROM child WHERE id = ${id(r)} RETURNING id`,
  (r) => `UPDATE child SET p = ${1 + r.below(3)} WHERE id = ${id(r)} RETURNING id, p`,
  () => "SELECT id, n FROM p ORDER BY id",
];

/** The next statement of a session that is free. */
function nextStatement(
  random: SeededRandom,
  level: string,
  isInBlock: boolean,
  hasSavepoint: boolean,
): string {
  if (!isInBlock && random.below(4) > 0) return `BEGIN ISOLATION LEVEL ${level}`;
  if (isInBlock && random.below(6) === 0) return random.pick(["COMMIT", "COMMIT", "COMMIT", "ROLLBACK"]);
  if (isInBlock && random.below(9) === 0) return hasSavepoint ? "ROLLBACK TO s" : "SAVEPOINT s";
  return random.pick(STATEMENTS)(random);
}

/** A statement that has been asked. */
interface Open {
  readonly sql: string;
  /** The first one of its block. */
  readonly isFirst: boolean;
}

/**
 * Whether the answers of this engine and of PostgreSQL may differ. Where they do, what comes next may, too.
 *
 * - The first statement of a block has told nobody anything: at REPEATABLE READ it begins anew at a newer snapshot.
 * - MERGE looks again here when another session has inserted the row.
 * - Who changes a row and keeps its keys is in nobody's way here who wants one with the same keys.
 * - ON CONFLICT goes by the row that the snapshot has, whether it was changed since or not, or has gone.
 * - A row that has changed since the snapshot cannot be locked here, not even for its key.
 * - What a statement has locked while it waits for something else is not locked here.
 */
function mayDiffer(
  { sql, isFirst }: Open,
  ours: string,
  theirs: string,
  others: { readonly wait: boolean },
): boolean {
  const isLost = (answer: string) => answer === "40001" || answer === "40P01";
  if (isFirst && theirs === "40001") return true;
  if (sql.startsWith("MERGE") && theirs === "23505") return true;
  if (sql.includes("ON CONFLICT") && (isLost(ours) || isLost(theirs))) return true;
  if (sql.includes("DO NOTHING") && ours === "INSERT 0 0 " && theirs.startsWith("INSERT 0 1")) return true;
  if (sql.includes("KEY SHARE") && ours === "40001") return true;
  if (sql.includes(" LOCKED") || sql.includes(" NOWAIT")) return others.wait;
  if (ours === "23505" && (theirs === WAITS || theirs === "40P01")) return true;
  return theirs === WAITS && sql.includes("DO NOTHING");
}

const WAITS = "waits";

/** What two servers said differently, this engine being the first of them; null: nothing. */
export async function compareInterleaving(
  seed: number,
  servers: readonly [InterleavedServer, InterleavedServer],
): Promise<string | null> {
  const random = seededRandom(seed);
  const sessions = 2 + random.below(2);
  const level = random.pick(LEVELS);
  await Promise.all(servers.map((server) => server.reset(TABLES, sessions)));
  const transcript: string[] = [`seed ${seed}: ${level}`];
  const pending = servers.map(() => new Map<number, Asked>());
  const open = new Map<number, Open>();
  const blocks = new Map<number, { statements: number; hasSavepoint: boolean }>();
  /** "same": all is well; null: they may differ from here on. */
  const settle = async (): Promise<string | null> => {
    await Promise.all(servers.map((server, at) => server.settle(pending[at] as Map<number, Asked>)));
    const answered = [...open].sort(([a], [b]) => a - b).map(([session, asked]) => {
      const [ours = WAITS, theirs = WAITS] = pending.map((map) => map.get(session)?.answer ?? undefined);
      return { session, asked, ours, theirs };
    });
    const different = answered.filter(({ ours, theirs }) => ours !== theirs);
    const [first] = different;
    if (first !== undefined) {
      const areRivals = answered.filter(({ theirs }) => theirs !== WAITS).length > 1;
      const others = { wait: answered.some(({ theirs }) => theirs === WAITS) };
      const mayAll = areRivals ||
        different.some(({ asked, ours, theirs }) => mayDiffer(asked, ours, theirs, others));
      if (mayAll) return null;
      const { session, asked: { sql }, ours, theirs } = first;
      return [...transcript, `  ${session}: ${sql} -> here ${ours}, there ${theirs}`].join("\n");
    }
    for (const { session, asked, ours } of answered) {
      if (ours === WAITS) {
        // Its snapshot is another one here.
        if (asked.isFirst && level === "REPEATABLE READ") return null;
        continue;
      }
      transcript.push(`  ${session}: ${asked.sql} -> ${ours}`);
      open.delete(session);
      for (const map of pending) map.delete(session);
    }
    return "same";
  };
  const steps = 8 + random.below(14);
  for (let step = 0; step < steps + sessions * 3; step++) {
    const free = Array.from({ length: sessions }, (_, at) => at).filter((at) => !open.has(at));
    if (free.length === 0) break;
    const session = random.pick(free);
    const block = blocks.get(session);
    if (step >= steps && block === undefined) continue;
    const sql = step < steps
      ? nextStatement(random, level, block !== undefined, block?.hasSavepoint === true)
      : "COMMIT";
    if (sql.startsWith("BEGIN")) blocks.set(session, { statements: 0, hasSavepoint: false });
    else if (sql === "COMMIT" || sql === "ROLLBACK") blocks.delete(session);
    else if (block !== undefined) {
      if (sql === "SAVEPOINT s") block.hasSavepoint = true;
      else if (!sql.startsWith("ROLLBACK")) block.statements++;
    }
    transcript.push(`  ${session}: ${sql}`);
    open.set(session, { sql, isFirst: block?.statements === 1 });
    servers.forEach((server, at) =>
      (pending[at] as Map<number, Asked>).set(session, server.ask(session, sql))
    );
    const outcome = await settle();
    if (outcome !== "same") return outcome;
  }
  return null;
}
