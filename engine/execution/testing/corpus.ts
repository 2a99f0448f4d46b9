/**
 * Queries that reach every operator and expression form, over three small tables with NULLs, duplicates, big integers,
 * NaN and texts beyond the Basic Multilingual Plane.
 */
import type { StoredValue } from "../../operations/effect.ts";
import { TestDatabase } from "./fixture.ts";
import { SeededRandom } from "./seeded_random.ts";

function sometimes(
  nullChance: number,
  make: (random: SeededRandom) => StoredValue,
): (random: SeededRandom) => StoredValue {
  return (random) => random.chance(nullChance) ? null : make(random);
}

function smallOrBig(random: SeededRandom): StoredValue {
  return random.chance(0.2) ? 9007199254740993n + BigInt(random.below(4)) : random.below(5);
}

const texts = ["x", "yy", "äö", "", "longer text that is not short", "\u{1F600}", "\uFFFD"];

/** The tables `t`, `u` and the empty `e`. */
export function corpusDatabase(seed: number, count = 50): TestDatabase {
  const random = new SeededRandom(seed);
  return new TestDatabase([
    {
      name: "t",
      columns: [
        "id i64",
        "a integer",
        "b bigint",
        "s text",
        "d numeric(10,2)",
        "f double precision",
        "ok boolean",
        "n numeric",
        "day date",
        "at timestamp",
      ],
      primaryKey: ["id"],
      indexes: [["a"], ["s", "a"]],
      count,
      make: {
        a: sometimes(0.1, (random) => random.below(8)),
        b: sometimes(0.1, smallOrBig),
        s: sometimes(0.1, (random) => random.pick(texts)),
        d: sometimes(0.1, (random) => random.below(1000) - 500),
        f: sometimes(0.1, (random) => random.pick([1.5, NaN, -0, 0, Infinity, 2])),
        ok: sometimes(0.2, (random) => random.below(2)),
        day: sometimes(0.1, (random) => random.below(10)),
        at: sometimes(0.1, (random) => random.below(10) * 86_400_000_000),
      },
    },
    {
      name: "u",
      columns: ["id i64", "a integer", "s text", "big bigint"],
      primaryKey: ["id"],
      indexes: [["a"]],
      count: Math.ceil(count / 2),
      make: {
        a: sometimes(0.1, (random) => random.below(10)),
        s: sometimes(0.2, (random) => random.pick(["x", "yy", "zz", "äö"])),
        big: sometimes(0.2, smallOrBig),
      },
    },
    { name: "e", columns: ["id i64", "a integer", "s text"], primaryKey: ["id"], count: 0, make: {} },
  ], random);
}

