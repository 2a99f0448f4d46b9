# The grammar of the language, in nearley's notation.
#
# A module is a row of declarations, and each is parsed alone. What stands in quotes is a keyword or punctuation, what begins with % a
# terminal of the lexer. Terminals that depend on their neighbors are settled before (docs/compiler.md, "Syntax"):
#   %open_paren %open_bracket %negate   ( [ - that go on with nothing: after what ends no expression, or at the start of a line outside of ( ) and [ ]
#   %record_brace   { after a capitalized name and before `name :`, `..` or, in a value, `}`
#   %return_alone   return at the end of its line or before }
#   %let_else       else after anything but }
#   %test %property %eval %threshold %case %intrinsic %extern %builtin   words that are keywords in one place only
# `{% make.x %}` names the function of build.ts that makes the node.

@lexer tokens

# Lists may end with a comma.

list[X] -> null            {% make.emptyList %}
    | $X ("," $X):* ",":?  {% make.list %}

list_with_rest[X, REST] -> null {% make.emptyListWithRest %}
    | $REST ",":?          {% make.onlyRest %}
    | $X ("," $X):* ("," | "," $REST ",":?):? {% make.listWithRest %}

# Declarations

declaration -> use         {% id %}
    | exportable           {% id %}
    | "pub" exportable     {% make.published %}
    | test                 {% id %}
    | property             {% id %}
    | eval                 {% id %}

exportable -> type_declaration {% id %}
    | interface            {% id %}
    | constant             {% id %}
    | function             {% id %}

use -> "use" %name ("." %name):* ("as" %name):? {% make.use %}

type_declaration -> "type" %type_name type_parameters:? "=" type_body {% make.typeDeclaration %}

type_body -> "{" list[record_field] "}" {% make.recordBody %}
    | union                {% make.unionBody %}
    | type                 {% make.aliasBody %}
    | %builtin             {% make.builtinBody %}

record_field -> %name ":" type {% make.recordField %}

union -> "|" variant ("|" variant):* {% make.unionAfterBar %}
    | variant ("|" variant):+ {% make.unionOfSeveral %}
    | variant_with_fields  {% make.unionOfOne %}

variant -> %type_name      {% make.plainVariant %}
    | variant_with_fields  {% id %}

variant_with_fields -> %type_name "(" list[variant_field] ")" {% make.variant %}

variant_field -> type      {% make.unnamedVariantField %}
    | %name ":" type       {% make.variantField %}

type_parameters -> "[" list[type_parameter] "]" {% make.bracketedList %}

type_parameter -> %type_name (":" named_type ("+" named_type):*):? {% make.typeParameter %}

interface -> "interface" %type_name "{" signature:* "}" {% make.interfaceDeclaration %}

signature -> "fn" heading  {% make.signature %}

constant -> "const" owned_name type_annotation:? "=" expression {% make.constant %}

function -> "fn" heading block {% make.functionDeclaration %}
    | %intrinsic "fn" heading {% make.intrinsic %}
    | %extern %text "fn" heading {% make.extern %}

heading -> owned_name type_parameters:? "(" list[parameter] ")" result_type:? effects:? {% make.heading %}

owned_name -> %name        {% make.plainName %}
    | %type_name "." %name {% make.ownedName %}

parameter -> parameter_name {% make.untypedParameter %}
    | parameter_name ":" "inout":? type {% make.parameter %}

parameter_name -> %name {% id %} | "_" {% id %}

result_type -> "->" type   {% make.second %}

effects -> "uses" %type_name ("," %type_name):* {% make.effects %}

test -> %test %text block  {% make.test %}

property -> %property %text "(" list[parameter] ")" block {% make.property %}

eval -> %eval %text %threshold expression "{" eval_case:* "}" {% make.evalDeclaration %}

eval_case -> %case %text "=>" expression {% make.evalCase %}

# Types

type -> named_type         {% id %}
    | %open_paren list[type] ")" {% make.tupleType %}
    | "fn" %open_paren list[parameter_type] ")" result_type:? {% make.functionType %}

named_type -> %type_name type_arguments:? {% make.namedType %}
    | %name "." %type_name type_arguments:? {% make.qualifiedType %}

type_arguments -> "[" list[type] "]" {% make.bracketedList %}

parameter_type -> "inout":? type {% make.parameterType %}

type_annotation -> ":" type {% make.second %}

# Statements

block -> "{" statement:* "}" {% make.block %}

statement -> "let" pattern type_annotation:? "=" expression (%let_else block):? {% make.letStatement %}
    | "var" %name type_annotation:? "=" expression {% make.variableStatement %}
    | "while" expression block {% make.whileStatement %}
    | "for" "inout":? pattern "in" expression block {% make.forStatement %}
    | simple_statement     {% id %}

simple_statement -> postfix assignment_operator expression {% make.assignment %}
    | "return" expression  {% make.returnStatement %}
    | %return_alone        {% make.returnAlone %}
    | "break"              {% make.breakStatement %}
    | "continue"           {% make.continueStatement %}
    | expression           {% make.expressionStatement %}

assignment_operator -> "=" {% id %} | "+=" {% id %} | "-=" {% id %} | "*=" {% id %} | "/=" {% id %} | "%=" {% id %}
    | "+%=" {% id %} | "-%=" {% id %} | "*%=" {% id %}

