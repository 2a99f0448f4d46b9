/**
 * Names in the texts that definitions keep (views, defaults, checks, index expressions): what the search path found
 * when the text was written gets its schema, so that the text means the same in every session.
 *
 * A text is changed only where a name is; everything else stays as it was written. Names that WITH gives to
 * queries, built-in types and temporary objects stay without a schema. For printing, {@link withoutSchemas} takes
 * away what the reader's search path makes superfluous.
 */
import { onceIn } from "../../base/pieces.ts";
import type { Relation } from "../../catalog/catalog.ts";
import { isTemporarySchema } from "../../catalog/temporary_schema.ts";
import { typeByName } from "../../types/type_names.ts";
import type { Expression, FunctionCall, ObjectName, TableItem, TypeName } from "../parser/ast.ts";
import { quoteIdentifier } from "../parser/keywords.ts";
import { parseExpression, type ParseOptions, parseStatement } from "../parser/statements.ts";

/** What names mean where a text is written. */
export interface NameLookup {
  /** The schema of the enumerated type of this name on the search path. */
  typeSchema(name: string): string | undefined;
  /** The schema of the relation of this name on the search path. */
  relationSchema(name: string): string | undefined;
  /** The schema of the user-defined function of this name on the search path. */
  functionSchema(name: string): string | undefined;
}

/** What kind of text it is. */
export type StoredText = "expression" | "query";

/** One name in a text: from `start` on, `schema` as it is written or null. */
interface NamePlace {
  readonly kind: "type" | "relation" | "function";
  readonly schema: string | null;
  readonly name: string;
  /** Offset of the first character of the name with its schema. */
  readonly start: number;
  /** Within a string literal, where quotes are doubled. */
  readonly quoted: boolean;
  /** An item of FROM without alias: its columns may be written with its name. */
  readonly unaliased?: boolean;
}

/** Functions whose first argument names a sequence. */
const SEQUENCE_FUNCTIONS: ReadonlySet<string> = new Set(["nextval", "currval", "setval"]);

/** Whether a text can hold names at all: a cast, a literal, a call, or FROM. */
const MAY_NAME = /::|'|[\w"]\s*\(|\bfrom\b|\bjoin\b|\btable\b/i;

/** The text with schemas before the names that were found along the search path. */
export function withSchemas(
  text: string,
  kind: StoredText,
  lookup: NameLookup,
  options: ParseOptions = {},
): string {
  let result = text;
  for (const place of placesFromTheEnd(text, kind, options)) {
    if (place.schema !== null) continue;
    const schema = schemaFound(place, lookup);
    if (schema === undefined || isTemporarySchema(schema)) continue;
    result = result.slice(0, place.start) + written(`${quoteIdentifier(schema)}.`, place) +
      result.slice(place.start);
  }
  return result;
}

/** The text without the schemas of names that mean the same without them. */
export function withoutSchemas(text: string, kind: StoredText, lookup: NameLookup): string {
  let result = text;
  for (const place of placesFromTheEnd(text, kind)) {
    if (place.schema === null) continue;
    const found = schemaFound(place, lookup);
    if (found !== place.schema) continue;
    const length = /^(?:"(?:[^"]|"")*"|[^".\s]+)\s*\.\s*/.exec(result.slice(place.start))?.[0].length ?? 0;
    result = result.slice(0, place.start) + result.slice(place.start + length);
  }
  return result;
}

/** The schema that the search path gives for a name without one. */
function schemaFound({ kind, name }: NamePlace, lookup: NameLookup): string | undefined {
  switch (kind) {
    case "type":
      return lookup.typeSchema(name);
    case "relation":
      return lookup.relationSchema(name);
    case "function":
      return lookup.functionSchema(name);
  }
}

/** A relation's name with its schema. */
export interface RelationName {
  readonly schema: string;
  readonly name: string;
}

