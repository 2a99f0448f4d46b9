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
  emptyRecord,
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
  emptyRecord,
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
64 postfix = postfix 'record_brace '}
0 postfix = primary
0 member = 'name
0 member = 'type_name
0 member = 'integer
65 argument = expression
66 argument = '& postfix
67 argument = 'name ': expression
68 argument = 'name ': '& postfix
69 first_field = '.. expression
0 first_field = field
70 field = 'name ': expression
71 primary = 'integer
72 primary = 'float
73 primary = 'character
74 primary = 'true
74 primary = 'false
0 primary = string
75 primary = 'name
75 primary = 'type_name
2 primary$macrocall$2 = expression
7 primary$macrocall$1 =
2 primary$macrocall$1$ebnf$1 =
2 primary$macrocall$1$ebnf$1$subexpression$1 = ', primary$macrocall$2
3 primary$macrocall$1$ebnf$1 = primary$macrocall$1$ebnf$1 primary$macrocall$1$ebnf$1$subexpression$1
0 primary$macrocall$1$ebnf$2 = ',
4 primary$macrocall$1$ebnf$2 =
8 primary$macrocall$1 = primary$macrocall$2 primary$macrocall$1$ebnf$1 primary$macrocall$1$ebnf$2
76 primary = 'open_bracket primary$macrocall$1 ']
77 primary = 'open_paren ')
78 primary = 'open_paren expression ')
2 primary$ebnf$1$subexpression$1 = ', expression
2 primary$ebnf$1 = primary$ebnf$1$subexpression$1
2 primary$ebnf$1$subexpression$2 = ', expression
3 primary$ebnf$1 = primary$ebnf$1 primary$ebnf$1$subexpression$2
0 primary$ebnf$2 = ',
4 primary$ebnf$2 =
79 primary = 'open_paren expression primary$ebnf$1 primary$ebnf$2 ')
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
80 primary = 'fn 'open_paren primary$macrocall$3 ') primary$ebnf$3 block
81 string = 'text
2 string$ebnf$1 =
3 string$ebnf$1 = string$ebnf$1 string_part
82 string = 'text_start string$ebnf$1 'text_end
0 string_part = 'text_part
34 string_part = 'interpolation_start expression 'interpolation_end
0 if$ebnf$1 = else
4 if$ebnf$1 =
83 if = 'if expression block if$ebnf$1
0 if$ebnf$2 = else
4 if$ebnf$2 =
84 if = 'if 'let pattern '= expression block if$ebnf$2
34 else = 'else block
34 else = 'else if
2 match$ebnf$1 =
3 match$ebnf$1 = match$ebnf$1 match_arm
85 match = 'match expression '{ match$ebnf$1 '}
2 match_arm$ebnf$1$subexpression$1 = 'if expression
0 match_arm$ebnf$1 = match_arm$ebnf$1$subexpression$1
4 match_arm$ebnf$1 =
86 match_arm = pattern match_arm$ebnf$1 '=> simple_statement
0 pattern = simple_pattern
2 pattern$ebnf$1$subexpression$1 = '| simple_pattern
2 pattern$ebnf$1 = pattern$ebnf$1$subexpression$1
2 pattern$ebnf$1$subexpression$2 = '| simple_pattern
3 pattern$ebnf$1 = pattern$ebnf$1 pattern$ebnf$1$subexpression$2
87 pattern = simple_pattern pattern$ebnf$1
88 simple_pattern = '_
89 simple_pattern = 'name
90 simple_pattern = pattern_bound
91 simple_pattern = pattern_bound '.. pattern_bound
91 simple_pattern = pattern_bound '..= pattern_bound
0 simple_pattern$ebnf$1 = 'negate
4 simple_pattern$ebnf$1 =
92 simple_pattern = simple_pattern$ebnf$1 'float
93 simple_pattern = 'text
94 simple_pattern = 'true
94 simple_pattern = 'false
2 simple_pattern$macrocall$2 = pattern
7 simple_pattern$macrocall$1 =
2 simple_pattern$macrocall$1$ebnf$1 =
2 simple_pattern$macrocall$1$ebnf$1$subexpression$1 = ', simple_pattern$macrocall$2
3 simple_pattern$macrocall$1$ebnf$1 = simple_pattern$macrocall$1$ebnf$1 simple_pattern$macrocall$1$ebnf$1$subexpression$1
0 simple_pattern$macrocall$1$ebnf$2 = ',
4 simple_pattern$macrocall$1$ebnf$2 =
8 simple_pattern$macrocall$1 = simple_pattern$macrocall$2 simple_pattern$macrocall$1$ebnf$1 simple_pattern$macrocall$1$ebnf$2
95 simple_pattern = 'open_paren simple_pattern$macrocall$1 ')
2 simple_pattern$macrocall$4 = pattern
2 simple_pattern$macrocall$5 = rest
96 simple_pattern$macrocall$3 =
0 simple_pattern$macrocall$3$ebnf$1 = ',
4 simple_pattern$macrocall$3$ebnf$1 =
97 simple_pattern$macrocall$3 = simple_pattern$macrocall$5 simple_pattern$macrocall$3$ebnf$1
2 simple_pattern$macrocall$3$ebnf$2 =
2 simple_pattern$macrocall$3$ebnf$2$subexpression$1 = ', simple_pattern$macrocall$4
3 simple_pattern$macrocall$3$ebnf$2 = simple_pattern$macrocall$3$ebnf$2 simple_pattern$macrocall$3$ebnf$2$subexpression$1
2 simple_pattern$macrocall$3$ebnf$3$subexpression$1 = ',
0 simple_pattern$macrocall$3$ebnf$3$subexpression$1$ebnf$1 = ',
4 simple_pattern$macrocall$3$ebnf$3$subexpression$1$ebnf$1 =
2 simple_pattern$macrocall$3$ebnf$3$subexpression$1 = ', simple_pattern$macrocall$5 simple_pattern$macrocall$3$ebnf$3$subexpression$1$ebnf$1
0 simple_pattern$macrocall$3$ebnf$3 = simple_pattern$macrocall$3$ebnf$3$subexpression$1
4 simple_pattern$macrocall$3$ebnf$3 =
98 simple_pattern$macrocall$3 = simple_pattern$macrocall$4 simple_pattern$macrocall$3$ebnf$2 simple_pattern$macrocall$3$ebnf$3
99 simple_pattern = 'open_bracket simple_pattern$macrocall$3 ']
100 simple_pattern = pattern_path
2 simple_pattern$macrocall$7 = variant_field_pattern
2 simple_pattern$macrocall$8 = '..
96 simple_pattern$macrocall$6 =
0 simple_pattern$macrocall$6$ebnf$1 = ',
4 simple_pattern$macrocall$6$ebnf$1 =
97 simple_pattern$macrocall$6 = simple_pattern$macrocall$8 simple_pattern$macrocall$6$ebnf$1
2 simple_pattern$macrocall$6$ebnf$2 =
2 simple_pattern$macrocall$6$ebnf$2$subexpression$1 = ', simple_pattern$macrocall$7
3 simple_pattern$macrocall$6$ebnf$2 = simple_pattern$macrocall$6$ebnf$2 simple_pattern$macrocall$6$ebnf$2$subexpression$1
2 simple_pattern$macrocall$6$ebnf$3$subexpression$1 = ',
0 simple_pattern$macrocall$6$ebnf$3$subexpression$1$ebnf$1 = ',
4 simple_pattern$macrocall$6$ebnf$3$subexpression$1$ebnf$1 =
2 simple_pattern$macrocall$6$ebnf$3$subexpression$1 = ', simple_pattern$macrocall$8 simple_pattern$macrocall$6$ebnf$3$subexpression$1$ebnf$1
0 simple_pattern$macrocall$6$ebnf$3 = simple_pattern$macrocall$6$ebnf$3$subexpression$1
4 simple_pattern$macrocall$6$ebnf$3 =
98 simple_pattern$macrocall$6 = simple_pattern$macrocall$7 simple_pattern$macrocall$6$ebnf$2 simple_pattern$macrocall$6$ebnf$3
101 simple_pattern = pattern_path '( simple_pattern$macrocall$6 ')
2 simple_pattern$macrocall$10 = field_pattern
2 simple_pattern$macrocall$11 = '..
96 simple_pattern$macrocall$9 =
0 simple_pattern$macrocall$9$ebnf$1 = ',
4 simple_pattern$macrocall$9$ebnf$1 =
97 simple_pattern$macrocall$9 = simple_pattern$macrocall$11 simple_pattern$macrocall$9$ebnf$1
2 simple_pattern$macrocall$9$ebnf$2 =
2 simple_pattern$macrocall$9$ebnf$2$subexpression$1 = ', simple_pattern$macrocall$10
3 simple_pattern$macrocall$9$ebnf$2 = simple_pattern$macrocall$9$ebnf$2 simple_pattern$macrocall$9$ebnf$2$subexpression$1
2 simple_pattern$macrocall$9$ebnf$3$subexpression$1 = ',
0 simple_pattern$macrocall$9$ebnf$3$subexpression$1$ebnf$1 = ',
4 simple_pattern$macrocall$9$ebnf$3$subexpression$1$ebnf$1 =
2 simple_pattern$macrocall$9$ebnf$3$subexpression$1 = ', simple_pattern$macrocall$11 simple_pattern$macrocall$9$ebnf$3$subexpression$1$ebnf$1
0 simple_pattern$macrocall$9$ebnf$3 = simple_pattern$macrocall$9$ebnf$3$subexpression$1
4 simple_pattern$macrocall$9$ebnf$3 =
98 simple_pattern$macrocall$9 = simple_pattern$macrocall$10 simple_pattern$macrocall$9$ebnf$2 simple_pattern$macrocall$9$ebnf$3
102 simple_pattern = pattern_path pattern_brace simple_pattern$macrocall$9 '}
0 pattern_bound$ebnf$1 = 'negate
4 pattern_bound$ebnf$1 =
103 pattern_bound = pattern_bound$ebnf$1 'integer
73 pattern_bound = 'character
2 pattern_path$ebnf$1$subexpression$1 = 'name '.
0 pattern_path$ebnf$1 = pattern_path$ebnf$1$subexpression$1
4 pattern_path$ebnf$1 =
2 pattern_path$ebnf$2$subexpression$1 = '. 'type_name
0 pattern_path$ebnf$2 = pattern_path$ebnf$2$subexpression$1
4 pattern_path$ebnf$2 =
104 pattern_path = pattern_path$ebnf$1 'type_name pattern_path$ebnf$2
0 pattern_brace = '{
0 pattern_brace = 'record_brace
105 variant_field_pattern = pattern
106 variant_field_pattern = 'name ': pattern
2 field_pattern$ebnf$1$subexpression$1 = ': pattern
0 field_pattern$ebnf$1 = field_pattern$ebnf$1$subexpression$1
4 field_pattern$ebnf$1 =
107 field_pattern = 'name field_pattern$ebnf$1
0 rest$ebnf$1 = 'name
4 rest$ebnf$1 =
108 rest = '.. rest$ebnf$1
`;

/** Sets of terminals. */
export const TERMINAL_SETS =
  "0;0 z 2;15;15 y r t;r;1x 1y v w 8 22 28 e o p 9 j 2c 3 5 g 2a 1z 20 21 k 7 29 23 a f;s;u;w 8;x s;x y s;0 1x 1y x v w s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 g 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h g 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w 1n s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 10 11 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w 1n s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 10 11 1o 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w 1n s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 10 11 1o 1m 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w 1n s u 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 10 11 1o 1m 1c 1d 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w 1n s u 1e 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 10 11 1o 1m 1c 1d 1f 1j 1k 2a 1z 20 21 k 7 29 23 27 a f;0 1x 1y x v w 1n s u 1e 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 10 11 1o 1m 1c 1d 1f 1j 1k 1g 1h 1i 1l 2a 1z 20 21 k 7 29 23 27 a f;0 z 1x 1y 15 x v w 1n r s t u 1e 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 1p 1q 1r 1s 1t 1u 1v 1w h 1 g 16 17 18 19 1a 1b 10 11 1o 1m 1c 1d 1f 1j 1k 1g 1h 1i 1l 2a 14 2b 1z 20 21 k 7 29 23 27 a f;25 24 26;x u;0 15 x v w s u 8 n;0 15 x v w s u 1e 8 n;0 z 1x 1y 15 x v w 1n r s t u 1e 8 22 q 2i 12 28 2d e o p 9 j 2c 3 5 1p 1q 1r 1s 1t 1u 1v 1w h 1 g 16 17 18 19 1a 1b 10 11 1o 1m 1c 1d 1f 1j 1k 1g 1h 1i 1l 2a 14 2b 1z 20 21 k 7 29 23 27 a 6 f;20;1z;1y;1x 1y 22 q 28 2a 1z 20 21 k 7 29;1x 1y v w 1n 1e 8 22 q 28 e o p 9 j 2c 3 5 h 1 g 16 17 18 19 1a 1b 10 11 1o 1m 1c 1d 1f 1j 1k 1g 1h 1i 1l 2a 1z 20 21 k 7 29 23 a f;1x 1y v w 8 22 q 28 e o p 9 j 2c 3 5 g 2a 1z 20 21 k 7 29 23 a f;1x 1y 8 28;w 2i;1x 1y v 8 22 28 2a 1z 20 21 k 7 29 23 a f;w;1n;15 r;15 x w y s u 12 b a;15 x w y 1n s u 12 b a;15 x w y 1n s u 12 b 10 11 a;1x 1y v 8 22 28 g 2a 1z 20 21 k 7 29 23 a f;z x 1n r s t 1e h 1 16 17 18 19 1a 1b 10 11 1o 1m 1c 1d 1f 1j 1k 1g 1h 1i 1l 14 2b;x w;1x 1y w 22 q 28 2a 1z 20 21 k 7 29;0 1n;x u 1e;0 v w 8 n;1x w 10;15 x v w y 1n r s u 12 b 2b a;v;0 v w 8;x 1n s;12;0 x v w 8";

/** Terminals and the states that they lead to, in turn. */
export const SHIFT_ROWS =
  "i 4 m 8 2e d 2f e 2g f l g d h 4 i 8 j 2j k 2k l;;l g d h 4 i 8 j 2j k 2k l;1x n;22 o;22 p;22 q;1y r;1y s;1x u 1y v;8 y;22 z;v 12;r 13;2h 14;t 17;v 18;y 1b;z 1c;8 1h;z 1k 2 1m;1x 1s q 1t;g 1y 2a 28 1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s;15 2t;1y 2x;15 2z;28 32 8 33 1y 34 1x 35;1x 36;r 37;1x 39;1x 3a;w 3c e 3d o 3e p 3f 9 3g j 3j 2c 3k 3 3l 5 3m 1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s g 1y 2a 28;s 3o;y 3q;v 3r;h 3s;1 3t;16 3w 17 3x 18 3y 19 3z 1a 40 1b 41;10 42 11 43 1n 44;1o 45;1m 46;1c 48 1d 49;1e 4b 1f 4c 1j 4d 1k 4e;1g 4g 1h 4h 1i 4i 1l 4j;2a 28 1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s;r 4l t 4m z 4n 14 4o 2b 4p;s 4t g 1y 2a 28 1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s;28 4v;e 4y g 1y 2a 28 1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s;v 51 2l 54 1n 55 28 32 8 33 1y 58 1x 35;u 59;y 5d;w 5f 8 5g;28 5l;t 5o;z 5p;q 5v 1x 5w 22 5z k 60 7 61 28 62 29 63 21 66 2a 67;1x 6a;c 6d;r 4l t 4m z 4n 14 4o 2b 4p 15 6f 1p 6g 1q 6h 1r 6i 1s 6j 1t 6k 1u 6l 1v 6m 1w 6n;x 6s;c 6u;1m 7b 1x 7c g 1y 2a 28 1z 2b 20 2c 21 2d k 2e 7 2f 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s;1x 7f 1y 7g 1z 7h;w 7j 10 7k 1x 7m;u 7n;s 7p x 7s;25 7x 24 7y 26 7z;v 82;1x 86;1y 88;1n 8c;r 8d t 5o;x 8g;1y 34 1x 35;s 8j;c 8p;1y 8t;s 8u;1n 90;z 91;10 92 11 93;20 94;10 9d q 5v 1x 5w 22 5z k 60 7 61 28 62 29 63 21 66 2a 67;r 9e v 9g 2b 9h;1z 9i;1y 9j;w 9s 2i 9t;1n 44;s 9u;1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s;y 9x;u 9y;y a1;x a4;x a7;s a9;6 ae;15 af;w ah;y aj;r 8d;1n am;1x as 28 32 8 33 1y 34;x ax;s ay;u b1;13 b7;x ba;15 bb;1n bd;21 66 2a bg;s bi;u bk;x bm;1x bp;10 bt 1x bw q 5v 22 5z k 60 7 61 28 62 29 63 21 66 2a 67;10 c0 1x c2;z c5;15 c6;b c7;22 c8;x cb;1m cd g 1y 2a 28 1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s;x cg;s cj;x cp;27 cq;v 12 a 2r;w cv q 5v 1x 5w 22 5z k 60 7 61 28 62 29 63 21 66 2a 67;x cz;1n d2;s d4;y d6 z 5p;1e d8;x de;x dh;n dk;x dr;x du;s dw;x dy;z 91 y e0;w e1;x e3;y e7;1y e8;12 eb;w ee;1x 7m;a el;x eq;1y ev;2d ey;x f4;x f9;12 fg;x fm;j 3j 2c 3k 3 3l 5 3m 1z 2b 20 2c 21 2d k 2e 7 2f 1x 2h 1y 2i 29 2j 28 2k 8 2o 22 2p 23 2q v 12 a 2r f 2s g 1y 2a 28;x ft;x fv;x fx;1y fy";

/** Rules (`-` accepts) and the sets of terminals that they are reduced at, in turn. */
export const REDUCE_ROWS =
  ";- 0;0 0;1 0;3 0;4 0;5 0;6 0;7 0;8 0;9 0;2 0;a 1;i 2;25 2;2p 3;2b 4;f 0;32 0;4k 5;34 6;h 2;1l 7;20 8;24 2;27 0;2a 4;28 0;c 1;g 0;e 0;35 9;33 9;2r 9;2v a;2w a;5g b;5i c;5k d;5m d;5o d;5x e;5z f;61 g;63 h;65 i;69 j;6f k;6l k;75 l;7g l;7h l;7i l;7j l;7k l;7l l;7m l;7n l;7p 7;86 l;87 l;88 l;8k l;8l m;1m n;1k n;1y n;4j 2;3g o;3i 6;42 p;2q 3;2d 6;29 0;b 1;d 0;4l 5;4m q;9h r bc s bh t;4y u;50 5;6l v;53 w;54 w;55 w;56 w;39 6;2t x;3c y;5l d;5p z;5q z;5r z;5s z;5t z;5u z;66 z;67 z;6a z;6b z;6c z;6d z;6g z;6h z;6i z;6j z;6k k;6n 6;6x l;7q n;7o n;7x l;8a 6;j 0;l 10;t 0;u 0;v 0;16 0 18 11;17 11 42 0;1s 12;1q 7;1z n;1x n;21 8;22 0;26 0;3j 9;3h 9;3r 6 4h x;43 p;41 p;48 7;2e 9;2c 9;4o 2;95 13;9b 14;9c 14;9d 14;9j 14;9k 14;9l 14;9n 6 9h r bc s bh t;9x 7 9h r bc s bh t;ac 14;be 15;9g r bb s;bg t;4u 2;4x u;57 16;58 16;59 16;5a 16;5b 16;5c 16;5d 16;5e 16;5f 16;52 w;3b 0;37 9;3a 6;38 6;2s x;5h c;5j d;5n d;5v e;5w e;5y f;60 g;62 h;64 i;68 j;6e k;6o 9;6m 9;79 9;7m 17;6w l;76 l;77 l;78 l;6y 18;74 l;7e 18;7w l;7u 7;7y l;84 6;80 9;8b 9;89 9;8m m;8n l;8o m;8r l;8y 19;m 18;k 18;x 1a;17 1a;18 1a;15 0;12 1a;1a 6;1o n;1r 7;1p 7;1t 1b;23 8;3p o;3n 6;3s 9;3q 9;4g x;49 n;47 n;45 p;2l 1c;2i 6;4n 2;9a 13;97 14;bf t;bc s;9i 14;9o 9;9m 9;9z 7;a1 n;9w n;9v n;bv n;af 6 9h r bc s bh t;aw 10;bm 1d;bn 1d;bd 15;bk 1e;4t 2;4w 5;51 w;36 9;2u 9;3d y;3e 0;6u l;6s 6;7a 9;6v l;72 10;7d 18;7s n;7v 7;7t 7;82 9;83 6;7z 9;8i 1f;8f 6;8s l;8q l;s 0;q 10;10 0;14 1a;11 1a;1b 9;19 9;1i 9;1n n;1w n;3l 9;3o 6;3m 6;3z o;3w 6;4i 9;4f p;4d 7;46 p;44 p;2n 1g;2k 1c;2g 9;2j 6;2h 6;99 14;96 14;9e 14;bb s;9f 14;9u 14;9s 6;ab 14;a0 7;9y 7;a9 7;bw n;bu n;ah 6;aj 9;ae 9;ad 9;bo 9;9c 1h;ay 10;b0 18;av 18;au 18;bs 18;bl 1e;bj 1e;6q 9;6t 6;6r 6;7b 9;70 18;71 10;7f 18;7r n;85 l;81 9;8h 1f;8d 9;8g 6;8e 6;8p m;8w l;8x l;8z 19;90 l;93 1i;o 18;r 10;p 10;w 18;z 1a;13 1a;1h 1a;1f 6;1v 1b;3k 9;40 o;3y o;3u 9;3x 6;3v 6 4h x;4b n;4e 7;4c 7;2o 1g;2m 1g;2x o;2f 9;4r 5;98 14;9q 9;9t 6;9r 6 9h r bc s bh t;a3 n;aa 7;a4 7 9h r bc s bh t;a8 7;at 14;ai 6;ag 6;ar 6;ba 14;az 10;ax 10;b8 10;bt 18;br 18;bi 1e;4v 5;6p 9;7c 9;73 l;6z 18;8j l;8c 9;8u l;92 1i;n 18;y 1a;1d 9;1g 6;1e 6;1j 9;1u 1b;3t 9;4a n;2y 1j;4s 5;4q 5;9p 9;a2 n;a6 7;al 9;as 6;am 6 9h r bc s bh t;aq 6;bp 9;b2 18;b9 10;b3 10;b7 10;bq 18;4z 5;3f y;8v l;8t l;91 1i;1c 9;31 1g;4p 5;a7 7;a5 7;ak 9;ao 6;b1 18;b5 10;94 19;30 1j;ap 6;an 6;b6 10;b4 10;2z 1j";

/** Names of rules and the states that they lead to, in turn. */
export const GOTO_ROWS =
  "0 1 6 2 1 3 1s 5 1y 6 20 7 8 9 16 a 19 b 1a c;;1 m 8 9 16 a 19 b 1a c;1k t;1j w 1k x;2 10;2r 11;7 15 z 16;18 19 2p 1a;2r 1d;1b 1e z 1f;1j 1g 1k x;3 1i 5 1j 4 1l;2q 1n;1u 1o 1t 1p 1l 1q 1n 1r;30 1u 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;v 2u u 2v 14 2w;15 2y;22 30 2f 31;1j 38 1k x;2v 3b 2y 3h 3m 3i 30 3n 3u 2a 31 1v 4a 2g 2r 2l 4e 2m 4i 2n 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27;1v 3p;33 3u 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;35 3v;3b 47;3d 4a;3f 4f;3g 4k 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3w 4q 3v 4r 30 4s 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;30 4u 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;4b 4w;30 4x 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;30 4z 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;e 50 i 52 22 53 m 56 s 57 2f 31;w 5a;13 5b 12 5c;17 5e;30 5h 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;24 5i 23 5j 22 5k 2f 31;2e 5m 2m 5n;1d 5q 1c 5r 1l 5s 1n 1r;4m 5t 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;30 6b 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;2x 6c;2z 6e;30 6o 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;2r 6p;1w 6q 1x 6r;1m 6t;1z 6v;32 6w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;33 6x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;36 6y 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;37 6z 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;37 70 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;38 71 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;39 72 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3a 73 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3c 74 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3e 75 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3g 76 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3i 77 3h 78 3r 79 30 7a 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;30 7d 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3q 7e;3s 7i 3t 7l;3x 7o;41 7q 40 7r;45 7t 44 7u 1l 7v 1n 1r;4c 7w;2r 80;4m 81 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;a 83 9 84 f 85;m 87 s 89;k 8a j 8b;x 8e y 8f;2f 8h;1j 8i 1k x;25 8k;29 8l 28 8m 2o 8n 2n 8o;2i 8q 2h 8r 22 8s 2f 31;1e 8v;2s 8w 2p 8x;4o 8y 4n 8z;4t 95 4s 96 4m 97 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;4z 98 4y 99 4x 9a 61 9b 4m 9c 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;5v 9f;2w 9k 2p 9l;2r 9m;4m 9n 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;30 9o 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;1t 9p 1l 1q 1n 1r;22 9q 2f 31;21 9r;3j 9v;3m 9w 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3n 9z;30 a0 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3y a2 3z a3;42 a5 43 a6;30 a8 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;46 aa;30 ab 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;4d ac 4g ad;4h ag;b ai;g ak;l al;m an s 89;o ao n ap t aq 22 ar 2f 31;u at 14 2w;10 au;26 av 27 aw;2a az;22 b0 2f 31;2j b2;2g b3 2m b4;1h b5 1o b6;1f b8 1g b9;4p bc;4q be 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;5p bf 5o 65;5p bh 5o 65;4u bj;50 bl;51 bn;60 bo;58 bq 57 br 56 bs 5w bu 4m bv 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;5h bx 5g by 5f bz 5z c1;5t c3 5s c4;3k c9 3l ca;30 cc 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3o ce 3p cf;30 ch 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3v ci 30 4s 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;30 ck 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;49 cl 1o cm;47 cn 48 co;2r cr 4e cs;30 ct 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;4l cu 4m cw 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;c cx d cy;22 d0 2f 31;h d1;m d3 s 89;p d5;11 d7;23 d9 22 5k 2f 31;2d da 1o db;2b dc 2c dd;2k df 2l dg;1i di 1r dj;22 dl 2f 31;1c dm 1l 5s 1n 1r;30 dn 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;4q do 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;4v dp 4w dq;52 ds 55 dt 53 dv;59 dx;5a dz;5i e2;5j e4;5y e5 5x e6;30 e9 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;30 ea 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3h ec 3r 79 30 7a 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3m ed 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;3t ef;2r eg;44 eh 1l 7v 1n 1r;2r ei;4k ej 4j ek;9 em f 85;m en s 89;q eo r ep;22 er 2f 31;2f es;28 et 2o 8n 2n 8o;2h eu 22 8s 2f 31;2u ew 2t ex;4s ez 4m 97 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;4x f0 4y f1 4m 9c 61 9b 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;5b f2 5e f3 5c f5;4m f6 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;5k f7 5n f8 5l fa;4m fb 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;2r fc;30 fd 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;4f fe 4g ff;30 fh 31 1v 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27 3m 29 3u 2a 4a 2g 2r 2l 4e 2m 4i 2n;n fi t aq 22 ar 2f 31;1p fj;2r fk;54 fl;56 fn 57 fo 5w bu 4m bv 4q 5u 5p 5x 4r 5y 5u 64 5o 65 5r 68 5q 69;5f fp 5g fq 5z c1;2y fr 3m 3i 30 3n 3u 2a 31 1v 4a 2g 2r 2l 4e 2m 4i 2n 32 1w 33 1x 34 1z 36 20 37 21 38 22 39 23 3a 24 3c 25 3e 26 3g 27;1q fs;5d fu;5m fw";

/** For each state its row of shifts, reductions and gotos. */
export const STATES =
  "0 0 0;1 1 1;1 2 1;1 3 1;2 0 2;1 4 1;1 5 1;1 6 1;3 0 1;1 7 1;1 8 1;1 9 1;1 a 1;4 0 1;5 0 1;6 0 1;7 0 1;8 0 1;9 0 3;9 0 4;a 0 1;b 0 1;1 b 1;1 c 5;c 0 6;d 0 1;e 0 1;f d 7;g 0 1;h e 8;1 f 1;i 0 1;c 0 9;f g a;9 0 b;j 0 1;k h c;1 i 1;1 j d;l k e;m 0 f;n 0 1;1 l 1;o m g;1 n h;p 0 1;1 o 1;q 0 i;r 0 1;1 p 1;s 0 1;1 q 1;1 r 1;9 0 j;1 s 1;1 t 1;t 0 1;1 u 1;u 0 1;v 0 k;w 0 1;1 v l;1 w 1;x x 1;1 y 1;1 z 1;y 0 1;z 10 1;10 11 1;1 12 1;m 0 m;1 13 1;11 14 n;12 15 1;13 16 1;14 17 1;15 18 o;16 19 p;17 1a q;1 1b 1;18 0 r;19 1c 1;1 1d 1;1 1e 1;1 1f 1;1 1g 1;1 1h 1;1 1i 1;1 1j 1;1 1k 1;1 1l 1;m 1m s;1a 0 t;1 1n 1;1 1o 1;1 1p 1;1b 0 1;1 1q 1;1 1r u;1c 0 v;m 0 w;1d 0 x;1e 0 1;1 1s y;1 1t 1;1f 1u z;1g 0 10;m 0 11;1 1v 1;1 1w 1;q 1x 12;1h 0 1;1i 1y 13;1j 0 1;1 1z 1;l 20 14;1 21 1;1 22 1;1 23 1;1 24 1;1 25 1;1k 26 15;1l 0 1;m 0 16;1m 27 17;1 28 1;1n 29 18;m 0 19;1 2a 1;1 2b 1;1 2c 1;1 2d 1;c 0 1a;1o 2e 1b;1p 2f 1c;1 2g 1d;m 0 1e;m 0 1f;1 2h 1;18 0 1g;1 2i 1;1 2j 1;1 2k 1;1 2l 1;1 2m 1;1 2n 1;18 0 1h;18 0 1i;18 0 1j;18 0 1k;18 0 1l;18 0 1m;1 2o 1;1 2p 1;18 0 1n;1 2q 1;1 2r 1;1 2s 1;1 2t 1;18 0 1o;1 2u 1;1 2v 1;1 2w 1;1 2x 1;1 2y 1;1q 2z 1p;m 0 1q;1r 0 1r;1 30 1;1s 0 1s;1t 0 1;1 31 1t;1 32 1;1 33 1;1u 0 1u;l 34 1v;1v 0 1w;c 0 1x;1k 26 1y;1w 0 1;1 35 1;1x 36 1z;1 37 1;1 38 1;1 39 1;1y 0 20;1z 0 21;1 3a 1;20 3b 13;1 3c 1;21 3d 22;1 3e 1;1 3f 1;22 0 23;1 3g 1;1 3h 1;9 0 24;1 3i 1;23 0 1;1 3j 25;1 3k 1;24 3l 26;1 3m 1;1 3n 1;q 3o 27;25 0 1;26 0 1;1 3p 28;1 3q 1;h 3r 29;27 3s 2a;1 3t 1;28 3u 1;29 3v 1;2a 0 1;1 3w 1;1 3x 1;1 3y 1;1k 3z 2b;2b 40 2c;2c 41 2d;2d 0 1;1 42 1;1 43 1;2e 0 1;1 44 1;h 45 2e;c 0 2f;1k 26 2g;1 46 1;m 0 2h;1 47 1;1 48 1;1 49 1;1 4a 1;1 4b 1;1 4c 1;1 4d 1;1 4e 1;1 4f 1;1 4g 1;1 4h 1;1 4i 1;1 4j 1;l 4k 2i;q 0 2j;1 4l 1;2f 0 2k;10 4m 1;1 4n 1;1 4o 1;2g 4p 1;2g 4q 1;13 4r 1;14 4s 1;15 4t o;16 4u p;17 4v q;1 4w 1;2h 0 1;1 4x 2l;1 4y 1;1 4z 1;2i 0 2m;2j 50 1;2k 0 1;1 51 1;1 52 1;1 53 1;1 54 1;1 55 2n;1 56 1;m 0 2o;1 57 1;2l 0 1;1 58 1;2m 59 2p;1 5a 1;2n 5b 2q;1 5c 1;m 0 2r;2o 0 1;1 5d 2s;1 5e 1;1 5f 1;1 5g 1;1 5h 1;m 0 2t;2p 5i 2u;2q 0 1;1 5j 2v;2r 0 1;1 5k 2w;1 5l 1;2s 0 1;1 5m 2x;2t 5n 1;1 5o 1;2u 5p 2y;1 5q 1;1y 0 2z;2v 5r 30;1 5s 1;1 5t 1;o 5u 31;1 5v 32;1 5w 1;1 5x 1;2w 5y 33;2x 0 1;1 5z 34;1 60 1;q 0 35;1 61 1;2y 0 1;1 62 36;1 63 1;1i 64 37;2z 65 38;30 66 39;31 0 1;1 67 1;32 68 3a;1 69 1;1k 26 3b;1 6a 1;33 6b 3c;33 6b 3d;1 6c 1;34 0 1;1 6d 3e;1 6e 1;35 0 1;36 6f 3f;1 6g 3g;1 6h 1;1 6i 1;37 6j 3h;38 6k 3i;39 6l 3j;1 6m 1;1 6n 1;1 6o 1;3a 6p 3k;3b 0 1;1 6q 1;1 6r 1;3c 0 1;1 6s 1;1 6t 1;1 6u 1;1 6v 1;1 6w 1;3d 0 1;1 6x 1;3e 6y 3l;19 6z 1;3f 0 3m;1 70 1;3g 71 3n;1 72 1;m 0 3o;1 73 1;1 74 1;m 75 3p;1 76 1;3h 0 1;m 77 3q;1 78 1;2z 79 3r;3i 7a 3s;3j 0 1;1 7b 1;1 7c 1;3k 0 3t;m 0 3u;3l 26 3v;1 7d 1;3m 7e 3w;q 0 3x;3n 7f 3y;1 7g 1;1y 0 3z;1 7h 1;3o 0 1;1 7i 40;1 7j 1;1 7k 1;3p 0 1;1 7l 1;3q 7m 41;1 7n 1;1 7o 1;q 7p 42;2z 7q 43;3r 7r 44;1 7s 1;1 7t 1;3s 7u 45;1 7v 1;1 7w 1;3t 7x 46;1 7y 1;q 0 47;1 7z 1;1 80 1;l 81 48;m 0 49;1 82 1;1k 26 4a;1 83 1;1 84 1;1 85 1;1 86 1;1 87 1;3u 88 4b;1 89 1;1 8a 1;1 8b 1;3v 8c 4c;1 8d 1;1 8e 1;3w 0 1;3x 8f 4d;1 8g 4e;1 8h 1;1 8i 1;1 8j 1;3y 8k 1;3z 0 1;40 8l 4f;1 8m 4g;1 8n 1;1 8o 1;41 8p 4h;1 8q 1;1 8r 1;42 0 1;m 0 4i;m 0 4j;43 0 1;1 8s 1;1 8t 1;1q 8u 4k;1 8v 1;2i 0 4l;1 8w 1;44 0 1;45 8x 4m;1 8y 1;1 8z 1;1 90 1;1 91 1;c 0 4n;1 92 1;1 93 1;1 94 1;l 95 4o;1 96 1;1 97 1;1 98 1;c 0 4p;1 99 1;1 9a 1;46 9b 4q;1 9c 1;1 9d 1;1x 9e 4r;1 9f 1;1 9g 1;1y 0 4s;1 9h 1;1 9i 1;47 9j 4t;q 0 4u;1 9k 1;22 0 4v;1 9l 1;1 9m 1;1 9n 1;1 9o 1;1 9p 1;24 9q 4w;1 9r 1;1 9s 1;q 9t 4x;1 9u 1;1 9v 1;48 0 1;1 9w 1;1 9x 1;49 9y 4y;1 9z 1;1 a0 1;1 a1 1;1k a2 4z;1 a3 1;1 a4 1;2b a5 50;1 a6 1;1 a7 1;1 a8 1;1 a9 1;4a aa 51;1k 26 52;1 ab 1;1 ac 1;1 ad 1;4b ae 53;1 af 1;1 ag 1;1k 26 54;1 ah 1;1 ai 1;c 0 55;m 0 56;1 aj 1;19 ak 1;1 al 1;1 am 1;1 an 1;1 ao 1;2p ap 57;4c 0 1;1 aq 1;m 0 58;1 ar 1;1 as 1;1 at 1;1 au 1;2v av 59;1 aw 1;1 ax 1;1 ay 1;1 az 1;1 b0 5a;1 b1 1;1 b2 1;c 0 5b;1 b3 1;1 b4 1;4d b5 5c;1 b6 1;1 b7 1;38 b8 5d;1 b9 1;1 ba 1;1 bb 1;1 bc 1;39 bd 5e;1 be 1;1 bf 1;1 bg 1;1 bh 1;1 bi 1;1 bj 1;4e 0 5f;1 bk 1;1 bl 1;4f bm 5g;1 bn 1;1 bo 1;1 bp 1;1 bq 1;4g br 5h;1 bs 1;4h bt 5i;1 bu 1;1 bv 1;4i 0 1;1 bw 1;1 bx 1;1 by 1;1 bz 1;1 c0 1";