/** One query a line. */
export const corpus: readonly string[] = `
select * from t
select id, a + 1, b, s || '!' from t where a > 3
select id from t where s = 'x' or a = 2 and not ok
select id from t where s like '%o%'
select id from t where s not like '%o%'
select id from t where s like 'longer%not%short'
select id from t where s like '_y' or s like 'ä%' or s not like '%'
select t.id, u.id from t join u on t.s like '%y%' and u.s not like 'x%' where t.id = u.id
select id from t where s in ('x','yy') and f > 1
select id from t where day > '2000-01-02' and d < 2 and day <= '2000-01-07' and d > -4
select id from t where a in (1, 3, 5) and not ok
select id from t where a not in (1, 3) and ok is not null
select id from t where not (a > 3 or ok) and day >= '2000-01-03'
select id from t where (a = 1 or a = 4 and ok or d > 2.5) and at is not null
select id from t where not (a = 1 and d > 0) and not (ok is null)
select id from t where a not in (1, null) or not ok
select id from t where s in ('x', 'yy') and d between -3 and 4
select id, f from t where not (s like '%y%' or s is null) and f >= 1.5 and f <> 0
select id from t where day <> '2000-01-03' and b > 1 and d * 2 < a and s <> 'x'
select id from t where a <> 3 and 10 / (a - 3) > 0 and ok
select id from t where ok limit 3
select id from t where not (0 not in (0, 1))
select id from t where 1 in (0, 2) or ok is null
select id from t where a in (1,2,3,4,5,null)
select id from t where a not in (1,2,3,4,5,7)
select id from t where a not in (1,2,null)
select id, case when a > 3 then 'big' when a is null then null else s end from t
select id, coalesce(s, a::text, 'none'), nullif(a, 3), greatest(a, 4, id), least(f, 1.5) from t
select id, ok and a > 3, ok or a > 3, not ok, (a > 3) is true, (a > 3) is not false, ok is unknown from t
select id, a is distinct from 3, s is not distinct from 'x' from t
select id from t order by s, id
select id, s from t order by s desc nulls last, id desc
select id, b from t order by b, id
select id, f from t order by f desc, id
select a, b, s from t order by a nulls first, b desc, s, id limit 7
select id from t order by id limit 5 offset 3
select id from t limit 4
select id from t offset 45
select id from t order by a fetch first 3 rows with ties
select distinct a from t
select distinct s, a from t
select distinct on (a) a, id from t order by a, id desc
select count(*) from t
select count(*) from e
select count(*), count(a), sum(a), avg(a), min(s), max(s), sum(b), sum(d), avg(d), sum(f), min(f), max(b) from t
select count(*), sum(a), max(s) from t where a > 100
select s, sum(d), avg(d), count(*), count(d), count(id), sum(d * (1 - d)), avg(d * (1 - d)), sum(id * 2 - a), avg(id), sum(id) from t group by s
select sum(d), avg(d), count(*), count(d), count(id), sum(d * (1 - d) * (1 + d)), avg(d * (1 - d)), sum(id * 2 - a), avg(id), sum(id) from t
select a * 2 - 7, 3 - d, d * d, d * 0, 0 - a, id * id + a, (a + 1) * d from t
select a, count(*), sum(b), min(s) from t group by a order by a
select s, count(*) from t group by s
select s, ok, count(*), sum(d) from t group by s, ok
select b, count(*) from t group by b
select f, count(*) from t group by f
select a + 1, count(*) from t group by a + 1 having count(*) > 2
select d, ok, a from t group by d, ok, a
select a, s, count(*), grouping(a, s) from t group by rollup (a, s)
select a, s, count(*), grouping(a), grouping(s) from t group by cube (a, s)
select a, s, count(*) from t group by grouping sets ((a), (s), ())
select s, count(distinct a), sum(distinct a), count(distinct b) from t group by s
select count(distinct s), string_agg(distinct s, ',') from t
select a, count(distinct f), count(distinct d), count(distinct n), count(distinct ok), count(distinct day), sum(distinct d) from t group by a
select count(distinct b), count(distinct (a, s)), count(distinct id) filter (where ok), count(distinct f) from t
select s, count(distinct s), count(distinct t.a + 1), count(distinct u.s) from t join u using (s) group by s
select t.id, (select count(distinct u.s) from u where u.a > t.a) from t
select id, s, d, ok, b, sum(a), count(distinct a) from t group by id, s, d, ok, b
select s, id + 1, id, length(s), count(*) from t group by s, id, length(s), id + 1
select t.id, t.s, u.id, u.s, u.big, count(*) from t left join u on t.a = u.id and u.s <> 'x' group by t.id, t.s, u.id, u.s, u.big
select t.a, u.id, u.s, u.big, count(*) from t join u on t.a::bigint = u.id group by t.a, u.id, u.s, u.big
select t.b, u.id, u.s, count(*) from t join u on t.b = u.id group by t.b, u.id, u.s
select t.id, t.s, u.id, u.s, count(*) from t full join u on t.id = u.id group by t.id, t.s, u.id, u.s
select a, string_agg(s, ',' order by id) from t group by a
select a, array_agg(s order by s desc, id) from t group by a
select array_agg(id order by b, id) filter (where a > 2) from t
select s, jsonb_agg(a order by id), json_object_agg(id, day order by id) from t group by s
select a, count(*) filter (where ok), sum(b) filter (where s = 'x') from t group by a
select array_agg(a order by id) from e
select bool_and(ok), bool_or(ok) from t
select t.id, u.id from t join u on t.a = u.a
select t.id, u.id from t join u on t.a = u.a and t.s < u.s
select t.id, u.id, u.s from t left join u on t.a = u.a and u.s <> 'x'
select t.id, u.id from t right join u on t.a = u.a and t.ok
select t.id, u.id from t full join u on t.a = u.a and t.id > u.id
select t.id, u.id from t join u on t.s = u.s
select t.id, u.id from t full join u on t.s = u.s and t.a = u.a
select t.id, u.id from t join u on t.b = u.big
select t.id, u.id from t left join u on t.b = u.big
select t.id, u.id from t, u where t.a < u.a and u.id < 5
select t.id, u.id from t left join u on t.a < u.a and u.id < 5
select t.id, u.id from t right join u on t.a < u.a and t.id < 5
select t.id, u.id from t full join u on t.a < u.a and t.id < 5
select t.id, e.id from t left join e on t.a = e.a
select t.id, e.id from t full join e on t.a < e.a
select count(*) from t, u, t t2 where t.a = u.a and u.id = t2.id
select t.id from t where exists (select 1 from u where u.a = t.a)
select t.id from t where not exists (select 1 from u where u.a = t.a and u.s = t.s)
select t.id from t where t.a in (select a from u)
select t.id from t where t.a not in (select a from u)
select t.id from t where t.a not in (select a from u where a is not null)
select t.id from t where t.a not in (select a from e)
select t.id, t.a in (select a from u where a > 3) from t
select t.id, t.a = any (select u.a from u where u.s = t.s) from t
select t.id, t.a < all (select u.a from u where u.s = t.s) from t
select t.id, t.a <> all (select u.a from u) from t
select t.id, (t.a, t.s) in (select a, s from u) from t
select t.id, (select max(u.id) from u where u.a = t.a) from t
select t.id, (select count(*) from u where u.a < t.a) from t
select t.id, (select max(id) from u) from t where a > (select avg(a) from u)
select t.id, (select u.s from u where u.id = t.a) from t
select t.id, array(select u.id from u where u.a = t.a order by u.id desc) from t
select t.id, exists (select 1 from u where u.s = t.s) from t
select t.id, (select string_agg(u.s, ',' order by u.id) from u where u.a = t.a) from t
select * from (select a, count(*) c from t group by a) x where c > 3
select x.a, y.c from (select distinct a from t) x left join (select a, count(*) c from u group by a) y on x.a = y.a
select t.id, l.id from t, lateral (select u.id from u where u.a = t.a order by u.id limit 2) l
select t.id, l.id from t left join lateral (select u.id from u where u.a = t.a order by u.id desc limit 1) l on true
select t.id, l.c from t, lateral (select count(*) c from u where u.a = t.a) l
select t.id, l.s, l.c from t left join lateral (select u.s, count(*) c from u where u.a >= t.a group by u.s having count(*) > 1) l on l.c > 2
select t.id, l.x from t, lateral (select u.s x from u where u.a = t.a union select t.s) l
select t.id, l.x from t, lateral (select distinct u.s x from u where u.a > t.a) l
select a from t union select a from u
select a from t union all select a from u
select a, s from t intersect select a, s from u
select a from t intersect all select a from u
select a, s from t except select a, s from u
select a from t except all select a from u
select s from t union select s from u order by 1
values (1, 'a'), (2, null), (3, 'c')
select 1 + 1, 'x', null
select * from generate_series(1, 5)
select id, generate_series(1, a) from t where id < 10
select id, generate_series(1, 2), generate_series(1, 3) from t where id < 3
select * from generate_series(1, 3) with ordinality
select t.id, g from t, generate_series(1, t.a) g where t.id < 20
with c as (select a, count(*) n from t group by a) select c1.a, c2.n from c c1 join c c2 on c1.a = c2.a
with c as materialized (select a, s from t where a > 2) select * from c where s = 'x'
with c as materialized (select a, s from t where a > 2) select t.id, (select count(*) from c where c.a = t.a) from t
with recursive r(n) as (select 1 union all select n + 1 from r where n < 10) select * from r
with recursive r(n) as (select 1 union select (n * 2) % 7 from r) select * from r
with recursive r(i, p) as (select id, a from u where id = 1 union all select u.id, u.a from u join r on u.a = r.i where u.id <= 20 and r.i < 9 and u.id > r.i) select * from r
with recursive r(n) as (select 1 union all select n + 1 from r where n < 4) select t.id, (select sum(n) from r where n < t.a) from t
select t.id, (with c as materialized (select u.id from u where u.a = t.a) select count(*) from c c1, c c2) from t
select t.id, (with recursive r(n) as (select 1 union all select n + 1 from r where n < t.a) select sum(n) from r) from t
select id, row_number() over (order by a, id) from t
select id, rank() over w, dense_rank() over w, percent_rank() over w, cume_dist() over w from t window w as (partition by ok order by a)
select id, ntile(3) over (partition by s order by id), lag(id) over (partition by s order by id), lead(id, 2, -1) over (order by id) from t
select id, sum(a) over (order by id), sum(b) over (partition by s order by id), count(*) over () from t
select id, sum(a) over (order by id rows between 2 preceding and 1 following) from t
select id, sum(a) over (order by a range between 2 preceding and 1 following) from t
select id, sum(a) over (order by a desc range between 1 preceding and current row) from t
select id, count(*) over (order by a groups between 1 preceding and 1 following exclude ties) from t
select id, first_value(s) over w, last_value(s) over w, nth_value(s, 2) over w from t window w as (partition by a order by id rows between unbounded preceding and unbounded following exclude current row)
select id, array_agg(id) over (partition by a order by id) from t
select id, sum(count(*)) over (order by a, id) from t group by a, id
select id, max(s) over (order by id rows between 3 preceding and 2 preceding) from t
select id from t where a between 2 and 5 and d between -100 and 100.5
select id, a::numeric / 3, d * 2, d / 3, round(d, 1), b + 1, -a, abs(a - 4), a % 3, f * 2 from t
select id, s::varchar(2), a::text, d::int, upper(s), length(s), substr(s, 2) from t
select id, substr(s, 1, 1), substring(s from 2 for 2), left(s, 3), left(s, -1), left(s, 0) from t
select id, substring(s from -1 for 3), substr(s, 3, 0), substr(s, 1, 64), left(s, null), substr(s, 2147483647, 2) from t
select substring(s from 1 for 2), count(*), max(s) from t where left(s, 2) in ('lo', 'x', 'ä', 'äö', '') group by 1
select id, array[a, 1, id], (array[a, 5])[1], row(a, s) from t
select id, a = any (array[1, 2, a]), a = any ('{1,2,3}'::int[]), 3 = all (array[a, 3]) from t
select id from t where id = 7
select id, s from t where id in (3, 5, 5, 999)
select count(*) from t where s is null
select id from t where s is not null and s <> 'x'
select id, day + 1, at + interval '1 day', day < date '2000-01-05' from t
select day, count(*) from t group by day
select id, at from t order by at desc, id limit 5
select sum(id) from t where d + 1 > 0 and f < 2
select t.id, x.id from t join t x on t.d = x.d and t.day = x.day
select distinct ok, day, at from t
select t.id, x.id from t join t x on t.f = x.f
select s, sum(a) from t group by s having sum(a) > (select avg(a) from u) order by 2, 1
select max(id), s from (select id, s from t order by id limit 20) q group by s
select id from t where (select count(*) from u where u.a = t.a) > 1 order by id desc limit 3
select id, (select id from u where u.a = t.a order by id limit 1 offset 1) from t
select id from t t1 where exists (select 1 from u where exists (select 1 from t t2 where t2.a = u.a and t2.id < t1.id))
select coalesce((select s from u where id = 1000), 'none')
select (select count(*) from e), exists (select 1 from e), array(select id from e)
select id, string_agg(s, '-') over (order by id) from t
select id, - '-0'::double precision from t where (- '-0'::double precision) = f
select a, max(case when ok then s end), sum(case when ok then a else 0 end) from t group by a
select count(*) from (select 1 from t limit 7) x
select * from (select a from t union all select id from u) x where a > 3
select * from (values (1,'a'),(2,'b')) v(i, j) join t on t.a = v.i
`.trim().split("\n");
