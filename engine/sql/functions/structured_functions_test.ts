/**
 * Functions on times, arrays, JSON and the system over literals: results in PostgreSQL's notation (version 15; the
 * native types are our own). Each case runs through overload resolution and casts, and through `evaluate` and the
 * inlined source, which must agree. Rows of a set-returning function are separated by `|`, a line break is written ⏎.
 */
import { checkCases } from "./test_expression.ts";

Deno.test("date and time functions give PostgreSQL's results", () => {
  checkCases(String.raw`
  date_part('hour', '2001-02-16 20:38:40'::timestamp)  ⇒  20
  date_part('month', '2 years 3 months'::interval)  ⇒  3
  date_part('epoch', '2001-02-16 20:38:40.12+00'::timestamptz)  ⇒  982355920.12
  date_part('dow', '2001-02-16'::date)  ⇒  5
  date_part('foo', '2001-02-16'::date)  ⇒  ERROR 22023: unit "foo" not recognized for type timestamp without time zone
  date_part('week', '2005-01-01'::timestamp)  ⇒  53
  date_part('second', '20:38:40.5'::time)  ⇒  40.5
  date_trunc('hour', '2001-02-16 20:38:40'::timestamp)  ⇒  2001-02-16 20:00:00
  date_trunc('quarter', '2001-02-16 20:38:40+00'::timestamptz)  ⇒  2001-01-01 00:00:00+00
  date_trunc('day', '2001-02-16 20:38:40+00'::timestamptz, 'Australia/Sydney')  ⇒  2001-02-16 13:00:00+00
  date_trunc('hour', '2 days 3 hours 47 minutes'::interval)  ⇒  2 days 03:00:00
  date_trunc('month', '2001-02-16'::date)  ⇒  2001-02-01 00:00:00+00
  date_bin('15 minutes'::interval, '2001-02-16 20:38:40'::timestamp, '2001-02-16 20:05:00'::timestamp)  ⇒  2001-02-16 20:35:00
  age('2001-04-10'::timestamp, '1957-06-13'::timestamp)  ⇒  43 years 9 mons 27 days
  age('2001-04-10 00:00+00'::timestamptz, '2001-06-13 00:00+00'::timestamptz)  ⇒  -2 mons -3 days
  make_date('2013'::integer, '7'::integer, '15'::integer)  ⇒  2013-07-15
  make_date('2013'::integer, '13'::integer, '15'::integer)  ⇒  ERROR 22008: date field value out of range: 2013-13-15
  make_time('8'::integer, '15'::integer, '23.5'::double precision)  ⇒  08:15:23.5
  make_timestamp('2013'::integer, '7'::integer, '15'::integer, '8'::integer, '15'::integer, '23.5'::double precision)  ⇒  2013-07-15 08:15:23.5
  make_timestamptz('2013'::integer, '7'::integer, '15'::integer, '8'::integer, '15'::integer, '23.5'::double precision)  ⇒  2013-07-15 08:15:23.5+00
  make_timestamptz('2013'::integer, '7'::integer, '15'::integer, '8'::integer, '15'::integer, '23.5'::double precision, 'Europe/Berlin')  ⇒  2013-07-15 06:15:23.5+00
  make_interval('1'::integer, '2'::integer, '3'::integer, '4'::integer)  ⇒  1 year 2 mons 25 days
  make_interval()  ⇒  00:00:00
  justify_days('1 year 65 days'::interval)  ⇒  1 year 2 mons 5 days
  justify_hours('50 hours 10 minutes'::interval)  ⇒  2 days 02:10:00
  justify_interval('1 mon -1 hour'::interval)  ⇒  29 days 23:00:00
  to_timestamp('1284352323.5'::double precision)  ⇒  2010-09-13 04:32:03.5+00
  isfinite('infinity'::date)  ⇒  f
  isfinite('2001-01-01'::timestamp)  ⇒  t
  isfinite('1 day'::interval)  ⇒  t
  timezone('America/Denver', '2001-02-16 20:38:40'::timestamp)  ⇒  2001-02-17 03:38:40+00
  timezone('America/Denver', '2001-02-16 20:38:40-05'::timestamptz)  ⇒  2001-02-16 18:38:40
  timezone('PST', '2001-02-16 20:38:40'::timestamp)  ⇒  2001-02-17 04:38:40+00
  timezone('+03'::text, '2001-02-16 20:38:40'::timestamp)  ⇒  2001-02-16 23:38:40+00
  timezone('-2 hours'::interval, '2001-02-16 20:38:40'::timestamp)  ⇒  2001-02-16 22:38:40+00
  timezone('Nowhere', '2001-02-16 20:38:40'::timestamp)  ⇒  ERROR 22023: time zone "Nowhere" not recognized
  overlaps('2001-02-16'::timestamp, '2001-12-21'::timestamp, '2001-10-30'::timestamp, '2002-10-30'::timestamp)  ⇒  t
  overlaps('2001-02-16'::timestamp, '100 days'::interval, '2001-10-30'::timestamp, '2002-10-30'::timestamp)  ⇒  f
  overlaps('2001-10-29'::date, '2001-10-30'::date, '2001-10-30'::date, '2001-10-31'::date)  ⇒  f
  to_char('2002-04-20 17:31:12.66'::timestamp, 'HH12:MI:SS')  ⇒  05:31:12
  to_char('2002-04-20 17:31:12.66+00'::timestamptz, 'FMDay, DD Month YYYY HH24:MI:SS.MS TZ')  ⇒  Saturday, 20 April     2002 17:31:12.660 UTC
  to_char('15h 2m 12s'::interval, 'HH24:MI:SS')  ⇒  15:02:12
  to_char('125'::integer, '999')  ⇒   125
  to_char('125.8'::real, '999D9')  ⇒   125.8
  to_char('-125.8'::numeric, '999D99S')  ⇒  125.80-
  to_char('1485'::bigint, '9,999')  ⇒   1,485
  to_char('12345.678'::double precision, '99,999.99')  ⇒   12,345.68
  to_number('12,454.8-'::text, '99G999D9S')  ⇒  -12454.8
  to_timestamp('11111111111111'::text, 'YYYY')  ⇒  ERROR 22008: value for "YYYY" in source string is out of range
  to_date('99999999999'::text, 'J')  ⇒  ERROR 22008: value for "J" in source string is out of range
  to_date('5874897-12-31'::text, 'YYYY-MM-DD')  ⇒  5874897-12-31
  to_date('5874898'::text, 'YYYY')  ⇒  ERROR 22008: date out of range: "5874898"
  to_date('2147483647'::text, 'J')  ⇒  ERROR 22008: date out of range: "2147483647"
  to_date('2024 5'::text, 'IYYY Month')  ⇒  ERROR 22007: invalid combination of date conventions
  to_date('2024 05 2'::text, 'YYYY IW ID')  ⇒  ERROR 22007: invalid combination of date conventions
  to_date('2024 05 2'::text, 'IYYY IW ID')  ⇒  2024-01-30
  to_date('05 Dec 2000'::text, 'DD Mon YYYY')  ⇒  2000-12-05
  to_timestamp('05 Dec 2000 12:30'::text, 'DD Mon YYYY HH24:MI')  ⇒  2000-12-05 12:30:00+00
  to_char('infinity'::timestamp, 'YYYY')  ⇒  NULL
  date('2020-01-01 10:00'::timestamp)  ⇒  2020-01-01
  age('2001-04-10'::date, '2000-01-01'::date)  ⇒  1 year 3 mons 9 days
  date_trunc('day', '2001-02-16 20:38:40')  ⇒  ERROR 42725: function date_trunc(unknown, unknown) is not unique
  `);
});

