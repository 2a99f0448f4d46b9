/**
 * Words of other languages that a line may begin with here too, because two values may follow one another: `elif x {
 * … }` would be three statements. `classify` makes them a terminal that fits nowhere where they are plainly meant as
 * in those languages.
 */

/** Words that begin a statement. */
export const FOREIGN_STATEMENT_WORDS: ReadonlySet<string> = new Set([
  "elif",
  "elseif",
  "elsif",
  "switch",
  "loop",
  "unless",
  "until",
  "foreach",
  "function",
  "def",
  "func",
  "fun",
  "throw",
  "raise",
  "try",
  "do",
]);

/** Names of types in other languages, and what they are here. */
export const FOREIGN_TYPES: ReadonlyMap<string, string> = new Map(Object.entries({
  int: "Int",
  i32: "Int",
  integer: "Int",
  number: "Float",
  i8: "Int",
  i16: "Int",
  u8: "Int",
  u16: "Int",
  u32: "Int",
  usize: "Int",
  isize: "Int",
  int32: "Int",
  int64: "Int64",
  float64: "Float",
  float32: "F32",
  u64: "Int64",
  i64: "Int64",
  long: "Int64",
  float: "Float",
  double: "Float",
  f64: "Float",
  f32: "F32",
  bool: "Bool",
  boolean: "Bool",
  string: "String",
  str: "String",
  char: "Char",
  bytes: "Bytes",
  list: "List",
  array: "List",
  vec: "List",
  map: "Map",
  dict: "Map",
  set: "Set",
  option: "Option",
  result: "Result",
  void: "()",
  unit: "()",
}));

/** Words that other languages put before a declaration, and what they are here; null for nothing. */
export const FOREIGN_MODIFIERS: ReadonlyMap<string, string | null> = new Map([
  ["public", "pub"],
  ["export", "pub"],
  ["private", null],
  ["protected", null],
  ["internal", null],
  ["static", null],
  ["async", null],
  ["override", null],
  ["abstract", null],
  ["inline", null],
]);

/** Words that other languages begin a declaration with, and what it begins with here. */
export const FOREIGN_DECLARATIONS: ReadonlyMap<string, string> = new Map([
  ["function", "fn"],
  ["def", "fn"],
  ["func", "fn"],
  ["fun", "fn"],
  ["proc", "fn"],
  ["method", "fn"],
  ["struct", "type"],
  ["class", "type"],
  ["record", "type"],
  ["enum", "type"],
  ["union", "type"],
  ["data", "type"],
  ["typedef", "type"],
  ["trait", "interface"],
  ["protocol", "interface"],
  ["import", "use"],
  ["include", "use"],
  ["require", "use"],
  ["using", "use"],
  ["let", "const"],
  ["var", "const"],
  ["val", "const"],
]);
