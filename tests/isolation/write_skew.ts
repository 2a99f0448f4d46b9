/**
 * What each of two transactions may do alone, and both together must not: they read the same rows and write different
 * ones. Pairs of accounts, of which one may be in debt as long as the pair is not; and shifts with at least one doctor
 * on call, where who leaves counts the others. Rows of a pair or a shift lie at any shard.
 */
import { type SeededRandom, seededRandom } from "../support/random.ts";
import { type Connection, failureKind } from "./connections.ts";

const pairs = 12;
const shifts = 6;
const doctors = 4;

/** The statements that make the tables. */
export const writeSkewTables: readonly string[] = [
  "CREATE TABLE purse (id int PRIMARY KEY, pair int NOT NULL, balance int NOT NULL)",
  `INSERT INTO purse SELECT n, n % ${pairs}, 100 FROM generate_series(0, ${2 * pairs - 1}) AS n`,
  "CREATE TABLE doctor (id int PRIMARY KEY, shift int NOT NULL, on_call bool NOT NULL)",
  "CREATE INDEX doctor_shift ON doctor (shift)",
  `INSERT INTO doctor SELECT n, n % ${shifts}, true FROM generate_series(0, ${shifts * doctors - 1}) AS n`,
];

/** What happened. */
export interface WriteSkewFigures {
  committed: number;
  /** Transactions that lost against others. */
  lost: number;
  /** Pairs in debt, and shifts with nobody on call. */
  readonly wrong: string[];
}

/** No figures yet. */
export function noSkew(): WriteSkewFigures {
  return { committed: 0, lost: 0, wrong: [] };
}

/** Runs transactions until there are enough; answers false when the connection is gone. */
export async function runWriteSkew(
  connection: Connection,
  figures: WriteSkewFigures,
  { seed, enough }: { readonly seed: number; readonly enough: () => boolean },
): Promise<boolean> {
  const random = seededRandom(seed);
  while (!enough()) {
    try {
      await connection.query("BEGIN ISOLATION LEVEL SERIALIZABLE");
      await (random.below(2) === 0 ? withdraw : changeShift)(connection, figures, random);
      await connection.query("COMMIT");
      figures.committed++;
    } catch (error) {
      const kind = failureKind(error);
      if (kind === "other") throw error;
      if (kind !== "lost") return false;
      figures.lost++;
      await connection.query("ROLLBACK");
    }
  }
  return true;
}

async function withdraw(
  connection: Connection,
  figures: WriteSkewFigures,
  random: SeededRandom,
): Promise<void> {
  const pair = random.below(pairs), one = pair + pairs * random.below(2);
  const rows = await connection.query(
    random.pick([
      `SELECT balance FROM purse WHERE pair = ${pair}`,
      `SELECT balance FROM purse WHERE id IN (${pair}, ${pair + pairs})`,
      `SELECT sum(balance) FROM purse WHERE pair = ${pair}`,
    ]),
  );
  const sum = rows.reduce((before, [balance]) => before + Number(balance), 0);
  if (sum < 0) figures.wrong.push(`pair ${pair} has ${sum}`);
  const change = sum < 40 ? 90 : -sum;
  await connection.query(`UPDATE purse SET balance = balance + ${change} WHERE id = ${one}`);
}

async function changeShift(
  connection: Connection,
  figures: WriteSkewFigures,
  random: SeededRandom,
): Promise<void> {
  const shift = random.below(shifts), doctor = shift + shifts * random.below(doctors);
  const [row] = await connection.query(`SELECT count(*) FROM doctor WHERE shift = ${shift} AND on_call`);
  const onCall = Number(row?.[0]);
  if (onCall === 0) figures.wrong.push(`nobody is on call in shift ${shift}`);
  const isLeaving = onCall > 1;
  if (isLeaving && random.below(4) === 0) {
    await connection.query(`DELETE FROM doctor WHERE id = ${doctor}`);
    await connection.query(`INSERT INTO doctor VALUES (${doctor}, ${shift}, false)`);
  } else await connection.query(`UPDATE doctor SET on_call = ${!isLeaving} WHERE id = ${doctor}`);
}
