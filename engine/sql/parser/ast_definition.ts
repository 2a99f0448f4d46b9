/**
 * Data definition in the syntax tree: CREATE, ALTER, DROP, COMMENT, GRANT and what belongs to them.
 *
 * Invariants: see ast.ts. A column's NULL / NOT NULL, DEFAULT, identity and generation are folded into its definition;
 * PRIMARY KEY, UNIQUE, CHECK and REFERENCES written on a column become {@link TableConstraint}s in `constraints` of the
 * column, with that column as their only one.
 */

import type { Expression, FunctionCall, TypeName } from "./ast_expression.ts";
import type { Assignment, IndexKey, ObjectName, Persistence, Query } from "./ast_query.ts";
import type { SettingValue } from "./ast_statement.ts";

/** Any statement that changes the catalog. */
export type DefinitionStatement =
  | CreateTable
  | CreateTableAs
  | AlterTable
  | RenameObject
  | SetObjectSchema
  | SetObjectOwner
  | DropObject
  | CreateIndex
  | CreateStatistics
  | AlterStatistics
  | CreateView
  | CreateSequence
  | AlterSequence
  | CreateSchema
  | CreateEnum
  | AlterEnum
  | CreateDomain
  | CreateExtension
  | CreateTrigger
  | CreateFunction
  | CreateExternalSource
  | Refresh
  | Reindex
  | CommentOn
  | Truncate
  | CreateRole
  | AlterRole
  | CreateDatabase
  | AlterDatabase
  | AlterDefaults
  | GrantOrRevoke
  | GrantRole;

/** A storage parameter or other `name [= value]`; the value is its text, `null` when there is none. */
export interface NamedOption {
  readonly name: string;
  readonly value: string | null;
  readonly position: number;
}

/** CREATE TABLE. */
export interface CreateTable {
  readonly kind: "create_table";
  readonly name: ObjectName;
  readonly persistence: Persistence;
  readonly ifNotExists: boolean;
  readonly columns: readonly ColumnDefinition[];
  readonly constraints: readonly TableConstraint[];
  readonly likes: readonly LikeClause[];
  readonly options: readonly NamedOption[];
  readonly onCommit: "preserve_rows" | "delete_rows" | "drop" | null;
  readonly tablespace: string | null;
  readonly position: number;
}

/** A column of CREATE TABLE or ADD COLUMN. */
export interface ColumnDefinition {
  readonly name: string;
  readonly type: TypeName;
  readonly collation: readonly string[];
  /** NOT NULL (true), NULL (false), or neither. */
  readonly notNull: boolean | null;
  readonly default: Expression | null;
  /** The text of the default, for storage. */
  readonly defaultText: string | null;
  readonly identity: { readonly always: boolean; readonly options: SequenceOptions } | null;
  /** GENERATED ALWAYS AS (expression) STORED. */
  readonly generated:
    | { readonly expression: Expression; readonly text: string; readonly stored: boolean }
    | null;
  readonly constraints: readonly TableConstraint[];
  readonly position: number;
}

/** LIKE table in CREATE TABLE; `including` are the words of INCLUDING minus those of EXCLUDING, in lower case. */
export interface LikeClause {
  readonly table: ObjectName;
  readonly including: readonly string[];
  /** How many columns are before it, so that its columns come in their place. */
  readonly columnIndex: number;
  readonly position: number;
}

/** When a deferrable constraint is checked. */
export interface Deferral {
  readonly deferrable: boolean;
  readonly initiallyDeferred: boolean;
}

/** A constraint of a table. `name` is `null` when the system is to choose it. */
export type TableConstraint = KeyConstraint | CheckConstraint | ForeignKeyConstraint | UnsupportedConstraint;

/** PRIMARY KEY or UNIQUE. */
export interface KeyConstraint {
  readonly kind: "primary_key" | "unique";
  readonly name: string | null;
  readonly columns: readonly string[];
  readonly include: readonly string[];
  /** UNIQUE NULLS NOT DISTINCT. */
  readonly nullsNotDistinct: boolean;
  /** USING INDEX name: the existing index to take; `columns` is then empty. */
  readonly usingIndex: string | null;
  readonly deferral: Deferral;
  readonly position: number;
}

