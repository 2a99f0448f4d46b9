/**
 * The same statements over the same rows, kept and asked for in different ways: what the rows went through, the plan
 * that reads them, and the protocol that carries the answer must not change it.
 *
 * A keeping moves rows after each statement that may have changed them (checkpoints, updates that change nothing,
 * restarts, columns that come and go); a way asks for rows (parameters, prepared plans, the PostgreSQL protocol). A
 * state is one of both.
 */
import { extended, message } from "../../gateways/pg/testing/wire.ts";
import { parametrized } from "./parametrized.ts";
import { binaryQuery, type Question, StateDatabase, type TextRow } from "./state_database.ts";

/** What happens to rows. */
export interface Keeping {
  readonly name: string;
  /** Statements that mean something else when rows are kept so; a script that holds one is not run. */
  readonly excludes: RegExp | null;
  /** Whether another connection sees the rows. */
  readonly isShared: boolean;
  /** For one database: runs the work of a statement, and what is to happen before and after it. */
  start(): (
    database: StateDatabase,
    sql: string,
    work: () => Promise<TextRow[]>,
  ) => Promise<TextRow[]>;
}

/** How rows are asked for. */
export interface Way {
  readonly name: string;
  readonly excludes: RegExp | null;
  /** Whether the connection is another than that of `StateDatabase.run`. */
  readonly isRemote: boolean;
  /** A statement without a plan. */
  run(database: StateDatabase, sql: string): Promise<TextRow[]>;
  ask(database: StateDatabase, question: Question): Promise<TextRow[]>;
  /** Whether a statement of a script is one that can be asked for in this way; it is run otherwise. */
  readonly fits: (sql: string) => boolean;
}

/** A way to keep rows and to ask for them. */
export interface StorageState {
  readonly name: string;
  /** Whether the state is one of the ways, not of the rows. */
  readonly asksOtherwise: boolean;
  /** Whether the statements of a script mean the same. */
  fits(script: string): boolean;
  open(): Promise<ScriptDatabase>;
}

/** A database in one of the states. */
export interface ScriptDatabase extends AsyncDisposable {
  /** Runs one statement; rows as text. Raises `DatabaseError`. */
  run(sql: string): Promise<TextRow[]>;
}

/** What may have changed rows or tables. */
const CHANGE = /\b(INSERT|UPDATE|DELETE|MERGE|COPY|CREATE|ALTER|TRUNCATE|DROP|COMMIT|END)\b/i;
/** Statements with a plan. */
const PLANNED = /^\s*(SELECT|WITH|VALUES|TABLE|INSERT|UPDATE|DELETE|MERGE)\b/i;
const READS_ONLY = /^\s*(SELECT|WITH|VALUES|TABLE)\b(?![\s\S]*\b(INSERT|UPDATE|DELETE|MERGE|INTO)\b)/i;
/** Answers that differ from one execution to the next. */
const VOLATILE =
  /nextval|setval|lastval|random|clock_timestamp|advisory|TABLESAMPLE|pg_sleep|set_config|pg_notify|FOR\s+(UPDATE|SHARE)/i;
/** Two parameters of one value are not the same expression, as a key and a column of the list must be. */
const NEEDS_SAME_EXPRESSION = /\bGROUP BY\b|\bDISTINCT\b|\bON CONFLICT\b|\bORDER BY\s+-/i;
/** What a session keeps and a restart ends. */
const SESSION_STATE = /^\s*(SET|PREPARE|DECLARE|LISTEN)\b|\bTEMP(ORARY)?\b|set_config/i;

/** Does something after each statement that may have changed rows, outside of transaction blocks. */
function moving(
  name: string,
  move: (database: StateDatabase, changes: number) => Promise<void>,
  { excludes = null, keepsSession = true }: {
    readonly excludes?: RegExp | null;
    /** Whether the session survives; if not, nothing is moved once the session holds something. */
    readonly keepsSession?: boolean;
  } = {},
): Keeping {
  return {
    name,
    excludes,
    isShared: true,
    start: () => {
      let changes = 0, holds = false;
      return async (database, sql, work) => {
        holds ||= !keepsSession && SESSION_STATE.test(sql);
        try {
          return await work();
        } finally {
          const isChange = CHANGE.test(sql) && !READS_ONLY.test(sql);
          if (isChange && !holds && database.session.block === null) await move(database, ++changes);
        }
      };
    },
  };
}

