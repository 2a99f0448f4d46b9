/**
 * Calls of the library by the type of what they give. A call names its operands: `{String}` stands for an expression
 * of the type, `{T}` for one of the element's. What grows is cut.
 */
import { type GeneratedType, has, typeText } from "./program_types.ts";

const CALLS: Readonly<Record<string, readonly string[]>> = {
  Int: [
    "{Int}.shift_right_unsigned({Int})",
    "{Int}.trailing_zeros()",
    "{Int}.divide_floor({Int})",
    "{Int}.clamp(-4, 4).pow({Int}.clamp(0, 9))",
    "{Int}.pow({Int})",
    "{Int}.checked_add({Int}).unwrap_or(7)",
    "{Int}.checked_subtract({Int}).unwrap_or(7)",
    "{Int}.checked_multiply({Int}).unwrap_or(7)",
    "{Int64}.trailing_zeros()",
    "{String}.parse_int().unwrap_or(-3)",
    "{String}.byte({Int}).unwrap_or(-3)",
    "{List[Int]}.index_of({Int}).unwrap_or(-1)",
    "{List[Int]}.count(fn(n) { n > 0 })",
    "{List[String]}.find_index(fn(text) { text.is_empty() }).unwrap_or(-1)",
    "{List[Int]}.sum()",
    "{List[Int]}.sorted().binary_search({Int}).unwrap_or(-9)",
    "{Option[Int]}.unwrap_or_else(fn() { 5 })",
    "{Result[Int, String]}.unwrap_or_else(fn(error) { error.len() })",
    "{Map[Int, Int]}.get_or({Int}, {Int})",
    "{Char}.to_digit(10).unwrap_or(-1)",
    "{Set[Int]}.intersection({Set[Int]}).len()",
  ],
  Bool: [
    "{Int}.is_even()",
    "{Float}.is_nan()",
    "{Float}.is_finite()",
    "{F32}.is_nan()",
    "{Char}.is_digit()",
    "{Char}.is_letter()",
    "{Char}.is_upper()",
    "{Char}.is_whitespace()",
    "{List[Int]}.any(fn(n) { n < 0 })",
    "{List[Bool]}.all(fn(b) { b })",
    "{List[String]}.is_sorted()",
    "{Option[String]}.is_none()",
    "{Result[Int, String]}.is_ok()",
    "{Result[String, Int]}.is_err()",
    "{Set[Int]}.is_subset({Set[Int]})",
    "(0..{Int}.clamp(0, 5)).any(fn(n) { n == {Int} })",
  ],
  Float: [
    "{Float}.fraction()",
    "{Float}.lerp({Float}, 0.25)",
    "{String}.parse_float().unwrap_or(0.5)",
    "{List[Float]}.sum()",
  ],
  String: [
    "{Int}.to_radix({Int}.clamp(2, 36))",
    "{Int}.to_hex()",
    "{Int64}.to_radix(7)",
    "{String}.pad_start(6, {Char}).take(24)",
    "{String}.pad_end({Int}.clamp(0, 9), {Char}).take(24)",
    "{String}.repeat({Int}.clamp(0, 3)).take(24)",
    "{String}.to_lower()",
    "{String}.trim_start()",
    "{Bytes}.to_hex().take(24)",
    "{Bytes}.to_text_lossy()",
    '{String}.split(",").join("/")',
    '{String}.words().join("_")',
    "{String}.lines().len().to_hex()",
    '{List[String]}.max_by(fn(text) { text.len() }).unwrap_or("none")',
    '{List[String]}.min_by(fn(text) { text }).unwrap_or("none")',
  ],
  Char: ["{Char}.to_lower()", "{Int}.to_char().unwrap_or('?')", "{String}.chars().last().unwrap_or('!')"],
  Int64: ["{Int64}.shift_right_unsigned({Int})", "{List[Int64]}.fold({Int64}, fn(a, b) { a ^ b })"],
  Bytes: ["Bytes.from_list({Bytes}.to_list().reversed())", "{Char}.to_string().to_bytes()"],
  "List[Int]": [
    "List.generate({Int}.clamp(0, 5), fn(n) { n *% {Int} })",
    "(0..{Int}.clamp(0, 5)).to_list()",
    "(0..9).step_by({Int}.clamp(2, 9))",
    "{List[Int]}.filter_map(fn(n) { if n > 1 { Some(n -% 1) } else { None } })",
    "{List[Int]}.take(3).flat_map(fn(n) { [n, n & 3] })",
    "{Map[Int, Int]}.keys()",
    "{Map[String, Int]}.values()",
    "{Set[Int]}.union({Set[Int]}).to_list().take(6)",
    "{Set[Int]}.difference({Set[Int]}).to_list()",
    "{List[List[Int]]}.flatten().take(6)",
    "{List[Int]}.partition(fn(n) { n > {Int} }).1",
    "{List[Int]}.zip({List[Int]}).map(fn(pair) { pair.0 -% pair.1 })",
    "{List[String]}.enumerate().map(fn(pair) { pair.0 + pair.1.len() })",
    "{List[Int]}.windows(2).map(fn(two) { two[0] ^ two[1] })",
    "{List[Int]}.chunks({Int}.clamp(1, 3)).map(fn(chunk) { chunk.len() })",
    "{List[Int]}.group_by(fn(n) { n & 1 }).keys()",
    "{Map[String, Int]}.map_values(fn(n) { n & 7 }).values()",
    "{Option[Int]}.to_list()",
  ],
  "List[String]": [
    '{String}.split("")',
    "{String}.words()",
    "{String}.lines()",
    "{List[String]}.to_set().to_list()",
    "{List[String]}.filter_map(fn(text) { if text.is_empty() { None } else { Some(text.take(9)) } })",
  ],
  "Option[Int]": [
    "{Option[Int]}.and_then(fn(n) { if n > 0 { Some(n -% 1) } else { None } })",
    "{Option[Int]}.or_some({Option[Int]})",
    "{Option[Int]}.or_else(fn() { Some(1) })",
    "{Result[Int, String]}.ok()",
    "{Result[String, Int]}.err()",
    "{List[Int]}.last()",
  ],
  "Option[String]": [
    "{Option[String]}.zip({Option[Int]}).map(fn(pair) { pair.0 })",
    '{String}.split_once(",").map(fn(pair) { pair.1 })',
    "{Option[Int]}.map(fn(n) { n.to_hex() })",
  ],
};

