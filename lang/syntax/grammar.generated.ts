/**
 * Made from `grammar.ne` by `deno task grammar`; a test compares. `lalr_tables.ts` says what the lines mean.
 */
import {
  aliasBody,
  assignment,
  block,
  bracketedList,
  breakStatement,
  builtinBody,
  constant,
  continueStatement,
  effects,
  emptyList,
  emptyListWithRest,
  evalCase,
  evalDeclaration,
  expressionStatement,
  extern,
  forStatement,
  functionDeclaration,
  functionType,
  heading,
  interfaceDeclaration,
  intrinsic,
  letStatement,
  list,
  listWithRest,
  namedType,
  onlyRest,
  ownedName,
  parameter,
  parameterType,
  plainName,
  plainVariant,
  property,
  published,
  qualifiedType,
  recordBody,
  recordField,
  returnAlone,
  returnStatement,
  second,
  signature,
  test,
  tupleType,
  typeDeclaration,
  typeParameter,
  unionAfterBar,
  unionBody,
  unionOfOne,
  unionOfSeveral,
  unnamedVariantField,
  untypedParameter,
  use,
  variableStatement,
  variant,
  variantField,
  whileStatement,
} from "./build.ts";
import {
  alternatives,
  bareVariantPattern,
  base,
  binary,
  binding,
  boolean,
  booleanPattern,
  call,
  character,
  closure,
  field,
  fieldAccess,
  fieldPattern,
  float,
  floatPattern,
  ifExpression,
  ifLet,
  index,
  inoutArgument,
  integer,
  integerBound,
  listLiteral,
  listPattern,
  literalPattern,
  match,
  matchArm,
  namedArgument,
  namedFieldPattern,
  namedInoutArgument,
  nameExpression,
  parenthesized,
  path,
  plainArgument,
  plainString,
  propagate,
  range,
  rangePattern,
  record,
  recordPattern,
  rest,
  string,
  textPattern,
  tuple,
  tuplePattern,
  unary,
  unit,
  unnamedFieldPattern,
  variantPattern,
  wildcard,
} from "./build_expressions.ts";

/** What builds the value of a rule; `id`, `nuller`, `arrpush` and `parts` are nearley's own. */
export const MAKERS: readonly (string | ((parts: never) => unknown))[] = [
  "id",
  published,
  "parts",
  "arrpush",
  "nuller",
  use,
  typeDeclaration,
  emptyList,
  list,
  recordBody,
  unionBody,
  aliasBody,
  builtinBody,
  recordField,
  unionAfterBar,
  unionOfSeveral,
  unionOfOne,
  plainVariant,
  variant,
  unnamedVariantField,
  variantField,
  bracketedList,
  typeParameter,
  interfaceDeclaration,
  signature,
  constant,
  functionDeclaration,
  intrinsic,
  extern,
  heading,
  plainName,
  ownedName,
  untypedParameter,
  parameter,
  second,
  effects,
  test,
  property,
  evalDeclaration,
  evalCase,
  tupleType,
  functionType,
  namedType,
  qualifiedType,
  parameterType,
  block,
  letStatement,
  variableStatement,
  whileStatement,
  forStatement,
  assignment,
  returnStatement,
  returnAlone,
  breakStatement,
  continueStatement,
  expressionStatement,
  binary,
  unary,
  range,
  call,
  index,
  fieldAccess,
  propagate,
  record,
  plainArgument,
  inoutArgument,
  namedArgument,
  namedInoutArgument,
  base,
  field,
  integer,
  float,
  character,
  boolean,
  nameExpression,
  listLiteral,
  unit,
  parenthesized,
  tuple,
  closure,
  plainString,
  string,
  ifExpression,
  ifLet,
  match,
  matchArm,
  alternatives,
  wildcard,
  binding,
  literalPattern,
  rangePattern,
  floatPattern,
  textPattern,
  booleanPattern,
  tuplePattern,
  emptyListWithRest,
  onlyRest,
  listWithRest,
  listPattern,
  bareVariantPattern,
  variantPattern,
  recordPattern,
  integerBound,
  path,
  unnamedFieldPattern,
  namedFieldPattern,
  fieldPattern,
  rest,
];

