/** knex against the real listener: its schema builder, queries, transactions and migrations. */
import { deepStrictEqual as same, ok, rejects, strictEqual as equal } from "node:assert/strict";
import connect, { type Knex } from "knex";
import { openPgDatabase, sessionsEnded } from "../support/pg_database.ts";

async function withKnex(test: (knex: Knex) => Promise<void>): Promise<void> {
  await using database = await openPgDatabase({ token: "secret" });
  const knex = connect({
    client: "pg",
    connection: { host: "127.0.0.1", port: database.port, user: "bob", password: "secret", database: "shop" },
    pool: { min: 0, max: 4 },
  });
  try {
    await knex.schema.createTable("person", (table) => {
      table.increments("id");
      table.string("name", 100).notNullable().defaultTo("x");
      table.string("email").unique();
      table.jsonb("meta").defaultTo("{}");
      table.timestamps(true, true);
      table.uuid("key").defaultTo(knex.fn.uuid());
      table.decimal("price", 10, 2);
      table.specificType("tags", "text[]");
      table.binary("blob");
      table.bigInteger("big");
      table.enu("kind", ["a", "b"]);
      table.index(["name", "email"], "person_name");
      table.comment("people");
    });
    await knex.schema.createTable("post", (table) => {
      table.bigIncrements("id");
      table.integer("person_id").unsigned().references("id").inTable("person").onDelete("CASCADE").index();
      table.text("title");
      table.double("score");
      table.unique(["person_id", "title"]);
    });
    await test(knex);
  } finally {
    await knex.destroy();
    await sessionsEnded(database);
  }
  same(database.internalErrors, []);
}

Deno.test("knex writes, merges and joins", async () => {
  await withKnex(async (knex) => {
    ok(await knex.schema.hasTable("person"));
    ok(await knex.schema.hasColumn("person", "email"));
    const [first] = await knex("person").insert({
      name: "A",
      email: "a@x",
      meta: { a: [1] },
      price: "1.50",
      tags: ["p", "q"],
      blob: new Uint8Array([0, 255]),
      big: "9007199254740993",
      kind: "a",
    }).returning("*");
    same([first.meta, first.price, first.tags, first.big, [...first.blob]], [
      { a: [1] },
      "1.50",
      ["p", "q"],
      "9007199254740993",
      [0, 255],
    ]);
    await knex("person").insert([{ name: "B", email: "b@x" }, { name: "C", email: "c@x" }]);
    await knex("person").insert({ name: "A2", email: "a@x" }).onConflict("email").merge();
    await knex("person").insert({ name: "A3", email: "a@x" }).onConflict("email").ignore();
    const posts = Array.from(
      { length: 100 },
      (_, n) => ({ person_id: 1 + n % 2, title: `t${n}`, score: n / 2 }),
    );
    await knex.batchInsert("post", posts, 30);
    const counts = await knex("person as u").leftJoin("post as p", "p.person_id", "u.id").select("u.name")
      .count("p.id as n").groupBy("u.id", "u.name").having(knex.raw("count(p.id) > ?", [0])).orderBy("u.id");
    same(counts, [{ name: "A2", n: "50" }, { name: "B", n: "50" }]);
    equal((await knex("person").whereJsonSupersetOf("meta", { a: [1] })).length, 1);
    equal((await knex("post").where("id", 1).delete().returning("*")).length, 1);
    await rejects(knex("person").insert({ email: "b@x" }), {
      code: "23505",
      constraint: "person_email_unique",
    });
  });
});

Deno.test("knex runs nested transactions and ends slow statements", async () => {
  await withKnex(async (knex) => {
    await knex("person").insert({ name: "B", email: "b@x" });
    await knex.transaction(async (transaction) => {
      await transaction("person").update({ name: "B2" });
      await transaction("person").forUpdate().first();
      await rejects(
        transaction.transaction(async (inner) => {
          await inner("person").del();
          throw new Error("no");
        }),
        /no/,
      );
    });
    same(await knex("person").select("name"), [{ name: "B2" }]);
    const slow = knex.raw("SELECT pg_sleep(20)").timeout(100, { cancel: true });
    await rejects(slow.then((result) => result), /timeout/i);
  });
});

Deno.test("knex alters tables and migrates up and down", async () => {
  await withKnex(async (knex) => {
    await knex.schema.alterTable("person", (table) => {
      table.string("extra", 20);
      table.renameColumn("price", "cost");
      table.dropColumn("blob");
      table.string("name", 200).nullable().alter();
      table.integer("age").defaultTo(0).notNullable();
      table.dropIndex(["name", "email"], "person_name");
    });
    await knex.schema.alterTable("post", (table) => {
      table.dropUnique(["person_id", "title"]);
      table.dropForeign("person_id");
    });
    await knex.schema.renameTable("post", "article");
    await knex.schema.dropTable("article");
    await knex.raw("TRUNCATE TABLE person RESTART IDENTITY CASCADE");
    const columns = await knex("person").columnInfo();
    same(columns["age"], { type: "integer", maxLength: null, nullable: false, defaultValue: "0" });
    const migrationSource = {
      getMigrations: () => Promise.resolve(["one", "two"]),
      getMigrationName: (name: string) => name,
      getMigration: (name: string) =>
        Promise.resolve({
          up: (on: Knex) => on.schema.createTable(`made_${name}`, (table) => void table.increments()),
          down: (on: Knex) => on.schema.dropTable(`made_${name}`),
        }),
    };
    await knex.migrate.latest({ migrationSource });
    ok(await knex.schema.hasTable("made_two"));
    await knex.migrate.rollback({ migrationSource }, true);
    ok(!await knex.schema.hasTable("made_one"));
  });
});
