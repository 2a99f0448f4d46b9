/**
 * A column of lists, maps and structs: the levels of its leaves are put together row by row (Dremel's assembly) into
 * JSON, or into arrays where the column is one.
 *
 * Invariant: all leaves of a row begin and end together; a file where they do not is damaged. Limits: see `limits.ts`.
 */
import { encodeUtf8 } from "../../base/bytes.ts";
import { type ColumnBuilder, NumberColumn } from "../../transactions/batch_builder.ts";
import { quoteJson } from "../../types/json.ts";
import { SqlArray } from "../../types/sql_array.ts";
import { isIntegerKind } from "../../types/number_or_bigint.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { toStored } from "../../types/stored_value.ts";
import { formatText, parseText } from "../../types/text_io.ts";
import type { SqlValue } from "../../types/value.ts";
import type { ColumnPages, DataPage, Dictionary, PageConsumer } from "./column_pages.ts";
import { PARQUET_LIMITS } from "./limits.ts";
import { type Conversion, naturalConversion } from "./natural_values.ts";
import type { FilePosition } from "./parquet_error.ts";
import { type Leaf, leavesOf, type SchemaNode } from "./schema.ts";
import { convertValue, targetConversion, valueAt } from "./target_values.ts";
import { ValueError } from "./vector.ts";

const BLOCK = 1024;

/** The entries of one leaf: levels, and a value where the level is the highest. */
class LeafEntries implements PageConsumer {
  readonly leaf: Leaf;
  readonly #position: FilePosition;
  readonly #repetitionBlock = new Int32Array(BLOCK);
  readonly #definitionBlock = new Int32Array(BLOCK);
  readonly #indexBlock = new Int32Array(BLOCK);
  readonly dictionaryConversion: Conversion | null;
  #pages: ColumnPages | null = null;
  #page: DataPage | null = null;
  #dictionary: Dictionary | null = null;
  #dictionaryValues: SqlValue[] = [];
  #isAtEnd = false;
  #repetitions: number[] = [];
  #definitions: number[] = [];
  #values: SqlValue[] = [];
  /** Rows that begin within the entries. */
  #rows = 0;
  /** The entry that is read next. */
  at = 0;

  constructor(leaf: Leaf, position: FilePosition) {
    this.leaf = leaf;
    this.#position = position;
    this.dictionaryConversion = naturalConversion(leaf);
  }

  begin(pages: ColumnPages): void {
    this.#pages = pages;
    this.#page = null;
    this.#dictionary = null;
    this.#isAtEnd = false;
    this.#repetitions = [];
    this.#definitions = [];
    this.#values = [];
    this.#rows = 0;
    this.at = 0;
  }