/** One rule a line: its maker's index, its name, its symbols. */
export const RULES = `
0 declaration = use
0 declaration = exportable
1 declaration = 'pub exportable
0 declaration = test
0 declaration = property
0 declaration = eval
0 exportable = type_declaration
0 exportable = interface
0 exportable = constant
0 exportable = function
2 use$ebnf$1 =
2 use$ebnf$1$subexpression$1 = '. 'name
3 use$ebnf$1 = use$ebnf$1 use$ebnf$1$subexpression$1
2 use$ebnf$2$subexpression$1 = 'as 'name
0 use$ebnf$2 = use$ebnf$2$subexpression$1
4 use$ebnf$2 =
5 use = 'use 'name use$ebnf$1 use$ebnf$2
0 type_declaration$ebnf$1 = type_parameters
4 type_declaration$ebnf$1 =
6 type_declaration = 'type 'type_name type_declaration$ebnf$1 '= type_body
2 type_body$macrocall$2 = record_field
7 type_body$macrocall$1 =
2 type_body$macrocall$1$ebnf$1 =
2 type_body$macrocall$1$ebnf$1$subexpression$1 = ', type_body$macrocall$2
3 type_body$macrocall$1$ebnf$1 = type_body$macrocall$1$ebnf$1 type_body$macrocall$1$ebnf$1$subexpression$1
0 type_body$macrocall$1$ebnf$2 = ',
4 type_body$macrocall$1$ebnf$2 =
8 type_body$macrocall$1 = type_body$macrocall$2 type_body$macrocall$1$ebnf$1 type_body$macrocall$1$ebnf$2
9 type_body = '{ type_body$macrocall$1 '}
10 type_body = union
11 type_body = type
12 type_body = 'builtin
13 record_field = 'name ': type
2 union$ebnf$1 =
2 union$ebnf$1$subexpression$1 = '| variant
3 union$ebnf$1 = union$ebnf$1 union$ebnf$1$subexpression$1
14 union = '| variant union$ebnf$1
2 union$ebnf$2$subexpression$1 = '| variant
2 union$ebnf$2 = union$ebnf$2$subexpression$1
2 union$ebnf$2$subexpression$2 = '| variant
3 union$ebnf$2 = union$ebnf$2 union$ebnf$2$subexpression$2
15 union = variant union$ebnf$2
16 union = variant_with_fields
17 variant = 'type_name
0 variant = variant_with_fields
2 variant_with_fields$macrocall$2 = variant_field
7 variant_with_fields$macrocall$1 =
2 variant_with_fields$macrocall$1$ebnf$1 =
2 variant_with_fields$macrocall$1$ebnf$1$subexpression$1 = ', variant_with_fields$macrocall$2
3 variant_with_fields$macrocall$1$ebnf$1 = variant_with_fields$macrocall$1$ebnf$1 variant_with_fields$macrocall$1$ebnf$1$subexpression$1
0 variant_with_fields$macrocall$1$ebnf$2 = ',
4 variant_with_fields$macrocall$1$ebnf$2 =
8 variant_with_fields$macrocall$1 = variant_with_fields$macrocall$2 variant_with_fields$macrocall$1$ebnf$1 variant_with_fields$macrocall$1$ebnf$2
18 variant_with_fields = 'type_name '( variant_with_fields$macrocall$1 ')
19 variant_field = type
20 variant_field = 'name ': type
2 type_parameters$macrocall$2 = type_parameter
7 type_parameters$macrocall$1 =
2 type_parameters$macrocall$1$ebnf$1 =
2 type_parameters$macrocall$1$ebnf$1$subexpression$1 = ', type_parameters$macrocall$2
3 type_parameters$macrocall$1$ebnf$1 = type_parameters$macrocall$1$ebnf$1 type_parameters$macrocall$1$ebnf$1$subexpression$1
0 type_parameters$macrocall$1$ebnf$2 = ',
4 type_parameters$macrocall$1$ebnf$2 =
8 type_parameters$macrocall$1 = type_parameters$macrocall$2 type_parameters$macrocall$1$ebnf$1 type_parameters$macrocall$1$ebnf$2
21 type_parameters = '[ type_parameters$macrocall$1 ']
2 type_parameter$ebnf$1$subexpression$1$ebnf$1 =
2 type_parameter$ebnf$1$subexpression$1$ebnf$1$subexpression$1 = '+ named_type
3 type_parameter$ebnf$1$subexpression$1$ebnf$1 = type_parameter$ebnf$1$subexpression$1$ebnf$1 type_parameter$ebnf$1$subexpression$1$ebnf$1$subexpression$1
2 type_parameter$ebnf$1$subexpression$1 = ': named_type type_parameter$ebnf$1$subexpression$1$ebnf$1
0 type_parameter$ebnf$1 = type_parameter$ebnf$1$subexpression$1
4 type_parameter$ebnf$1 =
22 type_parameter = 'type_name type_parameter$ebnf$1
2 interface$ebnf$1 =
3 interface$ebnf$1 = interface$ebnf$1 signature
23 interface = 'interface 'type_name '{ interface$ebnf$1 '}
24 signature = 'fn heading
0 constant$ebnf$1 = type_annotation
4 constant$ebnf$1 =
25 constant = 'const owned_name constant$ebnf$1 '= expression
26 function = 'fn heading block
27 function = 'intrinsic 'fn heading
28 function = 'extern 'text 'fn heading
0 heading$ebnf$1 = type_parameters
4 heading$ebnf$1 =
2 heading$macrocall$2 = parameter
7 heading$macrocall$1 =
2 heading$macrocall$1$ebnf$1 =
2 heading$macrocall$1$ebnf$1$subexpression$1 = ', heading$macrocall$2
3 heading$macrocall$1$ebnf$1 = heading$macrocall$1$ebnf$1 heading$macrocall$1$ebnf$1$subexpression$1
0 heading$macrocall$1$ebnf$2 = ',
4 heading$macrocall$1$ebnf$2 =
8 heading$macrocall$1 = heading$macrocall$2 heading$macrocall$1$ebnf$1 heading$macrocall$1$ebnf$2
0 heading$ebnf$2 = result_type
4 heading$ebnf$2 =
0 heading$ebnf$3 = effects
4 heading$ebnf$3 =
29 heading = owned_name heading$ebnf$1 '( heading$macrocall$1 ') heading$ebnf$2 heading$ebnf$3
30 owned_name = 'name
31 owned_name = 'type_name '. 'name
32 parameter = parameter_name
0 parameter$ebnf$1 = 'inout
4 parameter$ebnf$1 =
33 parameter = parameter_name ': parameter$ebnf$1 type
0 parameter_name = 'name
0 parameter_name = '_
34 result_type = '-> type
2 effects$ebnf$1 =
2 effects$ebnf$1$subexpression$1 = ', 'type_name
3 effects$ebnf$1 = effects$ebnf$1 effects$ebnf$1$subexpression$1
35 effects = 'uses 'type_name effects$ebnf$1
36 test = 'test 'text block
2 property$macrocall$2 = parameter
7 property$macrocall$1 =
2 property$macrocall$1$ebnf$1 =
2 property$macrocall$1$ebnf$1$subexpression$1 = ', property$macrocall$2
3 property$macrocall$1$ebnf$1 = property$macrocall$1$ebnf$1 property$macrocall$1$ebnf$1$subexpression$1
0 property$macrocall$1$ebnf$2 = ',
4 property$macrocall$1$ebnf$2 =
8 property$macrocall$1 = property$macrocall$2 property$macrocall$1$ebnf$1 property$macrocall$1$ebnf$2
37 property = 'property 'text '( property$macrocall$1 ') block
2 eval$ebnf$1 =
3 eval$ebnf$1 = eval$ebnf$1 eval_case
38 eval = 'eval 'text 'threshold expression '{ eval$ebnf$1 '}
39 eval_case = 'case 'text '=> expression
0 type = named_type
2 type$macrocall$2 = type
7 type$macrocall$1 =
2 type$macrocall$1$ebnf$1 =
2 type$macrocall$1$ebnf$1$subexpression$1 = ', type$macrocall$2
3 type$macrocall$1$ebnf$1 = type$macrocall$1$ebnf$1 type$macrocall$1$ebnf$1$subexpression$1
0 type$macrocall$1$ebnf$2 = ',
4 type$macrocall$1$ebnf$2 =
8 type$macrocall$1 = type$macrocall$2 type$macrocall$1$ebnf$1 type$macrocall$1$ebnf$2
40 type = 'open_paren type$macrocall$1 ')
2 type$macrocall$4 = parameter_type
7 type$macrocall$3 =
2 type$macrocall$3$ebnf$1 =
2 type$macrocall$3$ebnf$1$subexpression$1 = ', type$macrocall$4
3 type$macrocall$3$ebnf$1 = type$macrocall$3$ebnf$1 type$macrocall$3$ebnf$1$subexpression$1
0 type$macrocall$3$ebnf$2 = ',
4 type$macrocall$3$ebnf$2 =
8 type$macrocall$3 = type$macrocall$4 type$macrocall$3$ebnf$1 type$macrocall$3$ebnf$2
0 type$ebnf$1 = result_type
4 type$ebnf$1 =
41 type = 'fn 'open_paren type$macrocall$3 ') type$ebnf$1
0 named_type$ebnf$1 = type_arguments
4 named_type$ebnf$1 =
42 named_type = 'type_name named_type$ebnf$1
0 named_type$ebnf$2 = type_arguments
4 named_type$ebnf$2 =
43 named_type = 'name '. 'type_name named_type$ebnf$2
2 type_arguments$macrocall$2 = type
7 type_arguments$macrocall$1 =
2 type_arguments$macrocall$1$ebnf$1 =
2 type_arguments$macrocall$1$ebnf$1$subexpression$1 = ', type_arguments$macrocall$2
3 type_arguments$macrocall$1$ebnf$1 = type_arguments$macrocall$1$ebnf$1 type_arguments$macrocall$1$ebnf$1$subexpression$1
0 type_arguments$macrocall$1$ebnf$2 = ',
4 type_arguments$macrocall$1$ebnf$2 =
8 type_arguments$macrocall$1 = type_arguments$macrocall$2 type_arguments$macrocall$1$ebnf$1 type_arguments$macrocall$1$ebnf$2
21 type_arguments = '[ type_arguments$macrocall$1 ']
0 parameter_type$ebnf$1 = 'inout
4 parameter_type$ebnf$1 =
44 parameter_type = parameter_type$ebnf$1 type
34 type_annotation = ': type
2 block$ebnf$1 =
3 block$ebnf$1 = block$ebnf$1 statement
45 block = '{ block$ebnf$1 '}
0 statement$ebnf$1 = type_annotation
4 statement$ebnf$1 =
2 statement$ebnf$2$subexpression$1 = 'let_else block
0 statement$ebnf$2 = statement$ebnf$2$subexpression$1
4 statement$ebnf$2 =
46 statement = 'let pattern statement$ebnf$1 '= expression statement$ebnf$2
0 statement$ebnf$3 = type_annotation
4 statement$ebnf$3 =
47 statement = 'var 'name statement$ebnf$3 '= expression
48 statement = 'while expression block
0 statement$ebnf$4 = 'inout
4 statement$ebnf$4 =
49 statement = 'for statement$ebnf$4 pattern 'in expression block
0 statement = simple_statement
50 simple_statement = postfix assignment_operator expression
51 simple_statement = 'return expression
52 simple_statement = 'return_alone
53 simple_statement = 'break
54 simple_statement = 'continue
55 simple_statement = expression
0 assignment_operator = '=
0 assignment_operator = '+=
0 assignment_operator = '-=
0 assignment_operator = '*=
0 assignment_operator = '/=
0 assignment_operator = '%=
0 assignment_operator = '+%=
0 assignment_operator = '-%=
0 assignment_operator = '*%=
0 expression = or
56 or = or 'or and
0 or = and
56 and = and 'and not
0 and = not
57 not = 'not not
0 not = comparison
56 comparison = range comparison_operator range
0 comparison = range
0 comparison_operator = '==
0 comparison_operator = '!=
0 comparison_operator = '<
0 comparison_operator = '<=
0 comparison_operator = '>
0 comparison_operator = '>=
58 range = bit_or '.. bit_or
58 range = bit_or '..= bit_or
0 range = bit_or
56 bit_or = bit_or '| bit_xor
0 bit_or = bit_xor
56 bit_xor = bit_xor '^ bit_and
0 bit_xor = bit_and
56 bit_and = bit_and '& shift
0 bit_and = shift
56 shift = shift shift_operator sum
0 shift = sum
0 shift_operator = '<<
0 shift_operator = '>>
56 sum = sum sum_operator product
0 sum = product
0 sum_operator = '+
0 sum_operator = '-
0 sum_operator = '+%
0 sum_operator = '-%
56 product = product product_operator unary
0 product = unary
0 product_operator = '*
0 product_operator = '/
0 product_operator = '%
0 product_operator = '*%
57 unary = 'negate unary
0 unary = postfix
2 postfix$macrocall$2 = argument
7 postfix$macrocall$1 =
2 postfix$macrocall$1$ebnf$1 =
2 postfix$macrocall$1$ebnf$1$subexpression$1 = ', postfix$macrocall$2
3 postfix$macrocall$1$ebnf$1 = postfix$macrocall$1$ebnf$1 postfix$macrocall$1$ebnf$1$subexpression$1
0 postfix$macrocall$1$ebnf$2 = ',
4 postfix$macrocall$1$ebnf$2 =
8 postfix$macrocall$1 = postfix$macrocall$2 postfix$macrocall$1$ebnf$1 postfix$macrocall$1$ebnf$2
59 postfix = postfix '( postfix$macrocall$1 ')
60 postfix = postfix '[ expression ']
61 postfix = postfix '. member
62 postfix = postfix '?
2 postfix$ebnf$1 =
2 postfix$ebnf$1$subexpression$1 = ', field
3 postfix$ebnf$1 = postfix$ebnf$1 postfix$ebnf$1$subexpression$1
0 postfix$ebnf$2 = ',
4 postfix$ebnf$2 =
63 postfix = postfix 'record_brace first_field postfix$ebnf$1 postfix$ebnf$2 '}
0 postfix = primary
0 member = 'name
0 member = 'type_name
0 member = 'integer
64 argument = expression
65 argument = '& postfix
66 argument = 'name ': expression
67 argument = 'name ': '& postfix
68 first_field = '.. expression
0 first_field = field
69 field = 'name ': expression
70 primary = 'integer
71 primary = 'float
72 primary = 'character
73 primary = 'true
73 primary = 'false
0 primary = string
74 primary = 'name
74 primary = 'type_name
2 primary$macrocall$2 = expression
7 primary$macrocall$1 =
2 primary$macrocall$1$ebnf$1 =
2 primary$macrocall$1$ebnf$1$subexpression$1 = ', primary$macrocall$2
3 primary$macrocall$1$ebnf$1 = primary$macrocall$1$ebnf$1 primary$macrocall$1$ebnf$1$subexpression$1
0 primary$macrocall$1$ebnf$2 = ',
4 primary$macrocall$1$ebnf$2 =
8 primary$macrocall$1 = primary$macrocall$2 primary$macrocall$1$ebnf$1 primary$macrocall$1$ebnf$2
75 primary = 'open_bracket primary$macrocall$1 ']
76 primary = 'open_paren ')
77 primary = 'open_paren expression ')
2 primary$ebnf$1$subexpression$1 = ', expression
2 primary$ebnf$1 = primary$ebnf$1$subexpression$1
2 primary$ebnf$1$subexpression$2 = ', expression
3 primary$ebnf$1 = primary$ebnf$1 primary$ebnf$1$subexpression$2
0 primary$ebnf$2 = ',
4 primary$ebnf$2 =
78 primary = 'open_paren expression primary$ebnf$1 primary$ebnf$2 ')
0 primary = block
0 primary = if
0 primary = match
2 primary$macrocall$4 = parameter
7 primary$macrocall$3 =
2 primary$macrocall$3$ebnf$1 =
2 primary$macrocall$3$ebnf$1$subexpression$1 = ', primary$macrocall$4
3 primary$macrocall$3$ebnf$1 = primary$macrocall$3$ebnf$1 primary$macrocall$3$ebnf$1$subexpression$1
0 primary$macrocall$3$ebnf$2 = ',
4 primary$macrocall$3$ebnf$2 =
8 primary$macrocall$3 = primary$macrocall$4 primary$macrocall$3$ebnf$1 primary$macrocall$3$ebnf$2
0 primary$ebnf$3 = result_type
4 primary$ebnf$3 =
79 primary = 'fn 'open_paren primary$macrocall$3 ') primary$ebnf$3 block
80 string = 'text
2 string$ebnf$1 =
3 string$ebnf$1 = string$ebnf$1 string_part
81 string = 'text_start string$ebnf$1 'text_end
0 string_part = 'text_part
34 string_part = 'interpolation_start expression 'interpolation_end
0 if$ebnf$1 = else
4 if$ebnf$1 =
82 if = 'if expression block if$ebnf$1
0 if$ebnf$2 = else
4 if$ebnf$2 =
83 if = 'if 'let pattern '= expression block if$ebnf$2
34 else = 'else block
34 else = 'else if
2 match$ebnf$1 =
3 match$ebnf$1 = match$ebnf$1 match_arm
84 match = 'match expression '{ match$ebnf$1 '}
2 match_arm$ebnf$1$subexpression$1 = 'if expression
0 match_arm$ebnf$1 = match_arm$ebnf$1$subexpression$1
4 match_arm$ebnf$1 =
85 match_arm = pattern match_arm$ebnf$1 '=> simple_statement
0 pattern = simple_pattern
2 pattern$ebnf$1$subexpression$1 = '| simple_pattern
2 pattern$ebnf$1 = pattern$ebnf$1$subexpression$1
2 pattern$ebnf$1$subexpression$2 = '| simple_pattern
3 pattern$ebnf$1 = pattern$ebnf$1 pattern$ebnf$1$subexpression$2
86 pattern = simple_pattern pattern$ebnf$1
87 simple_pattern = '_
88 simple_pattern = 'name
89 simple_pattern = pattern_bound
90 simple_pattern = pattern_bound '.. pattern_bound
90 simple_pattern = pattern_bound '..= pattern_bound
0 simple_pattern$ebnf$1 = 'negate
4 simple_pattern$ebnf$1 =
91 simple_pattern = simple_pattern$ebnf$1 'float
92 simple_pattern = 'text
93 simple_pattern = 'true
93 simple_pattern = 'false
2 simple_pattern$macrocall$2 = pattern
7 simple_pattern$macrocall$1 =
2 simple_pattern$macrocall$1$ebnf$1 =
2 simple_pattern$macrocall$1$ebnf$1$subexpression$1 = ', simple_pattern$macrocall$2
3 simple_pattern$macrocall$1$ebnf$1 = simple_pattern$macrocall$1$ebnf$1 simple_pattern$macrocall$1$ebnf$1$subexpression$1
0 simple_pattern$macrocall$1$ebnf$2 = ',
4 simple_pattern$macrocall$1$ebnf$2 =
8 simple_pattern$macrocall$1 = simple_pattern$macrocall$2 simple_pattern$macrocall$1$ebnf$1 simple_pattern$macrocall$1$ebnf$2
94 simple_pattern = 'open_paren simple_pattern$macrocall$1 ')
2 simple_pattern$macrocall$4 = pattern
2 simple_pattern$macrocall$5 = rest
95 simple_pattern$macrocall$3 =
0 simple_pattern$macrocall$3$ebnf$1 = ',
4 simple_pattern$macrocall$3$ebnf$1 =
96 simple_pattern$macrocall$3 = simple_pattern$macrocall$5 simple_pattern$macrocall$3$ebnf$1
2 simple_pattern$macrocall$3$ebnf$2 =
2 simple_pattern$macrocall$3$ebnf$2$subexpression$1 = ', simple_pattern$macrocall$4
3 simple_pattern$macrocall$3$ebnf$2 = simple_pattern$macrocall$3$ebnf$2 simple_pattern$macrocall$3$ebnf$2$subexpression$1
2 simple_pattern$macrocall$3$ebnf$3$subexpression$1 = ',
0 simple_pattern$macrocall$3$ebnf$3$subexpression$1$ebnf$1 = ',
4 simple_pattern$macrocall$3$ebnf$3$subexpression$1$ebnf$1 =
2 simple_pattern$macrocall$3$ebnf$3$subexpression$1 = ', simple_pattern$macrocall$5 simple_pattern$macrocall$3$ebnf$3$subexpression$1$ebnf$1
0 simple_pattern$macrocall$3$ebnf$3 = simple_pattern$macrocall$3$ebnf$3$subexpression$1
4 simple_pattern$macrocall$3$ebnf$3 =
97 simple_pattern$macrocall$3 = simple_pattern$macrocall$4 simple_pattern$macrocall$3$ebnf$2 simple_pattern$macrocall$3$ebnf$3
98 simple_pattern = 'open_bracket simple_pattern$macrocall$3 ']
99 simple_pattern = pattern_path
2 simple_pattern$macrocall$7 = variant_field_pattern
2 simple_pattern$macrocall$8 = '..
95 simple_pattern$macrocall$6 =
0 simple_pattern$macrocall$6$ebnf$1 = ',
4 simple_pattern$macrocall$6$ebnf$1 =
96 simple_pattern$macrocall$6 = simple_pattern$macrocall$8 simple_pattern$macrocall$6$ebnf$1
2 simple_pattern$macrocall$6$ebnf$2 =
2 simple_pattern$macrocall$6$ebnf$2$subexpression$1 = ', simple_pattern$macrocall$7
3 simple_pattern$macrocall$6$ebnf$2 = simple_pattern$macrocall$6$ebnf$2 simple_pattern$macrocall$6$ebnf$2$subexpression$1
2 simple_pattern$macrocall$6$ebnf$3$subexpression$1 = ',
0 simple_pattern$macrocall$6$ebnf$3$subexpression$1$ebnf$1 = ',
4 simple_pattern$macrocall$6$ebnf$3$subexpression$1$ebnf$1 =
2 simple_pattern$macrocall$6$ebnf$3$subexpression$1 = ', simple_pattern$macrocall$8 simple_pattern$macrocall$6$ebnf$3$subexpression$1$ebnf$1
0 simple_pattern$macrocall$6$ebnf$3 = simple_pattern$macrocall$6$ebnf$3$subexpression$1
4 simple_pattern$macrocall$6$ebnf$3 =
97 simple_pattern$macrocall$6 = simple_pattern$macrocall$7 simple_pattern$macrocall$6$ebnf$2 simple_pattern$macrocall$6$ebnf$3
100 simple_pattern = pattern_path '( simple_pattern$macrocall$6 ')
2 simple_pattern$macrocall$10 = field_pattern
2 simple_pattern$macrocall$11 = '..
95 simple_pattern$macrocall$9 =
0 simple_pattern$macrocall$9$ebnf$1 = ',
4 simple_pattern$macrocall$9$ebnf$1 =
96 simple_pattern$macrocall$9 = simple_pattern$macrocall$11 simple_pattern$macrocall$9$ebnf$1
2 simple_pattern$macrocall$9$ebnf$2 =
2 simple_pattern$macrocall$9$ebnf$2$subexpression$1 = ', simple_pattern$macrocall$10
3 simple_pattern$macrocall$9$ebnf$2 = simple_pattern$macrocall$9$ebnf$2 simple_pattern$macrocall$9$ebnf$2$subexpression$1
2 simple_pattern$macrocall$9$ebnf$3$subexpression$1 = ',
0 simple_pattern$macrocall$9$ebnf$3$subexpression$1$ebnf$1 = ',
4 simple_pattern$macrocall$9$ebnf$3$subexpression$1$ebnf$1 =
2 simple_pattern$macrocall$9$ebnf$3$subexpression$1 = ', simple_pattern$macrocall$11 simple_pattern$macrocall$9$ebnf$3$subexpression$1$ebnf$1
0 simple_pattern$macrocall$9$ebnf$3 = simple_pattern$macrocall$9$ebnf$3$subexpression$1
4 simple_pattern$macrocall$9$ebnf$3 =
97 simple_pattern$macrocall$9 = simple_pattern$macrocall$10 simple_pattern$macrocall$9$ebnf$2 simple_pattern$macrocall$9$ebnf$3
101 simple_pattern = pattern_path pattern_brace simple_pattern$macrocall$9 '}
0 pattern_bound$ebnf$1 = 'negate
4 pattern_bound$ebnf$1 =
102 pattern_bound = pattern_bound$ebnf$1 'integer
72 pattern_bound = 'character
2 pattern_path$ebnf$1$subexpression$1 = 'name '.
0 pattern_path$ebnf$1 = pattern_path$ebnf$1$subexpression$1
4 pattern_path$ebnf$1 =
2 pattern_path$ebnf$2$subexpression$1 = '. 'type_name
0 pattern_path$ebnf$2 = pattern_path$ebnf$2$subexpression$1
4 pattern_path$ebnf$2 =
103 pattern_path = pattern_path$ebnf$1 'type_name pattern_path$ebnf$2
0 pattern_brace = '{
0 pattern_brace = 'record_brace
104 variant_field_pattern = pattern
105 variant_field_pattern = 'name ': pattern
2 field_pattern$ebnf$1$subexpression$1 = ': pattern
0 field_pattern$ebnf$1 = field_pattern$ebnf$1$subexpression$1
4 field_pattern$ebnf$1 =
106 field_pattern = 'name field_pattern$ebnf$1
0 rest$ebnf$1 = 'name
4 rest$ebnf$1 =
107 rest = '.. rest$ebnf$1
`;

