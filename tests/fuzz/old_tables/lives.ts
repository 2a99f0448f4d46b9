/**
 * Long lives of tables, the same here and in PostgreSQL: every answer and every failure, and after some statements
 * all rows and questions of every kind.
 *
 * PostgreSQL is asked for many statements at once, after the database: what is next depends on the database's answers
 * only.
 */
import { SQLSTATE } from "../../../mod.ts";
import { StateDatabase } from "../../support/state_database.ts";
import { Choices } from "../choices.ts";
import type { EdgePeer } from "../edge_oracle.ts";
import { type Answer, answerOf } from "../engine_answers.ts";
import { LifeStatements, type Move, type Step } from "./life_statements.ts";

/** A statement with what the database does instead. */
type Told = Pick<Step, "sql" | "move" | "isOrdered">;

/** Between two reviews. */
const REVIEW_EVERY = 60;
const REVIEW_QUERIES = 20;
/** Milliseconds to make a difference small. */
const SHORTEN_TIME = 60_000;

const PEERS_START =
  "DROP SCHEMA IF EXISTS life CASCADE; CREATE SCHEMA life; SET search_path = life; DEALLOCATE ALL";

async function perform(database: StateDatabase, { sql, move }: Told): Promise<Answer> {
  return await answerOf(async () => {
    if (move === null) return await database.run(sql);
    await MOVES[move](database);
    return [];
  });
}

const MOVES: Readonly<Record<Move, (database: StateDatabase) => Promise<void>>> = {
  checkpoint: (database) => database.checkpoint(),
  reopen: (database) => database.reopen(),
};

function textOf(answer: Answer, isOrdered: boolean, form = (row: string): string => row): string {
  if ("error" in answer) return answer.error;
  const rows = answer.rows.map((row) => form(JSON.stringify(row)));
  return (isOrdered ? rows : rows.sort()).join("\n");
}

/** Whether two answers say the same. Of several violations in one statement, any may be told. */
function agrees(own: Answer, other: Answer, { sql, move, isOrdered }: Told, peer: EdgePeer): boolean {
  if (move !== null) return "rows" in own;
  if ("error" in own && "error" in other) {
    return own.error === other.error || [own.error, other.error].every((code) => /^2[123]/.test(code));
  }
  const form = (row: string): string => peer.form?.(row, sql) ?? row;
  return textOf(own, isOrdered, form) === textOf(other, isOrdered, form);
}

/** Whether rows may differ from here on though neither is wrong: one was given up, or the peer says so. */
function mayPart(own: Answer, other: Answer, { sql }: Told, peer: EdgePeer): boolean {
  const isGivenUp = [own, other].some((answer) =>
    "error" in answer && answer.error === SQLSTATE.queryCanceled
  );
  return isGivenUp || peer.mayPart?.(own, other, sql) === true;
}

/** A difference: all statements up to it, and what both said. */
export interface LifeDifference {
  readonly steps: readonly Told[];
  readonly own: string;
  readonly other: string;
}

/** What became of a life. */
export interface LifeOutcome {
  /** The first one. */
  readonly difference: LifeDifference | null;
  /** The statement behind which rows may differ though neither answer is wrong, where the life ends; null: none. */
  readonly partedAfter: string | null;
}

/** Lives a life beside a peer, until there is a difference or the two may part. */
export async function live(seed: number, statements: number, peer: EdgePeer): Promise<LifeOutcome> {
  await using database = await StateDatabase.open();
  await peer.answers([PEERS_START]);
  const life = new LifeStatements(Choices.ofSeed(seed));
  const steps: Told[] = [];
  const answers: Answer[] = [];
  let compared = 0;
  const take = async (step: Told): Promise<boolean> => {
    const answer = await perform(database, step);
    steps.push(step);
    answers.push(answer);
    return "rows" in answer;
  };
  const compare = async (): Promise<LifeOutcome | null> => {
    const others = await peer.answers(steps.slice(compared).map(({ sql }) => sql));
    return firstDifference(steps, answers, others, peer);
  };
  for (const sql of life.schema) await take({ sql, move: null, isOrdered: false });
  for (let index = 1; index <= statements; index++) {
    const step = life.next();
    life.answered(step, await take(step));
    if (index % REVIEW_EVERY !== 0 || life.isFailed) continue;
    // A question that fails ends the block that it is in.
    for (const question of life.review(REVIEW_QUERIES)) {
      if (life.isFailed) break;
      life.answered(question, await take(question));
    }
    const outcome = await compare();
    if (outcome !== null) return outcome;
    compared = steps.length;
  }
  return await compare() ?? { difference: null, partedAfter: null };
}

