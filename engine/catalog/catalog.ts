/**
 * The catalog: an immutable value. A change gives a new catalog that shares everything untouched with the old one, so
 * a transaction can hold a private one, a snapshot keeps its own, and plans are kept with {@link Catalog.serial}.
 *
 * Invariant: names are unique among tables, views, sequences and indexes of one schema (PostgreSQL's relation names).
 */
import { assert, assertDefined, unreachable } from "../base/assert.ts";
import type { CatalogChange } from "./catalog_change.ts";
import { versionOfSettings } from "./cluster_version.ts";
import {
  type EnumDefinition,
  FIRST_USER_OBJECT_ID,
  type IndexDefinition,
  type SchemaDefinition,
  type SequenceDefinition,
  type TableDefinition,
  type UserFunctionDefinition,
  type ViewDefinition,
} from "./definitions.ts";
import type { LastRefresh } from "./external_source.ts";

/** An object that a name in FROM, DROP or `::regclass` can mean. */
export type Relation =
  | { readonly kind: "table"; readonly table: TableDefinition }
  | { readonly kind: "view"; readonly view: ViewDefinition }
  | { readonly kind: "sequence"; readonly sequence: SequenceDefinition }
  | { readonly kind: "index"; readonly table: TableDefinition; readonly index: IndexDefinition };

/** The plain parts of a catalog, as kept in a checkpoint. */
export interface CatalogContents {
  readonly version: number;
  readonly nextObjectId: number;
  readonly schemas: readonly SchemaDefinition[];
  readonly tables: readonly TableDefinition[];
  readonly sequences: readonly SequenceDefinition[];
  readonly views: readonly ViewDefinition[];
  readonly enums: readonly EnumDefinition[];
  /** Absent: none. */
  readonly functions?: readonly UserFunctionDefinition[];
  readonly settings: Readonly<Record<string, string>>;
  /** Comments on objects without a definition of their own; absent: none. */
  readonly comments?: Readonly<Record<string, string>>;
  /** The last REFRESH of external sources by table id; absent: none. */
  readonly refreshes?: Readonly<Record<string, LastRefresh>>;
}

/** Built-in schemas; `public` is an ordinary one that exists from the start. */
const INITIAL: CatalogContents = {
  version: 1,
  nextObjectId: FIRST_USER_OBJECT_ID,
  schemas: [{ id: 11, name: "pg_catalog" }, { id: 2200, name: "public" }, {
    id: 13000,
    name: "information_schema",
  }],
  tables: [],
  sequences: [],
  views: [],
  enums: [],
  settings: {},
};

let lastSerial = 0;

const NO_FUNCTIONS: readonly UserFunctionDefinition[] = [];

/** All definitions at one point of the log. */
export class Catalog {
  /**
   * No other catalog of this process has it, and later ones have higher ones: what is made for a catalog is known by
   * it. Its version is not enough, for what comes after a catalog that was rolled back has the same one.
   */
  readonly serial = ++lastSerial;
  readonly contents: CatalogContents;
  readonly #relations = new Map<string, Relation>();
  readonly #tables = new Map<number, TableDefinition>();
  readonly #sequences = new Map<number, SequenceDefinition>();
  readonly #schemas = new Map<string, SchemaDefinition>();
  readonly #referencing = new Map<number, TableDefinition[]>();

  private constructor(contents: CatalogContents) {
    this.contents = contents;
    for (const schema of contents.schemas) this.#schemas.set(schema.name, schema);
    for (const table of contents.tables) {
      this.#tables.set(table.id, table);
      this.#relations.set(key(table.schema, table.name), { kind: "table", table });
      for (const index of table.indexes) {
        this.#relations.set(key(table.schema, index.name), { kind: "index", table, index });
      }
      for (const constraint of table.constraints) {
        if (constraint.kind !== "foreign_key") continue;
        const list = this.#referencing.get(constraint.referencedTableId) ?? [];
        if (!list.includes(table)) list.push(table);
        this.#referencing.set(constraint.referencedTableId, list);
      }
    }
    for (const sequence of contents.sequences) {
      this.#sequences.set(sequence.id, sequence);
      this.#relations.set(key(sequence.schema, sequence.name), { kind: "sequence", sequence });
    }
    for (const view of contents.views) {
      this.#relations.set(key(view.schema, view.name), { kind: "view", view });
    }
  }