/** Sets of terminals. */
export const TERMINAL_SETS =
  "0;0 z 2;15;15 y r t;r;1x 1y v w 8 22 28 e o p 9 j 2c 3 5 g 2a 1z 20 21 k 7 29 23 a f;s;u;w 8;x s;x y s;0 1x 1y x v w s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 g 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h g 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w 1n s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 10 11 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w 1n s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 10 11 1o 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w 1n s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 10 11 1o 1m 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w 1n s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 10 11 1o 1m 1c 1d 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w 1n s u 1e 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 10 11 1o 1m 1c 1d 1f 1j 1k 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w 1n s u 1e 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 10 11 1o 1m 1c 1d 1f 1j 1k 1g 1h 1i 1l 2a 1z 20 21 k 7 29 23 27 a f;0 z 1x 1y 15 x v w 1n r s t u 1e 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 1p 1q 1r 1s 1t 1u 1v 1w h 1 g 16 17 18 19 1a 1b 10 11 1o 1m 1c 1d 1f 1j 1k 1g 1h 1i 1l 2a 14 2b 1z 20 21 k 7 29 23 27 a f;25 24 26;x u;0 15 x v w s u 8 n;0 15 x v w s u 1e 8 n;0 z 1x 1y 15 x v w 1n r s t u 1e 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 1p 1q 1r 1s 1t 1u 1v 1w h 1 g 16 17 18 19 1a 1b 10 11 1o 1m 1c 1d 1f 1j 1k 1g 1h 1i 1l 2a 14 2b 1z 20 21 k 7 29 23 27 a 6 f;20;1z;1y;1x 1y 22 q 28 2a 1z 20 21 k 7 29;1x 1y v w 1n 1e 8 22 q 28 e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 10 11 1o 1m 1c 1d 1f 1j 1k 1g 1h 1i 1l 2a 1z 20 21 k 7 29 23 a f;1x 1y v w 8 22 q 28 e o p 9 j 2c 3 5 g 2a 1z 20 21 k 7 29 23 a f;1x 1y 8 28;w 2i;1x 1y v 8 22 28 2a 1z 20 21 k 7 29 23 a f;w;1n;15 r;15 x w y s u 12 b a;15 x w y 1n s u 12 b a;15 x w y 1n s u 12 b 10 11 a;1x 1y v 8 22 28 g 2a 1z 20 21 k 7 29 23 a f;z x 1n r s t 1e h 1 16 17 18 19 1a 1b 10 11 1o 1m 1c 1d 1f 1j 1k 1g 1h 1i 1l 14 2b;x w;1x 1y w 22 q 28 2a 1z 20 21 k 7 29;0 1n;x u 1e;0 v w 8 n;1x w 10;15 x v w y 1n r s u 12 b 2b a;v;0 v w 8;x 1n s;12;0 x v w 8";

