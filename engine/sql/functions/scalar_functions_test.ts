/**
 * Mathematical, text and byte functions over literals: results in PostgreSQL's notation (version 15; the native types
 * are our own). Each case runs through overload resolution and casts, and through `evaluate` and the inlined source,
 * which must agree. Rows of a set-returning function are separated by `|`, a line break is written ⏎.
 */
import { strictEqual as equal } from "node:assert/strict";
import { SeededRandom } from "../../base/random.ts";
import { escapeBytes, formatBytea } from "../../types/scalar_text.ts";
import { initialCapitals, lowerCase, reverseText, translateCharacters, upperCase } from "./characters.ts";
import { checkCases } from "./test_expression.ts";

Deno.test("mathematical functions give PostgreSQL's results", () => {
  checkCases(String.raw`
  abs('-17.4'::numeric)  ⇒  17.4
  abs('-17.40'::numeric(10,2))  ⇒  17.40
  abs('-2147483648'::integer)  ⇒  ERROR 22003: integer out of range
  abs('-5'::bigint)  ⇒  5
  abs('-5.5'::double precision)  ⇒  5.5
  ceil('42.2'::double precision)  ⇒  43
  ceil('-42.80'::numeric(10,2))  ⇒  -42
  ceil('42.80'::numeric(10,2))  ⇒  43
  ceiling('-0.5'::numeric)  ⇒  0
  floor('-42.80'::numeric(10,2))  ⇒  -43
  floor('42.8'::numeric)  ⇒  42
  round('42.4'::double precision)  ⇒  42
  round('2.5'::double precision)  ⇒  2
  round('-0.4'::double precision)  ⇒  -0
  round('2.5'::numeric(5,1))  ⇒  3
  round('-2.5'::numeric)  ⇒  -3
  round('42.4382'::numeric, '2'::integer)  ⇒  42.44
  round('1234.56'::numeric, '-1'::integer)  ⇒  1230
  round('1.5'::numeric(5,2), '1'::integer)  ⇒  1.5
  round('42'::integer)  ⇒  42
  trunc('42.8'::double precision)  ⇒  42
  trunc('-42.4382'::numeric, '2'::integer)  ⇒  -42.43
  trunc('-42.80'::numeric(10,2))  ⇒  -42
  mod('9'::integer, '4'::integer)  ⇒  1
  mod('-9.5'::numeric(5,2), '4'::numeric(5,1))  ⇒  -1.50
  div('9'::numeric, '4'::numeric)  ⇒  2
  power('9'::double precision, '3'::double precision)  ⇒  729
  power('9'::numeric, '3'::numeric)  ⇒  729.0000000000000000
  power('2'::integer, '10'::integer)  ⇒  1024
  pow('2'::numeric, '-2'::numeric)  ⇒  0.2500000000000000
  sqrt('2'::double precision)  ⇒  1.4142135623730951
  sqrt('2'::numeric)  ⇒  1.414213562373095
  sqrt('-1'::numeric)  ⇒  ERROR 2201F: cannot take square root of a negative number
  cbrt('64.0'::double precision)  ⇒  4
  exp('1.0'::double precision)  ⇒  2.718281828459045
  exp('1.0'::numeric)  ⇒  2.7182818284590452
  exp('1000'::double precision)  ⇒  ERROR 22003: value out of range: overflow
  ln('2.0'::double precision)  ⇒  0.6931471805599453
  ln('2.0'::numeric)  ⇒  0.6931471805599453
  ln('0'::double precision)  ⇒  ERROR 2201E: cannot take logarithm of zero
  ln('-1'::numeric)  ⇒  ERROR 2201E: cannot take logarithm of a negative number
  log('100'::numeric)  ⇒  2.0000000000000000
  log('100'::double precision)  ⇒  2
  log('2.0'::numeric, '64.0'::numeric)  ⇒  6.0000000000000000
  sign('-8.4'::numeric)  ⇒  -1
  sign('-8.4'::double precision)  ⇒  -1
  sign('5'::numeric(5,2))  ⇒  1
  gcd('1071'::integer, '462'::integer)  ⇒  21
  lcm('1071'::integer, '462'::integer)  ⇒  23562
  gcd('1.5'::numeric, '0.5'::numeric)  ⇒  0.5
  lcm('2147483647'::integer, '2'::integer)  ⇒  ERROR 22003: integer out of range
  factorial('20'::bigint)  ⇒  2432902008176640000
  factorial('-1'::bigint)  ⇒  ERROR 22003: factorial of a negative number is undefined
  pi()  ⇒  3.141592653589793
  degrees('0.5'::double precision)  ⇒  28.64788975654116
  radians('45'::double precision)  ⇒  0.7853981633974483
  sin('1'::double precision)  ⇒  0.8414709848078965
  cos('1'::double precision)  ⇒  0.5403023058681398
  tan('1'::double precision)  ⇒  1.5574077246549023
  cot('0.5'::double precision)  ⇒  1.830487721712452
  asin('0.5'::double precision)  ⇒  0.5235987755982989
  acos('2'::double precision)  ⇒  ERROR 22003: input is out of range
  atan('1'::double precision)  ⇒  0.7853981633974483
  atan2('1'::double precision, '2'::double precision)  ⇒  0.4636476090008061
  sind('30'::double precision)  ⇒  0.5
  cosd('60'::double precision)  ⇒  0.5
  tand('45'::double precision)  ⇒  1
  asind('0.5'::double precision)  ⇒  30
  acosd('0.5'::double precision)  ⇒  60
  atand('1'::double precision)  ⇒  45
  sinh('1'::double precision)  ⇒  1.1752011936438014
  cosh('0'::double precision)  ⇒  1
  tanh('1'::double precision)  ⇒  0.7615941559557649
  asinh('1'::double precision)  ⇒  0.881373587019543
  acosh('1'::double precision)  ⇒  0
  scale('8.4100'::numeric)  ⇒  4
  min_scale('8.4100'::numeric)  ⇒  2
  trim_scale('8.4100'::numeric)  ⇒  8.41
  width_bucket('5.35'::double precision, '0.024'::double precision, '10.06'::double precision, '5'::integer)  ⇒  3
  width_bucket('5.35'::numeric, '0.024'::numeric, '10.06'::numeric, '5'::integer)  ⇒  3
  width_bucket('5'::integer, '{1,3,5,10}'::integer[])  ⇒  3
  width_bucket('11'::numeric, '10'::numeric, '1'::numeric, '3'::integer)  ⇒  0
  abs('x'::text)  ⇒  ERROR 42883: function abs(text) does not exist
  round('1.5'::double precision, '1'::integer)  ⇒  ERROR 42883: function round(double precision, integer) does not exist
  sqrt('4'::integer)  ⇒  2
  abs('1'::smallint)  ⇒  1
  mod('10'::bigint, '3'::integer)  ⇒  1
  power('2'::double precision, '3'::numeric)  ⇒  8
  abs('-5'::i8)  ⇒  5
  coalesce_x('1'::integer)  ⇒  ERROR 42883: function coalesce_x(integer) does not exist
  left('abc', '2')  ⇒  ab
  substring('abc', '2', '1')  ⇒  NULL
  substr('hello', '2')  ⇒  ello
  date_part('year', '2020-01-01')  ⇒  ERROR 42725: function date_part(unknown, unknown) is not unique
  round('2.567', '1')  ⇒  2.6
  round('2.5')  ⇒  2
  mod('5', '3')  ⇒  ERROR 42725: function mod(unknown, unknown) is not unique
  power('2', '3')  ⇒  8
  floor('2.5')  ⇒  2
  lpad('a', '3', 'x')  ⇒  xxa
  repeat('a', '3')  ⇒  aaa
  to_char('5'::integer, '99')  ⇒    5
  length('abc')  ⇒  3
  md5('abc')  ⇒  900150983cd24fb0d6963f7d28e17f72
  encode('abc', 'hex')  ⇒  616263
  jsonb_build_object('a', '1')  ⇒  {"a": "1"}
  json_build_array('a', 'b')  ⇒  ["a", "b"]
  concat_ws(',', 'a', 'b')  ⇒  a,b
  quote_literal('5'::integer)  ⇒  '5'
  num_nulls('a', NULL::integer)  ⇒  1
  generate_series('1', '3')  ⇒  ERROR 42725: function generate_series(unknown, unknown) is not unique
  string_to_array('1,2,3', ',')  ⇒  {1,2,3}
  regexp_replace('abc', 'b', 'x')  ⇒  axc
  regexp_matches('abc', 'b')  ⇒  {b}
  greatest_x()  ⇒  ERROR 42883: function greatest_x() does not exist
  upper(NULL::text)  ⇒  NULL
  abs(NULL::integer)  ⇒  NULL
  sum_x('1')  ⇒  ERROR 42883: function sum_x(unknown) does not exist
  chr('128512'::integer)  ⇒  😀
  split_part('a,b', ',', '1')  ⇒  a
  trim_scale('1.500')  ⇒  1.5
  make_date('2020', '1', '1')  ⇒  2020-01-01
  isfinite('2020-01-01')  ⇒  ERROR 42725: function isfinite(unknown) is not unique
  date_trunc('month', '2020-01-15'::timestamp)  ⇒  2020-01-01 00:00:00
  date_trunc('week', '2020-01-15'::timestamp)  ⇒  2020-01-13 00:00:00
  date_trunc('century', '2020-01-15'::timestamp)  ⇒  2001-01-01 00:00:00
  date_trunc('foo', '2020-01-15'::timestamp)  ⇒  ERROR 22023: unit "foo" not recognized for type timestamp without time zone
  array_length('{1,2}', '1')  ⇒  ERROR 42804: could not determine polymorphic type because input has type unknown
  `);
});