/** CHECK (expression). */
export interface CheckConstraint {
  readonly kind: "check";
  readonly name: string | null;
  readonly expression: Expression;
  /** The text between the parentheses, for storage. */
  readonly text: string;
  readonly noInherit: boolean;
  readonly notValid: boolean;
  readonly position: number;
}

/** What a foreign key does when its parent changes. */
export type ReferentialAction = "no_action" | "restrict" | "cascade" | "set_null" | "set_default";

/** FOREIGN KEY … REFERENCES. */
export interface ForeignKeyConstraint {
  readonly kind: "foreign_key";
  readonly name: string | null;
  readonly columns: readonly string[];
  readonly table: ObjectName;
  /** Empty: the parent's primary key. */
  readonly parentColumns: readonly string[];
  readonly match: "simple" | "full" | "partial";
  readonly onDelete: ReferentialAction;
  /** ON DELETE SET NULL (columns); empty: all columns of the key. */
  readonly onDeleteColumns: readonly string[];
  readonly onUpdate: ReferentialAction;
  readonly deferral: Deferral;
  readonly notValid: boolean;
  readonly position: number;
}

/** A constraint that parses and is refused: EXCLUDE. */
export interface UnsupportedConstraint {
  readonly kind: "unsupported_constraint";
  readonly feature: string;
  readonly position: number;
}

/** CREATE TABLE AS and CREATE MATERIALIZED-less SELECT INTO's explicit form. */
export interface CreateTableAs {
  readonly kind: "create_table_as";
  readonly name: ObjectName;
  readonly persistence: Persistence;
  readonly ifNotExists: boolean;
  readonly columns: readonly string[];
  readonly options: readonly NamedOption[];
  readonly onCommit: CreateTable["onCommit"];
  readonly query: Query;
  readonly withData: boolean;
  readonly position: number;
}

/** ALTER TABLE with one or more actions. */
export interface AlterTable {
  readonly kind: "alter_table";
  readonly name: ObjectName;
  readonly ifExists: boolean;
  readonly only: boolean;
  readonly actions: readonly AlterTableAction[];
  readonly position: number;
}

/** One action of ALTER TABLE. */
export type AlterTableAction =
  | {
    readonly kind: "add_column";
    readonly ifNotExists: boolean;
    readonly column: ColumnDefinition;
    readonly position: number;
  }
  | {
    readonly kind: "drop_column";
    readonly ifExists: boolean;
    readonly column: string;
    readonly cascade: boolean;
    readonly position: number;
  }
  | {
    readonly kind: "rename_column";
    readonly column: string;
    readonly newName: string;
    readonly position: number;
  }
  | {
    readonly kind: "alter_type";
    readonly column: string;
    readonly type: TypeName;
    readonly using: Expression | null;
    readonly position: number;
  }
  | {
    readonly kind: "set_default";
    readonly column: string;
    readonly default: Expression;
    readonly text: string;
    readonly position: number;
  }
  | { readonly kind: "drop_default"; readonly column: string; readonly position: number }
  | { readonly kind: "set_not_null"; readonly column: string; readonly position: number }
  | { readonly kind: "drop_not_null"; readonly column: string; readonly position: number }
  | {
    readonly kind: "add_identity";
    readonly column: string;
    readonly always: boolean;
    readonly options: SequenceOptions;
    readonly position: number;
  }
  | {
    readonly kind: "alter_identity";
    readonly column: string;
    /** GENERATED ALWAYS or BY DEFAULT; null: not said. */
    readonly always: boolean | null;
    readonly options: SequenceOptions;
    readonly position: number;
  }
  | {
    readonly kind: "drop_expression";
    readonly column: string;
    readonly ifExists: boolean;
    readonly position: number;
  }
  | {
    readonly kind: "drop_identity";
    readonly column: string;
    readonly ifExists: boolean;
    readonly position: number;
  }
  | { readonly kind: "add_constraint"; readonly constraint: TableConstraint; readonly position: number }
  | {
    readonly kind: "drop_constraint";
    readonly ifExists: boolean;
    readonly name: string;
    readonly cascade: boolean;
    readonly position: number;
  }
  | {
    readonly kind: "rename_constraint";
    readonly name: string;
    readonly newName: string;
    readonly position: number;
  }
  | { readonly kind: "validate_constraint"; readonly name: string; readonly position: number }
  | { readonly kind: "rename_table"; readonly newName: string; readonly position: number }
  | { readonly kind: "set_schema"; readonly schema: string; readonly position: number }
  | { readonly kind: "owner_to"; readonly owner: string; readonly position: number }
  | { readonly kind: "set_options"; readonly options: readonly NamedOption[]; readonly position: number }
  | { readonly kind: "reset_options"; readonly names: readonly string[]; readonly position: number }
  | {
    readonly kind: "alter_trigger_state";
    readonly enabled: boolean;
    /** A trigger's name, or `all` / `user` for the keywords. */
    readonly trigger: string;
    readonly position: number;
  }
  | {
    readonly kind: "set_statistics";
    readonly column: string;
    /** Null: as the setting says. */
    readonly target: number | null;
    readonly position: number;
  }
  /** Parses, and is refused (ATTACH PARTITION, INHERIT, SET STORAGE, ENABLE ROW LEVEL SECURITY …). */
  | { readonly kind: "unsupported_action"; readonly feature: string; readonly position: number };

