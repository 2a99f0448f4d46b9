/**
 * The columns of a Parquet file as a tree of values, lists, maps and structs, with the levels at which each of them is
 * present (Melnik et al., "Dremel", VLDB 2010; the format's `LogicalTypes.md`, with its rules for older lists).
 *
 * What the reader does not support is part of the tree, with the reason, and raised only when a column needs it.
 */
import { didYouMean } from "../../base/suggest.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { keyPath, type PathStep } from "../../catalog/source_path.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { PARQUET_LIMITS } from "./limits.ts";
import {
  type Annotation,
  type FileMetadata,
  PHYSICAL_TYPES,
  type PhysicalName,
  type SchemaElement,
} from "./metadata.ts";
import type { FilePosition } from "./parquet_error.ts";

/** A column of values. */
export interface Leaf {
  readonly kind: "leaf";
  readonly name: string;
  readonly path: readonly string[];
  /** Position among the column chunks of a row group. */
  readonly index: number;
  readonly physical: PhysicalName;
  readonly typeLength: number;
  readonly annotation: Annotation | null;
  /** The type that its values have by themselves; a text says why there is none. */
  readonly type: SqlType | string;
  readonly maxDefinition: number;
  readonly maxRepetition: number;
  /** Lists, maps and structs around it. */
  readonly nesting: number;
}

/** Fields; present from a definition level on. */
export interface StructNode {
  readonly kind: "struct";
  readonly name: string;
  readonly definition: number;
  readonly fields: readonly SchemaNode[];
}

/** Elements; the list is there from a definition level on, and has elements from another. */
export interface ListNode {
  readonly kind: "list";
  readonly name: string;
  readonly definition: number;
  readonly elementDefinition: number;
  readonly repetition: number;
  readonly element: SchemaNode;
}

/** Pairs of keys and values. */
export interface MapNode extends Omit<ListNode, "kind" | "element"> {
  readonly kind: "map";
  readonly key: SchemaNode;
  readonly value: SchemaNode | null;
}

/** A node of the tree. */
export type SchemaNode = Leaf | StructNode | ListNode | MapNode;

/** The tree of a file. */
export interface FileSchema {
  readonly fields: readonly SchemaNode[];
  readonly leaves: readonly Leaf[];
}

/** Deeper trees are no files that a writer made; readers of them recurse. */
const MAX_TREE_DEPTH = 64;

interface TreeElement extends SchemaElement {
  readonly nodes: readonly TreeElement[];
}

interface Levels {
  readonly definition: number;
  readonly repetition: number;
  readonly nesting: number;
  readonly path: readonly string[];
}

/** The tree of a file's schema. Raises 22P04. */
export function readSchema(metadata: FileMetadata, position: FilePosition): FileSchema {
  return new SchemaBuilder(metadata, position).build();
}

class SchemaBuilder {
  readonly #elements: readonly SchemaElement[];
  readonly #position: FilePosition;
  readonly #leaves: Leaf[] = [];
  #next = 0;

  constructor(metadata: FileMetadata, position: FilePosition) {
    this.#elements = metadata.schema;
    this.#position = position;
  }

  build(): FileSchema {
    const root = this.#tree(0);
    if (this.#next !== this.#elements.length) throw this.#position.damaged("its schema is no tree");
    const levels: Levels = { definition: 0, repetition: 0, nesting: 0, path: [] };
    return { fields: root.nodes.map((node) => this.#field(node, levels)), leaves: this.#leaves };
  }

  #tree(depth: number): TreeElement {
    const element = this.#elements[this.#next++];
    if (element === undefined) throw this.#position.damaged("its schema is no tree");
    if (depth > MAX_TREE_DEPTH) throw this.#position.unsupported("its schema is nested too deep");
    if (element.children < 0 || depth === 0 && element.type !== null && element.children > 0) {
      throw this.#position.damaged("its schema is no tree");
    }
    const nodes: TreeElement[] = [];
    for (let index = 0; index < element.children; index++) nodes.push(this.#tree(depth + 1));
    return { ...element, nodes };
  }

  /** A field; a repeated one is a list of its own, as files without lists have them. */
  #field(element: TreeElement, above: Levels): SchemaNode {
    const path = [...above.path, element.name];
    if (element.repetition !== 2) return this.#single(element, { ...above, path });
    const definition = above.definition;
    const repetition = above.repetition + 1;
    return {
      kind: "list",
      name: element.name,
      definition,
      elementDefinition: definition + 1,
      repetition,
      element: this.#present(element, {
        definition: definition + 1,
        repetition,
        nesting: above.nesting + 1,
        path,
      }),
    };
  }