/** The text with a relation of another name; where FROM gives it no alias, its former name becomes the alias. */
export function withRelationRenamed(
  text: string,
  kind: StoredText,
  former: RelationName,
  next: RelationName,
): string {
  const name = `${quoteIdentifier(next.schema)}.${quoteIdentifier(next.name)}`;
  return withNamesReplaced(text, kind, { kind: "relation", ...former }, (place) => {
    const needsAlias = place.unaliased === true && next.name !== former.name;
    return written(name, place) + (needsAlias ? ` AS ${quoteIdentifier(former.name)}` : "");
  });
}

/** The text with a type of another name. */
export function withTypeRenamed(
  text: string,
  kind: StoredText,
  former: RelationName,
  next: RelationName,
): string {
  const name = `${quoteIdentifier(next.schema)}.${quoteIdentifier(next.name)}`;
  return withNamesReplaced(text, kind, { kind: "type", ...former }, () => name);
}

/** The text with something in each place of a name that is written with its schema. */
function withNamesReplaced(
  text: string,
  kind: StoredText,
  former: RelationName & Pick<NamePlace, "kind">,
  replacement: (place: NamePlace) => string,
): string {
  let result = text;
  for (const place of placesFromTheEnd(text, kind)) {
    if (place.kind !== former.kind || place.schema !== former.schema || place.name !== former.name) continue;
    const length = QUALIFIED.exec(result.slice(place.start))?.[0].length ?? 0;
    if (length === 0) continue;
    result = result.slice(0, place.start) + replacement(place) + result.slice(place.start + length);
  }
  return result;
}

/** Whether a text names a type. */
export function namesType(text: string, kind: StoredText, { schema, name }: RelationName): boolean {
  return placesFromTheEnd(text, kind).some((place) =>
    place.kind === "type" && place.schema === schema && place.name === name
  );
}

/** The relations that a query's text reads from, as they are written. */
export function relationsIn(text: string, options: ParseOptions = {}): ObjectName[] {
  return placesFromTheEnd(text, "query", options).filter((place) =>
    place.kind === "relation" && !place.quoted
  )
    .map(({ schema, name, start }) => ({ catalog: null, schema, name, position: start }));
}