/** Terminals and the states that they lead to, in turn. */
export const SHIFT_ROWS =
  "i 4 m 8 2e d 2f e 2g f l g d h 4 i 8 j 2j k 2k l;;l g d h 4 i 8 j 2j k 2k l;1x n;22 o;22 p;22 q;1y r;1y s;1x u 1y v;8 y;22 z;v 12;r 13;2h 14;t 17;v 18;y 1b;z 1c;8 1h;z 1k 2 1m;1x 1s q 1t;g 1y 2a 28 1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s;15 2t;1y 2x;15 2z;28 32 8 33 1y 34 1x 35;1x 36;r 37;1x 39;1x 3a;w 3c e 3d o 3e p 3f 9 3g j 3j 2c 3k 3 3l 5 3m 1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s g 1y 2a 28;s 3o;y 3q;v 3r;h 3s;1 3t;16 3w 17 3x 18 3y 19 3z 1a 40 1b 41;10 42 11 43 1n 44;1o 45;1m 46;1c 48 1d 49;1e 4b 1f 4c 1j 4d 1k 4e;1g 4g 1h 4h 1i 4i 1l 4j;2a 28 1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s;r 4l t 4m z 4n 14 4o 2b 4p;s 4t g 1y 2a 28 1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s;28 4v;e 4y g 1y 2a 28 1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s;v 51 2l 54 1n 55 28 32 8 33 1y 58 1x 35;u 59;y 5d;w 5f 8 5g;28 5l;t 5o;z 5p;q 5v 1x 5w 22 5z k 60 7 61 28 62 29 63 21 66 2a 67;1x 6a;c 6d;r 4l t 4m z 4n 14 4o 2b 4p 15 6f 1p 6g 1q 6h 1r 6i 1s 6j 1t 6k 1u 6l 1v 6m 1w 6n;x 6s;c 6u;1m 7b 1x 7c g 1y 2a 28 1z 2b 20 2c 21 2d k 2e 7 2f 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s;1x 7f 1y 7g 1z 7h;10 7j 1x 7l;u 7m;s 7o x 7r;25 7w 24 7x 26 7y;v 81;1x 85;1y 87;1n 8b;r 8c t 5o;x 8f;1y 34 1x 35;s 8i;c 8o;1y 8s;s 8t;1n 8z;z 90;10 91 11 92;20 93;10 9c q 5v 1x 5w 22 5z k 60 7 61 28 62 29 63 21 66 2a 67;r 9d v 9f 2b 9g;1z 9h;1y 9i;w 9r 2i 9s;1n 44;s 9t;1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s;y 9w;u 9x;y a0;x a3;x a6;s a8;6 ad;15 ae;w ag;y ai;r 8c;1n al;1x ar 28 32 8 33 1y 34;x aw;s ax;u b0;13 b6;x b9;15 ba;1n bc;21 66 2a bf;s bh;u bj;x bl;1x bo;10 bs 1x bv q 5v 22 5z k 60 7 61 28 62 29 63 21 66 2a 67;10 bz 1x c1;z c4;15 c5;b c6;22 c7;x ca;1m cc g 1y 2a 28 1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s;x cf;s ci;x co;27 cp;v 12 a 2r;w cu q 5v 1x 5w 22 5z k 60 7 61 28 62 29 63 21 66 2a 67;x cy;1n d1;s d3;y d5 z 5p;1e d7;x dd;x dg;n dj;x dq;x dt;s dv;x dx;z 90 y dz;w e0;x e2;y e6;1y e7;12 ea;w ed;1x 7l;a ek;x ep;1y eu;2d ex;x f3;x f8;12 ff;x fl;j 3j 2c 3k 3 3l 5 3m 1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s g 1y 2a 28;x fs;x fu;x fw;1y fx";