# Expressions, from weak to strong

expression -> or           {% id %}

or -> or "or" and          {% make.binary %}
    | and                  {% id %}

and -> and "and" not       {% make.binary %}
    | not                  {% id %}

not -> "not" not           {% make.unary %}
    | comparison           {% id %}

comparison -> range comparison_operator range {% make.binary %}
    | range                {% id %}

comparison_operator -> "==" {% id %} | "!=" {% id %} | "<" {% id %} | "<=" {% id %} | ">" {% id %} | ">=" {% id %}

range -> bit_or ".." bit_or {% make.range %}
    | bit_or "..=" bit_or  {% make.range %}
    | bit_or               {% id %}

bit_or -> bit_or "|" bit_xor {% make.binary %}
    | bit_xor              {% id %}

bit_xor -> bit_xor "^" bit_and {% make.binary %}
    | bit_and              {% id %}

bit_and -> bit_and "&" shift {% make.binary %}
    | shift                {% id %}

shift -> shift shift_operator sum {% make.binary %}
    | sum                  {% id %}

shift_operator -> "<<" {% id %} | ">>" {% id %}

sum -> sum sum_operator product {% make.binary %}
    | product              {% id %}

sum_operator -> "+" {% id %} | "-" {% id %} | "+%" {% id %} | "-%" {% id %}

product -> product product_operator unary {% make.binary %}
    | unary                {% id %}

product_operator -> "*" {% id %} | "/" {% id %} | "%" {% id %} | "*%" {% id %}

unary -> %negate unary       {% make.unary %}
    | postfix              {% id %}

postfix -> postfix "(" list[argument] ")" {% make.call %}
    | postfix "[" expression "]" {% make.index %}
    | postfix "." member   {% make.fieldAccess %}
    | postfix "?"          {% make.propagate %}
    | postfix %record_brace first_field ("," field):* ",":? "}" {% make.record %}
    | postfix %record_brace "}" {% make.emptyRecord %}
    | primary              {% id %}

member -> %name {% id %} | %type_name {% id %} | %integer {% id %}

argument -> expression     {% make.plainArgument %}
    | "&" postfix          {% make.inoutArgument %}
    | %name ":" expression {% make.namedArgument %}
    | %name ":" "&" postfix {% make.namedInoutArgument %}

first_field -> ".." expression {% make.base %}
    | field                {% id %}

field -> %name ":" expression {% make.field %}

primary -> %integer        {% make.integer %}
    | %float               {% make.float %}
    | %character           {% make.character %}
    | "true"               {% make.boolean %}
    | "false"              {% make.boolean %}
    | string               {% id %}
    | %name                {% make.nameExpression %}
    | %type_name           {% make.nameExpression %}
    | %open_bracket list[expression] "]" {% make.listLiteral %}
    | %open_paren ")"    {% make.unit %}
    | %open_paren expression ")" {% make.parenthesized %}
    | %open_paren expression ("," expression):+ ",":? ")" {% make.tuple %}
    | block                {% id %}
    | if                   {% id %}
    | match                {% id %}
    | "fn" %open_paren list[parameter] ")" result_type:? block {% make.closure %}

string -> %text            {% make.plainString %}
    | %text_start string_part:* %text_end {% make.string %}

string_part -> %text_part  {% id %}
    | %interpolation_start expression %interpolation_end {% make.second %}

if -> "if" expression block else:? {% make.ifExpression %}
    | "if" "let" pattern "=" expression block else:? {% make.ifLet %}

else -> "else" block       {% make.second %}
    | "else" if            {% make.second %}

match -> "match" expression "{" match_arm:* "}" {% make.match %}

match_arm -> pattern ("if" expression):? "=>" simple_statement {% make.matchArm %}

# Patterns

pattern -> simple_pattern  {% id %}
    | simple_pattern ("|" simple_pattern):+ {% make.alternatives %}

simple_pattern -> "_"      {% make.wildcard %}
    | %name                {% make.binding %}
    | pattern_bound        {% make.literalPattern %}
    | pattern_bound ".." pattern_bound {% make.rangePattern %}
    | pattern_bound "..=" pattern_bound {% make.rangePattern %}
    | %negate:? %float       {% make.floatPattern %}
    | %text                {% make.textPattern %}
    | "true"               {% make.booleanPattern %}
    | "false"              {% make.booleanPattern %}
    | %open_paren list[pattern] ")" {% make.tuplePattern %}
    | %open_bracket list_with_rest[pattern, rest] "]" {% make.listPattern %}
    | pattern_path         {% make.bareVariantPattern %}
    | pattern_path "(" list_with_rest[variant_field_pattern, ".."] ")" {% make.variantPattern %}
    | pattern_path pattern_brace list_with_rest[field_pattern, ".."] "}" {% make.recordPattern %}

pattern_bound -> %negate:? %integer {% make.integerBound %}
    | %character           {% make.character %}

pattern_path -> (%name "."):? %type_name ("." %type_name):? {% make.path %}

pattern_brace -> "{" {% id %} | %record_brace {% id %}

variant_field_pattern -> pattern {% make.unnamedFieldPattern %}
    | %name ":" pattern    {% make.namedFieldPattern %}

field_pattern -> %name (":" pattern):? {% make.fieldPattern %}

rest -> ".." %name:?       {% make.rest %}
