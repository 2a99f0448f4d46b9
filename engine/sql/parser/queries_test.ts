/** The trees of queries and data changes, as {@link dump} prints them. */
import { strict as assert } from "node:assert";
import { dump } from "./dump_for_test.ts";
import { parseStatement } from "./statements.ts";

const CASES: readonly (readonly [string, string])[] = [
  ["SELECT", "(query body=(select distinct=all))"],
  [
    "SELECT 1 AS one, t.*, * FROM s.t AS x (a, b) WHERE a = 1",
    '(query body=(select distinct=all targets=[(expression=1 alias=one) (expression=(star qualifier=[t])) (expression=(star))] from=[(table name=(schema=s name=t) alias=(name=x columns=[a b]))] where=(binary operator="=" left=a right=1)))',
  ],
  [
    "SELECT DISTINCT ON (a) a FROM t ORDER BY a DESC NULLS LAST LIMIT 5 OFFSET 2",
    "(query body=(select distinct=on distinctOn=[a] targets=[(expression=a)] from=[(table name=(name=t))]) orderBy=[(expression=a descending=true nulls=last)] limit=5 offset=2)",
  ],
  [
    'SELECT a b, c "D" FROM t, LATERAL (SELECT 1) q, ROWS FROM (f(1), g(2) AS (x int)) WITH ORDINALITY AS r (p, q)',
    "(query body=(select distinct=all targets=[(expression=a alias=b) (expression=c alias=D)] from=[(table name=(name=t)) (subquery lateral=true query=(query body=(select distinct=all targets=[(expression=1)])) alias=(name=q)) (function rowsFrom=true functions=[(call=(call name=[f] arguments=[(value=1)])) (call=(call name=[g] arguments=[(value=2)]) columns=[(name=x type=(name=[int4]))])] withOrdinality=true alias=(name=r columns=[p q]))]))",
  ],
  [
    "SELECT * FROM t ID 5",
    "(query body=(select distinct=all targets=[(expression=(star))] from=[(table name=(name=t) rowId=5)]))",
  ],
  [
    "SELECT * FROM t id",
    "(query body=(select distinct=all targets=[(expression=(star))] from=[(table name=(name=t) alias=(name=id))]))",
  ],
  [
    "SELECT * FROM t id (a, b)",
    "(query body=(select distinct=all targets=[(expression=(star))] from=[(table name=(name=t) alias=(name=id columns=[a b]))]))",
  ],
  [
    "SELECT * FROM t ID (1 + $1) AS x",
    '(query body=(select distinct=all targets=[(expression=(star))] from=[(table name=(name=t) alias=(name=x) rowId=(binary operator="+" left=1 right=(parameter number=1)))]))',
  ],
  [
    "SELECT * FROM t x ID -3",
    "(query body=(select distinct=all targets=[(expression=(star))] from=[(table name=(name=t) alias=(name=x) rowId=-3)]))",
  ],
  [
    "SELECT * FROM a JOIN b ON x = y LEFT OUTER JOIN c USING (k) CROSS JOIN d NATURAL JOIN e",
    '(query body=(select distinct=all targets=[(expression=(star))] from=[(join type=inner natural=true left=(join type=cross left=(join type=left left=(join type=inner left=(table name=(name=a)) right=(table name=(name=b)) on=(binary operator="=" left=x right=y)) right=(table name=(name=c)) using=[k]) right=(table name=(name=d))) right=(table name=(name=e)))]))',
  ],
  [
    "SELECT * FROM a JOIN b JOIN c ON p ON q",
    "(query body=(select distinct=all targets=[(expression=(star))] from=[(join type=inner left=(table name=(name=a)) right=(join type=inner left=(table name=(name=b)) right=(table name=(name=c)) on=p) on=q)]))",
  ],
  [
    "SELECT * FROM ((a JOIN b ON true) JOIN c ON true) AS j",
    "(query body=(select distinct=all targets=[(expression=(star))] from=[(join type=inner left=(join type=inner left=(table name=(name=a)) right=(table name=(name=b)) on=true) right=(table name=(name=c)) on=true alias=(name=j))]))",
  ],
  [
    "SELECT * FROM ((SELECT 1) UNION SELECT 2) x",
    "(query body=(select distinct=all targets=[(expression=(star))] from=[(subquery query=(query body=(set_operation operator=union left=(select distinct=all targets=[(expression=1)]) right=(select distinct=all targets=[(expression=2)]))) alias=(name=x))]))",
  ],
  [
    "SELECT * FROM ((SELECT 1) x CROSS JOIN y)",
    "(query body=(select distinct=all targets=[(expression=(star))] from=[(join type=cross left=(subquery query=(query body=(select distinct=all targets=[(expression=1)])) alias=(name=x)) right=(table name=(name=y)))]))",
  ],
  [
    "SELECT * FROM generate_series(1, 3) WITH ORDINALITY g(a, b), current_schema() s",
    "(query body=(select distinct=all targets=[(expression=(star))] from=[(function functions=[(call=(call name=[generate_series] arguments=[(value=1) (value=3)]))] withOrdinality=true alias=(name=g columns=[a b])) (function functions=[(call=(call name=[current_schema]))] alias=(name=s))]))",
  ],
  [
    "SELECT count(*), sum(DISTINCT a ORDER BY b) FILTER (WHERE c), f(VARIADIC d), g(x => 1) FROM t",
    "(query body=(select distinct=all targets=[(expression=(call star=true name=[count])) (expression=(call distinct=true orderBy=[(expression=b)] filter=c name=[sum] arguments=[(value=a)])) (expression=(call variadic=true name=[f] arguments=[(value=d)])) (expression=(call name=[g] arguments=[(name=x value=1)]))] from=[(table name=(name=t))]))",
  ],
  [
    "SELECT rank() OVER w, sum(a) OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM t WINDOW w AS (ORDER BY a)",
    "(query body=(select distinct=all targets=[(expression=(call over=(name=w) name=[rank])) (expression=(call over=(partitionBy=[b] orderBy=[(expression=c)] frame=(mode=rows start=(preceding offset=1) end=(current_row) exclude=ties)) name=[sum] arguments=[(value=a)]))] from=[(table name=(name=t))] windows=[(name=w specification=(orderBy=[(expression=a)]))]))",
  ],
  [
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM t",
    "(query body=(select distinct=all targets=[(expression=(call orderBy=[(expression=a)] withinGroup=true name=[percentile_cont] arguments=[(value=0.5)]))] from=[(table name=(name=t))]))",
  ],
  [
    "SELECT a FROM t GROUP BY 1, ROLLUP (a, b), GROUPING SETS ((a), CUBE (b), ()) HAVING count(*) > 1",
    '(query body=(select distinct=all targets=[(expression=a)] from=[(table name=(name=t))] groupBy=[(expression expression=1) (rollup items=[a b]) (sets sets=[(expression expression=a) (cube items=[b]) (empty)])] having=(binary operator=">" left=(call star=true name=[count]) right=1)))',
  ],
  [
    "SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 3 ORDER BY 1",
    "(query body=(set_operation operator=union all=true left=(select distinct=all targets=[(expression=1)]) right=(set_operation operator=intersect left=(select distinct=all targets=[(expression=2)]) right=(select distinct=all targets=[(expression=3)]))) orderBy=[(expression=1)])",
  ],
  [
    "(SELECT 1 LIMIT 1) EXCEPT (VALUES (1), (2)) FETCH FIRST ROW ONLY",
    "(query body=(set_operation operator=except left=(query body=(select distinct=all targets=[(expression=1)]) limit=1) right=(values rows=[[1] [2]])) limit=1)",
  ],
  [
    "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r), d AS NOT MATERIALIZED (DELETE FROM t RETURNING *) TABLE r",
    '(query with=(recursive=true items=[(name=r columns=[n] statement=(query body=(set_operation operator=union all=true left=(select distinct=all targets=[(expression=1)]) right=(select distinct=all targets=[(expression=(binary operator="+" left=n right=1))] from=[(table name=(name=r))])))) (name=d materialized=false statement=(delete table=(name=t) returning=[(expression=(star))]))]) body=(select distinct=all targets=[(expression=(star))] from=[(table name=(name=r))]))',
  ],
  [
    "SELECT 1 FROM t FOR UPDATE OF t SKIP LOCKED",
    '(query body=(select distinct=all targets=[(expression=1)] from=[(table name=(name=t))]) locking=[(strength=update tables=[(name=t)] wait="skip locked")])',
  ],
  [
    "SELECT a INTO TEMP n FROM t",
    "(query body=(select distinct=all targets=[(expression=a)] into=(name=(name=n) persistence=temporary) from=[(table name=(name=t))]))",
  ],
  [
    "SELECT ((SELECT 1)), ((SELECT 1) + 1), ((SELECT 1), 2), (SELECT 1 UNION SELECT 2)",
    '(query body=(select distinct=all targets=[(expression=(subquery query=(query body=(select distinct=all targets=[(expression=1)])))) (expression=(binary operator="+" left=(subquery query=(query body=(select distinct=all targets=[(expression=1)]))) right=1)) (expression=(row items=[(subquery query=(query body=(select distinct=all targets=[(expression=1)]))) 2])) (expression=(subquery query=(query body=(set_operation operator=union left=(select distinct=all targets=[(expression=1)]) right=(select distinct=all targets=[(expression=2)])))))]))',
  ],
  [
    "INSERT INTO t VALUES (1, DEFAULT), (2, 'x')",
    "(insert table=(name=t) source=(query body=(values rows=[[1 (default)] [2 'x']])))",
  ],
  [
    "INSERT INTO t ID 7 (a, b) VALUES (1, 2)",
    "(insert table=(name=t) rowId=7 columns=[(name=a) (name=b)] source=(query body=(values rows=[[1 2]])))",
  ],
  [
    'INSERT INTO s.t AS x (a) OVERRIDING SYSTEM VALUE SELECT 1 ON CONFLICT (a, lower(b) COLLATE "C" text_ops) WHERE a > 0 DO UPDATE SET a = excluded.a, (b, c) = (1, DEFAULT) WHERE x.a < 3 RETURNING id, a + 1 AS n',
    '(insert table=(schema=s name=t) alias=x columns=[(name=a)] overriding=system source=(query body=(select distinct=all targets=[(expression=1)])) onConflict=(target=[(expression=a) (expression=(call name=[lower] arguments=[(value=b)]) collation=[C] operatorClass=[text_ops])] targetWhere=(binary operator=">" left=a right=0) update=(assignments=[(columns=[(name=a)] value=excluded.a) (columns=[(name=b) (name=c)] multiple=true value=(row items=[1 (default)]))] where=(binary operator="<" left=x.a right=3))) returning=[(expression=id) (expression=(binary operator="+" left=a right=1) alias=n)])',
  ],
  [
    "INSERT INTO t DEFAULT VALUES ON CONFLICT ON CONSTRAINT k DO NOTHING",
    "(insert table=(name=t) onConflict=(constraint=k))",
  ],
  [
    "UPDATE t SET a[1] = 2, (b, c) = (SELECT 1, 2) FROM u WHERE t.x = u.x RETURNING *",
    '(update table=(name=t) assignments=[(columns=[(name=a subscripts=[1])] value=2) (columns=[(name=b) (name=c)] multiple=true value=(subquery query=(query body=(select distinct=all targets=[(expression=1) (expression=2)]))))] from=[(table name=(name=u))] where=(binary operator="=" left=t.x right=u.x) returning=[(expression=(star))])',
  ],
  [
    "UPDATE t ID 7 SET a = a + 1",
    '(update table=(name=t) rowId=7 assignments=[(columns=[(name=a)] value=(binary operator="+" left=a right=1))])',
  ],
  [
    "UPDATE ONLY t AS q ID $1 SET a = DEFAULT",
    "(update table=(name=t) only=true alias=q rowId=(parameter number=1) assignments=[(columns=[(name=a)] value=(default))])",
  ],
  ["DELETE FROM t ID 9", "(delete table=(name=t) rowId=9)"],
  [
    "DELETE FROM t x USING u WHERE x.a = u.a",
    '(delete table=(name=t) alias=x using=[(table name=(name=u))] where=(binary operator="=" left=x.a right=u.a))',
  ],
];

for (const [text, expected] of CASES) {
  Deno.test(`parseStatement() reads ${text}`, () =>
    assert.equal(dump(parseStatement(text).statement), expected));
}