Deno.test("text and byte functions give PostgreSQL's results", () => {
  checkCases(String.raw`
  like_escape('a#%b','#')  ⇒  a\%b
  similar_to_escape('a%(b|c)_')  ⇒  ^(?:a.*(?:b|c).)$
  similar_to_escape('50#%','#')  ⇒  ^(?:50\%)$
  substring('foobar'::text, 'o(.)b')  ⇒  o
  substring('foobar'::text, 'o.b')  ⇒  oob
  substring('foobar'::text, 'z')  ⇒  NULL
  substring('foobar'::text, '%#"o_b#"%', '#')  ⇒  oob
  regexp_match('foobarbequebaz'::text, '(bar)(beque)')  ⇒  {bar,beque}
  regexp_match('abc'::text, 'z')  ⇒  NULL
  regexp_match('abc'::text, 'b', 'g')  ⇒  ERROR 22023: regexp_match() does not support the "global" option
  regexp_matches('foobarbequebazilbarfbonk'::text, '(b[^b]+)(b[^b]+)', 'g')  ⇒  {bar,beque}|{bazil,barf}
  regexp_split_to_array('hello world  x'::text, '\s+')  ⇒  {hello,world,x}
  regexp_split_to_array('abc'::text, '')  ⇒  {a,b,c}
  regexp_split_to_table('a,b,,c'::text, ',')  ⇒  a|b||c
  regexp_replace('Thomas'::text, '.[mN]a.', 'M')  ⇒  ThM
  regexp_replace('foobarbaz'::text, 'b..', 'X', 'g')  ⇒  fooXX
  regexp_replace('foobarbaz'::text, 'b(..)', 'X\1Y', 'g')  ⇒  fooXarYXazY
  regexp_replace('A PostgreSQL function'::text, 'a|e|i|o|u', 'X', '1'::integer, '3'::integer, 'i')  ⇒  A PostgrXSQL function
  regexp_count('ABCABCAXYaxy'::text, 'A.', '1'::integer, 'i')  ⇒  4
  regexp_instr('number of your street, town zip, FR'::text, '[^,]+', '1'::integer, '2'::integer)  ⇒  23
  regexp_instr('ABCDEFGHI'::text, '(c..)(...)', '1'::integer, '1'::integer, '0'::integer, 'i', '2'::integer)  ⇒  6
  regexp_like('Hello World'::text, 'world$', 'i')  ⇒  t
  regexp_substr('number of your street, town zip, FR'::text, '[^,]+', '1'::integer, '2'::integer)  ⇒   town zip
  regexp_substr('ABCDEFGHI'::text, '(c..)(...)', '1'::integer, '1'::integer, 'i', '2'::integer)  ⇒  FGH
  length('jose'::text)  ⇒  4
  length('ab  '::character(6))  ⇒  2
  octet_length('ab'::character(6))  ⇒  6
  length('héllo😀'::text)  ⇒  6
  octet_length('héllo😀'::text)  ⇒  10
  bit_length('jose'::text)  ⇒  32
  upper('tom ß'::text)  ⇒  TOM ß
  lower('TOM'::varchar)  ⇒  tom
  initcap('hi THOMAS, o''neil 3com'::text)  ⇒  Hi Thomas, O'Neil 3com
  btrim('xyxtrimyyx'::text, 'xyz')  ⇒  trim
  btrim('  a '::text)  ⇒  a
  ltrim('zzzytest'::text, 'xyz')  ⇒  test
  rtrim('testxxzx'::text, 'xyz')  ⇒  test
  substr('alphabet'::text, '3'::integer, '2'::integer)  ⇒  ph
  substring('Thomas'::text, '-1'::integer, '4'::integer)  ⇒  Th
  substring('Thomas'::text, '2'::integer, '-1'::integer)  ⇒  ERROR 22011: negative substring length not allowed
  substring('a😀bc'::text, '2'::integer, '2'::integer)  ⇒  😀b
  substring('Thomas'::text, '3'::integer)  ⇒  omas
  strpos('high'::text, 'ig')  ⇒  2
  left('abcde'::text, '2'::integer)  ⇒  ab
  left('abcde'::text, '-2'::integer)  ⇒  abc
  right('abcde'::text, '2'::integer)  ⇒  de
  right('abcde'::text, '-2'::integer)  ⇒  cde
  lpad('hi'::text, '5'::integer, 'xy')  ⇒  xyxhi
  lpad('hello'::text, '3'::integer)  ⇒  hel
  rpad('hi'::text, '5'::integer, 'xy')  ⇒  hixyx
  rpad('hi'::text, '-1'::integer, 'xy')  ⇒
  repeat('Pg'::text, '4'::integer)  ⇒  PgPgPgPg
  repeat('Pg'::text, '-4'::integer)  ⇒
  replace('abcdefabcdef'::text, 'cd', 'XX')  ⇒  abXXefabXXef
  replace('abc'::text, '', 'XX')  ⇒  abc
  reverse('abcde'::text)  ⇒  edcba
  translate('12345'::text, '143', 'ax')  ⇒  a2x5
  concat('abcde'::text, '2'::integer, NULL::text, '22'::integer, 'true'::boolean)  ⇒  abcde222t
  concat_ws(',', 'abcde'::text, '2'::integer, NULL::text, '22'::integer)  ⇒  abcde,2,22
  concat_ws(NULL::text, 'a'::text)  ⇒  NULL
  format('Hello %s, %%, %I, %L', 'World'::text, 'my col'::text, 'it''s'::text)  ⇒  Hello World, %, "my col", 'it''s'
  format('%2$s %1$s', 'a'::text, 'b'::text)  ⇒  b a
  format('|%10s|%-10s|', 'foo'::text, 'bar'::text)  ⇒  |       foo|bar       |
  format('%s')  ⇒  ERROR 22023: too few arguments for format()
  format('%x', 'a'::text)  ⇒  ERROR 22023: unrecognized format() type specifier "x"
  format('%L', NULL::text)  ⇒  NULL
  split_part('abc~@~def~@~ghi'::text, '~@~', '2'::integer)  ⇒  def
  split_part('abc,def,ghi'::text, ',', '-2'::integer)  ⇒  def
  split_part('abc'::text, ',', '0'::integer)  ⇒  ERROR 22023: field position must not be zero
  string_to_table('a,b,c'::text, ',')  ⇒  a|b|c
  starts_with('alphabet'::text, 'alph')  ⇒  t
  ascii('x'::text)  ⇒  120
  ascii('😀'::text)  ⇒  128512
  chr('65'::integer)  ⇒  A
  chr('0'::integer)  ⇒  ERROR 54000: null character not permitted
  to_hex('2147483647'::integer)  ⇒  7fffffff
  to_hex('-1'::integer)  ⇒  ffffffff
  to_hex('-1'::bigint)  ⇒  ffffffffffffffff
  md5('abc'::text)  ⇒  900150983cd24fb0d6963f7d28e17f72
  sha256('abc'::bytea)  ⇒  \xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
  sha224('abc'::bytea)  ⇒  \x23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7
  sha384('abc'::bytea)  ⇒  \xcb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7
  sha512('abc'::bytea)  ⇒  \xddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
  encode('123\000\001'::bytea, 'base64')  ⇒  MTIzAAE=
  encode('\x01ff'::bytea, 'hex')  ⇒  01ff
  encode('a\\b\001\377'::bytea, 'escape')  ⇒  a\\b\377
  encode('abc'::bytea, 'rot13')  ⇒  ERROR 22023: unrecognized encoding: "rot13"
  decode('MTIzAAE='::text, 'base64')  ⇒  \x3132330001
  decode('01fF'::text, 'hex')  ⇒  \x01ff
  decode('0'::text, 'hex')  ⇒  ERROR 22023: invalid hexadecimal data: odd number of digits
  decode('0g'::text, 'hex')  ⇒  ERROR 22023: invalid hexadecimal digit: "g"
  decode('YWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFi'::text, 'base64')  ⇒  \x616261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162
  decode('YR=='::text, 'base64')  ⇒  \x61
  decode('a*b'::text, 'base64')  ⇒  ERROR 22023: invalid symbol "*" found while decoding base64 sequence
  get_byte('\x1234567890'::bytea, '4'::integer)  ⇒  144
  get_byte('\x12'::bytea, '4'::integer)  ⇒  ERROR 2202E: index 4 out of valid range, 0..0
  set_byte('\x1234567890'::bytea, '4'::integer, '64'::integer)  ⇒  \x1234567840
  get_bit('\x1234567890'::bytea, '30'::bigint)  ⇒  1
  set_bit('\x1234567890'::bytea, '30'::bigint, '0'::integer)  ⇒  \x1234563890
  bit_count('\x1234567890'::bytea)  ⇒  15
  length('\x1234567890'::bytea)  ⇒  5
  substring('\x1234567890'::bytea, '3'::integer, '2'::integer)  ⇒  \x5678
  substr('\x1234567890'::bytea, '-1'::integer, '4'::integer)  ⇒  \x1234
  overlay('\x1234567890'::bytea, '\x0203'::bytea, '2'::integer, '3'::integer)  ⇒  \x12020390
  btrim('\x1234567890'::bytea, '\x9012'::bytea)  ⇒  \x345678
  overlay('Txxxxas'::text, 'hom', '2'::integer, '4'::integer)  ⇒  Thomas
  overlay('Txxxxas'::text, 'hom', '2'::integer)  ⇒  Thomxas
  overlay('Txxxxas'::text, 'hom', '0'::integer)  ⇒  ERROR 22011: negative substring length not allowed
  quote_ident('Foo bar'::text)  ⇒  "Foo bar"
  quote_ident('select'::text)  ⇒  "select"
  quote_ident('abc'::text)  ⇒  abc
  quote_literal('O''Reilly\x'::text)  ⇒  E'O''Reilly\\x'
  quote_literal('42.5'::numeric)  ⇒  '42.5'
  quote_nullable(NULL::text)  ⇒  NULL
  unistr('d\0061t\+000061'::text)  ⇒  data
  convert_from('\x616263'::bytea, 'UTF8')  ⇒  abc
  convert_to('abc'::text, 'UTF8')  ⇒  \x616263
  concat('2020-01-01'::date, '1.50'::numeric(10,2), '{1,2}'::integer[], 'x'::character(3))  ⇒  2020-01-011.50{1,2}x
  lower('A', 'B')  ⇒  ERROR 42883: function lower(unknown, unknown) does not exist
  foo('1'::integer)  ⇒  ERROR 42883: function foo(integer) does not exist
  text('5'::integer)  ⇒  5
  float8('1.5'::text)  ⇒  1.5
  upper('a'::character(3))  ⇒  A
  lpad('x'::text, '1000000000'::integer)  ⇒  ERROR 54000: requested length too large
  repeat('abc'::text, '500000000'::integer)  ⇒  ERROR 54000: requested length too large
  substr('x'::text)  ⇒  ERROR 42883: function substr(text) does not exist
  length('\x00'::bytea)  ⇒  1
  concat()  ⇒  ERROR 42883: function concat() does not exist
  position('a😀b'::text, 'b')  ⇒  3
  position('\x1234567890'::bytea, '\x5678'::bytea)  ⇒  3
  normalize('a'::text, 'NFD')  ⇒  a
  extract('hour', '2001-02-16 20:38:40.12'::timestamp)  ⇒  20
  hmac_sha256('key'::bytea, 'The quick brown fox jumps over the lazy dog'::bytea)  ⇒  \xf7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8
  now()  ⇒  2024-02-29 12:34:56.789+00
  current_date()  ⇒  2024-02-29
  localtime()  ⇒  12:34:56.789
  current_timestamp('0'::integer)  ⇒  2024-02-29 12:34:57+00
  current_database()  ⇒  test
  current_schemas('true'::boolean)  ⇒  {pg_catalog,public}
  gen_random_uuid()  ⇒  abababab-abab-4bab-abab-abababababab
  random()  ⇒  0.25
  nextval('abc')  ⇒  3
  lastval()  ⇒  41
  current_setting('server_version_num')  ⇒  150000
  current_setting('nope')  ⇒  ERROR 42704: unrecognized configuration parameter "nope"
  `);
});