  /** The catalog of a new database. */
  static initial(): Catalog {
    return new Catalog(INITIAL);
  }

  /** The catalog with these contents, as read from a checkpoint. */
  static from(contents: CatalogContents): Catalog {
    return new Catalog(contents);
  }

  /** The version of the cluster that the catalog is of. */
  get clusterVersion(): number {
    return versionOfSettings(this.contents.settings);
  }

  /** The id the next new object must take. */
  get nextObjectId(): number {
    return this.contents.nextObjectId;
  }

  get tables(): readonly TableDefinition[] {
    return this.contents.tables;
  }

  get sequences(): readonly SequenceDefinition[] {
    return this.contents.sequences;
  }

  get views(): readonly ViewDefinition[] {
    return this.contents.views;
  }

  get schemas(): readonly SchemaDefinition[] {
    return this.contents.schemas;
  }

  get enums(): readonly EnumDefinition[] {
    return this.contents.enums;
  }

  /** User-defined functions. */
  get functions(): readonly UserFunctionDefinition[] {
    return this.contents.functions ?? NO_FUNCTIONS;
  }

  /**
   * The user-defined functions of a name: those of the first schema of a search path for each list of parameter types.
   */
  functionsNamed(name: string, searchPath: readonly string[]): readonly UserFunctionDefinition[] {
    const { functions } = this;
    if (functions.length === 0) return NO_FUNCTIONS;
    const found = new Map<string, UserFunctionDefinition>();
    for (const schema of searchPath) {
      for (const each of functions) {
        if (each.name !== name || each.schema !== schema) continue;
        const types = JSON.stringify(each.parameters.map(({ type }) => type));
        if (!found.has(types)) found.set(types, each);
      }
    }
    return [...found.values()];
  }

  /** The comment on an object without a definition of its own. */
  comment(object: string): string | null {
    return this.contents.comments?.[object] ?? null;
  }

  /** The last REFRESH of an external source that came to its end. */
  lastRefresh(tableId: number): LastRefresh | undefined {
    return this.contents.refreshes?.[tableId];
  }

  /** A relation by schema and name, both already folded. */
  relation(schema: string, name: string): Relation | undefined {
    return this.#relations.get(key(schema, name));
  }

  /** The first relation of this name along a search path. */
  findRelation(name: string, searchPath: readonly string[]): Relation | undefined {
    for (const schema of searchPath) {
      const found = this.#relations.get(key(schema, name));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  schema(name: string): SchemaDefinition | undefined {
    return this.#schemas.get(name);
  }

  table(id: number): TableDefinition | undefined {
    return this.#tables.get(id);
  }

  sequence(id: number): SequenceDefinition | undefined {
    return this.#sequences.get(id);
  }

  enumeration(name: string, searchPath: readonly string[]): EnumDefinition | undefined {
    return this.contents.enums.find((each) => each.name === name && searchPath.includes(each.schema));
  }

  /** Tables with a foreign key that references the table. */
  referencing(tableId: number): readonly TableDefinition[] {
    return this.#referencing.get(tableId) ?? [];
  }

  /** Names for did-you-mean hints. */
  relationNames(): string[] {
    return [...this.#relations.values()].flatMap((relation) => {
      switch (relation.kind) {
        case "table":
          return [relation.table.name];
        case "view":
          return [relation.view.name];
        default:
          return [];
      }
    });
  }

