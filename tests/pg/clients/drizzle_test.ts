/** drizzle-orm against the real listener: statements of its migrations, typed queries, relations, transactions. */
import { deepStrictEqual as same, rejects, strictEqual as equal } from "node:assert/strict";
import { arrayContains, count, desc, eq, relations, sql } from "drizzle-orm";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import {
  bigint,
  integer,
  jsonb,
  numeric,
  pgTable,
  serial,
  text,
  timestamp,
  uuid,
  varchar,
} from "drizzle-orm/pg-core";
import pg from "pg";
import { openPgDatabase, sessionsEnded } from "../support/pg_database.ts";

const users = pgTable("users", {
  id: serial("id").primaryKey(),
  name: text("name").notNull(),
  at: timestamp("at", { withTimezone: true }).defaultNow(),
  data: jsonb("data"),
  tags: text("tags").array(),
  price: numeric("price", { precision: 10, scale: 2 }),
  key: uuid("key").defaultRandom(),
  big: bigint("big", { mode: "bigint" }),
});
const posts = pgTable("posts", {
  id: integer("id").primaryKey().generatedAlwaysAsIdentity(),
  author: integer("author").references(() => users.id),
  title: varchar("title", { length: 50 }),
});
const schema = {
  users,
  posts,
  userRelations: relations(users, ({ many }) => ({ posts: many(posts) })),
  postRelations: relations(posts, ({ one }) => ({
    by: one(users, { fields: [posts.author], references: [users.id] }),
  })),
};

/** As drizzle-kit writes them. */
const MIGRATION = `
CREATE TABLE "users" ("id" serial PRIMARY KEY NOT NULL, "name" text NOT NULL,
  "at" timestamp with time zone DEFAULT now(), "data" jsonb, "tags" text[], "price" numeric(10, 2),
  "key" uuid DEFAULT gen_random_uuid(), "big" bigint);
CREATE TABLE "posts" ("id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "posts_id_seq" INCREMENT BY 1
  MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1), "author" integer, "title" varchar(50));
ALTER TABLE "posts" ADD CONSTRAINT "posts_author_users_id_fk" FOREIGN KEY ("author")
  REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;
CREATE INDEX "posts_title" ON "posts" USING btree ("title" text_ops);`;

async function withDrizzle(test: (database: NodePgDatabase<typeof schema>) => Promise<void>): Promise<void> {
  await using server = await openPgDatabase();
  const pool = new pg.Pool({ host: "127.0.0.1", port: server.port, user: "bob", database: "shop", max: 4 });
  try {
    const database = drizzle(pool, { schema });
    await database.execute(sql.raw(MIGRATION));
    await test(database);
  } finally {
    await pool.end();
    await sessionsEnded(server);
  }
  same(server.internalErrors, []);
}

Deno.test("drizzle writes and reads typed rows and relations", async () => {
  await withDrizzle(async (database) => {
    const [user] = await database.insert(users)
      .values({ name: "a", data: { x: 1 }, tags: ["q", "w"], price: "1.50", big: 2n ** 60n }).returning();
    same([user?.data, user?.tags, user?.price, user?.big], [{ x: 1 }, ["q", "w"], "1.50", 2n ** 60n]);
    await database.insert(posts).values([{ author: 1, title: "t1" }, { author: 1, title: "t2" }]);
    await database.insert(users).values({ id: 1, name: "z" })
      .onConflictDoUpdate({ target: users.id, set: { name: sql`excluded.name || '!'` } });
    const [found] = await database.query.users.findMany({
      with: { posts: { orderBy: desc(posts.id), limit: 1 } },
      where: eq(users.id, 1),
    });
    same([found?.name, found?.posts], ["z!", [{ id: 2, author: 1, title: "t2" }]]);
    equal((await database.query.posts.findFirst({ with: { by: true } }))?.by?.name, "z!");
    same(
      await database.select({ name: users.name, n: count() }).from(users)
        .leftJoin(posts, eq(posts.author, users.id)).groupBy(users.id),
      [{ name: "z!", n: 2 }],
    );
    equal((await database.select().from(users).where(arrayContains(users.tags, ["q"]))).length, 1);
    const prepared = database.select().from(users).where(eq(users.id, sql.placeholder("id"))).prepare(
      "one_user",
    );
    equal((await prepared.execute({ id: 1 })).length, 1);
    equal((await prepared.execute({ id: 2 })).length, 0);
  });
});

Deno.test("drizzle runs nested transactions", async () => {
  await withDrizzle(async (database) => {
    await database.insert(users).values({ name: "a" });
    await database.transaction(async (transaction) => {
      await transaction.update(users).set({ name: "b" });
      await rejects(transaction.transaction(async (inner) => {
        await inner.delete(users);
        inner.rollback();
      }));
    }, { isolationLevel: "serializable", accessMode: "read write", deferrable: true });
    same(await database.select({ name: users.name }).from(users), [{ name: "b" }]);
  });
});