/** CREATE STATISTICS. */
export interface CreateStatistics {
  readonly kind: "create_statistics";
  readonly ifNotExists: boolean;
  /** Null: one is made of the names of the columns. */
  readonly name: ObjectName | null;
  /** Empty: all. */
  readonly kinds: readonly string[];
  readonly columns: readonly { readonly name: string; readonly position: number }[];
  readonly table: ObjectName;
  readonly position: number;
}

/** ALTER STATISTICS … SET STATISTICS. */
export interface AlterStatistics {
  readonly kind: "alter_statistics";
  readonly name: ObjectName;
  readonly ifExists: boolean;
  /** Null: as for columns. */
  readonly target: number | null;
  readonly position: number;
}

/** What kinds of objects DROP, RENAME and COMMENT name. */
export type ObjectType =
  | "table"
  | "index"
  | "view"
  | "sequence"
  | "schema"
  | "type"
  | "domain"
  | "function"
  | "trigger"
  | "extension"
  | "external_source"
  | "statistics"
  | "role"
  | "database"
  | "column"
  | "constraint";

/** ALTER INDEX | VIEW | SEQUENCE | SCHEMA | TYPE | FUNCTION | TRIGGER … RENAME TO (tables: see {@link AlterTable}). */
export interface RenameObject {
  readonly kind: "rename_object";
  readonly objectType: ObjectType;
  readonly ifExists: boolean;
  readonly name: ObjectName;
  /** The table of a trigger, else `null`. */
  readonly table: ObjectName | null;
  /** The types of a function's parameters, `null` without a list and for other objects. */
  readonly argumentTypes: readonly TypeName[] | null;
  readonly newName: string;
  readonly position: number;
}

/** ALTER … SET SCHEMA of something that is not a table. */
export interface SetObjectSchema {
  readonly kind: "set_object_schema";
  readonly objectType: ObjectType;
  readonly ifExists: boolean;
  readonly name: ObjectName;
  readonly schema: string;
  readonly position: number;
}

/** ALTER … OWNER TO of something that is not a table. */
export interface SetObjectOwner {
  readonly kind: "set_object_owner";
  readonly objectType: ObjectType;
  readonly ifExists: boolean;
  readonly name: ObjectName;
  readonly owner: string;
  readonly position: number;
}

/** DROP of one or more objects of one type. */
export interface DropObject {
  readonly kind: "drop";
  readonly objectType: ObjectType;
  readonly ifExists: boolean;
  readonly concurrently: boolean;
  readonly names: readonly ObjectName[];
  /** DROP TRIGGER name ON table. */
  readonly table: ObjectName | null;
  /** DROP FUNCTION f(types): per name its argument types, or `null` without a list. Empty for other objects. */
  readonly argumentTypes: readonly (readonly TypeName[] | null)[];
  readonly cascade: boolean;
  readonly position: number;
}