/** Rules (`-` accepts) and the sets of terminals that they are reduced at, in turn. */
export const REDUCE_ROWS =
  ";- 0;0 0;1 0;3 0;4 0;5 0;6 0;7 0;8 0;9 0;2 0;a 1;i 2;25 2;2p 3;2b 4;f 0;32 0;4k 5;34 6;h 2;1l 7;20 8;24 2;27 0;2a 4;28 0;c 1;g 0;e 0;35 9;33 9;2r 9;2v a;2w a;5g b;5i c;5k d;5m d;5o d;5x e;5z f;61 g;63 h;65 i;69 j;6f k;6l k;74 l;7f l;7g l;7h l;7i l;7j l;7k l;7l l;7m l;7o 7;85 l;86 l;87 l;8j l;8k m;1m n;1k n;1y n;4j 2;3g o;3i 6;42 p;2q 3;2d 6;29 0;b 1;d 0;4l 5;4m q;9g r bb s bg t;4y u;50 5;6l v;53 w;54 w;55 w;56 w;39 6;2t x;3c y;5l d;5p z;5q z;5r z;5s z;5t z;5u z;66 z;67 z;6a z;6b z;6c z;6d z;6g z;6h z;6i z;6j z;6k k;6n 6;6x l;7p n;7n n;7w l;89 6;j 0;l 10;t 0;u 0;v 0;16 0 18 11;17 11 42 0;1s 12;1q 7;1z n;1x n;21 8;22 0;26 0;3j 9;3h 9;3r 6 4h x;43 p;41 p;48 7;2e 9;2c 9;4o 2;94 13;9a 14;9b 14;9c 14;9i 14;9j 14;9k 14;9m 6 9g r bb s bg t;9w 7 9g r bb s bg t;ab 14;bd 15;9f r ba s;bf t;4u 2;4x u;57 16;58 16;59 16;5a 16;5b 16;5c 16;5d 16;5e 16;5f 16;52 w;3b 0;37 9;3a 6;38 6;2s x;5h c;5j d;5n d;5v e;5w e;5y f;60 g;62 h;64 i;68 j;6e k;6o 9;6m 9;78 9;7l 17;6w l;75 l;76 l;77 l;6y 18;7d 18;7v l;7t 7;7x l;83 6;7z 9;8a 9;88 9;8l m;8m l;8n m;8q l;8x 19;m 18;k 18;x 1a;17 1a;18 1a;15 0;12 1a;1a 6;1o n;1r 7;1p 7;1t 1b;23 8;3p o;3n 6;3s 9;3q 9;4g x;49 n;47 n;45 p;2l 1c;2i 6;4n 2;99 13;96 14;be t;bb s;9h 14;9n 9;9l 9;9y 7;a0 n;9v n;9u n;bu n;ae 6 9g r bb s bg t;av 10;bl 1d;bm 1d;bc 15;bj 1e;4t 2;4w 5;51 w;36 9;2u 9;3d y;3e 0;6u l;6s 6;79 9;6v l;72 10;7c 18;7r n;7u 7;7s 7;81 9;82 6;7y 9;8h 1f;8e 6;8r l;8p l;s 0;q 10;10 0;14 1a;11 1a;1b 9;19 9;1i 9;1n n;1w n;3l 9;3o 6;3m 6;3z o;3w 6;4i 9;4f p;4d 7;46 p;44 p;2n 1g;2k 1c;2g 9;2j 6;2h 6;98 14;95 14;9d 14;ba s;9e 14;9t 14;9r 6;aa 14;9z 7;9x 7;a8 7;bv n;bt n;ag 6;ai 9;ad 9;ac 9;bn 9;9b 1h;ax 10;az 18;au 18;at 18;br 18;bk 1e;bi 1e;6q 9;6t 6;6r 6;7a 9;70 18;71 10;7e 18;7q n;84 l;80 9;8g 1f;8c 9;8f 6;8d 6;8o m;8v l;8w l;8y 19;8z l;92 1i;o 18;r 10;p 10;w 18;z 1a;13 1a;1h 1a;1f 6;1v 1b;3k 9;40 o;3y o;3u 9;3x 6;3v 6 4h x;4b n;4e 7;4c 7;2o 1g;2m 1g;2x o;2f 9;4r 5;97 14;9p 9;9s 6;9q 6 9g r bb s bg t;a2 n;a9 7;a3 7 9g r bb s bg t;a7 7;as 14;ah 6;af 6;aq 6;b9 14;ay 10;aw 10;b7 10;bs 18;bq 18;bh 1e;4v 5;6p 9;7b 9;73 l;6z 18;8i l;8b 9;8t l;91 1i;n 18;y 1a;1d 9;1g 6;1e 6;1j 9;1u 1b;3t 9;4a n;2y 1j;4s 5;4q 5;9o 9;a1 n;a5 7;ak 9;ar 6;al 6 9g r bb s bg t;ap 6;bo 9;b1 18;b8 10;b2 10;b6 10;bp 18;4z 5;3f y;8u l;8s l;90 1i;1c 9;31 1g;4p 5;a6 7;a4 7;aj 9;an 6;b0 18;b4 10;93 19;30 1j;ao 6;am 6;b5 10;b3 10;2z 1j";