Deno.test("array functions give PostgreSQL's results", () => {
  checkCases(String.raw`
  string_to_array('xx~^~yy~^~zz'::text, '~^~', 'yy')  ⇒  {xx,NULL,zz}
  string_to_array('abc'::text, NULL::text)  ⇒  {a,b,c}
  string_to_array(''::text, ',')  ⇒  {}
  array_to_string('{1,2,3,NULL,5}'::integer[], ',', '*')  ⇒  1,2,3,*,5
  array_to_string('{1,2,3,NULL,5}'::integer[], ',')  ⇒  1,2,3,5
  array_length('{1,2,3}'::integer[], '1'::integer)  ⇒  3
  array_length('{}'::integer[], '1'::integer)  ⇒  NULL
  array_upper('{1,8,3,7}'::integer[], '1'::integer)  ⇒  4
  array_lower('[0:2]={1,2,3}'::integer[], '1'::integer)  ⇒  0
  array_ndims('{{1,2,3},{4,5,6}}'::integer[])  ⇒  2
  array_dims('{{1,2,3},{4,5,6}}'::integer[])  ⇒  [1:2][1:3]
  cardinality('{{1,2},{3,4}}'::integer[])  ⇒  4
  array_append('{1,2}'::integer[], '3'::integer)  ⇒  {1,2,3}
  array_append(NULL::integer[], '3'::integer)  ⇒  {3}
  array_append('{1,2}'::integer[], '3.5'::numeric)  ⇒  {1,2,3.5}
  array_prepend('1'::integer, '{2,3}'::integer[])  ⇒  {1,2,3}
  array_cat('{1,2,3}'::integer[], '{4,5}'::integer[])  ⇒  {1,2,3,4,5}
  array_cat('{{1,2}}'::integer[], '{3,4}'::integer[])  ⇒  {{1,2},{3,4}}
  array_position('{sun,mon,tue}'::text[], 'mon')  ⇒  2
  array_position('{1,NULL}'::integer[], NULL::integer)  ⇒  2
  array_position('{1,2,1}'::integer[], '1'::integer, '2'::integer)  ⇒  3
  array_positions('{A,A,B,A}'::text[], 'A')  ⇒  {1,2,4}
  array_remove('{1,2,3,2}'::integer[], '2'::integer)  ⇒  {1,3}
  array_replace('{1,2,5,4}'::integer[], '5'::integer, '3'::integer)  ⇒  {1,2,3,4}
  array_fill('11'::integer, '{2,3}'::integer[])  ⇒  {{11,11,11},{11,11,11}}
  array_fill('7'::integer, '{3}'::integer[], '{2}'::integer[])  ⇒  [2:4]={7,7,7}
  trim_array('{1,2,3,4,5,6}'::integer[], '2'::integer)  ⇒  {1,2,3,4}
  trim_array('{1}'::integer[], '2'::integer)  ⇒  ERROR 2202E: number of elements to trim must be between 0 and 1
  unnest('{1,2,NULL}'::integer[])  ⇒  1|2|NULL
  unnest('{{1,2},{3,4}}'::integer[])  ⇒  1|2|3|4
  generate_subscripts('{a,b,c}'::text[], '1'::integer)  ⇒  1|2|3
  generate_subscripts('{a,b,c}'::text[], '1'::integer, 'true'::boolean)  ⇒  3|2|1
  string_to_array('a,b', ',')  ⇒  {a,b}
  array_length('{1}'::integer[], '2'::integer)  ⇒  NULL
  array_to_string('{t,f}'::boolean[], ',')  ⇒  t,f
  array_to_string('{2020-01-01}'::date[], ',')  ⇒  2020-01-01
  `);
});

