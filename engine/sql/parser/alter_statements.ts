/**
 * ALTER: tables with all their actions, and the other objects' RENAME, SET SCHEMA, OWNER and own forms.
 *
 * Invariant: an action that PostgreSQL has and the product lacks is an `unsupported_action` that names it.
 */

import { SQLSTATE } from "../../base/errors.ts";
import type {
  AlterDefaults,
  AlterEnum,
  AlterTableAction,
  NamedOption,
  ObjectName,
  ObjectType,
  SequenceOptions,
  Statement,
  TypeName,
} from "./ast.ts";
import {
  joinSequenceOptions,
  NO_SEQUENCE_OPTIONS,
  parseColumnDefinition,
  parseOptionList,
  parseSequenceOption,
  parseSequenceOptions,
  parseStored,
  parseTableConstraint,
  skipBalanced,
} from "./column_definitions.ts";
import { isTableConstraintStart } from "./column_definitions.ts";
import { parseDatabaseOptions, parseRoleOptions } from "./create_statements.ts";
import { parseExpression } from "./expressions.ts";
import { parseSetting, parseShownName } from "./session_statements.ts";
import {
  acceptCascade,
  acceptIfExists,
  acceptIfNotExists,
  parseList,
  parseObjectName,
  parseParenthesizedList,
  parseRoleName,
} from "./names.ts";
import { acceptArgumentTypes } from "./object_statements.ts";
import { acceptShardBy } from "./shard_by.ts";
import type { TokenStream } from "./token_stream.ts";
import { parseTypeName } from "./type_names.ts";
import { parseUnsupported, UNSUPPORTED_OBJECTS } from "./unsupported_statements.ts";

/** Reads ALTER … */
export function parseAlter(stream: TokenStream): Statement {
  const position = stream.position;
  const mark = stream.mark;
  stream.advance();
  if (stream.acceptWord("table")) return parseAlterTable(stream, position);
  if (stream.acceptWord("sequence")) return parseAlterSequence(stream, position);
  if (stream.acceptWord("index")) return parseAlterNamed(stream, "index", position);
  if (stream.acceptWord("view")) return parseAlterNamed(stream, "view", position);
  if (stream.acceptWord("schema")) return parseAlterNamed(stream, "schema", position);
  if (stream.acceptWord("domain")) return parseAlterNamed(stream, "domain", position);
  if (stream.acceptWord("extension")) return parseAlterNamed(stream, "extension", position);
  if (stream.acceptWord("statistics")) return parseAlterNamed(stream, "statistics", position);
  if (stream.acceptWord("type")) return parseAlterType(stream, position);
  if (stream.acceptWord("trigger")) return parseAlterTrigger(stream, position);
  if (stream.acceptWord("function") || stream.acceptWord("procedure")) {
    return parseAlterNamed(stream, "function", position);
  }
  const isRole = stream.isWord("role") || stream.isWord("group") ||
    (stream.isWord("user") && !stream.isWord("mapping", 1));
  const wordPosition = stream.position;
  if (isRole) {
    stream.advance();
    return parseAlterRole(stream, wordPosition);
  }
  if (stream.acceptWord("database")) return parseAlterDatabase(stream, wordPosition);
  if (!stream.isAnyWord(UNSUPPORTED_OBJECTS)) throw stream.syntaxError();
  stream.rewind(mark);
  return parseUnsupported(stream);
}

function parseAlterTable(stream: TokenStream, position: number): Statement {
  if (stream.isWords("all", "in")) return refuse(stream, "ALTER TABLE ALL IN TABLESPACE", stream.position);
  const ifExists = acceptIfExists(stream);
  const only = stream.acceptWord("only");
  const name = parseObjectName(stream);
  stream.acceptSymbol("*");
  const actions = parseList(stream, (inner) => parseTableAction(inner, name.name));
  return { kind: "alter_table", name, ifExists, only, actions, position };
}

/** Takes the rest of the statement as one that is refused. */
function refuse(stream: TokenStream, feature: string, position: number): Statement {
  while (!stream.isAtEnd) stream.advance();
  return { kind: "unsupported", feature, position };
}

