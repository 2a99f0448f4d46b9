/**
 * Operators over literals: results in PostgreSQL's notation (version 15; the native types are our own). Each case runs
 * through overload resolution and casts, and through `evaluate` and the inlined source, which must agree. Rows of a
 * set-returning function are separated by `|`, a line break is written ⏎.
 */
import { checkCases } from "./test_expression.ts";

Deno.test("resolveOperator() gives PostgreSQL's results", () => {
  checkCases(String.raw`
  '1'::integer + '2'::integer  ⇒  3
  '2147483647'::integer + '1'::integer  ⇒  ERROR 22003: integer out of range
  '2147483647'::integer + '1'::bigint  ⇒  2147483648
  '9223372036854775807'::bigint + '1'::integer  ⇒  ERROR 22003: bigint out of range
  '9223372036854775807'::bigint - '-1'::smallint  ⇒  ERROR 22003: bigint out of range
  '-9223372036854775808'::bigint / '-1'::bigint  ⇒  ERROR 22003: bigint out of range
  '9007199254740993'::bigint * '2'::bigint  ⇒  18014398509481986
  '9007199254740993'::bigint - '9007199254740992'::bigint  ⇒  1
  '3037000500'::bigint * '3037000500'::bigint  ⇒  ERROR 22003: bigint out of range
  '32767'::smallint + '1'::smallint  ⇒  ERROR 22003: smallint out of range
  '7'::integer / '2'::integer  ⇒  3
  '-7'::integer / '2'::integer  ⇒  -3
  '-7'::integer % '2'::integer  ⇒  -1
  '0'::integer * '-5'::integer  ⇒  0
  '1'::integer / '0'::integer  ⇒  ERROR 22012: division by zero
  '1'::bigint % '0'::bigint  ⇒  ERROR 22012: division by zero
  '1.5'::numeric(10,2) + '2'::integer  ⇒  3.50
  '1.5'::numeric(10,2) + '2.125'::numeric(10,3)  ⇒  3.625
  '1.5'::numeric(10,2) - '2.125'::numeric(10,3)  ⇒  -0.625
  '12345678901234.56'::numeric(16,2) * '98765432109876.54'::numeric(16,2)  ⇒  1219326311370217133348575181.2224
  '1.5'::numeric(10,2) * '2'::integer  ⇒  3.00
  '0'::numeric(10,2) * '-5'::integer  ⇒  0.00
  '10'::numeric(10,2) / '3'::integer  ⇒  3.3333333333333333
  '10'::numeric / '3'::numeric  ⇒  3.3333333333333333
  '1'::numeric / '0'::numeric  ⇒  ERROR 22012: division by zero
  '1'::numeric(5,1) / '7'::numeric(5,3)  ⇒  0.14285714285714285714
  '10.5'::numeric(10,2) % '3'::integer  ⇒  1.50
  '-10.5'::numeric % '3'::numeric  ⇒  -1.5
  '1.5'::numeric + 'NaN'::numeric  ⇒  NaN
  '2'::integer ^ '10'::integer  ⇒  1024
  '2'::numeric ^ '0.5'::numeric  ⇒  1.4142135623730950
  '2'::double precision ^ '0.5'::double precision  ⇒  1.4142135623730951
  '0'::double precision ^ '-1'::double precision  ⇒  ERROR 2201F: zero raised to a negative power is undefined
  '-8'::double precision ^ '0.5'::double precision  ⇒  ERROR 2201F: a negative number raised to a non-integer power yields a complex result
  '1e308'::double precision * '10'::double precision  ⇒  ERROR 22003: value out of range: overflow
  '1e-308'::double precision * '1e-308'::double precision  ⇒  ERROR 22003: value out of range: underflow
  '1'::double precision / '0'::double precision  ⇒  ERROR 22012: division by zero
  '1.5'::real + '1.25'::real  ⇒  2.75
  '3e38'::real * '10'::real  ⇒  ERROR 22003: value out of range: overflow
  '1.1'::real + '1'::double precision  ⇒  2.100000023841858
  '1'::integer + '1.5'::real  ⇒  2.5
  '1'::integer + '1.5'  ⇒  ERROR 22P02: invalid input syntax for type integer: "1.5"
  - '5'::integer  ⇒  -5
  - '-2147483648'::integer  ⇒  ERROR 22003: integer out of range
  - '1.50'::numeric(10,2)  ⇒  -1.50
  - '0'::double precision  ⇒  -0
  + '3'::smallint  ⇒  3
  @ '-5'::integer  ⇒  5
  @ '-5.5'::numeric  ⇒  5.5
  @ '-5.5'::double precision  ⇒  5.5
  |/ '25'::double precision  ⇒  5
  |/ '-1'::double precision  ⇒  ERROR 2201F: cannot take square root of a negative number
  '91'::integer & '15'::integer  ⇒  11
  '32'::integer | '3'::integer  ⇒  35
  '17'::integer # '5'::integer  ⇒  20
  ~ '1'::integer  ⇒  -2
  '1'::integer << '4'::integer  ⇒  16
  '8'::integer >> '2'::integer  ⇒  2
  '1'::integer << '33'::integer  ⇒  2
  '1'::bigint << '62'::integer  ⇒  4611686018427387904
  '1'::bigint << '63'::integer  ⇒  -9223372036854775808
  '-1'::bigint & '255'::bigint  ⇒  255
  '9223372036854775807'::bigint & '-2'::bigint  ⇒  9223372036854775806
  ~ '9223372036854775807'::bigint  ⇒  -9223372036854775808
  '16384'::smallint << '1'::integer  ⇒  -32768
  '1'::integer = '1'::bigint  ⇒  t
  '9007199254740993'::bigint > '9007199254740992'::bigint  ⇒  t
  '1.50'::numeric(10,2) = '1.5'::numeric(10,1)  ⇒  t
  '1.50'::numeric(10,2) = '1.5'::numeric  ⇒  t
  '1.50'::numeric(10,2) < '1.505'::numeric  ⇒  t
  '1.51'::numeric(10,2) < '1.505'::numeric  ⇒  f
  '1.505'::numeric > '1.50'::numeric(10,2)  ⇒  t
  '1.50'::numeric(10,2) >= 'NaN'::numeric  ⇒  f
  '-1.50'::numeric(10,2) > '-1.505'::numeric  ⇒  t
  '100'::numeric(10,2) > '99'::integer  ⇒  t
  '1'::integer < '1.5'::double precision  ⇒  t
  'NaN'::double precision = 'NaN'::double precision  ⇒  t
  'NaN'::double precision > 'Infinity'::double precision  ⇒  t
  'NaN'::double precision < '1'::double precision  ⇒  f
  '1'::double precision <= 'NaN'::double precision  ⇒  t
  'NaN'::double precision <> '1'::double precision  ⇒  t
  'a'::text < 'b'::text  ⇒  t
  'a'::text = 'a'  ⇒  t
  'a'::character(3) = 'a  '  ⇒  t
  'a'::character(3) = 'a '::varchar  ⇒  t
  'a'::character(3) = 'a '::text  ⇒  f
  'true'::boolean > 'false'::boolean  ⇒  t
  '2020-01-01'::date < '2020-01-02'::date  ⇒  t
  '2020-01-01'::date = '2020-01-01 00:00:00'::timestamp  ⇒  t
  '2020-01-01'::date < 'infinity'::date  ⇒  t
  '2020-01-01 00:00:00'::timestamp = '2020-01-01 00:00:00+00'::timestamptz  ⇒  t
  '1 day'::interval = '24:00:00'::interval  ⇒  t
  '1 mon'::interval > '29 days'::interval  ⇒  t
  '{1,2}'::integer[] < '{1,3}'::integer[]  ⇒  t
  '{1,2}'::integer[] = '{1,2}'  ⇒  t
  '{"a":1}'::jsonb = '{"a": 1.0}'::jsonb  ⇒  t
  '{"a":1}'::json = '{"a":1}'::json  ⇒  ERROR 42883: operator does not exist: json = json
  '\x01'::bytea < '\x02'::bytea  ⇒  t
  'a'::text || 'b'::text  ⇒  ab
  'a'::text || '1'::integer  ⇒  a1
  '1'::integer || 'a'  ⇒  1a
  'a' || 'b'  ⇒  ab
  'ab'::character(5) || 'c'  ⇒  abc
  'a'::text || 'true'::boolean  ⇒  atrue
  '\x01'::bytea || '\x02'::bytea  ⇒  \x0102
  '{1,2}'::integer[] || '3'::integer  ⇒  {1,2,3}
  '0'::integer || '{1,2}'::integer[]  ⇒  {0,1,2}
  '{1,2}'::integer[] || '{3}'  ⇒  {1,2,3}
  '{1,2}'::integer[] || '{2.5}'::numeric[]  ⇒  {1,2,2.5}
  '{"a":1}'::jsonb || '{"b":2}'  ⇒  {"a": 1, "b": 2}
  'abc'::text ~~ 'a%'  ⇒  t
  'abc'::text ~~ 'a_c'  ⇒  t
  'abc'::text !~~ 'b%'  ⇒  t
  'ABC'::text ~~* 'a%c'  ⇒  t
  'abc'::text ~ '^a.c$'  ⇒  t
  'abc'::text ~* 'B'  ⇒  t
  'abc'::text !~ 'b'  ⇒  f
  'abc'::text !~* 'B'  ⇒  f
  'abc'::text ^@ 'ab'  ⇒  t
  '2001-09-28'::date + '7'::integer  ⇒  2001-10-05
  '2001-09-28'::date + '1 hour'::interval  ⇒  2001-09-28 01:00:00
  '2001-09-28'::date + '03:00'::time  ⇒  2001-09-28 03:00:00
  '2001-10-01'::date - '2001-09-28'::date  ⇒  3
  '2001-10-01'::date - '7'::integer  ⇒  2001-09-24
  '2001-09-28'::date - '1 hour'::interval  ⇒  2001-09-27 23:00:00
  '05:00'::time - '03:00'::time  ⇒  02:00:00
  '05:00'::time - '2 hours'::interval  ⇒  03:00:00
  '23:00'::time + '2 hours'::interval  ⇒  01:00:00
  '2001-01-31'::date + '1 mon'::interval  ⇒  2001-02-28 00:00:00
  '2001-09-28 01:00'::timestamp + '23 hours'::interval  ⇒  2001-09-29 00:00:00
  '2001-09-29 03:00'::timestamp - '2001-07-27 12:00'::timestamp  ⇒  63 days 15:00:00
  '2001-09-29 03:00+00'::timestamptz - '2001-07-27'  ⇒  64 days 03:00:00
  '2001-09-29 03:00+00'::timestamptz - '1 mon'::interval  ⇒  2001-08-29 03:00:00+00
  '1 day'::interval - '1 hour'::interval  ⇒  1 day -01:00:00
  '1 day'::interval + '1 hour'::interval  ⇒  1 day 01:00:00
  - '23 hours'::interval  ⇒  -23:00:00
  '1 second'::interval * '900'::double precision  ⇒  00:15:00
  '3.5'::double precision * '1 hour'::interval  ⇒  03:30:00
  '1 hour'::interval / '1.5'::double precision  ⇒  00:40:00
  '1 hour'::interval / '0'::double precision  ⇒  ERROR 22012: division by zero
  '21'::integer * '1 day'::interval  ⇒  21 days
  '{1,4,3}'::integer[] @> '{3,1,3}'::integer[]  ⇒  t
  '{2,7}'::integer[] <@ '{1,7,4,2,6}'::integer[]  ⇒  t
  '{1,4,3}'::integer[] && '{2,1}'::integer[]  ⇒  t
  '{1,NULL}'::integer[] @> '{NULL}'::integer[]  ⇒  f
  '[{"a":"foo"},{"b":"bar"},{"c":"baz"}]'::json -> '2'::integer  ⇒  {"c":"baz"}
  '{"a": {"b":"foo"}}'::json -> 'a'  ⇒  {"b":"foo"}
  '[1,2,3]'::json ->> '2'::integer  ⇒  3
  '[1,2,3]'::jsonb ->> '-1'::integer  ⇒  3
  '{"a":1,"b":"x\ty"}'::json ->> 'b'  ⇒  x	y
  '{"a":null}'::json ->> 'a'  ⇒  NULL
  '{"a": {"b": ["foo","bar"]}}'::json #> '{a,b,1}'  ⇒  "bar"
  '{"a": {"b": ["foo","bar"]}}'::jsonb #>> '{a,b,1}'  ⇒  bar
  ' {"a" : {"b": [1, 2 ] } } '::json #> '{a,b}'  ⇒  [1, 2 ]
  '{"a":1, "b":2}'::jsonb @> '{"b":2}'  ⇒  t
  '{"b":2}'::jsonb <@ '{"a":1, "b":2}'  ⇒  t
  '{"a":1, "b":2}'::jsonb ? 'b'  ⇒  t
  '{"a":1, "b":2, "c":3}'::jsonb ?| '{b,d}'::text[]  ⇒  t
  '["a", "b", "c"]'::jsonb ?& '{a,b}'::text[]  ⇒  t
  '["a", "b"]'::jsonb || '["a", "d"]'  ⇒  ["a", "b", "a", "d"]
  '{"a": "b"}'::jsonb || '42'  ⇒  [{"a": "b"}, 42]
  '{"a": "b", "c": "d"}'::jsonb - 'a'  ⇒  {"c": "d"}
  '["a", "b"]'::jsonb - '-1'::integer  ⇒  ["a"]
  '{"a": "b", "c": "d"}'::jsonb - '{a,c}'::text[]  ⇒  {}
  '["a", {"b":1}]'::jsonb #- '{1,b}'  ⇒  ["a", {}]
  '1'::integer + 'x'::text  ⇒  ERROR 42883: operator does not exist: integer + text
  '1'::integer + '2020-01-01'::timestamp  ⇒  ERROR 42883: operator does not exist: integer + timestamp without time zone
  - 'x'::text  ⇒  ERROR 42883: operator does not exist: - text
  '{1}'::integer[] + '1'::integer  ⇒  ERROR 42883: operator does not exist: integer[] + integer
  '1'::smallint + '1'::integer  ⇒  2
  '1'::smallint + '1.5'::numeric  ⇒  2.5
  '5'::integer = '5'::text  ⇒  ERROR 42883: operator does not exist: integer = text
  '5'::integer = '5'  ⇒  t
  '2020-01-01'::date = '2020-01-01'  ⇒  t
  'abc'::varchar = 'abc'::text  ⇒  t
  'abc'::varchar || 'x'  ⇒  abcx
  '1 day' + '2020-01-01'::date  ⇒  ERROR 42725: operator is not unique: unknown + date
  '2020-01-01'::date + '1 day'  ⇒  ERROR 42725: operator is not unique: date + unknown
  '1'::real = '1'::double precision  ⇒  t
  '0.1'::real = '0.1'::double precision  ⇒  f
  '-5'::integer / '0'::integer  ⇒  ERROR 22012: division by zero
  '1'::smallint / '0'::smallint  ⇒  ERROR 22012: division by zero
  'a' = 'b'  ⇒  f
  '1' + '2'  ⇒  ERROR 42725: operator is not unique: unknown + unknown
  '{"a":1}'::jsonb - 'a'  ⇒  {}
  '{"a":1}'::json -> '0'::integer  ⇒  NULL
  '[1]'::jsonb -> 'a'  ⇒  NULL
  'a'::name || 'b'  ⇒  ab
  'a'::name = 'a'::text  ⇒  t
  'a'::"char" = 'a'  ⇒  t
  '5'::u8 + '250'::u8  ⇒  255
  '18446744073709551615'::u64 + '1'::integer  ⇒  18446744073709551616
  '4294967295'::u32 + '1'::integer  ⇒  4294967296
  '4294967295'::u32 = '4294967295'::bigint  ⇒  t
  'a'::text = 'b'::character(3)  ⇒  f
  '3'::integer ~ '1'::integer  ⇒  ERROR 42883: operator does not exist: integer ~ integer
  '1 day'::interval * '2'::integer  ⇒  2 days
  '1 day'::interval * '1.5'::numeric  ⇒  1 day 12:00:00
  '12:00'::time + '12:00'::time  ⇒  ERROR 42725: operator is not unique: time without time zone + time without time zone
  '2020-01-01'::date - '1'  ⇒  ERROR 22007: invalid input syntax for type date: "1"
  '2020-01-01'::timestamp - '2019-01-01'::date  ⇒  365 days
  '2020-01-01'::timestamptz > '2019-01-01'::date  ⇒  t
  '5'::numeric(10,2) > '4.5'::double precision  ⇒  t
  '5'::numeric(10,2) + '4.5'::double precision  ⇒  9.5
  '5'::numeric(10,2) + '4.5'::real  ⇒  9.5
  'a'::text > 'a'::name  ⇒  f
  '{a,b}'::text[] = '{a,b}'::varchar[]  ⇒  ERROR 42883: operator does not exist: text[] = character varying[]
  '{a,b}'::text[] || 'c'  ⇒  ERROR 22P02: malformed array literal: "c"
  '{a,b}'::text[] || '{c}'  ⇒  {a,b,c}
  'c' || '{a,b}'::text[]  ⇒  ERROR 22P02: malformed array literal: "c"
  '{1,2}'::integer[] @> '{1}'  ⇒  t
  '{a}'::text[] && '{a,b}'  ⇒  t
  '{"a":1}'::jsonb #> '{a}'  ⇒  1
  '{"a":1}'::jsonb ?| '{a}'  ⇒  t
  '{"a":[1,2]}'::jsonb @> '{"a":[1]}'::jsonb  ⇒  t
  '[1,2,3]'::jsonb - '1'  ⇒  [1, 2, 3]
  '[1,2,3]'::jsonb - '1'::integer  ⇒  [1, 3]
  '10'::numeric(4,2) / '4'::numeric(4,2)  ⇒  2.5000000000000000
  '10'::bigint / '4'::numeric(4,2)  ⇒  2.5000000000000000
  `);
});
