/** Errors, result columns and parameter types of bound statements, as PostgreSQL has them. */
import assert from "node:assert/strict";
import { DatabaseError } from "../../base/errors.ts";
import { formatType } from "../../types/type_names.ts";
import { normalize } from "../parser/fingerprint.ts";
import { parseStatement } from "../parser/statements.ts";
import { environmentOf, plan } from "../planner/fixture_for_test.ts";
import { planStatement } from "../planner/plan_statement.ts";

const environment = environmentOf([
  {
    name: "dept",
    columns: ["id integer", "name text not null", "budget numeric(12,2)", "boss integer"],
    primaryKey: ["id"],
  },
  {
    name: "emp",
    columns: [
      "id integer",
      "dept_id integer",
      "name varchar(20)",
      "salary numeric(10,2)",
      "hired date",
      "active boolean default true",
    ],
    primaryKey: ["id"],
    indexes: [["dept_id", "salary"]],
  },
  {
    name: "uniq",
    columns: [
      "id bigint",
      "code text",
      "v integer",
      "g integer generated v * 2",
      "n integer identity always",
    ],
    primaryKey: ["id"],
    unique: [["code"]],
    checks: ["v > 0"],
  },
]);

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly position?: number;
  readonly hint?: string;
  readonly detail?: string;
}

function failureOf(text: string): DatabaseError {
  try {
    plan(environment, text);
  } catch (error) {
    if (error instanceof DatabaseError) return error;
    throw error;
  }
  throw new Error(`no error: ${text}`);
}

function check(text: string, expected: Failure): void {
  const error = failureOf(text);
  const got = Object.fromEntries(
    Object.entries({
      code: error.code,
      message: error.message,
      position: error.position,
      hint: error.hint,
      detail: error.detail,
    }).filter(([key, value]) => value !== undefined && (key in expected)),
  );
  assert.deepEqual(got, expected, text);
}

Deno.test("planStatement() words errors of names as PostgreSQL", () => {
  check("select nope from emp", { code: "42703", message: 'column "nope" does not exist', position: 8 });
  check("select e.nope from emp e", { code: "42703", message: "column e.nope does not exist", position: 8 });
  check("select salry from emp", {
    code: "42703",
    message: 'column "salry" does not exist',
    hint: 'Perhaps you meant to reference the column "emp.salary".',
  });
  check("select * from empp", {
    code: "42P01",
    message: 'relation "empp" does not exist',
    position: 15,
    hint: 'Did you mean "emp"?',
  });
  check("select * from s.t", { code: "42P01", message: 'relation "s.t" does not exist' });
  check("select x.id from emp e", {
    code: "42P01",
    message: 'missing FROM-clause entry for table "x"',
    position: 8,
  });
  check("select emp.id from emp e", {
    code: "42P01",
    message: 'invalid reference to FROM-clause entry for table "emp"',
    hint: 'Perhaps you meant to reference the table alias "e".',
  });
  check("select * from emp e, (select e.id) x", {
    code: "42P01",
    message: 'invalid reference to FROM-clause entry for table "e"',
    hint: 'There is an entry for table "e", but it cannot be referenced from this part of the query.',
  });
  check("select id from emp, dept", {
    code: "42702",
    message: 'column reference "id" is ambiguous',
    position: 8,
  });
  check("select * from emp e join dept e on true", {
    code: "42712",
    message: 'table name "e" specified more than once',
  });
  check("select * from emp join dept using (nope)", {
    code: "42703",
    message: 'column "nope" specified in USING clause does not exist in left table',
  });
  check("select * from (select 1) x(a, b)", {
    code: "42P10",
    message: 'table "x" has 1 columns available but 2 columns specified',
  });
  check("select ctid from emp", { code: "0A000", message: 'system column "ctid" is not supported' });
  check("select 1::nosuch", { code: "42704", message: 'type "nosuch" does not exist', position: 11 });
});

