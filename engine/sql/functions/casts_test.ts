/**
 * Casts over literals: results in PostgreSQL's notation (version 15; the native types are our own). Each case runs
 * through overload resolution and casts, and through `evaluate` and the inlined source, which must agree. Rows of a
 * set-returning function are separated by `|`, a line break is written ⏎.
 */
import { checkCases } from "./test_expression.ts";

Deno.test("findCast() converts as PostgreSQL", () => {
  checkCases(String.raw`
  '42'::text :: integer  ⇒  42
  'abc'::text :: integer  ⇒  ERROR 22P02: invalid input syntax for type integer: "abc"
  '1.5'::numeric :: integer  ⇒  2
  '2.5'::numeric :: integer  ⇒  3
  '-2.5'::numeric(5,1) :: integer  ⇒  -3
  '2.5'::double precision :: integer  ⇒  2
  '3.5'::double precision :: integer  ⇒  4
  '1e10'::double precision :: integer  ⇒  ERROR 22003: integer out of range
  'NaN'::double precision :: integer  ⇒  ERROR 22003: integer out of range
  'NaN'::numeric :: integer  ⇒  ERROR 0A000: cannot convert NaN to integer
  '123.456'::numeric :: numeric(5,2)  ⇒  123.46
  '123.456'::numeric(10,3) :: numeric(5,1)  ⇒  123.5
  '99999.9'::numeric(10,1) :: numeric(4,0)  ⇒  ERROR 22003: numeric field overflow
  '1234.5'::numeric :: numeric(4,2)  ⇒  ERROR 22003: numeric field overflow
  '5'::integer :: numeric(4,2)  ⇒  5.00
  '500'::integer :: numeric(4,2)  ⇒  ERROR 22003: numeric field overflow
  '5'::integer :: numeric  ⇒  5
  '12.30'::numeric(10,2) :: numeric  ⇒  12.30
  '12.30'::numeric(10,2) :: text  ⇒  12.30
  '12.30'::numeric(10,2) :: double precision  ⇒  12.3
  '0.1'::real :: numeric  ⇒  0.1
  '0.1'::double precision :: numeric  ⇒  0.1
  '0.1'::real :: double precision  ⇒  0.10000000149011612
  '1e300'::double precision :: real  ⇒  ERROR 22003: value out of range: overflow
  '1e300'::numeric :: real  ⇒  ERROR 22003: "1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" is out of range for type real
  'true'::boolean :: integer  ⇒  1
  '0'::integer :: boolean  ⇒  f
  'true'::boolean :: text  ⇒  true
  '32768'::integer :: smallint  ⇒  ERROR 22003: smallint out of range
  '2147483648'::bigint :: integer  ⇒  ERROR 22003: integer out of range
  '70000'::integer :: text  ⇒  70000
  'abcdef'::text :: varchar(3)  ⇒  abc
  'abcdef'::text :: character(3)  ⇒  abc
  'ab'::text :: character(4)  ⇒  ab
  'ab '::character(4) :: text  ⇒  ab
  '12345'::integer :: varchar(3)  ⇒  123
  '2020-01-01'::date :: timestamp  ⇒  2020-01-01 00:00:00
  '2020-01-01 12:34:56.789'::timestamp :: date  ⇒  2020-01-01
  '2020-01-01 12:34:56.789'::timestamp :: time  ⇒  12:34:56.789
  '2020-01-01 12:34:56.789'::timestamp :: timestamp(1)  ⇒  2020-01-01 12:34:56.8
  '2020-01-01 12:34:56.789+00'::timestamptz :: date  ⇒  2020-01-01
  '2020-01-01 12:34:56'::timestamp :: timestamptz  ⇒  2020-01-01 12:34:56+00
  '12:34:56'::time :: interval  ⇒  12:34:56
  '25 hours'::interval :: time  ⇒  01:00:00
  '{1,2,3}'::integer[] :: text[]  ⇒  {1,2,3}
  '{1.5,2.5}'::numeric[] :: integer[]  ⇒  {2,3}
  '{"a":1}'::text :: jsonb  ⇒  {"a": 1}
  '{"b":1, "a":2}'::json :: jsonb  ⇒  {"a": 2, "b": 1}
  '{"b":1}'::jsonb :: json  ⇒  {"b": 1}
  '1.5'::jsonb :: numeric  ⇒  1.5
  '1.5'::jsonb :: integer  ⇒  2
  '"x"'::jsonb :: integer  ⇒  ERROR 22023: cannot cast jsonb string to type integer
  'true'::jsonb :: boolean  ⇒  t
  'abc' :: integer  ⇒  ERROR 22P02: invalid input syntax for type integer: "abc"
  '1,2' :: integer[]  ⇒  ERROR 22P02: malformed array literal: "1,2"
  '{1,2}' :: integer[]  ⇒  {1,2}
  'infinity'::date :: timestamp  ⇒  infinity
  '1'::text :: boolean  ⇒  t
  '1'::bigint :: oid  ⇒  1
  '-1'::bigint :: oid  ⇒  ERROR 22003: OID out of range
  '\x61'::bytea :: text  ⇒  \x61
  '300'::integer :: u8  ⇒  ERROR 22003: u8 out of range
  '-1'::i8 :: u64  ⇒  ERROR 22003: u64 out of range
  '18446744073709551615'::u64 :: numeric  ⇒  18446744073709551615
  '127'::i8 :: u8  ⇒  127
  '1e400'::numeric :: double precision  ⇒  ERROR 22003: "10000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" is out of range for type double precision
  'abc'::text :: bytea  ⇒  \x616263
  '2020-01-01'::text :: date  ⇒  2020-01-01
  '12:00'::text :: time  ⇒  12:00:00
  'true'::text :: boolean  ⇒  t
  '{1,2}'::text :: integer[]  ⇒  {1,2}
  '{"a":1}'::text :: json  ⇒  {"a":1}
  'abcd'::name :: varchar(2)  ⇒  ab
  'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::text :: uuid  ⇒  a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11
  '1'::integer :: bigint  ⇒  1
  '1'::integer :: real  ⇒  1
  '3000000000'::bigint :: real  ⇒  3e+09
  '1.23456789012345678'::numeric :: real  ⇒  1.2345679
  '1 day'::interval :: text  ⇒  1 day
  '12:00'::time :: text  ⇒  12:00:00
  '5'::"char" :: integer  ⇒  53
  '65'::integer :: "char"  ⇒  A
  `);
});