  /** A required or optional field. `levels.path` is its own. */
  #single(element: TreeElement, levels: Levels): SchemaNode {
    const definition = levels.definition + (element.repetition === 1 ? 1 : 0);
    const inside: Levels = { ...levels, definition };
    const kind = element.annotation?.kind;
    if (element.nodes.length > 0 && kind === "list") {
      const list = this.#list(element, inside);
      if (list !== undefined) return list;
    }
    if (element.nodes.length > 0 && (kind === "map" || kind === "map_key_value")) {
      const map = this.#map(element, inside);
      if (map !== undefined) return map;
    }
    return this.#present(element, inside);
  }

  /** A value or struct whose own presence is already counted in the levels. */
  #present(element: TreeElement, levels: Levels): SchemaNode {
    if (element.nodes.length === 0) return this.#leaf(element, levels);
    const inside = { ...levels, nesting: levels.nesting + 1 };
    return {
      kind: "struct",
      name: element.name,
      definition: levels.definition,
      fields: element.nodes.map((node) => this.#field(node, inside)),
    };
  }

  #list(element: TreeElement, levels: Levels): SchemaNode | undefined {
    const repeated = element.nodes[0];
    if (element.nodes.length !== 1 || repeated === undefined || repeated.repetition !== 2) return undefined;
    const inside: Levels = {
      definition: levels.definition + 1,
      repetition: levels.repetition + 1,
      nesting: levels.nesting + 1,
      path: [...levels.path, repeated.name],
    };
    const only = repeated.nodes[0];
    // The rules for older files: the repeated node is the element itself unless it is a group around one field.
    const isElement = repeated.nodes.length !== 1 || only === undefined || only.repetition === 2 ||
      repeated.name === "array" || repeated.name === `${element.name}_tuple`;
    return {
      kind: "list",
      name: element.name,
      definition: levels.definition,
      elementDefinition: inside.definition,
      repetition: inside.repetition,
      element: isElement
        ? this.#present(repeated, inside)
        : this.#single(only, { ...inside, path: [...inside.path, only.name] }),
    };
  }

  #map(element: TreeElement, levels: Levels): SchemaNode | undefined {
    const pairs = element.nodes[0];
    const [key, value] = pairs?.nodes ?? [];
    if (
      element.nodes.length !== 1 || pairs?.repetition !== 2 || key === undefined || pairs.nodes.length > 2
    ) {
      return undefined;
    }
    const inside: Levels = {
      definition: levels.definition + 1,
      repetition: levels.repetition + 1,
      nesting: levels.nesting + 1,
      path: [...levels.path, pairs.name],
    };
    return {
      kind: "map",
      name: element.name,
      definition: levels.definition,
      elementDefinition: inside.definition,
      repetition: inside.repetition,
      key: this.#field(key, inside),
      value: value === undefined ? null : this.#field(value, inside),
    };
  }

  #leaf(element: TreeElement, levels: Levels): Leaf {
    const physical = element.type === null ? undefined : PHYSICAL_TYPES[element.type];
    if (physical === undefined) {
      throw this.#position.damaged(`its column ${levels.path.map(keyPath).join(".")} has no type`);
    }
    const { typeLength, annotation } = element;
    if (
      physical === "FIXED_LEN_BYTE_ARRAY" &&
      !(typeLength > 0 && typeLength <= PARQUET_LIMITS.maximumPageBytes)
    ) {
      throw this.#position.damaged(`its column ${levels.path.map(keyPath).join(".")} has a wrong length`);
    }
    const leaf: Leaf = {
      kind: "leaf",
      name: element.name,
      path: levels.path,
      index: this.#leaves.length,
      physical,
      typeLength,
      annotation,
      type: naturalType(physical, typeLength, annotation),
      maxDefinition: levels.definition,
      maxRepetition: levels.repetition,
      nesting: levels.nesting,
    };
    this.#leaves.push(leaf);
    return leaf;
  }
}

/** The SQL type of a column's values, or why there is none. */
function naturalType(
  physical: PhysicalName,
  length: number,
  annotation: Annotation | null,
): SqlType | string {
  const wrong = `${physical} cannot be ${annotation?.kind.toUpperCase()}`;
  const isBytes = physical === "BYTE_ARRAY" || physical === "FIXED_LEN_BYTE_ARRAY";
  switch (annotation?.kind) {
    case undefined:
    case "list":
    case "map":
    case "map_key_value":
      return physicalType(physical);
    case "null":
      return { kind: "unknown" };
    case "string":
    case "enum":
      return isBytes ? { kind: "text" } : wrong;
    case "json":
      return physical === "BYTE_ARRAY" ? { kind: "json" } : wrong;
    case "uuid":
      return physical === "FIXED_LEN_BYTE_ARRAY" && length === 16 ? { kind: "uuid" } : wrong;
    case "float16":
      return physical === "FIXED_LEN_BYTE_ARRAY" && length === 2 ? { kind: "f32" } : wrong;
    case "interval":
      return physical === "FIXED_LEN_BYTE_ARRAY" && length === 12 ? { kind: "interval" } : wrong;
    case "date":
      return physical === "INT32" ? { kind: "date" } : wrong;
    case "time":
      return physical === (annotation.unit === "milliseconds" ? "INT32" : "INT64") ? { kind: "time" } : wrong;
    case "timestamp":
      if (physical !== "INT64") return wrong;
      return { kind: annotation.isUtc ? "timestamptz" : "timestamp" };
    case "integer":
      return integerType(physical, annotation.bits, annotation.isSigned) ?? wrong;
    case "decimal":
      return decimalType(physical, length, annotation.precision, annotation.scale);
    case "bson":
    case "variant":
    case "geometry":
    case "geography":
      return `values of type ${annotation.kind.toUpperCase()}`;
    case "unknown":
      return `values of type number ${annotation.number}, which a later version of the format has`;
  }
}