Deno.test("JSON functions give PostgreSQL's results", () => {
  checkCases(String.raw`
  to_json('Fred said "Hi."'::text)  ⇒  "Fred said \"Hi.\""
  to_json('{1,2}'::integer[])  ⇒  [1,2]
  to_jsonb('1.50'::numeric)  ⇒  1.50
  to_json('2020-01-01 10:00:00.5'::timestamp)  ⇒  "2020-01-01T10:00:00.5"
  to_jsonb('2020-01-01 10:00:00+00'::timestamptz)  ⇒  "2020-01-01T10:00:00+00:00"
  to_json('2020-01-01'::date)  ⇒  "2020-01-01"
  to_json('NaN'::double precision)  ⇒  "NaN"
  to_json('true'::boolean)  ⇒  true
  json_build_array('1'::integer, '2'::integer, 'foo'::text, '4'::numeric)  ⇒  [1, 2, "foo", 4]
  json_build_object('foo'::text, '1'::integer, '2'::integer, 'bar'::text)  ⇒  {"foo" : 1, "2" : "bar"}
  jsonb_build_object('foo'::text, '{1,2}'::integer[], 'b'::text, NULL::text)  ⇒  {"b": null, "foo": [1, 2]}
  json_build_object('foo'::text)  ⇒  ERROR 22023: argument list must have even number of elements
  json_build_object(NULL::text, '1'::integer)  ⇒  ERROR 22023: argument 1 cannot be null
  jsonb_build_object(NULL::text, '1'::integer)  ⇒  ERROR 22023: argument 1: key must not be null
  json_object('{a, 1, b, "def", c, 3.5}'::text[])  ⇒  {"a" : "1", "b" : "def", "c" : "3.5"}
  json_object('{{a, 1}, {b, "def"}}'::text[])  ⇒  {"a" : "1", "b" : "def"}
  json_object('{a,b}'::text[], '{1,2}'::text[])  ⇒  {"a" : "1", "b" : "2"}
  jsonb_object('{a,b}'::text[], '{1,NULL}'::text[])  ⇒  {"a": "1", "b": null}
  array_to_json('{{1,5},{99,100}}'::integer[])  ⇒  [[1,5],[99,100]]
  array_to_json('{{1,5},{99,100}}'::integer[], 'true'::boolean)  ⇒  [[1,5],⏎ [99,100]]
  json_array_length('[1,2,3,{"f1":1,"f2":[5,6]},4]'::json)  ⇒  5
  json_array_length('{"a":1}'::json)  ⇒  ERROR 22023: cannot get array length of a non-array
  jsonb_array_length('1'::jsonb)  ⇒  ERROR 22023: cannot get array length of a scalar
  json_typeof('-123.4'::json)  ⇒  number
  jsonb_typeof('null'::jsonb)  ⇒  null
  json_extract_path('{"f2":{"f3":1},"f4":{"f5":99,"f6":"foo"}}'::json, 'f4', 'f6')  ⇒  "foo"
  json_extract_path_text('{"f2":{"f3":1},"f4":{"f5":99,"f6":"foo"}}'::json, 'f4', 'f6')  ⇒  foo
  json_strip_nulls('[{"f1":1, "f2":null}, 2, null, 3]'::json)  ⇒  [{"f1":1},2,null,3]
  jsonb_strip_nulls('[{"f1":1, "f2":null}, 2, null, 3]'::jsonb)  ⇒  [{"f1": 1}, 2, null, 3]
  jsonb_set('[{"f1":1,"f2":null},2,null,3]'::jsonb, '{0,f1}', '[2,3,4]'::jsonb, 'false'::boolean)  ⇒  [{"f1": [2, 3, 4], "f2": null}, 2, null, 3]
  jsonb_set('[{"f1":1,"f2":null},2]'::jsonb, '{0,f3}', '[2,3,4]'::jsonb)  ⇒  [{"f1": 1, "f2": null, "f3": [2, 3, 4]}, 2]
  jsonb_insert('{"a": [0,1,2]}'::jsonb, '{a, 1}', '"new_value"'::jsonb)  ⇒  {"a": [0, "new_value", 1, 2]}
  jsonb_insert('{"a": [0,1,2]}'::jsonb, '{a, 1}', '"new_value"'::jsonb, 'true'::boolean)  ⇒  {"a": [0, 1, "new_value", 2]}
  json_array_elements('[1,true, [2,false]]'::json)  ⇒  1|true|[2,false]
  json_array_elements_text('["foo", "bar", null]'::json)  ⇒  foo|bar|NULL
  jsonb_array_elements('{"a":1}'::jsonb)  ⇒  ERROR 22023: cannot extract elements from an object
  json_array_elements('{"a":1}'::json)  ⇒  ERROR 22023: cannot call json_array_elements on a non-array
  json_object_keys('{"f1":"abc","f2":{"f3":"a", "f4":"b"}}'::json)  ⇒  f1|f2
  jsonb_object_keys('[1]'::jsonb)  ⇒  ERROR 22023: cannot call jsonb_object_keys on an array
  jsonb_pretty('{"a":[1,2]}'::jsonb)  ⇒  {⏎    "a": [⏎        1,⏎        2⏎    ]⏎}
  `);
});