/** The text in which a relation's columns have these names, by lists of them behind its alias. */
export function withColumnsNamed(text: string, relation: RelationName, names: readonly string[]): string {
  const list = `(${names.map(quoteIdentifier).join(", ")})`;
  let result = text;
  for (const place of placesFromTheEnd(text, "query")) {
    const { schema, name, start } = place;
    if (place.kind !== "relation" || place.quoted) continue;
    if (schema !== relation.schema || name !== relation.name) continue;
    const end = start + (QUALIFIED.exec(result.slice(start))?.[0].length ?? 0);
    const rest = result.slice(end);
    if (place.unaliased === true) {
      result = `${result.slice(0, end)} AS ${quoteIdentifier(name)}${list}${rest}`;
      continue;
    }
    const alias = /^\s+(?:as\s+)?(?:"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*)/iu.exec(rest)?.[0] ?? "";
    // A list that is there already names the columns.
    if (/^\s*\(/.test(rest.slice(alias.length))) continue;
    result = result.slice(0, end) + alias + list + rest.slice(alias.length);
  }
  return result;
}

/** A qualified name as it is written. */
const QUALIFIED = /^(?:"(?:[^"]|"")*"|[^".\s]+)\s*\.\s*(?:"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*)/u;

/** The schema of a relation. */
export function schemaOf(relation: Relation): string {
  switch (relation.kind) {
    case "table":
    case "index":
      return relation.table.schema;
    case "view":
      return relation.view.schema;
    case "sequence":
      return relation.sequence.schema;
  }
}

function written(prefix: string, place: NamePlace): string {
  return place.quoted ? prefix.replaceAll("'", "''") : prefix;
}

function placesFromTheEnd(text: string, kind: StoredText, options: ParseOptions = {}): NamePlace[] {
  if (!MAY_NAME.test(text)) return [];
  const places: NamePlace[] = [];
  const local = new Set<string>();
  const parsed = onceIn(
    options.pieces,
    () => kind === "query" ? parseStatement(text, options).statement : parseExpression(text, options),
  );
  collect(parsed, text, places, local);
  const isGlobal = (place: NamePlace): boolean =>
    place.kind !== "relation" || place.quoted || place.schema !== null || !local.has(place.name);
  return places.filter(isGlobal).sort((a, b) => b.start - a.start);
}

function collect(node: unknown, text: string, places: NamePlace[], local: Set<string>): void {
  if (Array.isArray(node)) {
    for (const each of node) collect(each, text, places, local);
    return;
  }
  if (typeof node !== "object" || node === null) return;
  if (isTableItem(node)) {
    const { schema, name, position } = node.name;
    const unaliased = node.alias === null;
    places.push({ kind: "relation", schema, name, start: position, quoted: false, unaliased });
  } else if (isTypeName(node)) addType(node, places);
  else if (isCall(node)) {
    const [name = "", schema = null] = node.name.toReversed();
    places.push({ kind: "function", schema, name, start: node.position, quoted: false });
  } else if ("materialized" in node && "name" in node && typeof node.name === "string") local.add(node.name);
  const named = relationLiteral(node as Expression);
  if (named !== null) addLiteral(named.position, text, places);
  for (const child of Object.values(node)) collect(child, text, places, local);
}

function addType(type: TypeName, places: NamePlace[]): void {
  const [first = "", second] = type.name;
  if (type.name.length > 2 || (second === undefined && typeByName([first]) !== undefined)) return;
  places.push({
    kind: "type",
    schema: second === undefined ? null : first,
    name: second ?? first,
    start: type.position,
    quoted: false,
  });
}

/** A plain literal `'name'` or `'schema.name'` at this offset, perhaps after its type. */
function addLiteral(position: number, text: string, places: NamePlace[]): void {
  const type = /^(?:pg_catalog\s*\.\s*)?regclass\s*/i.exec(text.slice(position))?.[0] ?? "";
  const start = position + type.length;
  const match = /^'((?:"(?:[^"']|"")+"|[a-z_][\w$]*)\.)?("(?:[^"']|"")+"|[a-z_][\w$]*)'/i
    .exec(text.slice(start));
  if (match === null) return;
  const plain = (part: string): string =>
    part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part.toLowerCase();
  places.push({
    kind: "relation",
    schema: match[1] === undefined ? null : plain(match[1].slice(0, -1)),
    name: plain(match[2] ?? ""),
    start: start + 1,
    quoted: true,
  });
}

/** A string literal that names a relation; `position` is that of its type when it is written before the string. */
interface RelationLiteral {
  readonly text: string;
  readonly position: number;
}

/**
 * The literal, when a node of a syntax tree names a relation by one: cast to regclass, or given to a sequence's
 * function.
 */
export function relationLiteral(node: Expression): RelationLiteral | null {
  switch (node.kind) {
    case "cast":
      return isRegclass(node.type) ? stringLiteral(node.operand) : null;
    case "typed_literal":
      return isRegclass(node.type) ? { text: node.text, position: node.type.position } : null;
    case "call":
      return SEQUENCE_FUNCTIONS.has(node.name.at(-1) ?? "") ? stringLiteral(node.arguments[0]?.value) : null;
    default:
      return null;
  }
}

function isRegclass(type: TypeName): boolean {
  return type.name.at(-1) === "regclass" && type.arrayDimensions === 0;
}

function stringLiteral(node: Expression | undefined): RelationLiteral | null {
  return node?.kind === "literal" && node.type === "string" ? node : null;
}

function isTableItem(node: unknown): node is TableItem & { readonly name: ObjectName } {
  return typeof node === "object" && node !== null && "kind" in node && node.kind === "table" &&
    "rowId" in node;
}

function isCall(node: object): node is FunctionCall {
  return "kind" in node && node.kind === "call" && "name" in node && Array.isArray(node.name) &&
    "arguments" in node;
}

function isTypeName(node: unknown): node is TypeName {
  return typeof node === "object" && node !== null && "arrayDimensions" in node && "modifiers" in node &&
    "position" in node && "name" in node && Array.isArray(node.name);
}