function parseTableAction(stream: TokenStream, table: string): AlterTableAction {
  const position = stream.position;
  if (stream.acceptWord("add")) return parseAddAction(stream, table, position);
  if (stream.acceptWord("drop")) return parseDropAction(stream, position);
  if (stream.acceptWord("alter")) return parseAlterColumn(stream, position);
  if (stream.acceptWord("rename")) return parseRenameAction(stream, position);
  if (stream.acceptWords("validate", "constraint")) {
    return { kind: "validate_constraint", name: stream.expectName(), position };
  }
  if (stream.acceptWords("set", "schema")) {
    return { kind: "set_schema", schema: stream.expectName(), position };
  }
  if (stream.acceptWords("owner", "to")) return { kind: "owner_to", owner: parseRoleName(stream), position };
  if (stream.isWord("set") && stream.isSymbol("(", 1)) {
    stream.advance();
    return { kind: "set_options", options: parseOptionList(stream), position };
  }
  const shardBy = acceptShardBy(stream);
  if (shardBy.length > 0) return { kind: "set_options", options: shardBy, position };
  if (stream.isWord("reset") && stream.isSymbol("(", 1)) {
    stream.advance();
    return {
      kind: "reset_options",
      names: parseParenthesizedList(stream, (inner) => inner.expectLabel()),
      position,
    };
  }
  if (stream.isAnyWord(["enable", "disable"]) && stream.isWord("trigger", 1)) {
    const enabled = stream.take() === "enable";
    stream.advance();
    const trigger = stream.isAnyWord(["all", "user"]) ? stream.take() : stream.expectName();
    return { kind: "alter_trigger_state", enabled, trigger, position };
  }
  return parseUnsupportedAction(stream, position);
}

const UNSUPPORTED_ACTIONS = [
  "attach",
  "cluster",
  "detach",
  "disable",
  "enable",
  "force",
  "inherit",
  "no",
  "not",
  "of",
  "options",
  "replica",
  "set",
];

function parseUnsupportedAction(stream: TokenStream, position: number): AlterTableAction {
  if (!stream.isAnyWord(UNSUPPORTED_ACTIONS)) throw stream.syntaxError();
  const words = [stream.take()];
  while (stream.category > 0 && words.length < 3) words.push(stream.take());
  skipBalanced(stream);
  return { kind: "unsupported_action", feature: `ALTER TABLE … ${words.join(" ").toUpperCase()}`, position };
}

function parseAddAction(stream: TokenStream, table: string, position: number): AlterTableAction {
  if (isTableConstraintStart(stream)) {
    return { kind: "add_constraint", constraint: parseTableConstraint(stream), position };
  }
  stream.acceptWord("column");
  const ifNotExists = acceptIfNotExists(stream);
  return { kind: "add_column", ifNotExists, column: parseColumnDefinition(stream, table), position };
}

function parseDropAction(stream: TokenStream, position: number): AlterTableAction {
  if (stream.acceptWord("constraint")) {
    const ifExists = acceptIfExists(stream);
    const name = stream.expectName();
    return { kind: "drop_constraint", ifExists, name, cascade: acceptCascade(stream), position };
  }
  stream.acceptWord("column");
  const ifExists = acceptIfExists(stream);
  const column = stream.expectName();
  return { kind: "drop_column", ifExists, column, cascade: acceptCascade(stream), position };
}

function parseAlterColumn(stream: TokenStream, position: number): AlterTableAction {
  if (stream.isWord("constraint")) {
    skipBalanced(stream);
    return { kind: "unsupported_action", feature: "ALTER TABLE … ALTER CONSTRAINT", position };
  }
  stream.acceptWord("column");
  const column = stream.expectName();
  if (stream.acceptWord("type") || stream.acceptWords("set", "data", "type")) {
    const type = parseTypeName(stream);
    if (stream.isWord("collate")) throw stream.unsupported("COLLATE in ALTER COLUMN TYPE");
    const using = stream.acceptWord("using") ? parseExpression(stream) : null;
    return { kind: "alter_type", column, type, using, position };
  }
  if (stream.acceptWords("set", "default")) {
    const { expression, text } = parseStored(stream, parseExpression);
    return { kind: "set_default", column, default: expression, text, position };
  }
  if (stream.acceptWords("set", "statistics")) {
    return { kind: "set_statistics", column, target: parseStatisticsTarget(stream), position };
  }
  if (stream.acceptWords("drop", "default")) return { kind: "drop_default", column, position };
  if (stream.acceptWords("set", "not", "null")) return { kind: "set_not_null", column, position };
  if (stream.acceptWords("drop", "not", "null")) return { kind: "drop_not_null", column, position };
  if (stream.acceptWords("drop", "identity")) {
    return { kind: "drop_identity", column, ifExists: acceptIfExists(stream), position };
  }
  if (stream.acceptWords("drop", "expression")) {
    return { kind: "drop_expression", column, ifExists: acceptIfExists(stream), position };
  }
  const identity = parseIdentityChange(stream);
  if (identity !== null) return { kind: "alter_identity", column, ...identity, position };
  if (stream.acceptWords("add", "generated")) {
    const always = stream.acceptWord("always");
    if (!always) stream.expectWords("by", "default");
    stream.expectWords("as", "identity");
    let options = NO_SEQUENCE_OPTIONS;
    if (stream.acceptSymbol("(")) {
      options = parseSequenceOptions(stream);
      stream.expectSymbol(")");
    }
    return { kind: "add_identity", column, always, options, position };
  }
  if (!stream.isAnyWord(["set", "reset", "drop", "restart"])) throw stream.syntaxError();
  const words = [stream.take()];
  if (stream.category > 0) words.push(stream.take());
  skipBalanced(stream);
  const feature = `ALTER TABLE … ALTER COLUMN … ${words.join(" ").toUpperCase()}`;
  return { kind: "unsupported_action", feature, position };
}