/** Tables of users, as `schema.name` with a column that can be set to itself. */
function ownTables({ engine }: StateDatabase): { readonly name: string; readonly column: string }[] {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  return engine.machine.catalog.tables.flatMap(({ schema, name, columns }) => {
    const column = columns.find((each) =>
      !each.hidden && each.generatedText === null && each.identity !== "always"
    );
    if (column === undefined || schema.startsWith("pg_")) return [];
    return [{ name: `${quoted(schema)}.${quoted(name)}`, column: quoted(column.name) }];
  });
}

/**
 * Rows of a checkpoint, half of which are then written again with the same values: their old versions lie in segments
 * as deleted.
 */
async function halfMoved(database: StateDatabase, changes: number): Promise<void> {
  await database.checkpoint();
  for (const { name, column } of ownTables(database)) {
    const parity = changes % 2;
    await database.move(
      `UPDATE ${name} AS moved_ SET ${column} = ${column} WHERE length(moved_::text) % 2 = ${parity}`,
    );
  }
  if (changes % 3 === 0) await database.checkpoint();
}

/** Segments lack a column that the table has had since. */
async function relaid(database: StateDatabase): Promise<void> {
  await database.checkpoint();
  for (const { name } of ownTables(database)) {
    await database.move(`ALTER TABLE ${name} ADD COLUMN relaid_ int DEFAULT 7`);
    await database.move(`ALTER TABLE ${name} DROP COLUMN relaid_`);
  }
}

async function indexed(database: StateDatabase): Promise<void> {
  for (const { schema, name, columns, indexes } of database.engine.machine.catalog.tables) {
    if (schema.startsWith("pg_")) continue;
    for (const column of columns) {
      if (column.hidden || UNORDERED.includes(column.type.kind)) continue;
      if (indexes.some((each) => each.columns[0]?.columnId === column.id)) continue;
      // Of a name that no statement of a script gives or expects.
      const index = `indexed_${name}_${column.id}`;
      await database.move(`CREATE INDEX "${index}" ON "${schema}"."${name}" ("${column.name}")`);
    }
  }
}

const UNORDERED = ["json", "jsonpath", "record"];

async function reopened(database: StateDatabase, changes: number): Promise<void> {
  if (changes % 2 === 0) await database.checkpoint();
  await database.reopen();
}

/** All statements in one transaction, each after a savepoint. */
const uncommitted: Keeping = {
  name: "uncommitted",
  excludes:
    /^\s*(BEGIN|START|COMMIT|END|ROLLBACK|ABORT|SAVEPOINT|RELEASE|VACUUM|CHECKPOINT|LISTEN|CREATE DATABASE|DROP DATABASE|SET)\b|DEFERR|now\(\)|_timestamp|current_|pg_stat|CONCURRENTLY|txid|advisory|ENUM|ADD VALUE|DECLARE|WITH HOLD|rowid|\bID -?\d/im,
  isShared: false,
  start: () => {
    let begun = false;
    return async (database, _, work) => {
      if (!begun) await database.run("BEGIN");
      begun = true;
      await database.run("SAVEPOINT before_");
      try {
        const rows = await work();
        await database.run("RELEASE before_");
        return rows;
      } catch (error) {
        await database.run("ROLLBACK TO before_");
        throw error;
      }
    };
  },
};

/** Segments that lack columns. */
export const WITH_ADDED_COLUMNS = moving("with added columns", relaid, {
  excludes: /attnum|ordinal_position|pg_attribute/i,
});

