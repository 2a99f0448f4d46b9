/** Triggers: where messages point, what other sessions and plans see of them, and restarts. */
import assert from "node:assert/strict";
import { type Database, DatabaseError, open } from "../../mod.ts";
import { engineOf } from "../../engine/session/database.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import type { Session } from "../../engine/session/session.ts";

async function run(session: Session, sql: string): Promise<readonly string[]> {
  const sink = new RowBuffer();
  await session.simple(sql, sink, () => {});
  return sink.rows.map((row) => row.map(String).join("|"));
}

/** `code message @ what is at the position / detail / hint`. */
async function failure(session: Session, sql: string): Promise<string> {
  try {
    await run(session, sql);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const { code, message, position, detail, hint } = error;
    const place = position === undefined
      ? ""
      : ` @ ${/^\S+?(?=[\s,;)(=]|$)/.exec([...sql].slice(position - 1).join(""))}`;
    return [`${code} ${message}${place}`, detail, hint].filter((each) => each !== undefined).join(" / ");
  }
  return "no error";
}

const BEFORE = "CREATE TRIGGER e BEFORE";

Deno.test("CREATE TRIGGER names what is wrong, where, and what was probably meant", async () => {
  await using database = await open(":memory:");
  const session = engineOf(database).openSession();
  await run(
    session,
    "CREATE TABLE stock (id int PRIMARY KEY, amount int, g int GENERATED ALWAYS AS (amount) STORED)",
  );
  const cases: readonly [string, string][] = [
    [
      "INSERT ON stok FOR EACH ROW REJECT 'x'",
      '42P01 relation "stok" does not exist @ stok / Did you mean "stock"?',
    ],
    [
      "UPDATE OF id, amunt ON stock FOR EACH ROW REJECT 'x'",
      '42703 column "amunt" of relation "stock" does not exist @ amunt / Did you mean "amount"?',
    ],
    ["UPDATE OF id, id ON stock FOR EACH ROW REJECT 'x'", '42701 column "id" specified more than once @ id'],
    [
      "INSERT ON stock FOR EACH ROW SET id = 1, amunt = 2",
      '42703 column "amunt" of relation "stock" does not exist @ amunt / Did you mean "amount"?',
    ],
    [
      "INSERT ON stock FOR EACH ROW WHEN (NEW.amunt > 1) REJECT 'x'",
      '42703 column new.amunt does not exist @ NEW.amunt / Perhaps you meant to reference the column "new.amount".',
    ],
    [
      "INSERT ON stock FOR EACH ROW WHEN (amount > 1) REJECT 'x'",
      '42703 column "amount" does not exist @ amount / Perhaps you meant to reference the column "new.amount".',
    ],
    [
      "INSERT ON stock FOR EACH ROW SET amount = abs(1) + OLD.amount",
      "42P17 INSERT trigger's SET cannot reference OLD values @ OLD.amount",
    ],
    [
      "UPDATE OR DELETE ON stock FOR EACH ROW WHEN (NEW.id = 1) REJECT 'x'",
      "42P17 DELETE trigger's WHEN condition cannot reference NEW values @ NEW.id / " +
      "Create a trigger of its own for DELETE, which has no NEW row.",
    ],
    [
      "UPDATE ON stock FOR EACH ROW EXECUTE FUNCTION abs(NEW.g)",
      "42P17 BEFORE trigger's EXECUTE FUNCTION cannot reference NEW generated columns @ NEW.g / " +
      'Column "g" is a generated column.',
    ],
    [
      "INSERT ON stock FOR EACH ROW WHEN (row_to_json(NEW) IS NULL) REJECT 'x'",
      "42P17 BEFORE trigger's WHEN condition cannot reference NEW generated columns @ IS / " +
      'Column "g" is a generated column.',
    ],
    [
      "INSERT ON stock FOR EACH ROW EXECUTE FUNCTION abz(NEW.id)",
      '42883 function abz(integer) does not exist @ abz / Did you mean "abs"?',
    ],
    [
      "INSERT ON stock FOR EACH ROW SET amount = 'a'",
      "22P02 invalid input syntax for type integer: \"a\" @ 'a'",
    ],
    ["INSERT ON stock FOR EACH ROW SET amount = $1", "42P02 there is no parameter $1 @ $1"],
    [
      "INSERT ON stock FOR EACH ROW REJECTT 'x'",
      '42601 syntax error at or near "REJECTT" @ REJECTT / Did you mean "REJECT"?',
    ],
  ];
  for (const [rest, expected] of cases) {
    const shown = await failure(session, `${BEFORE} ${rest}`);
    assert.equal(shown, expected, rest);
  }
});

Deno.test("a trigger is seen by plans that were made before it, by other sessions when it is committed, and after restarts", async () => {
  const directory = await Deno.makeTempDir();
  const add = "INSERT INTO t (a) VALUES (1) RETURNING a";
  const sessionOf = (database: Database): Session => engineOf(database).openSession();
  {
    await using database = await open(directory);
    const one = sessionOf(database), two = sessionOf(database);
    await run(one, "CREATE TABLE t (a int, b int DEFAULT 3); PREPARE p AS " + add);
    assert.deepEqual([await run(one, "EXECUTE p"), await run(two, add)], [["1"], ["1"]]);
    await run(
      two,
      "BEGIN; CREATE TRIGGER plus BEFORE INSERT OR UPDATE ON t FOR EACH ROW SET a = NEW.a + NEW.b",
    );
    assert.deepEqual(await run(two, add), ["4"]);
    await run(two, "COMMIT");
    assert.deepEqual([await run(one, "EXECUTE p"), await run(one, add)], [["4"], ["4"]]);
    await run(two, "BEGIN; DROP TRIGGER plus ON t");
    assert.deepEqual(await run(two, add), ["1"]);
    await run(two, "ROLLBACK");
    await run(one, "ALTER TABLE t RENAME COLUMN b TO c; COMMENT ON TRIGGER plus ON t IS 'adds'");
    assert.deepEqual([await run(one, "EXECUTE p"), await run(two, add)], [["4"], ["4"]]);
  }
  const stored = "SELECT pg_get_triggerdef(oid, true), obj_description(oid, 'pg_trigger') FROM pg_trigger";
  for (const last of ["CHECKPOINT", "ALTER TABLE t DISABLE TRIGGER plus", "CHECKPOINT"]) {
    await using database = await open(directory);
    const session = sessionOf(database);
    const isDisabled = last === "CHECKPOINT" && await run(session, "SELECT tgenabled FROM pg_trigger")
      .then(([state]) => state === "D");
    assert.deepEqual(await run(session, stored), [
      "CREATE TRIGGER plus BEFORE INSERT OR UPDATE ON t FOR EACH ROW SET a = (new.a + new.c)|adds",
    ]);
    assert.deepEqual(await run(session, add), [isDisabled ? "1" : "4"]);
    await run(session, last);
  }
  await Deno.remove(directory, { recursive: true });
});