/** Reads SET GENERATED, SET with an option of sequences, and RESTART, as many as there are; null when there is none. */
function parseIdentityChange(
  stream: TokenStream,
): { readonly always: boolean | null; readonly options: SequenceOptions } | null {
  let always: boolean | null = null;
  let options: SequenceOptions | null = null;
  for (;;) {
    const position = stream.position;
    let change: Partial<SequenceOptions> | null = null;
    if (stream.acceptWords("set", "generated")) {
      if (always !== null) {
        throw stream.error(SQLSTATE.syntaxError, "conflicting or redundant options", position);
      }
      always = stream.acceptWord("always");
      if (!always) stream.expectWords("by", "default");
      change = {};
    } else if (stream.isWord("restart")) change = parseSequenceOption(stream);
    else if (stream.isWord("set") && SEQUENCE_WORDS.some((word) => stream.isWord(word, 1))) {
      stream.advance();
      change = parseSequenceOption(stream);
    }
    if (change === null) return options === null ? null : { always, options };
    options = joinSequenceOptions(stream, options ?? NO_SEQUENCE_OPTIONS, change, position);
  }
}

const SEQUENCE_WORDS = ["increment", "minvalue", "maxvalue", "no", "cycle", "cache", "start"];

function parseRenameAction(stream: TokenStream, position: number): AlterTableAction {
  if (stream.acceptWord("to")) return { kind: "rename_table", newName: stream.expectName(), position };
  if (stream.acceptWord("constraint")) {
    const name = stream.expectName();
    stream.expectWords("to");
    return { kind: "rename_constraint", name, newName: stream.expectName(), position };
  }
  stream.acceptWord("column");
  const column = stream.expectName();
  stream.expectWords("to");
  return { kind: "rename_column", column, newName: stream.expectName(), position };
}

function parseAlterSequence(stream: TokenStream, position: number): Statement {
  const ifExists = acceptIfExists(stream);
  const name = parseObjectName(stream);
  const common = acceptCommonChange(stream, "sequence", ifExists, name, position);
  if (common !== null) return common;
  if (stream.isAtEnd) throw stream.syntaxError();
  return { kind: "alter_sequence", name, ifExists, options: parseSequenceOptions(stream), position };
}

/** Reads RENAME TO, SET SCHEMA or OWNER TO when one is there. */
function acceptCommonChange(
  stream: TokenStream,
  objectType: ObjectType,
  ifExists: boolean,
  name: ObjectName,
  position: number,
  argumentTypes: readonly TypeName[] | null = null,
): Statement | null {
  if (stream.acceptWords("rename", "to")) {
    const newName = stream.expectName();
    return {
      kind: "rename_object",
      objectType,
      ifExists,
      name,
      table: null,
      argumentTypes,
      newName,
      position,
    };
  }
  if (stream.acceptWords("set", "schema")) {
    return { kind: "set_object_schema", objectType, ifExists, name, schema: stream.expectName(), position };
  }
  if (stream.acceptWords("owner", "to")) {
    return { kind: "set_object_owner", objectType, ifExists, name, owner: parseRoleName(stream), position };
  }
  return null;
}

/** How much ANALYZE looks for; null: DEFAULT, or a negative number. */
function parseStatisticsTarget(stream: TokenStream): number | null {
  if (stream.acceptWord("default")) return null;
  const isNegative = stream.acceptSymbol("-");
  const target = Number(stream.expectInteger());
  return isNegative ? null : target;
}

