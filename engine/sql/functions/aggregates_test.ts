/**
 * Aggregates over literals: results in PostgreSQL's notation (version 15), and large random inputs against a naive
 * model. A case is `name(types)  of  row / row  ⇒  result`, arguments of a row separated by `&`. Each runs with its
 * state in variables and in arrays, which must agree.
 */
import assert from "node:assert/strict";
import { DatabaseError } from "../../base/errors.ts";
import { aggregateText } from "./test_expression.ts";

const cases = String.raw`
  count(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  5
  count(integer)  of    ⇒  0
  count(integer)  of  NULL  ⇒  0
  count(integer)  of  3  ⇒  1
  count(smallint)  of  1 / 5 / NULL / -7  ⇒  3
  count(bigint)  of  9223372036854775807 / 1 / NULL  ⇒  2
  count(bigint)  of  1 / 2 / 4  ⇒  3
  count(bigint)  of  -9007199254740993 / 9007199254740992  ⇒  2
  count(bigint)  of  4503599627370496 / 4503599627370496 / 4503599627370497 / 1  ⇒  4
  count(numeric(10,2))  of  1.50 / 2.25 / NULL / -3.10 / 99999999.99  ⇒  4
  count(numeric(10,2))  of    ⇒  0
  count(numeric(10,2))  of  0.00  ⇒  1
  count(numeric(38,4))  of  1234567890123456789012345.6789 / 0.0001 / 99999999999999999999999999.9999  ⇒  3
  count(numeric(38,4))  of  1.5 / 2.5  ⇒  2
  count(numeric)  of  1.5 / 2.25 / NULL / 1e20  ⇒  3
  count(numeric)  of  NaN / 1  ⇒  2
  count(numeric)  of  1 / 2 / 3 / 4  ⇒  4
  count(numeric)  of    ⇒  0
  count(real)  of  1.5 / 2.25 / NULL / -3.1  ⇒  3
  count(real)  of  NaN / 1  ⇒  2
  count(double precision)  of  1.5 / 2.25 / NULL / -3.1  ⇒  3
  count(double precision)  of  NaN / 1  ⇒  2
  count(double precision)  of  Infinity / -Infinity  ⇒  2
  count(double precision)  of    ⇒  0
  count(double precision)  of  1e308 / 1e308  ⇒  2
  count(double precision)  of  1 / 2 / 4 / 8  ⇒  4
  count(double precision)  of  -0  ⇒  1
  count(text)  of  b / a / NULL / c  ⇒  3
  count(text)  of    ⇒  0
  count(text)  of  😀 / z / ￮  ⇒  3
  count(character(3))  of  b / a  ⇒  2
  count(date)  of  2020-01-01 / infinity / NULL / 2019-05-05  ⇒  3
  count(date)  of  -infinity  ⇒  1
  count(timestamp)  of  2020-01-01 10:00 / 2019-05-05 00:00  ⇒  2
  count(timestamptz)  of  2020-01-01 10:00+00 / infinity  ⇒  2
  count(time)  of  10:00 / 09:00  ⇒  2
  count(interval)  of  1 day / 2 hours / NULL / 1 mon  ⇒  3
  count(boolean)  of  t / f / NULL  ⇒  2
  count(boolean)  of  t / t  ⇒  2
  count(boolean)  of  NULL  ⇒  0
  count(boolean)  of  f  ⇒  1
  count(integer[])  of  {1,2} / {1} / {3}  ⇒  3
  sum(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  2147483651
  sum(integer)  of    ⇒  NULL
  sum(integer)  of  NULL  ⇒  NULL
  sum(integer)  of  3  ⇒  3
  sum(smallint)  of  1 / 5 / NULL / -7  ⇒  -1
  sum(bigint)  of  9223372036854775807 / 1 / NULL  ⇒  9223372036854775808
  sum(bigint)  of  1 / 2 / 4  ⇒  7
  sum(bigint)  of  -9007199254740993 / 9007199254740992  ⇒  -1
  sum(bigint)  of  4503599627370496 / 4503599627370496 / 4503599627370497 / 1  ⇒  13510798882111490
  sum(numeric(10,2))  of  1.50 / 2.25 / NULL / -3.10 / 99999999.99  ⇒  100000000.64
  sum(numeric(10,2))  of    ⇒  NULL
  sum(numeric(10,2))  of  0.00  ⇒  0.00
  sum(numeric(38,4))  of  1234567890123456789012345.6789 / 0.0001 / 99999999999999999999999999.9999  ⇒  101234567890123456789012345.6789
  sum(numeric(38,4))  of  1.5 / 2.5  ⇒  4.0000
  sum(numeric)  of  1.5 / 2.25 / NULL / 1e20  ⇒  100000000000000000003.75
  sum(numeric)  of  NaN / 1  ⇒  NaN
  sum(numeric)  of  1 / 2 / 3 / 4  ⇒  10
  sum(numeric)  of    ⇒  NULL
  sum(real)  of  1.5 / 2.25 / NULL / -3.1  ⇒  0.6500001
  sum(real)  of  NaN / 1  ⇒  NaN
  sum(double precision)  of  1.5 / 2.25 / NULL / -3.1  ⇒  0.6499999999999999
  sum(double precision)  of  NaN / 1  ⇒  NaN
  sum(double precision)  of  Infinity / -Infinity  ⇒  NaN
  sum(double precision)  of    ⇒  NULL
  sum(double precision)  of  1e308 / 1e308  ⇒  ERROR 22003: value out of range: overflow
  sum(double precision)  of  1 / 2 / 4 / 8  ⇒  15
  sum(double precision)  of  -0  ⇒  -0
  sum(interval)  of  1 day / 2 hours / NULL / 1 mon  ⇒  1 mon 1 day 02:00:00
  avg(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  429496730.20000000
  avg(integer)  of    ⇒  NULL
  avg(integer)  of  NULL  ⇒  NULL
  avg(integer)  of  3  ⇒  3.0000000000000000
  avg(smallint)  of  1 / 5 / NULL / -7  ⇒  -0.33333333333333333333
  avg(bigint)  of  9223372036854775807 / 1 / NULL  ⇒  4611686018427387904
  avg(bigint)  of  1 / 2 / 4  ⇒  2.3333333333333333
  avg(bigint)  of  -9007199254740993 / 9007199254740992  ⇒  -0.50000000000000000000
  avg(bigint)  of  4503599627370496 / 4503599627370496 / 4503599627370497 / 1  ⇒  3377699720527872.5000
  avg(numeric(10,2))  of  1.50 / 2.25 / NULL / -3.10 / 99999999.99  ⇒  25000000.160000000000
  avg(numeric(10,2))  of    ⇒  NULL
  avg(numeric(10,2))  of  0.00  ⇒  0.00000000000000000000
  avg(numeric(38,4))  of  1234567890123456789012345.6789 / 0.0001 / 99999999999999999999999999.9999  ⇒  33744855963374485596337448.5596
  avg(numeric(38,4))  of  1.5 / 2.5  ⇒  2.0000000000000000
  avg(numeric)  of  1.5 / 2.25 / NULL / 1e20  ⇒  33333333333333333334.58
  avg(numeric)  of  NaN / 1  ⇒  NaN
  avg(numeric)  of  1 / 2 / 3 / 4  ⇒  2.5000000000000000
  avg(numeric)  of    ⇒  NULL
  avg(real)  of  1.5 / 2.25 / NULL / -3.1  ⇒  0.21666669845581055
  avg(real)  of  NaN / 1  ⇒  NaN
  avg(double precision)  of  1.5 / 2.25 / NULL / -3.1  ⇒  0.21666666666666665
  avg(double precision)  of  NaN / 1  ⇒  NaN
  avg(double precision)  of  Infinity / -Infinity  ⇒  NaN
  avg(double precision)  of    ⇒  NULL
  avg(double precision)  of  1e308 / 1e308  ⇒  ERROR 22003: value out of range: overflow
  avg(double precision)  of  1 / 2 / 4 / 8  ⇒  3.75
  avg(double precision)  of  -0  ⇒  0
  avg(interval)  of  1 day / 2 hours / NULL / 1 mon  ⇒  10 days 08:40:00
  min(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  -7
  min(integer)  of    ⇒  NULL
  min(integer)  of  NULL  ⇒  NULL
  min(integer)  of  3  ⇒  3
  min(smallint)  of  1 / 5 / NULL / -7  ⇒  -7
  min(bigint)  of  9223372036854775807 / 1 / NULL  ⇒  1
  min(bigint)  of  1 / 2 / 4  ⇒  1
  min(bigint)  of  -9007199254740993 / 9007199254740992  ⇒  -9007199254740993
  min(bigint)  of  4503599627370496 / 4503599627370496 / 4503599627370497 / 1  ⇒  1
  min(numeric(10,2))  of  1.50 / 2.25 / NULL / -3.10 / 99999999.99  ⇒  -3.10
  min(numeric(10,2))  of    ⇒  NULL
  min(numeric(10,2))  of  0.00  ⇒  0.00
  min(numeric(38,4))  of  1234567890123456789012345.6789 / 0.0001 / 99999999999999999999999999.9999  ⇒  0.0001
  min(numeric(38,4))  of  1.5 / 2.5  ⇒  1.5000
  min(numeric)  of  1.5 / 2.25 / NULL / 1e20  ⇒  1.5
  min(numeric)  of  NaN / 1  ⇒  1
  min(numeric)  of  1 / 2 / 3 / 4  ⇒  1
  min(numeric)  of    ⇒  NULL
  min(real)  of  1.5 / 2.25 / NULL / -3.1  ⇒  -3.1
  min(real)  of  NaN / 1  ⇒  1
  min(double precision)  of  1.5 / 2.25 / NULL / -3.1  ⇒  -3.1
  min(double precision)  of  NaN / 1  ⇒  1
  min(double precision)  of  Infinity / -Infinity  ⇒  -Infinity
  min(double precision)  of    ⇒  NULL
  min(double precision)  of  1e308 / 1e308  ⇒  1e+308
  min(double precision)  of  1 / 2 / 4 / 8  ⇒  1
  min(double precision)  of  -0  ⇒  -0
  min(text)  of  b / a / NULL / c  ⇒  a
  min(text)  of    ⇒  NULL
  min(text)  of  😀 / z / ￮  ⇒  z
  min(character(3))  of  b / a  ⇒  a
  min(date)  of  2020-01-01 / infinity / NULL / 2019-05-05  ⇒  2019-05-05
  min(date)  of  -infinity  ⇒  -infinity
  min(timestamp)  of  2020-01-01 10:00 / 2019-05-05 00:00  ⇒  2019-05-05 00:00:00
  min(timestamptz)  of  2020-01-01 10:00+00 / infinity  ⇒  2020-01-01 10:00:00+00
  min(time)  of  10:00 / 09:00  ⇒  09:00:00
  min(interval)  of  1 day / 2 hours / NULL / 1 mon  ⇒  02:00:00
  min(integer[])  of  {1,2} / {1} / {3}  ⇒  {1}
  max(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  2147483647
  max(integer)  of    ⇒  NULL
  max(integer)  of  NULL  ⇒  NULL
  max(integer)  of  3  ⇒  3
  max(smallint)  of  1 / 5 / NULL / -7  ⇒  5
  max(bigint)  of  9223372036854775807 / 1 / NULL  ⇒  9223372036854775807
  max(bigint)  of  1 / 2 / 4  ⇒  4
  max(bigint)  of  -9007199254740993 / 9007199254740992  ⇒  9007199254740992
  max(bigint)  of  4503599627370496 / 4503599627370496 / 4503599627370497 / 1  ⇒  4503599627370497
  max(numeric(10,2))  of  1.50 / 2.25 / NULL / -3.10 / 99999999.99  ⇒  99999999.99
  max(numeric(10,2))  of    ⇒  NULL
  max(numeric(10,2))  of  0.00  ⇒  0.00
  max(numeric(38,4))  of  1234567890123456789012345.6789 / 0.0001 / 99999999999999999999999999.9999  ⇒  99999999999999999999999999.9999
  max(numeric(38,4))  of  1.5 / 2.5  ⇒  2.5000
  max(numeric)  of  1.5 / 2.25 / NULL / 1e20  ⇒  100000000000000000000
  max(numeric)  of  NaN / 1  ⇒  NaN
  max(numeric)  of  1 / 2 / 3 / 4  ⇒  4
  max(numeric)  of    ⇒  NULL
  max(real)  of  1.5 / 2.25 / NULL / -3.1  ⇒  2.25
  max(real)  of  NaN / 1  ⇒  NaN
  max(double precision)  of  1.5 / 2.25 / NULL / -3.1  ⇒  2.25
  max(double precision)  of  NaN / 1  ⇒  NaN
  max(double precision)  of  Infinity / -Infinity  ⇒  Infinity
  max(double precision)  of    ⇒  NULL
  max(double precision)  of  1e308 / 1e308  ⇒  1e+308
  max(double precision)  of  1 / 2 / 4 / 8  ⇒  8
  max(double precision)  of  -0  ⇒  -0
  max(text)  of  b / a / NULL / c  ⇒  c
  max(text)  of    ⇒  NULL
  max(text)  of  😀 / z / ￮  ⇒  😀
  max(character(3))  of  b / a  ⇒  b
  max(date)  of  2020-01-01 / infinity / NULL / 2019-05-05  ⇒  infinity
  max(date)  of  -infinity  ⇒  -infinity
  max(timestamp)  of  2020-01-01 10:00 / 2019-05-05 00:00  ⇒  2020-01-01 10:00:00
  max(timestamptz)  of  2020-01-01 10:00+00 / infinity  ⇒  infinity
  max(time)  of  10:00 / 09:00  ⇒  10:00:00
  max(interval)  of  1 day / 2 hours / NULL / 1 mon  ⇒  1 mon
  max(integer[])  of  {1,2} / {1} / {3}  ⇒  {3}
  bool_and(boolean)  of  t / f / NULL  ⇒  f
  bool_and(boolean)  of  t / t  ⇒  t
  bool_and(boolean)  of  NULL  ⇒  NULL
  bool_and(boolean)  of  f  ⇒  f
  bool_or(boolean)  of  t / f / NULL  ⇒  t
  bool_or(boolean)  of  t / t  ⇒  t
  bool_or(boolean)  of  NULL  ⇒  NULL
  bool_or(boolean)  of  f  ⇒  f
  every(boolean)  of  t / f / NULL  ⇒  f
  every(boolean)  of  t / t  ⇒  t
  every(boolean)  of  NULL  ⇒  NULL
  every(boolean)  of  f  ⇒  f
  bit_and(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  1
  bit_and(integer)  of    ⇒  NULL
  bit_and(integer)  of  NULL  ⇒  NULL
  bit_and(integer)  of  3  ⇒  3
  bit_and(bigint)  of  9223372036854775807 / 1 / NULL  ⇒  1
  bit_and(bigint)  of  1 / 2 / 4  ⇒  0
  bit_and(bigint)  of  -9007199254740993 / 9007199254740992  ⇒  0
  bit_and(bigint)  of  4503599627370496 / 4503599627370496 / 4503599627370497 / 1  ⇒  0
  bit_and(smallint)  of  1 / 5 / NULL / -7  ⇒  1
  bit_or(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  -1
  bit_or(integer)  of    ⇒  NULL
  bit_or(integer)  of  NULL  ⇒  NULL
  bit_or(integer)  of  3  ⇒  3
  bit_or(bigint)  of  9223372036854775807 / 1 / NULL  ⇒  9223372036854775807
  bit_or(bigint)  of  1 / 2 / 4  ⇒  7
  bit_or(bigint)  of  -9007199254740993 / 9007199254740992  ⇒  -1
  bit_or(bigint)  of  4503599627370496 / 4503599627370496 / 4503599627370497 / 1  ⇒  4503599627370497
  bit_xor(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  -2147483641
  bit_xor(integer)  of    ⇒  NULL
  bit_xor(integer)  of  NULL  ⇒  NULL
  bit_xor(integer)  of  3  ⇒  3
  bit_xor(bigint)  of  9223372036854775807 / 1 / NULL  ⇒  9223372036854775806
  bit_xor(bigint)  of  1 / 2 / 4  ⇒  7
  bit_xor(bigint)  of  -9007199254740993 / 9007199254740992  ⇒  -1
  bit_xor(bigint)  of  4503599627370496 / 4503599627370496 / 4503599627370497 / 1  ⇒  4503599627370496
  array_agg(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  {1,5,NULL,-7,5,2147483647}
  array_agg(integer)  of    ⇒  NULL
  array_agg(integer)  of  NULL  ⇒  {NULL}
  array_agg(integer)  of  3  ⇒  {3}
  array_agg(text)  of  b / a / NULL / c  ⇒  {b,a,NULL,c}
  array_agg(text)  of    ⇒  NULL
  array_agg(text)  of  😀 / z / ￮  ⇒  {😀,z,￮}
  array_agg(numeric(10,2))  of  1.50 / 2.25 / NULL / -3.10 / 99999999.99  ⇒  {1.50,2.25,NULL,-3.10,99999999.99}
  array_agg(numeric(10,2))  of    ⇒  NULL
  array_agg(numeric(10,2))  of  0.00  ⇒  {0.00}
  array_agg(date)  of  2020-01-01 / infinity / NULL / 2019-05-05  ⇒  {2020-01-01,infinity,NULL,2019-05-05}
  array_agg(date)  of  -infinity  ⇒  {-infinity}
  json_agg(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  [1, 5, null, -7, 5, 2147483647]
  json_agg(integer)  of    ⇒  NULL
  json_agg(integer)  of  NULL  ⇒  [null]
  json_agg(integer)  of  3  ⇒  [3]
  json_agg(text)  of  b / a / NULL / c  ⇒  ["b", "a", null, "c"]
  json_agg(text)  of    ⇒  NULL
  json_agg(text)  of  😀 / z / ￮  ⇒  ["😀", "z", "￮"]
  json_agg(numeric(10,2))  of  1.50 / 2.25 / NULL / -3.10 / 99999999.99  ⇒  [1.50, 2.25, null, -3.10, 99999999.99]
  json_agg(numeric(10,2))  of    ⇒  NULL
  json_agg(numeric(10,2))  of  0.00  ⇒  [0.00]
  json_agg(timestamp)  of  2020-01-01 10:00 / 2019-05-05 00:00  ⇒  ["2020-01-01T10:00:00", "2019-05-05T00:00:00"]
  json_agg(boolean)  of  t / f / NULL  ⇒  [true, false, null]
  json_agg(boolean)  of  t / t  ⇒  [true, true]
  json_agg(boolean)  of  NULL  ⇒  [null]
  json_agg(boolean)  of  f  ⇒  [false]
  json_agg(double precision)  of  1.5 / 2.25 / NULL / -3.1  ⇒  [1.5, 2.25, null, -3.1]
  json_agg(double precision)  of  NaN / 1  ⇒  ["NaN", 1]
  json_agg(double precision)  of  Infinity / -Infinity  ⇒  ["Infinity", "-Infinity"]
  json_agg(double precision)  of    ⇒  NULL
  json_agg(double precision)  of  1e308 / 1e308  ⇒  [1e+308, 1e+308]
  json_agg(double precision)  of  1 / 2 / 4 / 8  ⇒  [1, 2, 4, 8]
  json_agg(double precision)  of  -0  ⇒  [-0]
  jsonb_agg(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  [1, 5, null, -7, 5, 2147483647]
  jsonb_agg(integer)  of    ⇒  NULL
  jsonb_agg(integer)  of  NULL  ⇒  [null]
  jsonb_agg(integer)  of  3  ⇒  [3]
  jsonb_agg(text)  of  b / a / NULL / c  ⇒  ["b", "a", null, "c"]
  jsonb_agg(text)  of    ⇒  NULL
  jsonb_agg(text)  of  😀 / z / ￮  ⇒  ["😀", "z", "￮"]
  stddev(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  960383883
  stddev(integer)  of    ⇒  NULL
  stddev(integer)  of  NULL  ⇒  NULL
  stddev(integer)  of  3  ⇒  NULL
  stddev(bigint)  of  9223372036854775807 / 1 / NULL  ⇒  6521908912666391105
  stddev(bigint)  of  1 / 2 / 4  ⇒  1.5275252316519467
  stddev(bigint)  of  -9007199254740993 / 9007199254740992  ⇒  12738103345051546
  stddev(bigint)  of  4503599627370496 / 4503599627370496 / 4503599627370497 / 1  ⇒  2251799813685248
  stddev(numeric(10,2))  of  1.50 / 2.25 / NULL / -3.10 / 99999999.99  ⇒  49999999.8867
  stddev(numeric(10,2))  of    ⇒  NULL
  stddev(numeric(10,2))  of  0.00  ⇒  NULL
  stddev(numeric(38,4))  of  1234567890123456789012345.6789 / 0.0001 / 99999999999999999999999999.9999  ⇒  57381958165910703506593281.32685347
  stddev(numeric(38,4))  of  1.5 / 2.5  ⇒  0.70710678118654752440
  stddev(numeric)  of  1.5 / 2.25 / NULL / 1e20  ⇒  57735026918962576449.8323
  stddev(numeric)  of  NaN / 1  ⇒  NaN
  stddev(numeric)  of  1 / 2 / 3 / 4  ⇒  1.2909944487358056
  stddev(numeric)  of    ⇒  NULL
  stddev(double precision)  of  1.5 / 2.25 / NULL / -3.1  ⇒  2.8966935173285653
  stddev(double precision)  of  NaN / 1  ⇒  NaN
  stddev(double precision)  of  Infinity / -Infinity  ⇒  NaN
  stddev(double precision)  of    ⇒  NULL
  stddev(double precision)  of  1e308 / 1e308  ⇒  ERROR 22003: value out of range: overflow
  stddev(double precision)  of  1 / 2 / 4 / 8  ⇒  3.095695936834452
  stddev(double precision)  of  -0  ⇒  NULL
  stddev(real)  of  1.5 / 2.25 / NULL / -3.1  ⇒  2.896693462731491
  stddev(real)  of  NaN / 1  ⇒  NaN
  stddev_pop(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  858993458
  stddev_pop(integer)  of    ⇒  NULL
  stddev_pop(integer)  of  NULL  ⇒  NULL
  stddev_pop(integer)  of  3  ⇒  0
  stddev_pop(bigint)  of  9223372036854775807 / 1 / NULL  ⇒  4611686018427387903
  stddev_pop(bigint)  of  1 / 2 / 4  ⇒  1.2472191289246471
  stddev_pop(bigint)  of  -9007199254740993 / 9007199254740992  ⇒  9007199254740992
  stddev_pop(bigint)  of  4503599627370496 / 4503599627370496 / 4503599627370497 / 1  ⇒  1950115842888490
  stddev_pop(numeric(10,2))  of  1.50 / 2.25 / NULL / -3.10 / 99999999.99  ⇒  43301270.0911
  stddev_pop(numeric(10,2))  of    ⇒  NULL
  stddev_pop(numeric(10,2))  of  0.00  ⇒  0
  stddev_pop(numeric(38,4))  of  1234567890123456789012345.6789 / 0.0001 / 99999999999999999999999999.9999  ⇒  46852172649403898398205910.56931908
  stddev_pop(numeric(38,4))  of  1.5 / 2.5  ⇒  0.50000000000000000000
  stddev_pop(numeric)  of  1.5 / 2.25 / NULL / 1e20  ⇒  47140452079103168292.5057
  stddev_pop(numeric)  of  NaN / 1  ⇒  NaN
  stddev_pop(numeric)  of  1 / 2 / 3 / 4  ⇒  1.1180339887498948
  stddev_pop(numeric)  of    ⇒  NULL
  stddev_pop(double precision)  of  1.5 / 2.25 / NULL / -3.1  ⇒  2.3651403528942825
  stddev_pop(double precision)  of  NaN / 1  ⇒  NaN
  stddev_pop(double precision)  of  Infinity / -Infinity  ⇒  NaN
  stddev_pop(double precision)  of    ⇒  NULL
  stddev_pop(double precision)  of  1e308 / 1e308  ⇒  ERROR 22003: value out of range: overflow
  stddev_pop(double precision)  of  1 / 2 / 4 / 8  ⇒  2.680951323690902
  stddev_pop(double precision)  of  -0  ⇒  0
  stddev_pop(real)  of  1.5 / 2.25 / NULL / -3.1  ⇒  2.3651403083159575
  stddev_pop(real)  of  NaN / 1  ⇒  NaN
  variance(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  922337201967490687
  variance(integer)  of    ⇒  NULL
  variance(integer)  of  NULL  ⇒  NULL
  variance(integer)  of  3  ⇒  NULL
  variance(bigint)  of  9223372036854775807 / 1 / NULL  ⇒  42535295865117307914475081855261474818
  variance(bigint)  of  1 / 2 / 4  ⇒  2.3333333333333333
  variance(bigint)  of  -9007199254740993 / 9007199254740992  ⇒  162259276829213381405976519770113
  variance(bigint)  of  4503599627370496 / 4503599627370496 / 4503599627370497 / 1  ⇒  5070602400912916104786937031339
  variance(numeric(10,2))  of  1.50 / 2.25 / NULL / -3.10 / 99999999.99  ⇒  2499999988666672.2734
  variance(numeric(10,2))  of    ⇒  NULL
  variance(numeric(10,2))  of  0.00  ⇒  NULL
  variance(numeric(38,4))  of  1234567890123456789012345.6789 / 0.0001 / 99999999999999999999999999.9999  ⇒  3292689122954326068257938322412084539959583396839995.83396841
  variance(numeric(38,4))  of  1.5 / 2.5  ⇒  0.50000000000000000000
  variance(numeric)  of  1.5 / 2.25 / NULL / 1e20  ⇒  3333333333333333333208333333333333333334.6458
  variance(numeric)  of  NaN / 1  ⇒  NaN
  variance(numeric)  of  1 / 2 / 3 / 4  ⇒  1.6666666666666667
  variance(numeric)  of    ⇒  NULL
  variance(double precision)  of  1.5 / 2.25 / NULL / -3.1  ⇒  8.390833333333335
  variance(double precision)  of  NaN / 1  ⇒  NaN
  variance(double precision)  of  Infinity / -Infinity  ⇒  NaN
  variance(double precision)  of    ⇒  NULL
  variance(double precision)  of  1e308 / 1e308  ⇒  ERROR 22003: value out of range: overflow
  variance(double precision)  of  1 / 2 / 4 / 8  ⇒  9.583333333333334
  variance(double precision)  of  -0  ⇒  NULL
  variance(real)  of  1.5 / 2.25 / NULL / -3.1  ⇒  8.390833017031355
  variance(real)  of  NaN / 1  ⇒  NaN
  var_pop(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  737869761573992550
  var_pop(integer)  of    ⇒  NULL
  var_pop(integer)  of  NULL  ⇒  NULL
  var_pop(integer)  of  3  ⇒  0
  var_pop(bigint)  of  9223372036854775807 / 1 / NULL  ⇒  21267647932558653957237540927630737409
  var_pop(bigint)  of  1 / 2 / 4  ⇒  1.5555555555555556
  var_pop(bigint)  of  -9007199254740993 / 9007199254740992  ⇒  81129638414606690702988259885056
  var_pop(bigint)  of  4503599627370496 / 4503599627370496 / 4503599627370497 / 1  ⇒  3802951800684687078590202773504
  var_pop(numeric(10,2))  of  1.50 / 2.25 / NULL / -3.10 / 99999999.99  ⇒  1874999991500004.2051
  var_pop(numeric(10,2))  of    ⇒  NULL
  var_pop(numeric(10,2))  of  0.00  ⇒  0
  var_pop(numeric(38,4))  of  1234567890123456789012345.6789 / 0.0001 / 99999999999999999999999999.9999  ⇒  2195126081969550712171958881608056359973055597893330.55597894
  var_pop(numeric(38,4))  of  1.5 / 2.5  ⇒  0.25000000000000000000
  var_pop(numeric)  of  1.5 / 2.25 / NULL / 1e20  ⇒  2222222222222222222138888888888888888889.7639
  var_pop(numeric)  of  NaN / 1  ⇒  NaN
  var_pop(numeric)  of  1 / 2 / 3 / 4  ⇒  1.2500000000000000
  var_pop(numeric)  of    ⇒  NULL
  var_pop(double precision)  of  1.5 / 2.25 / NULL / -3.1  ⇒  5.59388888888889
  var_pop(double precision)  of  NaN / 1  ⇒  NaN
  var_pop(double precision)  of  Infinity / -Infinity  ⇒  NaN
  var_pop(double precision)  of    ⇒  NULL
  var_pop(double precision)  of  1e308 / 1e308  ⇒  ERROR 22003: value out of range: overflow
  var_pop(double precision)  of  1 / 2 / 4 / 8  ⇒  7.1875
  var_pop(double precision)  of  -0  ⇒  0
  var_pop(real)  of  1.5 / 2.25 / NULL / -3.1  ⇒  5.593888678020903
  var_pop(real)  of  NaN / 1  ⇒  NaN
  stddev_samp(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  960383883
  stddev_samp(integer)  of    ⇒  NULL
  stddev_samp(integer)  of  NULL  ⇒  NULL
  stddev_samp(integer)  of  3  ⇒  NULL
  stddev_samp(bigint)  of  9223372036854775807 / 1 / NULL  ⇒  6521908912666391105
  stddev_samp(bigint)  of  1 / 2 / 4  ⇒  1.5275252316519467
  stddev_samp(bigint)  of  -9007199254740993 / 9007199254740992  ⇒  12738103345051546
  stddev_samp(bigint)  of  4503599627370496 / 4503599627370496 / 4503599627370497 / 1  ⇒  2251799813685248
  stddev_samp(numeric(10,2))  of  1.50 / 2.25 / NULL / -3.10 / 99999999.99  ⇒  49999999.8867
  stddev_samp(numeric(10,2))  of    ⇒  NULL
  stddev_samp(numeric(10,2))  of  0.00  ⇒  NULL
  stddev_samp(numeric(38,4))  of  1234567890123456789012345.6789 / 0.0001 / 99999999999999999999999999.9999  ⇒  57381958165910703506593281.32685347
  stddev_samp(numeric(38,4))  of  1.5 / 2.5  ⇒  0.70710678118654752440
  stddev_samp(numeric)  of  1.5 / 2.25 / NULL / 1e20  ⇒  57735026918962576449.8323
  stddev_samp(numeric)  of  NaN / 1  ⇒  NaN
  stddev_samp(numeric)  of  1 / 2 / 3 / 4  ⇒  1.2909944487358056
  stddev_samp(numeric)  of    ⇒  NULL
  stddev_samp(double precision)  of  1.5 / 2.25 / NULL / -3.1  ⇒  2.8966935173285653
  stddev_samp(double precision)  of  NaN / 1  ⇒  NaN
  stddev_samp(double precision)  of  Infinity / -Infinity  ⇒  NaN
  stddev_samp(double precision)  of    ⇒  NULL
  stddev_samp(double precision)  of  1e308 / 1e308  ⇒  ERROR 22003: value out of range: overflow
  stddev_samp(double precision)  of  1 / 2 / 4 / 8  ⇒  3.095695936834452
  stddev_samp(double precision)  of  -0  ⇒  NULL
  stddev_samp(real)  of  1.5 / 2.25 / NULL / -3.1  ⇒  2.896693462731491
  stddev_samp(real)  of  NaN / 1  ⇒  NaN
  var_samp(integer)  of  1 / 5 / NULL / -7 / 5 / 2147483647  ⇒  922337201967490687
  var_samp(integer)  of    ⇒  NULL
  var_samp(integer)  of  NULL  ⇒  NULL
  var_samp(integer)  of  3  ⇒  NULL
  var_samp(bigint)  of  9223372036854775807 / 1 / NULL  ⇒  42535295865117307914475081855261474818
  var_samp(bigint)  of  1 / 2 / 4  ⇒  2.3333333333333333
  var_samp(bigint)  of  -9007199254740993 / 9007199254740992  ⇒  162259276829213381405976519770113
  var_samp(bigint)  of  4503599627370496 / 4503599627370496 / 4503599627370497 / 1  ⇒  5070602400912916104786937031339
  var_samp(numeric(10,2))  of  1.50 / 2.25 / NULL / -3.10 / 99999999.99  ⇒  2499999988666672.2734
  var_samp(numeric(10,2))  of    ⇒  NULL
  var_samp(numeric(10,2))  of  0.00  ⇒  NULL
  var_samp(numeric(38,4))  of  1234567890123456789012345.6789 / 0.0001 / 99999999999999999999999999.9999  ⇒  3292689122954326068257938322412084539959583396839995.83396841
  var_samp(numeric(38,4))  of  1.5 / 2.5  ⇒  0.50000000000000000000
  var_samp(numeric)  of  1.5 / 2.25 / NULL / 1e20  ⇒  3333333333333333333208333333333333333334.6458
  var_samp(numeric)  of  NaN / 1  ⇒  NaN
  var_samp(numeric)  of  1 / 2 / 3 / 4  ⇒  1.6666666666666667
  var_samp(numeric)  of    ⇒  NULL
  var_samp(double precision)  of  1.5 / 2.25 / NULL / -3.1  ⇒  8.390833333333335
  var_samp(double precision)  of  NaN / 1  ⇒  NaN
  var_samp(double precision)  of  Infinity / -Infinity  ⇒  NaN
  var_samp(double precision)  of    ⇒  NULL
  var_samp(double precision)  of  1e308 / 1e308  ⇒  ERROR 22003: value out of range: overflow
  var_samp(double precision)  of  1 / 2 / 4 / 8  ⇒  9.583333333333334
  var_samp(double precision)  of  -0  ⇒  NULL
  var_samp(real)  of  1.5 / 2.25 / NULL / -3.1  ⇒  8.390833017031355
  var_samp(real)  of  NaN / 1  ⇒  NaN
  corr(double precision, double precision)  of  1 & 2 / 2 & 4.5 / 3 & NULL / 4 & 7  ⇒  0.9819805060619657
  corr(double precision, double precision)  of  1 & 1  ⇒  NULL
  corr(double precision, double precision)  of    ⇒  NULL
  corr(double precision, double precision)  of  1 & 1 / 1 & 1  ⇒  NULL
  covar_pop(double precision, double precision)  of  1 & 2 / 2 & 4.5 / 3 & NULL / 4 & 7  ⇒  2.5
  covar_pop(double precision, double precision)  of  1 & 1  ⇒  0
  covar_pop(double precision, double precision)  of    ⇒  NULL
  covar_pop(double precision, double precision)  of  1 & 1 / 1 & 1  ⇒  0
  covar_samp(double precision, double precision)  of  1 & 2 / 2 & 4.5 / 3 & NULL / 4 & 7  ⇒  3.75
  covar_samp(double precision, double precision)  of  1 & 1  ⇒  NULL
  covar_samp(double precision, double precision)  of    ⇒  NULL
  covar_samp(double precision, double precision)  of  1 & 1 / 1 & 1  ⇒  0
  regr_avgx(double precision, double precision)  of  1 & 2 / 2 & 4.5 / 3 & NULL / 4 & 7  ⇒  4.5
  regr_avgx(double precision, double precision)  of  1 & 1  ⇒  1
  regr_avgx(double precision, double precision)  of    ⇒  NULL
  regr_avgx(double precision, double precision)  of  1 & 1 / 1 & 1  ⇒  1
  regr_avgy(double precision, double precision)  of  1 & 2 / 2 & 4.5 / 3 & NULL / 4 & 7  ⇒  2.3333333333333335
  regr_avgy(double precision, double precision)  of  1 & 1  ⇒  1
  regr_avgy(double precision, double precision)  of    ⇒  NULL
  regr_avgy(double precision, double precision)  of  1 & 1 / 1 & 1  ⇒  1
  regr_count(double precision, double precision)  of  1 & 2 / 2 & 4.5 / 3 & NULL / 4 & 7  ⇒  3
  regr_count(double precision, double precision)  of  1 & 1  ⇒  1
  regr_count(double precision, double precision)  of    ⇒  0
  regr_count(double precision, double precision)  of  1 & 1 / 1 & 1  ⇒  2
  regr_intercept(double precision, double precision)  of  1 & 2 / 2 & 4.5 / 3 & NULL / 4 & 7  ⇒  -0.36666666666666653
  regr_intercept(double precision, double precision)  of  1 & 1  ⇒  NULL
  regr_intercept(double precision, double precision)  of    ⇒  NULL
  regr_intercept(double precision, double precision)  of  1 & 1 / 1 & 1  ⇒  NULL
  regr_r2(double precision, double precision)  of  1 & 2 / 2 & 4.5 / 3 & NULL / 4 & 7  ⇒  0.9642857142857144
  regr_r2(double precision, double precision)  of  1 & 1  ⇒  NULL
  regr_r2(double precision, double precision)  of    ⇒  NULL
  regr_r2(double precision, double precision)  of  1 & 1 / 1 & 1  ⇒  NULL
  regr_slope(double precision, double precision)  of  1 & 2 / 2 & 4.5 / 3 & NULL / 4 & 7  ⇒  0.6
  regr_slope(double precision, double precision)  of  1 & 1  ⇒  NULL
  regr_slope(double precision, double precision)  of    ⇒  NULL
  regr_slope(double precision, double precision)  of  1 & 1 / 1 & 1  ⇒  NULL
  regr_sxx(double precision, double precision)  of  1 & 2 / 2 & 4.5 / 3 & NULL / 4 & 7  ⇒  12.5
  regr_sxx(double precision, double precision)  of  1 & 1  ⇒  0
  regr_sxx(double precision, double precision)  of    ⇒  NULL
  regr_sxx(double precision, double precision)  of  1 & 1 / 1 & 1  ⇒  0
  regr_sxy(double precision, double precision)  of  1 & 2 / 2 & 4.5 / 3 & NULL / 4 & 7  ⇒  7.5
  regr_sxy(double precision, double precision)  of  1 & 1  ⇒  0
  regr_sxy(double precision, double precision)  of    ⇒  NULL
  regr_sxy(double precision, double precision)  of  1 & 1 / 1 & 1  ⇒  0
  regr_syy(double precision, double precision)  of  1 & 2 / 2 & 4.5 / 3 & NULL / 4 & 7  ⇒  4.666666666666666
  regr_syy(double precision, double precision)  of  1 & 1  ⇒  0
  regr_syy(double precision, double precision)  of    ⇒  NULL
  regr_syy(double precision, double precision)  of  1 & 1 / 1 & 1  ⇒  0
  string_agg(text, text)  of  a & , / b & ; / NULL & , / c & NULL  ⇒  a;bc
  string_agg(text, text)  of    ⇒  NULL
  string_agg(bytea, bytea)  of  a & , / b & ;  ⇒  \x613b62
  json_object_agg(text, integer)  of  a & 1 / b & NULL  ⇒  { "a" : 1, "b" : null }
  jsonb_object_agg(text, integer)  of  b & 1 / a & NULL  ⇒  {"a": null, "b": 1}
  json_object_agg(text, integer)  of  NULL & 1  ⇒  ERROR 22023: field name must not be null
  array_agg(integer[])  of  {1,2} / {3,4}  ⇒  {{1,2},{3,4}}
  array_agg(integer[])  of  {1,2} / {3}  ⇒  ERROR 2202E: cannot accumulate arrays of different dimensionality
`;

