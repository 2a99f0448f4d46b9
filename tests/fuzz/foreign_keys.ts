/**
 * `deno run -A tests/fuzz/foreign_keys.ts [seeds] [first seed] [triggers]`: random transactions over foreign keys, and
 * with BEFORE triggers, compared with PostgreSQL: the error code of every statement, and all rows after every block.
 */
import { type Database, DatabaseError, open } from "../../mod.ts";
import { logicDatabase } from "../slt/library_database.ts";
import { PrivatePostgresql } from "../slt/private_postgresql.ts";
import type { LogicDatabase } from "../slt/run_logic_tests.ts";
import { Choices, shrink } from "./choices.ts";
import { ForeignKeyStatements, orphansOf } from "./foreign_key_statements.ts";
import { generatedTriggers } from "./trigger_statements.ts";

/** An error code, or null. */
async function codeOf(database: LogicDatabase, sql: string): Promise<string | null> {
  try {
    await database.run(sql);
    return null;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return error.code;
  }
}

async function contents(database: LogicDatabase, tables: readonly string[]): Promise<string> {
  const lines: string[] = [];
  for (const table of tables) {
    const rows = (await database.run(`SELECT * FROM ${table}`)).map((row) => row.join(",")).sort();
    lines.push(`${table}: ${rows.join(" ")}`);
  }
  return lines.join("\n");
}

/**
 * Names of the constraints, among those that wait for the commit or among the others, that have a row without a
 * parent.
 */
async function orphanedKeys(
  database: LogicDatabase,
  generated: ForeignKeyStatements,
  waiting: boolean,
): Promise<string[]> {
  const names: string[] = [];
  for (const key of generated.keys) {
    if (waiting !== generated.isDeferred(key)) continue;
    const [[count]] = await database.run(orphansOf(key)) as [[string]];
    if (count !== "0") names.push(key.name);
  }
  return names;
}

/**
 * Runs generated statements and checks after each of them, without any peer, that no constraint that may not wait has
 * a row without a parent, and that COMMIT fails exactly when one has. Answers what went wrong, or null.
 */
export async function checkByScans(
  database: Database,
  choices: Choices,
  options: { readonly statements: number; readonly hasTriggers: boolean },
): Promise<string | null> {
  const ours = logicDatabase(database);
  const generated = new ForeignKeyStatements(choices, { hasTriggers: options.hasTriggers });
  const triggers = options.hasTriggers ? generatedTriggers(choices).map((each) => each.ours) : [];
  const log: string[] = [];
  const orphaned = (waiting: boolean) => orphanedKeys(ours, generated, waiting);
  for (const sql of [...generated.schema, ...triggers]) {
    log.push(sql);
    await ours.run(sql);
  }
  for (let index = 0; index < options.statements; index++) {
    const next = generated.next();
    const expected = next.role === "commit" && generated.isOpen ? await orphaned(true) : null;
    const code = await codeOf(ours, next.sql);
    log.push(`${next.sql} -- ${code ?? "ok"}`);
    if (expected !== null && (code === "23503") !== expected.length > 0) {
      return [...log, `rows without a parent: ${expected.join(", ") || "none"}`].join(";\n");
    }
    generated.answered(next, code === null);
    const wrong = generated.isOpen || code === null && !generated.hasBlock
      ? [...await orphaned(false), ...(generated.hasBlock ? [] : await orphaned(true))]
      : [];
    if (wrong.length > 0) return [...log, `rows without a parent: ${wrong.join(", ")}`].join(";\n");
  }
  return null;
}