/** The first of the last steps, which the peer has answered too, that is different or behind which rows may be. */
function firstDifference(
  steps: readonly Told[],
  answers: readonly Answer[],
  others: readonly Answer[],
  peer: EdgePeer,
): LifeOutcome | null {
  for (const [index, other] of others.entries()) {
    const at = steps.length - others.length + index;
    const step = steps[at], own = answers[at];
    if (step === undefined || own === undefined) throw new Error("an answer to every statement");
    const isCrash = "error" in own && own.error.startsWith("crash");
    if (!isCrash && agrees(own, other, step, peer)) continue;
    if (!isCrash && mayPart(own, other, step, peer)) {
      const next = others[index + 1];
      const areQuestions = [step, steps[at + 1]].every((each) => each?.sql.startsWith("SELECT "));
      // No block has failed where the next question is answered.
      if (areQuestions && next !== undefined && "rows" in next) continue;
      return { difference: null, partedAfter: step.sql };
    }
    const difference = {
      steps: steps.slice(0, at + 1),
      own: textOf(own, step.isOrdered),
      other: textOf(other, step.isOrdered),
    };
    return { difference, partedAfter: null };
  }
  return null;
}

/** The steps answered anew; the first difference or null. */
async function again(steps: readonly Told[], peer: EdgePeer): Promise<LifeDifference | null> {
  await using database = await StateDatabase.open();
  await peer.answers(["ROLLBACK", PEERS_START]);
  const answers: Answer[] = [];
  for (const step of steps) answers.push(await perform(database, step));
  const others = await peer.answers(steps.map(({ sql }) => sql));
  return firstDifference(steps, answers, others, peer)?.difference ?? null;
}

/** Whether two differences may have one cause. */
function isAlike(one: LifeDifference, other: LifeDifference): boolean {
  if (one.steps.at(-1)?.sql !== other.steps.at(-1)?.sql) return false;
  const kind = (text: string) => /^[0-9A-Z]{5}$|^crash/.test(text) ? text.slice(0, 5) : "rows";
  return kind(one.own) === kind(other.own) && kind(one.other) === kind(other.other);
}

/** Leaves out statements as long as a difference of the kind stays. */
export async function shorten(difference: LifeDifference, peer: EdgePeer): Promise<LifeDifference> {
  let best = difference;
  const end = performance.now() + SHORTEN_TIME;
  const withoutQuestions = await again(
    best.steps.filter(({ sql }, at) => at === best.steps.length - 1 || !/^SELECT ./.test(sql)),
    peer,
  );
  if (withoutQuestions !== null && isAlike(withoutQuestions, best)) best = withoutQuestions;
  for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = size === 1 ? 0 : size >> 1) {
    for (let at = best.steps.length - 1 - size; at > -size && performance.now() < end; at -= size) {
      const from = Math.max(0, at);
      const steps = [...best.steps.slice(0, from), ...best.steps.slice(at + size)];
      const smaller = await again(steps, peer);
      if (smaller !== null && isAlike(smaller, best)) best = smaller;
    }
  }
  return best;
}

/** A difference to read. */
export function scriptOf({ steps, own, other }: LifeDifference): string {
  const cut = (text: string) => text.length > 1500 ? `${text.slice(0, 1500)}…` : text;
  const lines = steps.map(({ sql, move }) => move === null ? `${sql};` : `-- ${move}`);
  return `${lines.join("\n")}\n-- here:\n${cut(own)}\n-- the other:\n${cut(other)}`;
}