Deno.test("resolveAggregate() gives PostgreSQL's results", () => {
  for (const line of cases.split("\n")) {
    if (line.trim() === "") continue;
    const match = /^\s*([a-z_0-9]+)\((.*)\) {2}of {2}(.*?) {2}⇒(?: {2}(.*))?$/.exec(line);
    assert(match !== null, line);
    const [, name = "", typeList = "", rowList = "", expected = ""] = match;
    const types = typeList.split(/, (?![0-9])/);
    const rows = rowList.trim() === ""
      ? []
      : rowList.split(" / ").map((row) => row.split(" & ").map((text) => text === "NULL" ? null : text));
    let actual: string;
    try {
      actual = aggregateText(name, types, rows);
    } catch (error) {
      assert(error instanceof DatabaseError, line);
      actual = `ERROR ${error.code}: ${error.message}`;
    }
    assert.equal(actual.replaceAll("\n", "⏎").trimEnd(), expected, line);
  }
});

/** A small linear congruential generator (Numerical Recipes), so that failures repeat. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

Deno.test("sum, avg, min and max of random integers agree with bigint arithmetic", () => {
  const next = generator(42);
  for (let round = 0; round < 30; round++) {
    const digits = 1 + Math.floor(next() * 18);
    const values = Array.from({ length: Math.floor(next() * 200) }, () => {
      let text = next() < 0.5 ? "-" : "";
      text += String(1 + Math.floor(next() * 9));
      for (let digit = 1; digit < digits; digit++) text += String(Math.floor(next() * 10));
      return next() < 0.1 ? null : text;
    });
    const rows = values.map((value) => [value]);
    const numbers = values.filter((value) => value !== null).map(BigInt);
    const sum = numbers.reduce((total, value) => total + value, 0n);
    const sorted = numbers.toSorted((left, right) => left < right ? -1 : left > right ? 1 : 0);
    const shown = (value: bigint | undefined) => numbers.length === 0 ? "NULL" : String(value);
    assert.equal(aggregateText("sum", ["bigint"], rows), shown(sum));
    assert.equal(aggregateText("min", ["bigint"], rows), shown(sorted[0]));
    assert.equal(aggregateText("max", ["bigint"], rows), shown(sorted.at(-1)));
    assert.equal(aggregateText("count", ["bigint"], rows), String(numbers.length));
    // The same digits as a scaled numeric: the sum has the point two digits from the right.
    const scaled = rows.map(([value = null]) => [value === null ? null : `${value}.25`]);
    const quarter = numbers.reduce((total, value) => total + value * 100n + (value < 0n ? -25n : 25n), 0n);
    const magnitude = String(quarter < 0n ? -quarter : quarter).padStart(3, "0");
    const expected = `${quarter < 0n ? "-" : ""}${magnitude.slice(0, -2)}.${magnitude.slice(-2)}`;
    assert.equal(
      aggregateText("sum", ["numeric(30,2)"], scaled),
      numbers.length === 0 ? "NULL" : expected,
    );
    assert.equal(aggregateText("sum", ["numeric"], scaled), numbers.length === 0 ? "NULL" : expected);
  }
});

Deno.test("percentile and mode aggregates work on values in order", () => {
  const rows = [["0.5", "1"], ["0.5", "2"], ["0.5", "4"], ["0.5", "10"]];
  assert.equal(aggregateText("percentile_cont", ["double precision", "double precision"], rows), "3");
  assert.equal(aggregateText("percentile_disc", ["double precision", "integer"], rows), "2");
  assert.equal(aggregateText("mode", ["text"], [["a"], ["b"], ["b"], ["c"], ["c"]]), "b");
  assert.equal(aggregateText("percentile_cont", ["double precision", "double precision"], []), "NULL");
});