Deno.test("planStatement() words errors of grouping as PostgreSQL", () => {
  check("select name, count(*) from emp", {
    code: "42803",
    message: 'column "emp.name" must appear in the GROUP BY clause or be used in an aggregate function',
    position: 8,
  });
  check("select dept_id, (select d.name from dept d where d.id = e.id) from emp e group by dept_id", {
    code: "42803",
    message: 'subquery uses ungrouped column "e.id" from outer query',
  });
  check("select sum(sum(id)) from emp", {
    code: "42803",
    message: "aggregate function calls cannot be nested",
  });
  check("select id from emp where sum(id) > 1", {
    code: "42803",
    message: "aggregate functions are not allowed in WHERE",
    position: 26,
  });
  check("select id from emp where rank() over () > 1", {
    code: "42P20",
    message: "window functions are not allowed in WHERE",
  });
  check("select count(*) from emp group by 2", {
    code: "42P10",
    message: "GROUP BY position 2 is not in select list",
  });
  check("select id from emp order by 5", {
    code: "42P10",
    message: "ORDER BY position 5 is not in select list",
  });
  check("select distinct id from emp order by name", {
    code: "42P10",
    message: "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
  });
  check("select distinct on (id) id from emp order by name", {
    code: "42P10",
    message: "SELECT DISTINCT ON expressions must match initial ORDER BY expressions",
  });
});

Deno.test("planStatement() allows columns that the grouped primary key determines", () => {
  const planned = plan(
    environment,
    "select d.id, d.name, count(*) from dept d join emp e on e.dept_id = d.id group by d.id",
  );
  assert.deepEqual(planned.columns.map((column) => column.name), ["id", "name", "count"]);
});

Deno.test("planStatement() words errors of types as PostgreSQL", () => {
  check("select * from emp where id = 'abc'", {
    code: "22P02",
    message: 'invalid input syntax for type integer: "abc"',
    position: 30,
  });
  check("select id from emp where name", {
    code: "42804",
    message: "argument of WHERE must be type boolean, not type character varying",
    position: 26,
  });
  check("select case when true then 1 else 'a'::text end", {
    code: "42804",
    message: "CASE types text and integer cannot be matched",
  });
  check("select id from emp union select hired from emp", {
    code: "42804",
    message: "UNION types integer and date cannot be matched",
  });
  check("select id from emp union select id, name from emp", {
    code: "42601",
    message: "each UNION query must have the same number of columns",
  });
  check("select cast(true as date)", { code: "42846", message: "cannot cast type boolean to date" });
  check("select name + 1 from emp", {
    code: "42883",
    message: "operator does not exist: character varying + integer",
  });
  check("select nofunc(id) from emp", { code: "42883", message: "function nofunc(integer) does not exist" });
  check("select (select id, name from emp)", {
    code: "42601",
    message: "subquery must return only one column",
  });
  check("select id from emp where id in (select id, name from emp)", {
    code: "42601",
    message: "subquery has too many columns",
  });
  check("with recursive r as (select 1 as n union all select n + 1.5 from r) select * from r", {
    code: "42804",
    message: 'recursive query "r" column 1 has type integer in non-recursive term but type numeric overall',
  });
});

Deno.test("planStatement() words errors of data changes as PostgreSQL", () => {
  check("insert into dept (id, nope) values (1, 2)", {
    code: "42703",
    message: 'column "nope" of relation "dept" does not exist',
    position: 23,
  });
  check("insert into dept (id, id) values (1, 2)", {
    code: "42701",
    message: 'column "id" specified more than once',
  });
  check("insert into dept (id) values (1, 2)", {
    code: "42601",
    message: "INSERT has more expressions than target columns",
    position: 34,
  });
  check("insert into dept (id, name) values (1)", {
    code: "42601",
    message: "INSERT has more target columns than expressions",
    position: 23,
  });
  check("insert into dept (id, name) values (true, 'a')", {
    code: "42804",
    message: 'column "id" is of type integer but expression is of type boolean',
    hint: "You will need to rewrite or cast the expression.",
  });
  check("insert into uniq (id, g) values (1, 2)", {
    code: "428C9",
    message: 'cannot insert a non-DEFAULT value into column "g"',
    detail: 'Column "g" is a generated column.',
  });
  check("insert into uniq (id, n) values (1, 2)", {
    code: "428C9",
    message: 'cannot insert a non-DEFAULT value into column "n"',
    detail: 'Column "n" is an identity column defined as GENERATED ALWAYS.',
    hint: "Use OVERRIDING SYSTEM VALUE to override.",
  });
  check("update uniq set g = 1", { code: "428C9", message: 'column "g" can only be updated to DEFAULT' });
  check("update dept set boss = 1, boss = 2", {
    code: "42601",
    message: 'multiple assignments to same column "boss"',
  });
  check("insert into uniq (id, v) values (1, 1) on conflict (v) do nothing", {
    code: "42P10",
    message: "there is no unique or exclusion constraint matching the ON CONFLICT specification",
  });
  check("insert into uniq (id, v) values (1, 1) on conflict on constraint nope do nothing", {
    code: "42704",
    message: 'constraint "nope" for table "uniq" does not exist',
  });
});