Deno.test("generate_series() gives PostgreSQL's rows", () => {
  checkCases(String.raw`
  generate_series('2'::integer, '4'::integer)  ⇒  2|3|4
  generate_series('5'::integer, '1'::integer, '-2'::integer)  ⇒  5|3|1
  generate_series('4'::integer, '3'::integer)  ⇒
  generate_series('1'::integer, '3'::integer, '0'::integer)  ⇒  ERROR 22023: step size cannot equal zero
  generate_series('2147483646'::integer, '2147483647'::integer)  ⇒  2147483646|2147483647
  generate_series('1.1'::numeric, '4'::numeric, '1.3'::numeric)  ⇒  1.1|2.4|3.7
  generate_series('9223372036854775806'::bigint, '9223372036854775807'::bigint)  ⇒  9223372036854775806|9223372036854775807
  generate_series('2008-03-01 00:00'::timestamp, '2008-03-02 12:00'::timestamp, '10 hours'::interval)  ⇒  2008-03-01 00:00:00|2008-03-01 10:00:00|2008-03-01 20:00:00|2008-03-02 06:00:00
  generate_series('2008-01-31 00:00+00'::timestamptz, '2008-04-30 12:00+00'::timestamptz, '1 mon'::interval)  ⇒  2008-01-31 00:00:00+00|2008-02-29 00:00:00+00|2008-03-29 00:00:00+00|2008-04-29 00:00:00+00
  `);
});