Deno.test("initcap, translate, reverse and encode work on long texts as they do on each character", () => {
  const letters = [..."abßΣςİıǆÀ😀𐐨𐐀 -'9٣ⓐⅷ\u0301ﬁ\\"];
  for (let seed = 1; seed <= 300; seed++) {
    const random = new SeededRandom(seed);
    const pick = (count: number) =>
      Array.from({ length: count }, () => letters[random.between(0, letters.length - 1)] ?? "");
    const text = pick(random.between(0, 12) * (seed % 100 === 0 ? 1000 : 1)),
      from = pick(4),
      to = pick(random.between(0, 5));
    const label = JSON.stringify([text.join(""), from.join(""), to.join("")]);
    const isWord = (character = "") => /[\p{L}\p{N}]/u.test(character);
    equal(
      initialCapitals(text.join("")),
      text.map((each, at) => isWord(text[at - 1]) ? lowerCase(each) : upperCase(each)).join(""),
      label,
    );
    equal(
      translateCharacters(text.join(""), from.join(""), to.join("")),
      text.map((each) => from.includes(each) ? to[from.indexOf(each)] ?? "" : each).join(""),
      label,
    );
    equal(reverseText(text.join("")), [...text].reverse().join(""), label);
    const bytes = new Uint8Array(random.between(0, 300)).map(() => random.between(0, 255));
    const octal = (byte: number) => byte === 92 ? "\\\\" : `\\${byte.toString(8).padStart(3, "0")}`;
    const escaped = (least: number, most: number) =>
      [...bytes].map((byte) =>
        byte >= least && byte <= most && byte !== 92 ? String.fromCharCode(byte) : octal(byte)
      ).join("");
    equal(escapeBytes(bytes, 1, 127), escaped(1, 127));
    equal(formatBytea(bytes, "escape"), escaped(32, 126));
  }
});