/** Runs generated statements on both and answers the first difference, or null. */
export async function compareForeignKeys(
  ours: LogicDatabase,
  peer: LogicDatabase,
  choices: Choices,
  options: { readonly statements: number; readonly onlyChecks: boolean; readonly hasTriggers: boolean },
): Promise<string | null> {
  const generated = new ForeignKeyStatements(choices, options);
  const triggers = options.hasTriggers ? generatedTriggers(choices) : [];
  const log: string[] = [];
  for (const sql of generated.schema) {
    log.push(sql);
    const [own, other] = [await codeOf(ours, sql), await codeOf(peer, sql)];
    if (own !== other) return [...log, `${own} but ${other}`].join(";\n");
  }
  for (const each of triggers) {
    log.push(each.ours);
    const codes = [await codeOf(ours, each.ours)];
    for (const sql of each.peers) codes.push(await codeOf(peer, sql));
    if (codes.some((code) => code !== null)) return [...log, codes.join()].join(";\n");
  }
  for (let index = 0; index < options.statements; index++) {
    const next = generated.next();
    const [own, other] = [await codeOf(ours, next.sql), await codeOf(peer, next.sql)];
    log.push(`${next.sql} -- ${other ?? "ok"}`);
    if (own === null && other === "23503" && next.role === "plain" && generated.hasActions) {
      // Here all actions come before all checks; PostgreSQL checks in the order of its triggers.
      const orphans = await orphanedKeys(ours, generated, false);
      return orphans.length === 0
        ? null
        : [...log, `rows without a parent: ${orphans.join(", ")}`].join(";\n");
    }
    if (own === "23503" && other === null && triggers.length > 0 && generated.hasActions) {
      // A trigger gave a key back that its parent was losing; PostgreSQL keeps the row without a parent.
      const orphans = [
        ...await orphanedKeys(peer, generated, false),
        ...await orphanedKeys(peer, generated, true),
      ];
      return orphans.length > 0 ? null : [...log, "23503 but ok"].join(";\n");
    }
    // Several rows may be wrong, and which one comes first is nobody's promise.
    const bothRefuse = triggers.length > 0 && own !== null && other !== null && REFUSALS.has(own) &&
      REFUSALS.has(other);
    if (own !== other && !bothRefuse) return [...log, `${own ?? "ok"} but ${other ?? "ok"}`].join(";\n");
    generated.answered(next, own === null);
    if (own !== null && generated.hasBlock) continue;
    const [left, right] = [
      await contents(ours, generated.tables),
      await contents(peer, generated.tables),
    ];
    if (left !== right) return [...log, `${left}\nbut\n${right}`].join(";\n");
  }
  return null;
}

/** What triggers, keys and NOT NULL say. */
const REFUSALS: ReadonlySet<string> = new Set(["P0001", "21000", "23502", "23503", "23505"]);

/** Statements of one seed. */
const STATEMENTS = 80;

if (import.meta.main) {
  const hasTriggers = Deno.args.at(-1) === "triggers";
  const [seeds = 200, first = 1] = Deno.args.map(Number).filter(Number.isInteger);
  const server = await PrivatePostgresql.start();
  let failures = 0;
  try {
    const peer = await server.database();
    const compare = async (choices: Choices, onlyChecks: boolean) => {
      const database = await open(":memory:");
      const failure = await compareForeignKeys(logicDatabase(database), peer, choices, {
        statements: STATEMENTS,
        onlyChecks,
        hasTriggers,
      });
      await database.close();
      await codeOf(peer, "ROLLBACK");
      await peer.run("DROP TABLE IF EXISTS e, d, c, q, p");
      for (const [name] of await peer.run("SELECT proname FROM pg_proc WHERE proname ^@ 'f_'")) {
        await peer.run(`DROP FUNCTION ${name}`);
      }
      return failure;
    };
    for (let seed = first; seed < first + seeds; seed++) {
      const onlyChecks = seed % 3 === 0;
      const choices = Choices.ofSeed(seed);
      if (await compare(choices, onlyChecks) === null) continue;
      const small = await shrink(choices.record, async (record) => {
        return await compare(Choices.replay(record), onlyChecks) !== null;
      });
      failures++;
      console.log(`seed ${seed}:\n${await compare(Choices.replay(small), onlyChecks)}\n`);
    }
    await peer.close();
  } finally {
    await server.stop();
  }
  console.log(`${seeds} seeds, ${failures} differ`);
  if (failures > 0) Deno.exit(1);
}
