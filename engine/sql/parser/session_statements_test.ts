/** The trees of session statements, as {@link dump} prints them. */
import { strict as assert } from "node:assert";
import { dump } from "./dump_for_test.ts";
import { parseStatement } from "./statements.ts";

const CASES: readonly (readonly [string, string])[] = [
  [
    "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    "(begin modes=(isolation=repeatable_read readOnly=true))",
  ],
  ["START TRANSACTION READ WRITE", "(begin startTransaction=true modes=(readOnly=false))"],
  ["COMMIT AND CHAIN", "(commit chain=true)"],
  ["END", "(commit)"],
  ["ROLLBACK TO SAVEPOINT a", "(rollback_to name=a)"],
  ["RELEASE a", "(release name=a)"],
  [
    'SET LOCAL search_path TO a, "B", public',
    "(set local=true name=search_path values=[(text=a type=identifier) (text=B type=identifier) (text=public type=identifier)])",
  ],
  [
    "SET TIME ZONE INTERVAL '+00:00' HOUR TO MINUTE",
    '(set name=timezone values=[(text="+00:00" type=interval)])',
  ],
  ["SET x.y = -1.5", "(set name=x.y values=[(text=-1.5 type=number)])"],
  [
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
    "(set_transaction session=true modes=(readOnly=true))",
  ],
  ["SET NAMES 'utf8'", "(set name=client_encoding values=[(text=utf8 type=string)])"],
  ["RESET ALL", "(reset)"],
  ["SHOW TRANSACTION ISOLATION LEVEL", "(show name=transaction_isolation)"],
  ["DISCARD TEMP", "(discard target=temporary)"],
  [
    "PREPARE p (int, text) AS SELECT $1, $2",
    '(prepare name=p types=[(name=[int4]) (name=[text])] statement=(query body=(select distinct=all targets=[(expression=(parameter number=1)) (expression=(parameter number=2))])) text="SELECT $1, $2" parameterCount=2)',
  ],
  ["EXECUTE p (1, 'x')", "(execute name=p arguments=[1 'x'])"],
  ["DEALLOCATE PREPARE ALL", "(deallocate)"],
  [
    "DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT 1",
    '(declare_cursor name=c scroll=false hold=true query=(query body=(select distinct=all targets=[(expression=1)])) text="SELECT 1")',
  ],
  ["FETCH FORWARD 5 FROM c", "(fetch direction=forward count=5 name=c)"],
  ["FETCH c", "(fetch direction=forward count=1 name=c)"],
  ["MOVE BACKWARD ALL IN c", "(fetch move=true direction=backward_all count=0 name=c)"],
  ["CLOSE ALL", "(close)"],
  [
    "EXPLAIN (ANALYZE, CODE off, FORMAT json) SELECT 1",
    "(explain options=[(name=analyze) (name=code value=off) (name=format value=json)] statement=(query body=(select distinct=all targets=[(expression=1)])))",
  ],
  [
    "EXPLAIN ANALYZE VERBOSE DELETE FROM t",
    "(explain options=[(name=analyze) (name=verbose)] statement=(delete table=(name=t)))",
  ],
  ["DESCRIBE s.t", "(describe table=(schema=s name=t))"],
  [
    "COPY t (a, b) FROM STDIN WITH (FORMAT csv, HEADER, DELIMITER ';', FORCE_NULL (a), freeze on, odd 1)",
    '(copy table=(name=t) columns=[a b] direction=from endpoint=(client) options=(format=csv freeze=true delimiter=";" header=true forceNull=[a] unknown=[(name=odd value=1)]))',
  ],
  [
    `COPY (SELECT 1) TO STDOUT CSV HEADER QUOTE AS '"'`,
    '(copy query=(query body=(select distinct=all targets=[(expression=1)])) direction=to endpoint=(client) options=(format=csv header=true quote="\\""))',
  ],
  [
    "COPY t FROM '/srv/x' BINARY",
    '(copy table=(name=t) direction=from endpoint=(file path="/srv/x") options=(format=binary))',
  ],
  [
    "LOCK TABLE a, b IN ACCESS SHARE MODE NOWAIT",
    "(lock tables=[(name=a) (name=b)] mode=access_share nowait=true)",
  ],
  ["VACUUM FULL ANALYZE t", "(vacuum options=[(name=full) (name=analyze)] tables=[(table=(name=t))])"],
  [
    "VACUUM (verbose, analyze false) t (a)",
    "(vacuum options=[(name=verbose) (name=analyze value=false)] tables=[(table=(name=t) columns=[a])])",
  ],
  ["ANALYZE", "(analyze)"],
  ["NOTIFY c, 'x'", "(notify channel=c payload=x)"],
  ["UNLISTEN *", "(unlisten)"],
  ["DO LANGUAGE plpgsql $$begin end$$", '(do language=plpgsql code="begin end")'],
  ["CALL p(1)", "(call_procedure call=(call name=[p] arguments=[(value=1)]))"],
  [
    "MERGE INTO t x USING u ON a = b WHEN MATCHED AND c THEN DELETE WHEN NOT MATCHED THEN INSERT (d) VALUES (DEFAULT)",
    '(merge table=(name=t) alias=x source=(table name=(name=u)) on=(binary operator="=" left=a right=b) ' +
    "clauses=[(matched=true condition=c action=(delete)) " +
    "(action=(insert columns=[(name=d)] values=[(default)]))])",
  ],
  ["PREPARE TRANSACTION 'x'", '(unsupported feature="PREPARE TRANSACTION")'],
  ["CHECKPOINT", "(checkpoint)"],
];

for (const [text, expected] of CASES) {
  Deno.test(`parseStatement() reads ${text}`, () =>
    assert.equal(dump(parseStatement(text).statement), expected));
}