/** Every keeping; the first is the plain one. */
export const KEEPINGS: readonly Keeping[] = [
  moving("in the delta", () => Promise.resolve()),
  moving("checkpointed", (database) => database.checkpoint()),
  // To move a row fires triggers and looks at what was added without a look at it.
  moving("half moved", halfMoved, { excludes: /create trigger|not valid|language wasm/i }),
  WITH_ADDED_COLUMNS,
  moving("indexed", indexed, {
    excludes: /pg_index|pg_class|pg_indexes|EXPLAIN|pg_stat|information_schema|pg_get_indexdef/i,
  }),
  moving("restarted", reopened, {
    excludes: /currval|lastval|setseed|pg_stat|advisory/i,
    keepsSession: false,
  }),
  uncommitted,
];

function inProcess(
  name: string,
  ask: Way["ask"],
  { excludes = null, fits = () => true }: Partial<Pick<Way, "excludes" | "fits">> = {},
): Way {
  return { name, excludes, isRemote: false, run: (database, sql) => database.run(sql), ask, fits };
}

/** Through the real gateway. */
function overPg(
  name: string,
  request: (question: Question) => Uint8Array,
  { isBinary, ...rest }: Pick<Way, "excludes" | "fits"> & { readonly isBinary: boolean },
): Way {
  return {
    name,
    isRemote: true,
    run: (database, sql) => database.overPg(message("Q", sql), false),
    ask: (database, question) => database.overPg(request(question), isBinary),
    ...rest,
  };
}

/** Every way; the first is the plain one. */
export const WAYS: readonly Way[] = [
  inProcess("simple query", (database, { sql }) => database.run(sql)),
  inProcess("with parameters", (database, question) => database.execute(question, 1)),
  inProcess("prepared, six times", (database, question) => database.execute(question, 6), {
    excludes: /nextval/i,
    fits: (sql) => READS_ONLY.test(sql) && !VOLATILE.test(sql),
  }),
  overPg("over PG, text", ({ prepared, parameters }) => extended(prepared, parameters), {
    isBinary: false,
    excludes: null,
    fits: () => true,
  }),
  overPg("over PG, binary", ({ sql }) => binaryQuery(sql), {
    isBinary: true,
    // Numbers of objects and labels have no text without the catalog; rounding gives timestamps that nothing reads.
    excludes: /\bENUM\b|regtype|pg_typeof|regclass|pg_constraint|294276/i,
    // The fields of a record have no names or types in binary form that a text could be made of.
    fits: (sql) => !/\brow\s*\(|\bsearch (breadth|depth) first\b/i.test(sql),
  }),
];

function questionOf(sql: string): Question {
  const { text, parameters } = NEEDS_SAME_EXPRESSION.test(sql)
    ? { text: sql, parameters: [] }
    : parametrized(sql);
  return { sql, prepared: text, parameters };
}

function stateOf(keeping: Keeping, way: Way): StorageState {
  return {
    name: way === WAYS[0] ? keeping.name : way.name,
    asksOtherwise: way !== WAYS[0],
    fits: (script) => [keeping, way].every(({ excludes }) => excludes === null || !excludes.test(script)),
    open: async () => {
      const database = await StateDatabase.open();
      const around = keeping.start();
      const work = (sql: string) =>
        PLANNED.test(sql) && !sql.includes(";") && way.fits(sql)
          ? way.ask(database, questionOf(sql))
          : way.run(database, sql);
      return {
        run: (sql) => around(database, sql, () => work(sql)),
        [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
      };
    },
  };
}

const [plainKeeping, ...otherKeepings] = KEEPINGS as readonly [Keeping, ...Keeping[]];
const [plainWay, ...otherWays] = WAYS as readonly [Way, ...Way[]];

/** The states that scripts are run in; the first is the plain one. */
export const STORAGE_STATES: readonly StorageState[] = [
  stateOf(plainKeeping, plainWay),
  ...otherKeepings.map((keeping) => stateOf(keeping, plainWay)),
  ...otherWays.map((way) => stateOf(plainKeeping, way)),
];