Deno.test("planStatement() names result columns as PostgreSQL", () => {
  const check = (text: string, expected: readonly string[]) =>
    assert.deepEqual(plan(environment, text).columns.map((column) => column.name), expected, text);
  check("select id, id + 1, count(*) over (), upper(name), name::int, 1::text, '1'::date from emp", [
    "id",
    "?column?",
    "count",
    "upper",
    "name",
    "text",
    "date",
  ]);
  check("select case when true then 1 end, case when true then 1 else id end from emp", ["case", "id"]);
  check(
    "select coalesce(id, 1), nullif(id, 1), greatest(1, 2), array[1], row(1), exists (select 1) from emp",
    [
      "coalesce",
      "nullif",
      "greatest",
      "array",
      "row",
      "exists",
    ],
  );
  check("select (select max(id) from emp), current_date, true, extract(year from hired) from emp", [
    "max",
    "current_date",
    "?column?",
    "extract",
  ]);
  check("select * from dept natural join (select 1 as id, 2 as x) q", ["id", "name", "budget", "boss", "x"]);
  check("values (1, 2)", ["column1", "column2"]);
});

Deno.test("planStatement() infers the types of parameters", () => {
  const check = (text: string, expected: readonly string[]) =>
    assert.deepEqual(plan(environment, text).parameterTypes.map(formatType), expected, text);
  check("select * from emp where id = $1 and name = $2 and salary > $3", [
    "integer",
    "text",
    "numeric",
  ]);
  check("insert into emp (id, name, salary, hired) values ($1, $2, $3, $4)", [
    "integer",
    "character varying",
    "numeric",
    "date",
  ]);
  check("select $1", ["text"]);
  check("select $1::bigint + $2", ["bigint", "bigint"]);
  check("update emp set name = $1 where id in ($2, $3)", ["character varying", "integer", "integer"]);
  check("select * from emp limit $1 offset $2", ["bigint", "bigint"]);
  check("select id from emp where id = any($1)", ["integer[]"]);
  assert.throws(
    () => plan(environment, "select $1 is null"),
    /could not determine data type of parameter \$1/,
  );
});

Deno.test("planStatement() turns lifted literals into parameters of the literals' or the context's types", () => {
  const text = "select id from emp where id = 17 and salary > 1.50 and name = 'x' and hired < '2020-01-01'";
  const normalized = normalize(text);
  assert.ok(normalized !== null);
  const { statement } = parseStatement(text, { literals: normalized.literals });
  const planned = planStatement(statement, { ...environment, text, literals: normalized.literals });
  assert.deepEqual(planned.parameterTypes.map(formatType), [
    "integer",
    "numeric",
    "text",
    "date",
  ]);
});

Deno.test("planStatement() tells what a statement needs", () => {
  assert.equal(plan(environment, "select count(*) from emp").singleAggregate, true);
  assert.equal(plan(environment, "select count(*) + 1 from emp").singleAggregate, false);
  assert.equal(plan(environment, "select id from emp").readOnly, true);
  assert.equal(plan(environment, "select id from emp for update").readOnly, false);
  assert.equal(plan(environment, "select nextval('s')").readOnly, false);
  assert.equal(plan(environment, "delete from emp").readOnly, false);
  assert.equal(plan(environment, "select 1 from emp, dept").tableIds.length, 2);
});