const GENERAL: readonly string[] = [
  "{List[T]}.last().unwrap_or({T})",
  "{Option[T]}.or_some(Some({T})).unwrap_or_else(fn() { {T} })",
  "{Option[T]}.ok_or(3).map_err(fn(n) { n + 1 }).unwrap_or({T})",
  "{Map[Int, T]}.get_or({Int}, {T})",
  "{Map[String, T]}.values().first().unwrap_or({T})",
  "{List[T]}.zip({List[Int]}).last().map(fn(pair) { pair.0 }).unwrap_or({T})",
  "{List[T]}.enumerate().first().map(fn(pair) { pair.1 }).unwrap_or({T})",
  "{List[T]}.chunks(2).flatten().get({Int}).unwrap_or({T})",
  "{List[T]}.partition(fn(_) { {Bool} }).0.first().unwrap_or({T})",
];

/** Texts of calls that give the type. */
export function callsFor(type: GeneratedType): readonly string[] {
  return [...(CALLS[typeText(type)] ?? []), ...GENERAL];
}

/** The types that operands are named by. */
export function operandType(name: string, given: GeneratedType): GeneratedType | null {
  if (name === "T") return given;
  const inner = /^(\w+)\[(.*)\]$/.exec(name);
  if (inner === null) return primitiveOf(name);
  const [, outer, parts = ""] = inner;
  const [first, second] = splitTypes(parts).map((part) => operandType(part, given));
  switch (outer) {
    case "List":
    case "Option":
    case "Set": {
      if (first === undefined || first === null) return null;
      if (outer === "Set" && !has("Hash", first)) return null;
      return { kind: outer === "List" ? "list" : outer === "Set" ? "set" : "option", element: first };
    }
    case "Map":
      return first === undefined || first === null || second === undefined || second === null
        ? null
        : { kind: "map", key: first, value: second };
    case "Result":
      return first === undefined || first === null || second === undefined || second === null
        ? null
        : { kind: "result", value: first, error: second };
    default:
      return null;
  }
}

function primitiveOf(name: string): GeneratedType | null {
  switch (name) {
    case "Int":
    case "Bool":
    case "String":
    case "Float":
    case "Int64":
    case "Char":
    case "F32":
    case "Bytes":
      return { kind: "primitive", name };
    default:
      return null;
  }
}

/** Types between commas that are in no brackets. */
function splitTypes(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (character === "[") depth++;
    if (character === "]") depth--;
    if ((character === "," && depth === 0) || character === undefined) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return parts;
}