/** CREATE [UNIQUE | RANGE] INDEX. */
export interface CreateIndex {
  readonly kind: "create_index";
  readonly unique: boolean;
  /** The native CREATE RANGE INDEX. */
  readonly range: boolean;
  readonly concurrently: boolean;
  readonly ifNotExists: boolean;
  readonly name: string | null;
  readonly table: ObjectName;
  /** USING method, in lower case; `null` when not given. */
  readonly method: string | null;
  readonly keys: readonly IndexKey[];
  readonly include: readonly string[];
  readonly nullsNotDistinct: boolean;
  readonly options: readonly NamedOption[];
  readonly where: Expression | null;
  /** The text of `where`, for storage. */
  readonly whereText: string | null;
  readonly position: number;
}

/** CREATE [OR REPLACE] VIEW. */
export interface CreateView {
  readonly kind: "create_view";
  readonly name: ObjectName;
  readonly orReplace: boolean;
  readonly persistence: Persistence;
  readonly columns: readonly string[];
  readonly options: readonly NamedOption[];
  readonly query: Query;
  /** The text of the query, for storage. */
  readonly queryText: string;
  readonly checkOption: "local" | "cascaded" | null;
  readonly position: number;
}

/**
 * What CREATE SEQUENCE, ALTER SEQUENCE and identity columns may say; numbers are decimal text, `null` is "not said".
 */
export interface SequenceOptions {
  readonly type: TypeName | null;
  readonly increment: string | null;
  /** `none` is NO MINVALUE. */
  readonly minimum: string | "none" | null;
  /** `none` is NO MAXVALUE. */
  readonly maximum: string | "none" | null;
  readonly start: string | null;
  readonly cache: string | null;
  readonly cycle: boolean | null;
  /** OWNED BY table.column; `none` is OWNED BY NONE. */
  readonly ownedBy: { readonly table: ObjectName; readonly column: string } | "none" | null;
  /** RESTART [WITH n] of ALTER SEQUENCE; `start` is RESTART alone. */
  readonly restart: string | "start" | null;
  /** SEQUENCE NAME of identity columns. */
  readonly name: ObjectName | null;
}

/** CREATE SEQUENCE. */
export interface CreateSequence {
  readonly kind: "create_sequence";
  readonly name: ObjectName;
  readonly persistence: Persistence;
  readonly ifNotExists: boolean;
  readonly options: SequenceOptions;
  readonly position: number;
}

/** ALTER SEQUENCE with options. */
export interface AlterSequence {
  readonly kind: "alter_sequence";
  readonly name: ObjectName;
  readonly ifExists: boolean;
  readonly options: SequenceOptions;
  readonly position: number;
}

/** CREATE SCHEMA; without a name, the name is that of AUTHORIZATION. */
export interface CreateSchema {
  readonly kind: "create_schema";
  /** `null`: named as its owner. */
  readonly name: string | null;
  readonly ifNotExists: boolean;
  readonly owner: string | null;
  /** What is made in it by the same statement, in the order of the text. */
  readonly elements: readonly SchemaElement[];
  readonly position: number;
}

/** A statement within CREATE SCHEMA. */
export type SchemaElement = CreateTable | CreateView | CreateIndex | CreateSequence;

/** CREATE TYPE name AS ENUM (…). */
export interface CreateEnum {
  readonly kind: "create_enum";
  readonly name: ObjectName;
  readonly labels: readonly string[];
  readonly position: number;
}

/** ALTER TYPE name ADD VALUE … | RENAME VALUE … TO …. */
export interface AlterEnum {
  readonly kind: "alter_enum";
  readonly name: ObjectName;
  readonly action: "add_value" | "rename_value";
  readonly ifNotExists: boolean;
  /** The label that is added, or the one that is renamed. */
  readonly label: string;
  readonly newLabel: string | null;
  /** BEFORE or AFTER another label. */
  readonly place: { readonly where: "before" | "after"; readonly label: string } | null;
  readonly position: number;
}

/** CREATE DOMAIN. */
export interface CreateDomain {
  readonly kind: "create_domain";
  readonly name: ObjectName;
  readonly type: TypeName;
  readonly collation: readonly string[];
  readonly default: Expression | null;
  readonly notNull: boolean;
  readonly checks: readonly CheckConstraint[];
  readonly position: number;
}