function physicalType(physical: PhysicalName): SqlType {
  switch (physical) {
    case "BOOLEAN":
      return { kind: "bool" };
    case "INT32":
      return { kind: "i32" };
    case "INT64":
      return { kind: "i64" };
    case "INT96":
      return { kind: "timestamp" };
    case "FLOAT":
      return { kind: "f32" };
    case "DOUBLE":
      return { kind: "f64" };
    default:
      return { kind: "bytea" };
  }
}

function integerType(physical: PhysicalName, bits: number, isSigned: boolean): SqlType | undefined {
  if (physical === "INT64") {
    return bits === 64 ? { kind: isSigned ? "i64" : "u64" } : undefined;
  }
  if (physical !== "INT32") return undefined;
  switch (bits) {
    case 8:
      return { kind: isSigned ? "i8" : "u8" };
    case 16:
      return { kind: isSigned ? "i16" : "u16" };
    case 32:
      return { kind: isSigned ? "i32" : "u32" };
    default:
      return undefined;
  }
}

function decimalType(
  physical: PhysicalName,
  length: number,
  precision: number,
  scale: number,
): SqlType | string {
  if (precision > PARQUET_LIMITS.maximumDecimalPrecision) {
    return `DECIMAL of ${precision} digits; at most ${PARQUET_LIMITS.maximumDecimalPrecision} can be read`;
  }
  const widest = physical === "INT32"
    ? 9
    : physical === "INT64"
    ? 18
    : physical === "FIXED_LEN_BYTE_ARRAY"
    ? Math.floor(Math.log10(2) * (8 * length - 1))
    : physical === "BYTE_ARRAY"
    ? PARQUET_LIMITS.maximumDecimalPrecision
    : 0;
  if (!(precision >= 1 && precision <= widest && scale >= 0 && scale <= precision)) {
    return `${physical} cannot be DECIMAL(${precision}, ${scale})`;
  }
  return { kind: "numeric", precision, scale };
}

/** The node that a path names. Raises 42703 with a hint, 0A000 for a path into a list. */
export function findNode(schema: FileSchema, steps: readonly PathStep[], position: FilePosition): SchemaNode {
  let fields = schema.fields;
  let node: SchemaNode | undefined;
  for (const [depth, step] of steps.entries()) {
    if (node !== undefined) {
      if (node.kind === "list" || node.kind === "map" || typeof step === "number") {
        throw position.unsupported(
          `the path leads into the ${node.kind} "${node.name}"`,
          `Read the whole ${node.kind} into a column of type JSONB, or a list of values into an array.`,
        );
      }
      fields = node.kind === "struct" ? node.fields : [];
    }
    const name = String(step);
    node = fields.find((field) => field.name === name);
    if (node === undefined) throw unknownField(steps.slice(0, depth + 1), fields, position);
  }
  if (node === undefined) throw position.damaged("an empty path names no column");
  return node;
}

function unknownField(
  steps: readonly PathStep[],
  fields: readonly SchemaNode[],
  position: FilePosition,
): DatabaseError {
  const shown = steps.map((step) => typeof step === "number" ? `[${step}]` : keyPath(step)).join(".");
  const hint = didYouMean(String(steps.at(-1)), fields.map((field) => field.name));
  return new DatabaseError(
    SQLSTATE.undefinedColumn,
    `Parquet file "${position.file}" has no column "${shown}"`,
    hint === undefined ? {} : { hint },
  );
}

/** The leaves of a node, in their order. */
export function leavesOf(node: SchemaNode): readonly Leaf[] {
  switch (node.kind) {
    case "leaf":
      return [node];
    case "struct":
      return node.fields.flatMap(leavesOf);
    case "list":
      return leavesOf(node.element);
    case "map":
      return [...leavesOf(node.key), ...(node.value === null ? [] : leavesOf(node.value))];
  }
}