function parseAlterNamed(stream: TokenStream, objectType: ObjectType, position: number): Statement {
  const ifExists = acceptIfExists(stream);
  const name = parseObjectName(stream);
  const argumentTypes = objectType === "function" ? acceptArgumentTypes(stream) : null;
  const common = acceptCommonChange(stream, objectType, ifExists, name, position, argumentTypes);
  if (common !== null) return common;
  if (objectType === "statistics" && stream.acceptWords("set", "statistics")) {
    return { kind: "alter_statistics", name, ifExists, target: parseStatisticsTarget(stream), position };
  }
  const words = [
    "set",
    "reset",
    "alter",
    "attach",
    "depends",
    "no",
    "add",
    "drop",
    "validate",
    "rename",
    "update",
  ];
  const isFunctionOption = objectType === "function" && stream.isLabel();
  if (!stream.isAnyWord(words) && !isFunctionOption) throw stream.syntaxError();
  return refuse(stream, `ALTER ${objectType.toUpperCase()} … ${stream.value().toUpperCase()}`, position);
}

function parseAlterType(stream: TokenStream, position: number): Statement {
  const name = parseObjectName(stream);
  const common = acceptCommonChange(stream, "type", false, name, position);
  if (common !== null) return common;
  if (stream.acceptWords("add", "value")) {
    const ifNotExists = acceptIfNotExists(stream);
    const label = stream.expectString();
    let place: AlterEnum["place"] = null;
    if (stream.isAnyWord(["before", "after"])) {
      const where = stream.take() === "before" ? "before" : "after";
      place = { where, label: stream.expectString() };
    }
    return {
      kind: "alter_enum",
      name,
      action: "add_value",
      ifNotExists,
      label,
      newLabel: null,
      place,
      position,
    };
  }
  if (stream.acceptWords("rename", "value")) {
    const label = stream.expectString();
    stream.expectWords("to");
    const newLabel = stream.expectString();
    return {
      kind: "alter_enum",
      name,
      action: "rename_value",
      ifNotExists: false,
      label,
      newLabel,
      place: null,
      position,
    };
  }
  if (!stream.isAnyWord(["add", "drop", "alter", "rename", "set"])) throw stream.syntaxError();
  return refuse(stream, "ALTER TYPE of a composite type", position);
}

function parseAlterTrigger(stream: TokenStream, position: number): Statement {
  const name = parseObjectName(stream);
  stream.expectWords("on");
  const table = parseObjectName(stream);
  if (!stream.isWord("rename")) return refuse(stream, "ALTER TRIGGER … DEPENDS ON EXTENSION", position);
  stream.expectWords("rename", "to");
  const newName = stream.expectName();
  return {
    kind: "rename_object",
    objectType: "trigger",
    ifExists: false,
    name,
    table,
    argumentTypes: null,
    newName,
    position,
  };
}

function parseAlterRole(stream: TokenStream, position: number): Statement {
  const namePosition = stream.position;
  const name = stream.isWord("all") ? stream.take() : parseRoleName(stream);
  if (stream.acceptWords("rename", "to")) {
    const object = { catalog: null, schema: null, name, position: namePosition };
    const newName = stream.expectName();
    return {
      kind: "rename_object",
      objectType: "role",
      ifExists: false,
      name: object,
      table: null,
      argumentTypes: null,
      newName,
      position,
    };
  }
  const database = stream.acceptWords("in", "database") ? stream.expectName() : null;
  if (stream.isAnyWord(["set", "reset"])) {
    const role = name === "all" ? null : name;
    return { kind: "alter_defaults", target: "role", role, database, ...parseDefault(stream), position };
  }
  if (stream.isAnyWord(["add", "drop"])) {
    return refuse(stream, `ALTER ROLE … ${stream.value().toUpperCase()}`, position);
  }
  return { kind: "alter_role", name, options: parseRoleOptions(stream), position };
}

/** SET name = values, RESET name or RESET ALL. */
function parseDefault(stream: TokenStream): Pick<AlterDefaults, "name" | "values"> {
  if (stream.acceptWord("reset")) return { name: parseShownName(stream), values: [] };
  stream.advance();
  return parseSetting(stream);
}

function parseAlterDatabase(stream: TokenStream, position: number): Statement {
  const object = parseObjectName(stream);
  const common = acceptCommonChange(stream, "database", false, object, position);
  if (common !== null) return common;
  if (stream.isWord("reset") || (stream.isWord("set") && !stream.isWord("tablespace", 1))) {
    const setting = parseDefault(stream);
    return {
      kind: "alter_defaults",
      target: "database",
      role: null,
      database: object.name,
      ...setting,
      position,
    };
  }
  if (stream.isAnyWord(["set", "refresh"])) {
    return refuse(stream, `ALTER DATABASE … ${stream.value().toUpperCase()}`, position);
  }
  const options: NamedOption[] = parseDatabaseOptions(stream);
  return { kind: "alter_database", name: object.name, options, position };
}
