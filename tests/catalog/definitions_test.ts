/** Names, definitions and sizes that the catalog's functions answer, in PostgreSQL's wording. */
import { engineOf } from "../../engine/session/database.ts";
import { deepStrictEqual as equal, rejects } from "node:assert/strict";
import { catalogDatabase, rowsOf } from "./catalog_database.ts";

Deno.test("catalog functions answer definitions and names as PostgreSQL words them", async () => {
  await using database = await catalogDatabase();
  const session = engineOf(database).openSession({ user: "db", database: "db" });
  const check = async (sql: string, expected: readonly string[]): Promise<void> => {
    equal(await rowsOf(session, sql), expected, sql);
  };
  await check("SELECT pg_get_indexdef('customer_pkey'::regclass)", [
    "CREATE UNIQUE INDEX customer_pkey ON public.customer USING btree (id)",
  ]);
  await check(
    "SELECT pg_get_indexdef('orders_qty'::regclass), pg_get_indexdef('orders_qty'::regclass, 1, true)",
    [
      "CREATE INDEX orders_qty ON public.orders USING btree (qty DESC, price)|qty",
    ],
  );
  await check(
    "SELECT pg_get_constraintdef(oid), pg_get_constraintdef(oid, true) FROM pg_constraint WHERE conname IN ('positive', 'child_x_y_fkey') ORDER BY 1",
    [
      "CHECK ((qty > 0))|CHECK (qty > 0)",
      "FOREIGN KEY (x, y) REFERENCES pair(a, b) ON UPDATE SET NULL|FOREIGN KEY (x, y) REFERENCES pair(a, b) ON UPDATE SET NULL",
    ],
  );
  await check(
    "SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'customer'::regclass ORDER BY adnum LIMIT 3",
    ["nextval('customer_id_seq'::regclass)", "'nobody'::character varying", "0"],
  );
  await check(
    "SELECT 'app.note'::regclass, 'customer'::regclass, 'pg_class'::regclass::oid, to_regclass('nothing')",
    [
      "app.note|customer|1259|",
    ],
  );
  await check(
    "SELECT 'int4'::regtype, 'character varying'::regtype::oid, 'text[]'::regtype::oid, 'app'::regnamespace",
    [
      "integer|1043|1009|app",
    ],
  );
  await check("SELECT format_type(1043, 44), format_type(9504, -1), format_type(1700, 786438)", [
    "character varying(40)|u32|numeric(12,2)",
  ]);
  await check("SELECT indkey, indkey[0], indoption FROM pg_index WHERE indexrelid = 'orders_qty'::regclass", [
    "4 5|4|3 0",
  ]);
  await check("SELECT typname FROM pg_type WHERE typinput = 'array_in'::regproc AND typelem = 23", ["_int4"]);
  await check("SELECT pg_get_serial_sequence('customer', 'id'), pg_get_serial_sequence('orders', 'id')", [
    "public.customer_id_seq|public.orders_id_seq",
  ]);
  await check("SELECT obj_description('customer'::regclass), col_description('customer'::regclass, 3)", [
    "people|where to write",
  ]);
  await check("SELECT last_value, is_called FROM counter", ["5|f"]);
  await check("SELECT nextval('counter'), nextval('counter')", ["5|7"]);
  await check("SELECT last_value, is_called FROM counter", ["7|t"]);
  await check("SELECT tableoid::regclass FROM pg_namespace WHERE nspname = 'public'", ["pg_namespace"]);
  await rejects(rowsOf(session, "SELECT 'custmer'::regclass"), {
    code: "42P01",
    message: 'relation "custmer" does not exist',
  });
  session.close();
});

Deno.test("system relations show what a transaction has not committed yet, to itself only", async () => {
  await using database = await catalogDatabase();
  const [own, other] = [engineOf(database).openSession(), engineOf(database).openSession()];
  const sql = "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass('fresh') AND attnum > 0";
  await rowsOf(own, "BEGIN");
  await rowsOf(own, "CREATE TABLE fresh (a int, b text)");
  equal(await rowsOf(own, sql), ["2"]);
  equal(await rowsOf(other, sql), ["0"]);
  await rowsOf(own, "ROLLBACK");
  equal(await rowsOf(own, sql), ["0"]);
  for (const session of [own, other]) session.close();
});