/** Names of rules and the states that they lead to, in turn. */
export const GOTO_ROWS =
  "0 1 6 2 1 3 1s 5 1y 6 20 7 8 9 16 a 19 b 1a c;;1 m 8 9 16 a 19 b 1a c;1k t;1j w 1k x;2 10;2r 11;7 15 z 16;18 19 2p 1a;2r 1d;1b 1e z 1f;1j 1g 1k x;3 1i 5 1j 4 1l;2q 1n;1u 1o 1t 1p 1l 1q 1n 1r;30 1u 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;v 2u u 2v 14 2w;15 2y;22 30 2f 31;1j 38 1k x;2v 3b 2y 3h 3m 3i 30 3n 3u 2a 31 1v 4a 2g 2r 2l 4e 2m 4i 2n 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27;1v 3p;33 3u 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;35 3v;3b 47;3d 4a;3f 4f;3g 4k 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3w 4q 3v 4r 30 4s 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;30 4u 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;4b 4w;30 4x 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;30 4z 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;e 50 i 52 22 53 m 56 s 57 2f 31;w 5a;13 5b 12 5c;17 5e;30 5h 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;24 5i 23 5j 22 5k 2f 31;2e 5m 2m 5n;1d 5q 1c 5r 1l 5s 1n 1r;4m 5t 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;30 6b 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;2x 6c;2z 6e;30 6o 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;2r 6p;1w 6q 1x 6r;1m 6t;1z 6v;32 6w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;33 6x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;36 6y 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;37 6z 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;37 70 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;38 71 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;39 72 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3a 73 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3c 74 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3e 75 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3g 76 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3i 77 3h 78 3r 79 30 7a 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;30 7d 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3q 7e;3s 7i 3t 7k;3x 7n;41 7p 40 7q;45 7s 44 7t 1l 7u 1n 1r;4c 7v;2r 7z;4m 80 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;a 82 9 83 f 84;m 86 s 88;k 89 j 8a;x 8d y 8e;2f 8g;1j 8h 1k x;25 8j;29 8k 28 8l 2o 8m 2n 8n;2i 8p 2h 8q 22 8r 2f 31;1e 8u;2s 8v 2p 8w;4o 8x 4n 8y;4t 94 4s 95 4m 96 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;4z 97 4y 98 4x 99 61 9a 4m 9b 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;5v 9e;2w 9j 2p 9k;2r 9l;4m 9m 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;30 9n 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;1t 9o 1l 1q 1n 1r;22 9p 2f 31;21 9q;3j 9u;3m 9v 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3n 9y;30 9z 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3y a1 3z a2;42 a4 43 a5;30 a7 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;46 a9;30 aa 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;4d ab 4g ac;4h af;b ah;g aj;l ak;m am s 88;o an n ao t ap 22 aq 2f 31;u as 14 2w;10 at;26 au 27 av;2a ay;22 az 2f 31;2j b1;2g b2 2m b3;1h b4 1o b5;1f b7 1g b8;4p bb;4q bd 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;5p be 5o 65;5p bg 5o 65;4u bi;50 bk;51 bm;60 bn;58 bp 57 bq 56 br 5w bt 4m bu 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;5h bw 5g bx 5f by 5z c0;5t c2 5s c3;3k c8 3l c9;30 cb 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3o cd 3p ce;30 cg 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3v ch 30 4s 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;30 cj 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;49 ck 1o cl;47 cm 48 cn;2r cq 4e cr;30 cs 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;4l ct 4m cv 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;c cw d cx;22 cz 2f 31;h d0;m d2 s 88;p d4;11 d6;23 d8 22 5k 2f 31;2d d9 1o da;2b db 2c dc;2k de 2l df;1i dh 1r di;22 dk 2f 31;1c dl 1l 5s 1n 1r;30 dm 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;4q dn 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;4v do 4w dp;52 dr 55 ds 53 du;59 dw;5a dy;5i e1;5j e3;5y e4 5x e5;30 e8 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;30 e9 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3h eb 3r 79 30 7a 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3m ec 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3t ee;2r ef;44 eg 1l 7u 1n 1r;2r eh;4k ei 4j ej;9 el f 84;m em s 88;q en r eo;22 eq 2f 31;2f er;28 es 2o 8m 2n 8n;2h et 22 8r 2f 31;2u ev 2t ew;4s ey 4m 96 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;4x ez 4y f0 4m 9b 61 9a 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;5b f1 5e f2 5c f4;4m f5 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;5k f6 5n f7 5l f9;4m fa 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;2r fb;30 fc 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;4f fd 4g fe;30 fg 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;n fh t ap 22 aq 2f 31;1p fi;2r fj;54 fk;56 fm 57 fn 5w bt 4m bu 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;5f fo 5g fp 5z c0;2y fq 3m 3i 30 3n 3u 2a 31 1v 4a 2g 2r 2l 4e 2m 4i 2n 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27;1q fr;5d ft;5m fv";