  /** The catalog after a change. The change must be valid: names free, objects there (the DDL binder sees to it). */
  apply(change: CatalogChange): Catalog {
    const old = this.contents;
    const next = { ...old, version: old.version + 1 };
    switch (change.kind) {
      case "put_table": {
        const ids = [
          change.table.id,
          ...change.table.indexes.map((i) => i.id),
          ...change.table.constraints.map((c) => c.id),
          ...change.table.triggers.map((t) => t.id),
        ];
        return new Catalog({
          ...next,
          tables: put(old.tables, change.table),
          nextObjectId: after(old, ...ids),
        });
      }
      case "drop_table": {
        const { [change.tableId]: _gone, ...refreshes } = old.refreshes ?? {};
        return new Catalog({
          ...next,
          tables: drop(old.tables, change.tableId),
          ...(old.refreshes === undefined ? {} : { refreshes }),
        });
      }
      case "note_refresh":
        return new Catalog({ ...next, refreshes: { ...old.refreshes, [change.tableId]: change.refresh } });
      case "put_sequence":
        return new Catalog({
          ...next,
          sequences: put(old.sequences, change.sequence),
          nextObjectId: after(old, change.sequence.id),
        });
      case "drop_sequence":
        return new Catalog({ ...next, sequences: drop(old.sequences, change.sequenceId) });
      case "put_view":
        return new Catalog({
          ...next,
          views: put(old.views, change.view),
          nextObjectId: after(old, change.view.id),
        });
      case "drop_view":
        return new Catalog({ ...next, views: drop(old.views, change.viewId) });
      case "put_schema":
        return new Catalog({
          ...next,
          schemas: put(old.schemas, change.schema),
          nextObjectId: after(old, change.schema.id),
        });
      case "drop_schema":
        return new Catalog({ ...next, schemas: drop(old.schemas, change.schemaId) });
      case "put_enum":
        return new Catalog({
          ...next,
          enums: put(old.enums, change.enumeration),
          nextObjectId: after(old, change.enumeration.id),
        });
      case "drop_enum":
        return new Catalog({ ...next, enums: drop(old.enums, change.enumId) });
      case "put_function":
        return new Catalog({
          ...next,
          functions: put(this.functions, change.function),
          nextObjectId: after(old, change.function.id),
        });
      case "drop_function":
        return new Catalog({ ...next, functions: drop(this.functions, change.functionId) });
      case "set_comment": {
        const comments = { ...old.comments };
        if (change.comment === null) delete comments[change.object];
        else comments[change.object] = change.comment;
        return new Catalog({ ...next, comments });
      }
      case "set_setting": {
        const settings = { ...old.settings };
        if (change.value === null) delete settings[change.name];
        else settings[change.name] = change.value;
        return new Catalog({ ...next, settings });
      }
      default:
        return unreachable(change);
    }
  }
}

function key(schema: string, name: string): string {
  return `${schema}\u0000${name}`;
}

function after(contents: CatalogContents, ...ids: number[]): number {
  return Math.max(contents.nextObjectId, ...ids.map((id) => id + 1));
}

function put<T extends { readonly id: number }>(list: readonly T[], item: T): readonly T[] {
  const index = list.findIndex((each) => each.id === item.id);
  return index < 0 ? [...list, item] : list.with(index, item);
}

function drop<T extends { readonly id: number }>(list: readonly T[], id: number): readonly T[] {
  const result = list.filter((each) => each.id !== id);
  assert(result.length === list.length - 1, `catalog object ${id} to drop is missing`);
  return result;
}

/** The position of a column in display order. */
export function columnPosition(table: TableDefinition, columnId: number): number {
  const position = table.columns.findIndex((column) => column.id === columnId);
  assert(position >= 0, `column ${columnId} of table ${table.name} is missing`);
  return position;
}

/** The index of a table by id. */
export function indexById(table: TableDefinition, indexId: number): IndexDefinition {
  return assertDefined(
    table.indexes.find((index) => index.id === indexId),
    `index ${indexId} of ${table.name}`,
  );
}
