/** kysely against the real listener: schema builder, queries with nested JSON, introspection, migrations. */
import { deepStrictEqual as same, strictEqual as equal } from "node:assert/strict";
import { type Generated, Kysely, Migrator, PostgresDialect, sql } from "kysely";
import { jsonArrayFrom } from "kysely/helpers/postgres";
import pg from "pg";
import { openPgDatabase, sessionsEnded } from "../support/pg_database.ts";

interface Tables {
  person: { id: Generated<number>; first: string; meta: string | null; shout: Generated<string> };
  pet: { id: Generated<number>; name: string; owner: number; species: string };
}

async function withKysely(test: (database: Kysely<Tables>) => Promise<void>): Promise<void> {
  await using server = await openPgDatabase();
  const pool = new pg.Pool({ host: "127.0.0.1", port: server.port, user: "bob", database: "shop", max: 4 });
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    await database.schema.createTable("person")
      .addColumn("id", "integer", (column) => column.primaryKey().generatedAlwaysAsIdentity())
      .addColumn("first", "varchar(50)", (column) => column.notNull())
      .addColumn("meta", "jsonb")
      .addColumn("shout", "text", (column) => column.generatedAlwaysAs(sql`first || '!'`).stored())
      .addCheckConstraint("first_is_long", sql`length(first) > 0`)
      .execute();
    await database.schema.createTable("pet")
      .addColumn("id", "serial", (column) => column.primaryKey())
      .addColumn("name", "text", (column) => column.unique())
      .addColumn("owner", "integer", (column) => column.references("person.id").onDelete("cascade"))
      .addColumn("species", "text", (column) => column.check(sql`species in ('dog', 'cat')`))
      .execute();
    await test(database);
  } finally {
    await database.destroy();
    await sessionsEnded(server);
  }
  same(server.internalErrors, []);
}

Deno.test("kysely writes and reads nested results", async () => {
  await withKysely(async (database) => {
    const person = await database.insertInto("person").values({ first: "J", meta: '{"a": 1}' })
      .returning(["id", "shout", "meta"]).executeTakeFirstOrThrow();
    same([person.shout, person.meta], ["J!", { a: 1 }]);
    await database.insertInto("pet")
      .values([{ name: "x", owner: person.id, species: "dog" }, {
        name: "y",
        owner: person.id,
        species: "cat",
      }])
      .onConflict((conflict) =>
        conflict.column("name").doUpdateSet((eb) => ({ owner: eb.ref("excluded.owner") }))
      )
      .execute();
    const [nested] = await database.selectFrom("person").select((eb) => [
      "first",
      jsonArrayFrom(
        eb.selectFrom("pet").select(["name", "species"]).whereRef("pet.owner", "=", "person.id").orderBy(
          "name",
        ),
      ).as("pets"),
    ]).execute();
    same(nested, { first: "J", pets: [{ name: "x", species: "dog" }, { name: "y", species: "cat" }] });
    await database.transaction().setIsolationLevel("serializable").execute(async (transaction) => {
      await transaction.deleteFrom("pet").using("person").whereRef("pet.owner", "=", "person.id")
        .where("pet.name", "=", "y").execute();
    });
    await database.updateTable("pet as a").from("person as b").set({ name: "z" })
      .whereRef("a.owner", "=", "b.id").execute();
    same(await database.selectFrom("pet").select("name").execute(), [{ name: "z" }]);
    const controlled = await database.startTransaction().execute();
    const inner = await controlled.savepoint("s").execute();
    await inner.deleteFrom("pet").execute();
    await inner.rollbackToSavepoint("s").execute();
    await controlled.commit().execute();
    same(await database.selectFrom("pet").select("name").execute(), [{ name: "z" }]);
  });
});

Deno.test("kysely introspects, alters and migrates", async () => {
  await withKysely(async (database) => {
    const tables = await database.introspection.getTables();
    const person = tables.find(({ name }) => name === "person");
    same(
      person?.columns.map(({ name, dataType, isNullable, isAutoIncrementing }) => ({
        name,
        dataType,
        isNullable,
        isAutoIncrementing,
      })),
      [
        { name: "id", dataType: "int4", isNullable: false, isAutoIncrementing: true },
        { name: "first", dataType: "varchar", isNullable: false, isAutoIncrementing: false },
        { name: "meta", dataType: "jsonb", isNullable: true, isAutoIncrementing: false },
        { name: "shout", dataType: "text", isNullable: true, isAutoIncrementing: false },
      ],
    );
    const { schema } = database;
    await schema.createIndex("pet_owner").ifNotExists().on("pet").columns(["owner", "name desc"]).execute();
    await schema.alterTable("pet").addColumn("c", "integer", (column) => column.notNull().defaultTo(1))
      .execute();
    await schema.alterTable("pet").alterColumn("c", (column) => column.setDataType("bigint")).execute();
    await schema.alterTable("pet").dropColumn("c").execute();
    await schema.createType("mood").asEnum(["sad", "ok"]).execute();
    await schema.createSchema("other").ifNotExists().execute();
    await schema.createTable("other.t").addColumn("a", sql`mood`).execute();
    await schema.dropSchema("other").cascade().execute();
    const migrator = new Migrator({
      db: database,
      provider: {
        getMigrations: () =>
          Promise.resolve({
            first: {
              up: (on) => on.schema.createTable("made").addColumn("a", "integer").execute(),
              down: (on) => on.schema.dropTable("made").execute(),
            },
          }),
      },
    });
    equal((await migrator.migrateToLatest()).error, undefined);
    equal((await migrator.migrateDown()).error, undefined);
  });
});