/** CREATE EXTENSION. */
export interface CreateExtension {
  readonly kind: "create_extension";
  readonly name: string;
  readonly ifNotExists: boolean;
  readonly schema: string | null;
  readonly cascade: boolean;
  readonly position: number;
}

/** CREATE TRIGGER. */
export interface CreateTrigger {
  readonly kind: "create_trigger";
  readonly name: string;
  readonly orReplace: boolean;
  readonly timing: "before" | "after" | "instead_of";
  readonly events: readonly TriggerEvent[];
  readonly table: ObjectName;
  /** FOR EACH ROW (true) or STATEMENT (false, the default of PostgreSQL). */
  readonly forEachRow: boolean;
  readonly when: Expression | null;
  readonly action: TriggerAction;
  readonly position: number;
}

/** An event of a trigger; `columns` are those of UPDATE OF. */
export interface TriggerEvent {
  readonly event: "insert" | "update" | "delete" | "truncate";
  readonly columns: readonly { readonly name: string; readonly position: number }[];
}

/** What a trigger does. */
export type TriggerAction =
  | { readonly kind: "set"; readonly assignments: readonly Assignment[] }
  | { readonly kind: "reject"; readonly message: string }
  | { readonly kind: "execute"; readonly call: FunctionCall };

/** CREATE FUNCTION (or PROCEDURE). */
export interface CreateFunction {
  readonly kind: "create_function";
  readonly name: ObjectName;
  readonly orReplace: boolean;
  readonly procedure: boolean;
  readonly parameters: readonly FunctionParameter[];
  /** `null` for a procedure, or when OUT parameters or RETURNS TABLE say it. */
  readonly returns: TypeName | null;
  readonly returnsTable: readonly FunctionParameter[];
  /** In lower case, `sql` when not given. */
  readonly language: string;
  /**
   * AS …: the module's bytes for WASM (a bytea literal, a parameter or another constant expression), else the source.
   */
  readonly body: Expression | null;
  /** EXPORT 'name': which export of a module; `null` is the function's own name. */
  readonly exportName: string | null;
  /** GAS n: decimal text. */
  readonly gas: string | null;
  /** STRICT or CALLED ON NULL INPUT, as written. */
  readonly nullInput: "strict" | "called" | null;
  readonly volatility: "immutable" | "stable" | "volatile" | null;
  /**
   * Options that parse and that the product must refuse or ignore knowingly (SECURITY DEFINER, SET …), in lower case.
   */
  readonly otherOptions: readonly string[];
  readonly position: number;
}

/** One parameter of a function. */
export interface FunctionParameter {
  readonly name: string | null;
  readonly mode: "in" | "out" | "inout" | "variadic";
  readonly type: TypeName;
  readonly default: Expression | null;
  readonly position: number;
}

/** CREATE EXTERNAL SOURCE. */
export interface CreateExternalSource {
  readonly kind: "create_external_source";
  readonly name: ObjectName;
  readonly ifNotExists: boolean;
  readonly columns: readonly ExternalColumn[];
  readonly url: string;
  readonly urlPosition: number;
  readonly format: "json" | "ndjson" | "csv" | "parquet";
  /** KEY col. */
  readonly key: string;
  readonly keyPosition: number;
  /** ROWS 'json.path'. */
  readonly rows: string | null;
  readonly rowsPosition: number;
  readonly page: ExternalPaging | null;
  readonly pagePosition: number;
  readonly auth: ExternalAuthentication | null;
  readonly region: string | null;
  readonly regionPosition: number;
  readonly endpoint: string | null;
  readonly endpointPosition: number;
  readonly position: number;
}

/** A column of an external source; `from` is its JSON path or CSV header, `null` is its own name. */
export interface ExternalColumn {
  readonly name: string;
  readonly type: TypeName;
  readonly notNull: boolean;
  readonly from: string | null;
  readonly fromPosition: number;
  readonly position: number;
}