/** For each state its row of shifts, reductions and gotos. */
export const STATES =
  "0 0 0;1 1 1;1 2 1;1 3 1;2 0 2;1 4 1;1 5 1;1 6 1;3 0 1;1 7 1;1 8 1;1 9 1;1 a 1;4 0 1;5 0 1;6 0 1;7 0 1;8 0 1;9 0 3;9 0 4;a 0 1;b 0 1;1 b 1;1 c 5;c 0 6;d 0 1;e 0 1;f d 7;g 0 1;h e 8;1 f 1;i 0 1;c 0 9;f g a;9 0 b;j 0 1;k h c;1 i 1;1 j d;l k e;m 0 f;n 0 1;1 l 1;o m g;1 n h;p 0 1;1 o 1;q 0 i;r 0 1;1 p 1;s 0 1;1 q 1;1 r 1;9 0 j;1 s 1;1 t 1;t 0 1;1 u 1;u 0 1;v 0 k;w 0 1;1 v l;1 w 1;x x 1;1 y 1;1 z 1;y 0 1;z 10 1;10 11 1;1 12 1;m 0 m;1 13 1;11 14 n;12 15 1;13 16 1;14 17 1;15 18 o;16 19 p;17 1a q;1 1b 1;18 0 r;19 1c 1;1 1d 1;1 1e 1;1 1f 1;1 1g 1;1 1h 1;1 1i 1;1 1j 1;1 1k 1;1 1l 1;m 1m s;1a 0 t;1 1n 1;1 1o 1;1 1p 1;1b 0 1;1 1q 1;1 1r u;1c 0 v;m 0 w;1d 0 x;1e 0 1;1 1s y;1 1t 1;1f 1u z;1g 0 10;m 0 11;1 1v 1;1 1w 1;q 1x 12;1h 0 1;1i 1y 13;1j 0 1;1 1z 1;l 20 14;1 21 1;1 22 1;1 23 1;1 24 1;1 25 1;1k 26 15;1l 0 1;m 0 16;1m 27 17;1 28 1;1n 29 18;m 0 19;1 2a 1;1 2b 1;1 2c 1;1 2d 1;c 0 1a;1o 2e 1b;1p 2f 1c;1 2g 1d;m 0 1e;m 0 1f;1 2h 1;18 0 1g;1 2i 1;1 2j 1;1 2k 1;1 2l 1;1 2m 1;1 2n 1;18 0 1h;18 0 1i;18 0 1j;18 0 1k;18 0 1l;18 0 1m;1 2o 1;1 2p 1;18 0 1n;1 2q 1;1 2r 1;1 2s 1;1 2t 1;18 0 1o;1 2u 1;1 2v 1;1 2w 1;1 2x 1;1 2y 1;1q 2z 1p;m 0 1q;1r 0 1r;1 30 1;1s 0 1s;1t 0 1;1 31 1t;1 32 1;1 33 1;1u 0 1u;l 34 1v;1v 0 1w;c 0 1x;1k 26 1y;1w 0 1;1 35 1;1x 36 1z;1 37 1;1 38 1;1 39 1;1y 0 20;1z 0 21;1 3a 1;20 3b 13;1 3c 1;21 3d 22;1 3e 1;1 3f 1;22 0 23;1 3g 1;1 3h 1;9 0 24;1 3i 1;23 0 1;1 3j 25;1 3k 1;24 3l 26;1 3m 1;1 3n 1;q 3o 27;25 0 1;26 0 1;1 3p 28;1 3q 1;h 3r 29;27 3s 2a;1 3t 1;28 3u 1;29 3v 1;2a 0 1;1 3w 1;1 3x 1;1 3y 1;1k 3z 2b;2b 40 2c;2c 41 2d;2d 0 1;1 42 1;1 43 1;2e 0 1;1 44 1;h 45 2e;c 0 2f;1k 26 2g;1 46 1;m 0 2h;1 47 1;1 48 1;1 49 1;1 4a 1;1 4b 1;1 4c 1;1 4d 1;1 4e 1;1 4f 1;1 4g 1;1 4h 1;1 4i 1;1 4j 1;l 4k 2i;q 0 2j;1 4l 1;2f 0 2k;10 4m 1;1 4n 1;1 4o 1;2g 4p 1;2g 4q 1;13 4r 1;14 4s 1;15 4t o;16 4u p;17 4v q;1 4w 1;2h 0 1;1 4x 2l;1 4y 1;1 4z 1;2i 0 2m;2j 50 1;2k 0 1;1 51 1;1 52 1;1 53 1;1 54 1;1 55 2n;m 0 2o;1 56 1;2l 0 1;1 57 1;2m 58 2p;1 59 1;2n 5a 2q;1 5b 1;m 0 2r;2o 0 1;1 5c 2s;1 5d 1;1 5e 1;1 5f 1;1 5g 1;m 0 2t;2p 5h 2u;2q 0 1;1 5i 2v;2r 0 1;1 5j 2w;1 5k 1;2s 0 1;1 5l 2x;2t 5m 1;1 5n 1;2u 5o 2y;1 5p 1;1y 0 2z;2v 5q 30;1 5r 1;1 5s 1;o 5t 31;1 5u 32;1 5v 1;1 5w 1;2w 5x 33;2x 0 1;1 5y 34;1 5z 1;q 0 35;1 60 1;2y 0 1;1 61 36;1 62 1;1i 63 37;2z 64 38;30 65 39;31 0 1;1 66 1;32 67 3a;1 68 1;1k 26 3b;1 69 1;33 6a 3c;33 6a 3d;1 6b 1;34 0 1;1 6c 3e;1 6d 1;35 0 1;36 6e 3f;1 6f 3g;1 6g 1;1 6h 1;37 6i 3h;38 6j 3i;39 6k 3j;1 6l 1;1 6m 1;1 6n 1;3a 6o 3k;3b 0 1;1 6p 1;1 6q 1;3c 0 1;1 6r 1;1 6s 1;1 6t 1;1 6u 1;1 6v 1;3d 0 1;1 6w 1;3e 6x 3l;19 6y 1;3f 0 3m;1 6z 1;3g 70 3n;1 71 1;m 0 3o;1 72 1;1 73 1;m 74 3p;1 75 1;3h 0 1;m 76 3q;1 77 1;2z 78 3r;3i 79 3s;3j 0 1;1 7a 1;1 7b 1;3k 0 3t;m 0 3u;3l 26 3v;1 7c 1;3m 7d 3w;q 0 3x;3n 7e 3y;1 7f 1;1y 0 3z;1 7g 1;3o 0 1;1 7h 40;1 7i 1;1 7j 1;3p 0 1;1 7k 1;3q 7l 41;1 7m 1;1 7n 1;q 7o 42;2z 7p 43;3r 7q 44;1 7r 1;1 7s 1;3s 7t 45;1 7u 1;1 7v 1;3t 7w 46;1 7x 1;q 0 47;1 7y 1;1 7z 1;l 80 48;m 0 49;1 81 1;1k 26 4a;1 82 1;1 83 1;1 84 1;1 85 1;1 86 1;3u 87 4b;1 88 1;1 89 1;1 8a 1;3v 8b 4c;1 8c 1;1 8d 1;3w 0 1;3x 8e 4d;1 8f 4e;1 8g 1;1 8h 1;1 8i 1;3y 8j 1;3z 0 1;40 8k 4f;1 8l 4g;1 8m 1;1 8n 1;41 8o 4h;1 8p 1;1 8q 1;42 0 1;m 0 4i;m 0 4j;43 0 1;1 8r 1;1 8s 1;1q 8t 4k;1 8u 1;2i 0 4l;1 8v 1;44 0 1;45 8w 4m;1 8x 1;1 8y 1;1 8z 1;1 90 1;c 0 4n;1 91 1;1 92 1;1 93 1;l 94 4o;1 95 1;1 96 1;1 97 1;c 0 4p;1 98 1;1 99 1;46 9a 4q;1 9b 1;1 9c 1;1x 9d 4r;1 9e 1;1 9f 1;1y 0 4s;1 9g 1;1 9h 1;47 9i 4t;q 0 4u;1 9j 1;22 0 4v;1 9k 1;1 9l 1;1 9m 1;1 9n 1;1 9o 1;24 9p 4w;1 9q 1;1 9r 1;q 9s 4x;1 9t 1;1 9u 1;48 0 1;1 9v 1;1 9w 1;49 9x 4y;1 9y 1;1 9z 1;1 a0 1;1k a1 4z;1 a2 1;1 a3 1;2b a4 50;1 a5 1;1 a6 1;1 a7 1;1 a8 1;4a a9 51;1k 26 52;1 aa 1;1 ab 1;1 ac 1;4b ad 53;1 ae 1;1 af 1;1k 26 54;1 ag 1;1 ah 1;c 0 55;m 0 56;1 ai 1;19 aj 1;1 ak 1;1 al 1;1 am 1;1 an 1;2p ao 57;4c 0 1;1 ap 1;m 0 58;1 aq 1;1 ar 1;1 as 1;1 at 1;2v au 59;1 av 1;1 aw 1;1 ax 1;1 ay 1;1 az 5a;1 b0 1;1 b1 1;c 0 5b;1 b2 1;1 b3 1;4d b4 5c;1 b5 1;1 b6 1;38 b7 5d;1 b8 1;1 b9 1;1 ba 1;1 bb 1;39 bc 5e;1 bd 1;1 be 1;1 bf 1;1 bg 1;1 bh 1;1 bi 1;4e 0 5f;1 bj 1;1 bk 1;4f bl 5g;1 bm 1;1 bn 1;1 bo 1;1 bp 1;4g bq 5h;1 br 1;4h bs 5i;1 bt 1;1 bu 1;4i 0 1;1 bv 1;1 bw 1;1 bx 1;1 by 1;1 bz 1";