Deno.test("system functions give PostgreSQL's results", () => {
  checkCases(String.raw`
  num_nulls(NULL::integer, '1'::integer, NULL::text)  ⇒  2
  num_nonnulls(NULL::integer, '1'::integer, NULL::text)  ⇒  1
  pg_size_pretty('10239'::bigint)  ⇒  10239 bytes
  pg_size_pretty('10240'::bigint)  ⇒  10 kB
  pg_size_pretty('1234567890'::bigint)  ⇒  1177 MB
  pg_size_pretty('-1234567890'::numeric)  ⇒  -1177 MB
  pg_size_pretty('123456789012345'::bigint)  ⇒  112 TB
  pg_size_bytes('10 MB'::text)  ⇒  10485760
  pg_size_bytes('1.5 kB'::text)  ⇒  1536
  pg_size_bytes('x'::text)  ⇒  ERROR 22023: invalid size: "x"
  pg_client_encoding()  ⇒  UTF8
  format_type('23'::oid, '-1'::integer)  ⇒  integer
  format_type('1043'::oid, '14'::integer)  ⇒  character varying(10)
  format_type('1700'::oid, '655366'::integer)  ⇒  numeric(10,2)
  format_type('1007'::oid, NULL::integer)  ⇒  integer[]
  pg_encoding_to_char('6'::integer)  ⇒  UTF8
  pg_typeof('1'::integer)  ⇒  23
  `);
});