/** PAGE NEXT JSON 'path' | PAGE CURSOR JSON 'path' PARAM 'q' | PAGE NEXT LINK. */
export type ExternalPaging =
  | { readonly kind: "next_json"; readonly path: string; readonly pathPosition: number }
  | {
    readonly kind: "cursor_json";
    readonly path: string;
    readonly pathPosition: number;
    readonly parameter: string;
  }
  | { readonly kind: "next_link" };

/** AUTH: every secret is the name of an environment variable. */
export type ExternalAuthentication =
  & (
    | { readonly kind: "bearer"; readonly variable: string }
    | { readonly kind: "header"; readonly header: string; readonly variable: string }
    | { readonly kind: "s3"; readonly keyIdVariable: string; readonly secretVariable: string }
    | { readonly kind: "azure"; readonly account: string; readonly keyVariable: string }
  )
  & { readonly position: number };

/** REFRESH name. */
export interface Refresh {
  readonly kind: "refresh";
  readonly name: ObjectName;
  readonly position: number;
}

/** REINDEX. */
export interface Reindex {
  readonly kind: "reindex";
  readonly target: "index" | "table" | "schema" | "database" | "system";
  readonly name: ObjectName | null;
  readonly position: number;
}

/** COMMENT ON … IS …. */
export interface CommentOn {
  readonly kind: "comment";
  readonly objectType: ObjectType;
  /** For a column: the table. For a constraint or trigger: its own name. */
  readonly name: ObjectName;
  /** The column's name, for a column. */
  readonly column: string | null;
  /** The table of a constraint or trigger. */
  readonly table: ObjectName | null;
  /** The types of a function's parameters, `null` without a list and for other objects. */
  readonly argumentTypes: readonly TypeName[] | null;
  /** `null` removes the comment. */
  readonly comment: string | null;
  readonly position: number;
}

/** TRUNCATE. */
export interface Truncate {
  readonly kind: "truncate";
  readonly tables: readonly ObjectName[];
  readonly restartIdentity: boolean;
  readonly cascade: boolean;
  readonly position: number;
}

/** CREATE ROLE | USER | GROUP. */
export interface CreateRole {
  readonly kind: "create_role";
  readonly name: string;
  /** CREATE USER: may log in unless it says otherwise. */
  readonly login: boolean;
  readonly options: readonly NamedOption[];
  readonly position: number;
}

/** ALTER ROLE | USER. */
export interface AlterRole {
  readonly kind: "alter_role";
  readonly name: string;
  readonly options: readonly NamedOption[];
  readonly position: number;
}

/** CREATE DATABASE. */
export interface CreateDatabase {
  readonly kind: "create_database";
  readonly name: string;
  readonly options: readonly NamedOption[];
  readonly position: number;
}

/** ALTER DATABASE. */
export interface AlterDatabase {
  readonly kind: "alter_database";
  readonly name: string;
  readonly options: readonly NamedOption[];
  readonly position: number;
}

/** ALTER DATABASE | ROLE … SET and RESET: what sessions begin with. */
export interface AlterDefaults {
  readonly kind: "alter_defaults";
  readonly target: "database" | "role";
  /** `null`: all roles. */
  readonly role: string | null;
  /** `null`: all databases. */
  readonly database: string | null;
  /** `null`: all settings, to reset. */
  readonly name: string | null;
  /** Empty: back to the default. */
  readonly values: readonly SettingValue[];
  readonly position: number;
}

/** GRANT or REVOKE of privileges on objects. */
export interface GrantOrRevoke {
  readonly kind: "grant_privileges";
  readonly revoke: boolean;
  /** In lower case; `all` is ALL [PRIVILEGES]. */
  readonly privileges: readonly { readonly name: string; readonly columns: readonly string[] }[];
  /** `table`, `sequence`, `schema`, `all_tables_in_schema` … */
  readonly objectType: string;
  readonly objects: readonly ObjectName[];
  readonly grantees: readonly string[];
  readonly grantOption: boolean;
  readonly cascade: boolean;
  readonly position: number;
}

/** GRANT role TO role, REVOKE role FROM role. */
export interface GrantRole {
  readonly kind: "grant_role";
  readonly revoke: boolean;
  readonly roles: readonly string[];
  readonly grantees: readonly string[];
  readonly adminOption: boolean;
  readonly position: number;
}
