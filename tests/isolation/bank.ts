/**
 * A bank whose accounts keep their sum: transfers between random accounts while others add up, each at its own
 * snapshot.
 *
 * A sum is taken in one statement, in several statements of one transaction, by joins of parts, and from within
 * transactions that transfer and may fail later: a snapshot holds for these as well.
 */
import { type SeededRandom, seededRandom } from "../support/random.ts";
import { type Connection, failureKind } from "./connections.ts";

const accounts = 100;
const opening = 1000;

/** The statements that make the bank. */
export const bankTables: readonly string[] = [
  "CREATE TABLE bank (id int PRIMARY KEY, branch int NOT NULL, balance bigint NOT NULL CHECK (balance >= 0))",
  "CREATE INDEX bank_branch ON bank (branch)",
  `INSERT INTO bank SELECT n, n % 7, ${opening} FROM generate_series(1, ${accounts}) AS n`,
];

/** What happened. */
export interface BankFigures {
  transfers: number;
  /** Transactions that lost against others. */
  lost: number;
  /** Sums that were taken. */
  sums: number;
  /** What was found instead of the sum. */
  readonly wrong: string[];
}

/** No figures yet. */
export function noFigures(): BankFigures {
  return { transfers: 0, lost: 0, sums: 0, wrong: [] };
}

/** Runs transactions until there are enough; answers false when the connection is gone. */
export async function runBank(
  connection: Connection,
  figures: BankFigures,
  { seed, enough }: { readonly seed: number; readonly enough: () => boolean },
): Promise<boolean> {
  const random = seededRandom(seed);
  while (!enough()) {
    try {
      if (random.below(4) === 0) await addUp(connection, figures, random);
      else await transfer(connection, figures, random);
    } catch (error) {
      const kind = failureKind(error);
      if (kind === "other") throw error;
      if (kind !== "lost") return false;
      figures.lost++;
      const goesOn = await connection.query("ROLLBACK").then(() => true, (failure) => {
        if (failureKind(failure) !== "other") return false;
        throw failure;
      });
      if (!goesOn) return false;
    }
  }
  return true;
}

async function single(connection: Connection, sql: string): Promise<number> {
  const [row] = await connection.query(sql);
  return Number(row?.[0]);
}

function note(figures: BankFigures, how: string, sum: number): void {
  figures.sums++;
  if (sum !== accounts * opening) figures.wrong.push(`${how}: ${sum}`);
}

async function addUp(connection: Connection, figures: BankFigures, random: SeededRandom): Promise<void> {
  const how = random.below(connection.hasBlocks ? 4 : 2);
  if (how === 0) {
    note(figures, "one statement", await single(connection, "SELECT sum(balance) FROM bank"));
    return;
  }
  if (how === 1) {
    const sql = "SELECT (SELECT sum(balance) FROM bank WHERE branch < 3) + sum(a.balance) FROM bank AS a " +
      "JOIN bank AS b ON a.id = b.id AND b.branch >= 3";
    note(figures, "parts of one statement", await single(connection, sql));
    return;
  }
  await connection.query(how === 2 ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  note(figures, "a transaction", await sumInParts(connection, random));
  await connection.query("COMMIT");
}

async function sumInParts(connection: Connection, random: SeededRandom): Promise<number> {
  if (random.below(2) === 0) return await single(connection, "SELECT sum(balance) FROM bank");
  const middle = 1 + random.below(accounts - 1);
  return await single(connection, `SELECT coalesce(sum(balance), 0) FROM bank WHERE id <= ${middle}`) +
    await single(connection, `SELECT coalesce(sum(balance), 0) FROM bank WHERE id > ${middle}`);
}

async function transfer(connection: Connection, figures: BankFigures, random: SeededRandom): Promise<void> {
  const from = 1 + random.below(accounts);
  const to = 1 + (from + random.below(accounts - 1)) % accounts;
  const amount = 1 + random.below(50);
  if (!connection.hasBlocks || random.below(5) === 0) {
    // Both sides in one statement.
    await connection.query(
      `UPDATE bank SET balance = balance + CASE WHEN id = ${to} THEN ${amount} ELSE -${amount} END ` +
        `WHERE id IN (${from}, ${to}) AND (SELECT balance FROM bank WHERE id = ${from}) >= ${amount}`,
    );
    figures.transfers++;
    return;
  }
  await connection.query("BEGIN");
  if (random.below(3) === 0) note(figures, "a transfer", await sumInParts(connection, random));
  const balance = await single(connection, `SELECT balance FROM bank WHERE id = ${from}`);
  if (balance >= amount) {
    if (random.below(2) === 0) {
      // From what was read: a lost update shows at once.
      const other = await single(connection, `SELECT balance FROM bank WHERE id = ${to}`);
      await connection.query(`UPDATE bank SET balance = ${balance - amount} WHERE id = ${from}`);
      await connection.query(`UPDATE bank SET balance = ${other + amount} WHERE id = ${to}`);
    } else {
      await connection.query(`UPDATE bank SET balance = balance - ${amount} WHERE id = ${from}`);
      // A new row in the place of the old one.
      if (random.below(4) === 0) {
        const [row] = await connection.query(`DELETE FROM bank WHERE id = ${to} RETURNING branch, balance`);
        await connection.query(`INSERT INTO bank VALUES (${to}, ${row?.[0]}, ${Number(row?.[1]) + amount})`);
      } else await connection.query(`UPDATE bank SET balance = balance + ${amount} WHERE id = ${to}`);
    }
  }
  if (random.below(4) === 0) note(figures, "after a transfer", await sumInParts(connection, random));
  if (random.below(15) === 0) await connection.query("ROLLBACK");
  else await connection.query("COMMIT");
  figures.transfers++;
}