  /** Has all entries of the next rows. */
  async fill(rows: number): Promise<void> {
    this.#repetitions = this.#repetitions.slice(this.at);
    this.#definitions = this.#definitions.slice(this.at);
    this.#values = this.#values.slice(this.at);
    this.at = 0;
    // The end of a row shows in the beginning of the next one.
    while (this.#rows <= rows && !this.#isAtEnd) {
      if (this.#page === null || this.#page.left === 0) this.#page = await this.#pages?.next() ?? null;
      if (this.#page === null) this.#isAtEnd = true;
      else this.#guard(this.#page);
      if (this.#repetitions.length > PARQUET_LIMITS.maximumPieceElements) {
        throw this.#position.tooLarge("its lists have too many elements");
      }
    }
    if (this.#rows < rows) throw this.#position.damaged("a column has fewer rows than its row group");
    this.#rows -= rows;
  }

  #guard(page: DataPage): void {
    try {
      this.#readBlock(page);
    } catch (error) {
      this.#pages?.locate();
      throw error instanceof ValueError
        ? this.#position.damaged(error.message)
        : this.#position.located(error);
    }
  }

  #readBlock(page: DataPage): void {
    const { maxDefinition, maxRepetition } = this.leaf;
    const count = Math.min(page.left, BLOCK);
    page.left -= count;
    const repetitions = this.#repetitionBlock, definitions = this.#definitionBlock;
    if (page.repetitions === null) repetitions.fill(0);
    else page.repetitions.read(repetitions, count);
    if (page.definitions === null) definitions.fill(maxDefinition);
    else page.definitions.read(definitions, count);
    let present = 0;
    for (let index = 0; index < count; index++) {
      const repetition = repetitions[index] as number, definition = definitions[index] as number;
      if (repetition > maxRepetition || definition > maxDefinition || repetition < 0 || definition < 0) {
        throw new ValueError("a level is too high");
      }
      if (repetition === 0) this.#rows++;
      else if (this.#repetitions.length === 0) throw new ValueError("a row begins in its middle");
      this.#repetitions.push(repetition);
      this.#definitions.push(definition);
      if (definition === maxDefinition) present++;
    }
    const next = this.#nextValues(page, present);
    for (let index = 0; index < count; index++) {
      this.#values.push(definitions[index] === maxDefinition ? next() : null);
    }
  }

  #nextValues(page: DataPage, count: number): () => SqlValue {
    const type = this.leaf.type as SqlType;
    const { values } = page;
    let at = 0;
    if (values.kind === "plain") {
      values.reader.read(count);
      const { vector } = values.reader;
      const natural = this.dictionaryConversion?.(vector, count) ?? vector;
      return () => valueAt(type, natural, at++);
    }
    const { dictionary } = values;
    if (this.#dictionary !== dictionary) {
      this.#dictionary = dictionary;
      this.#dictionaryValues = [];
    }
    values.indices.read(this.#indexBlock, count);
    return () => {
      const index = (this.#indexBlock[at++] as number) >>> 0;
      if (index >= dictionary.size) throw new ValueError("an index is beyond the dictionary");
      return this.#dictionaryValues[index] ??= valueAt(type, dictionary.vector, index);
    };
  }

  /** The repetition level of the next entry; 0 behind the last one. */
  get repetition(): number {
    return this.#repetitions[this.at] ?? 0;
  }

  /** The definition level of the next entry. */
  get definition(): number {
    const level = this.#definitions[this.at];
    if (level === undefined) throw new ValueError("the columns of a row do not fit each other");
    return level;
  }

  /** The value of the next entry, which is passed over. */
  take(): SqlValue {
    return this.#values[this.at++] ?? null;
  }
}

/** A value put together: of a leaf, or a list, or pairs of names or keys and values. */
type Tree =
  | { readonly kind: "value"; readonly type: SqlType; readonly value: SqlValue }
  | { readonly kind: "list"; readonly elements: readonly (Tree | null)[] }
  | { readonly kind: "pairs"; readonly pairs: readonly (readonly [string, Tree | null])[] };

/** See the file's head. */
export class NestedColumn {
  readonly kind = "nested";
  readonly leaves: readonly LeafEntries[];
  readonly #node: SchemaNode;
  readonly #type: SqlType;
  readonly #builder: ColumnBuilder;
  readonly #position: FilePosition;
  readonly #entries = new Map<SchemaNode, readonly LeafEntries[]>();

  constructor(node: SchemaNode, type: SqlType, options: {
    readonly builder: ColumnBuilder;
    readonly position: FilePosition;
  }) {
    this.#node = node;
    this.#type = type;
    this.#builder = options.builder;
    this.#position = options.position;
    this.leaves = leavesOf(node).map((leaf) => new LeafEntries(leaf, options.position));
    this.#index(node);
  }

  #index(node: SchemaNode): void {
    const leaves = new Set(leavesOf(node));
    this.#entries.set(node, this.leaves.filter(({ leaf }) => leaves.has(leaf)));
    if (node.kind === "struct") node.fields.forEach((field) => this.#index(field));
    else if (node.kind === "list") this.#index(node.element);
    else if (node.kind === "map") {
      this.#index(node.key);
      if (node.value !== null) this.#index(node.value);
    }
  }

  /** Reads rows to rows of the batch. */
  async read(count: number, row: number): Promise<void> {
    for (const leaf of this.leaves) await leaf.fill(count);
    this.#position.column = this.#node.name;
    this.#position.page = null;
    let bytes = 0;
    try {
      for (let index = 0; index < count; index++) {
        bytes += this.#put(this.#row(), row + index);
        if (bytes > PARQUET_LIMITS.maximumNestedPieceBytes) {
          throw this.#position.tooLarge("the texts of its lists and structs are too long");
        }
      }
    } catch (error) {
      throw error instanceof ValueError
        ? this.#position.damaged(error.message)
        : this.#position.located(error);
    }
  }

  #row(): Tree | null {
    for (const leaf of this.leaves) {
      if (leaf.repetition !== 0) throw new ValueError("the columns of a row do not fit each other");
    }
    return this.#build(this.#node);
  }

  #build(node: SchemaNode): Tree | null {
    const entries = this.#entries.get(node) ?? [];
    const first = entries[0] as LeafEntries;
    const level = first.definition;
    if (node.kind === "leaf") {
      const value = first.take();
      return value === null ? null : { kind: "value", type: node.type as SqlType, value };
    }
    if (level < node.definition) return this.#pass(entries, null);
    if (node.kind === "struct") {
      return { kind: "pairs", pairs: node.fields.map((field) => [field.name, this.#build(field)] as const) };
    }
    if (level < node.elementDefinition) {
      return this.#pass(
        entries,
        node.kind === "list" ? { kind: "list", elements: [] } : { kind: "pairs", pairs: [] },
      );
    }
    const elements: (Tree | null)[] = [];
    const pairs: [string, Tree | null][] = [];
    do {
      if (node.kind === "list") elements.push(this.#build(node.element));
      else {
        const key = this.#build(node.key);
        if (key === null) throw new ValueError("a map has a key that is NULL");
        pairs.push([keyText(key), node.value === null ? null : this.#build(node.value)]);
      }
    } while (first.repetition === node.repetition);
    for (const entry of entries) {
      if (entry.repetition >= node.repetition) {
        throw new ValueError("the columns of a row do not fit each other");
      }
    }
    return node.kind === "list" ? { kind: "list", elements } : { kind: "pairs", pairs };
  }

  /** Passes over the one entry that each leaf has for something absent. */
  #pass(entries: readonly LeafEntries[], result: Tree | null): Tree | null {
    for (const entry of entries) {
      if (entry.definition >= entry.leaf.maxDefinition) {
        throw new ValueError("the columns of a row do not fit each other");
      }
      entry.take();
    }
    return result;
  }

  /** Stores a row and returns roughly its bytes. */
  #put(tree: Tree | null, row: number): number {
    const column = this.#builder;
    const type = this.#type;
    if (tree === null) {
      column.setNull(row);
      return 0;
    }
    const value = type.kind === "array" ? arrayOf(tree, type.element) : parseText(type, jsonOf(tree));
    const stored = toStored(type, value);
    if (stored === null || column instanceof NumberColumn) {
      throw new ValueError("the values are of another kind");
    }
    const bytes = typeof stored === "string" ? encodeUtf8(stored) : stored as Uint8Array;
    column.set(row, bytes, 0, bytes.length);
    return bytes.length;
  }
}

function keyText(tree: Tree): string {
  if (tree.kind !== "value") return jsonOf(tree);
  return tree.type.kind === "text" ? tree.value as string : formatText(tree.type, tree.value);
}

function arrayOf(tree: Tree, element: SqlType): SqlArray {
  if (tree.kind !== "list") throw new ValueError("the values are of another kind");
  if (element.kind === "array" || tree.elements.some((each) => each?.kind === "list")) {
    return SqlArray.ofArrays(
      tree.elements.map((each) => each === null ? SqlArray.EMPTY : arrayOf(each, element)),
    );
  }
  return SqlArray.of(
    tree.elements.map((each) => each?.kind === "value" ? convertValue(each.type, element, each.value) : null),
  );
}

function jsonOf(tree: Tree | null): string {
  if (tree === null) return "null";
  switch (tree.kind) {
    case "list":
      return `[${tree.elements.map(jsonOf).join(",")}]`;
    case "pairs":
      return `{${tree.pairs.map(([key, value]) => `${quoteJson(key)}:${jsonOf(value)}`).join(",")}}`;
    case "value":
      return jsonOfValue(tree.type, tree.value);
  }
}

function jsonOfValue(type: SqlType, value: SqlValue): string {
  if (isIntegerKind(type.kind)) return formatText(type, value);
  switch (type.kind) {
    case "bool":
      return value === true ? "true" : "false";
    case "json":
      return value as string;
    case "numeric":
      return formatText(type, value);
    case "f32":
    case "f64": {
      const text = formatText(type, value);
      return Number.isFinite(value) ? text : quoteJson(text);
    }
    case "timestamp":
      return quoteJson(formatText(type, value).replace(" ", "T"));
    case "timestamptz":
      return quoteJson(formatText(type, value).replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00"));
    default:
      return quoteJson(formatText(type, value));
  }
}

/** Why a node cannot be a column of the type; undefined when it can. */
export function nestedMismatch(node: SchemaNode, type: SqlType): "type" | undefined {
  switch (type.kind) {
    case "json":
    case "jsonb":
    case "text":
    case "varchar":
      return undefined;
    case "array": {
      let element = node;
      while (element.kind === "list") element = element.element;
      if (node.kind !== "list" || element.kind !== "leaf" || typeof element.type === "string") return "type";
      let inner: SqlType = type.element;
      while (inner.kind === "array") inner = inner.element;
      return targetConversion(element.type, inner).kind === "impossible" ? "type" : undefined;
    }
    default:
      return "type";
  }
}
