/** Statements as psql, drivers, object mappers and tools send them: all of them must parse. */
import { strict as assert } from "node:assert";
import { parseStatements } from "./statements.ts";

const STATEMENTS: readonly string[] = [
  `SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relname OPERATOR(pg_catalog.~) '^(t)$' COLLATE pg_catalog.default
     AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 2, 3;`,
  `SELECT c.relchecks, c.relkind, c.relhasindex, false AS relhasoids, c.relispartition, '', c.reltablespace,
     CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END,
     c.relpersistence, c.relreplident, am.amname
   FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
   LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid) WHERE c.oid = '16384';`,
  `SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
     (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d
      WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull,
     (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
      WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation
   FROM pg_catalog.pg_attribute a WHERE a.attrelid = '16384' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum;`,
  `SELECT pubname, NULL, NULL FROM pg_catalog.pg_publication p
     JOIN pg_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid WHERE pn.pnnspid = 1
   UNION SELECT pubname, pg_get_expr(pr.prqual, c.oid), (CASE WHEN pr.prattrs IS NOT NULL THEN
     (SELECT string_agg(attname, ', ') FROM pg_catalog.generate_series(0, pg_catalog.array_upper(pr.prattrs::pg_catalog.int2[], 1)) s,
        pg_catalog.pg_attribute WHERE attrelid = pr.prrelid AND attnum = prattrs[s]) ELSE NULL END)
   FROM pg_catalog.pg_publication p ORDER BY 1;`,
  `SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid FROM pg_catalog.pg_type
   LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r from pg_namespace as ns
     join ( select s.r, (current_schemas(false))[s.r] as nspname
            from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r using ( nspname )) as sp
     ON sp.nspoid = typnamespace WHERE typname = $1 ORDER BY sp.r, pg_type.oid DESC LIMIT 1`,
  `SELECT (result.KEYS).n, (result.keys).x FROM (SELECT information_schema._pg_expandarray(i.indkey) AS keys
     FROM pg_catalog.pg_index i) result`,
  `select b.oid, b.typarray from pg_catalog.pg_type a left join pg_catalog.pg_type b on b.oid = a.typelem
   where a.typcategory = 'A' group by b.oid, b.typarray order by b.oid`,
  `SELECT o.n, p.partstrat, pg_catalog.count(i.inhparent) FROM pg_catalog.pg_class AS c
     JOIN pg_catalog.pg_namespace AS n ON (n.oid = c.relnamespace)
     CROSS JOIN LATERAL (SELECT pg_catalog.array_position(pg_catalog.current_schemas(true), n.nspname)) AS o(n)
     LEFT JOIN pg_catalog.pg_partitioned_table AS p ON (p.partrelid = c.oid)
     LEFT JOIN pg_catalog.pg_inherits AS i ON (c.oid = i.inhparent)
   WHERE c.relname = 'pgbench_accounts' AND o.n IS NOT NULL GROUP BY 1, 2 ORDER BY 1 ASC LIMIT 1`,
  "copy pgbench_accounts from stdin with (freeze on)",
  "create table pgbench_tellers(tid int not null,bid int,tbalance int,filler char(84)) with (fillfactor=100)",
  "alter table pgbench_branches add primary key (bid)",
  "drop table if exists pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers",
  "vacuum analyze pgbench_branches",
  `SET client_min_messages TO warning; SET TIME ZONE INTERVAL '+00:00' HOUR TO MINUTE; SET DateStyle=ISO;`,
  "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ WRITE",
  "SET standard_conforming_strings = on; SET extra_float_digits = 3; SET application_name = 'x'",
  "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY, DEFERRABLE; COMMIT;",
  "DO $$ BEGIN CREATE TYPE e AS ENUM ('a'); EXCEPTION WHEN duplicate_object THEN null; END $$;",
  `ALTER TABLE "User" ALTER COLUMN "name" TYPE VARCHAR(255) USING ("name"::VARCHAR(255)), ALTER COLUMN "a" DROP DEFAULT`,
  `INSERT INTO "users" ("id", "name") VALUES (DEFAULT, $1), (DEFAULT, $2) ON CONFLICT ("id") DO UPDATE SET "name" = EXCLUDED."name" RETURNING *`,
  `SELECT * FROM current_schema()`,
  `SELECT "t".*, count(*) OVER () AS "full_count" FROM "t" WHERE "t"."a" = ANY ($1::int4[]) ORDER BY "t"."b" ASC NULLS FIRST LIMIT $2 OFFSET $3 FOR UPDATE`,
  `select quote_ident(n.nspname)::regclass, x::"regtype"::text, '{}'::jsonb @> a, a->>'b', a#>>'{c}', a ? 'd' from t`,
  `WITH RECURSIVE "t" AS (SELECT 1 AS "n" UNION ALL SELECT "n" + 1 FROM "t" WHERE "n" < 5) SELECT * FROM "t"`,
  "select set_config('lock_timeout', '5s', true), pg_advisory_lock(72707369)",
  "SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem WHERE l_shipdate >= date '1994-01-01' AND l_shipdate < date '1994-01-01' + interval '1' year AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01",
  "select extract(year from o_orderdate) as o_year, sum(case when nation = 'BRAZIL' then volume else 0 end) / sum(volume) as mkt_share from (select 1) as all_nations group by o_year",
  "select cntrycode from (select substring(c_phone from 1 for 2) as cntrycode from customer where c_acctbal > (select avg(c_acctbal) from customer) and not exists (select * from orders where o_custkey = c_custkey)) as custsale",
  "create view revenue0 (supplier_no, total_revenue) as select l_suppkey, sum(l_extendedprice) from lineitem group by l_suppkey",
  "DECLARE c1 BINARY CURSOR WITHOUT HOLD FOR SELECT * FROM t; FETCH FORWARD ALL IN c1; FETCH 10 c1; FETCH NEXT FROM c1; CLOSE c1",
  "LOCK TABLE public.t IN ACCESS SHARE MODE; TRUNCATE t RESTART IDENTITY CASCADE; ANALYZE VERBOSE t (a, b)",
  "CREATE INDEX CONCURRENTLY idx ON t USING gin (a jsonb_path_ops); CREATE INDEX ON t ((a || b) DESC)",
  "CREATE TABLE t (LIKE u INCLUDING DEFAULTS); CREATE UNLOGGED TABLE a AS TABLE b; SELECT * INTO c FROM d",
  "select year, month, day, name, value, type, key, data, text, id, user_id, action, status from t order by date",
  'select a as select, b "from", c as year from t where left(a, 1) = right(b, 1) and char_length(a) > 3',
  "GRANT ALL PRIVILEGES ON ALL TABLES IN SCHEMA public TO postgres; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO x",
  "explain (analyze, buffers off) update t set a = a + 1 where b is not distinct from 4 returning (select max(c) from u)",
];

for (const text of STATEMENTS) {
  Deno.test(`parseStatements() reads ${text.replaceAll(/\s+/g, " ").slice(0, 70)}`, () => {
    assert.ok(parseStatements(text).length > 0);
  });
}
