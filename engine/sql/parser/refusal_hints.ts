/**
 * Why a statement or clause that PostgreSQL has is refused, and what to write instead.
 *
 * Invariant: every refusal of a whole statement has a hint; a clause without one says enough by its name and place.
 */

const ONE_USER =
  "Everybody who has the server's token may do everything; limit access in front of the server.";
const ONE_STORAGE = "A table is stored in one form, in the data directory; leave the clause away.";
const NO_REPLICATION_SLOTS = "Copy changes with a query over HTTP or the binary protocol, or with COPY … TO.";
const FOREIGN_DATA = "CREATE EXTERNAL SOURCE makes a table that REFRESH fills from a file or a service.";
const NO_TEXT_SEARCH = "Search texts with LIKE, SIMILAR TO or regular expressions (~).";
const SQL_FUNCTIONS = "Functions are written in WebAssembly: CREATE FUNCTION … LANGUAGE WASM.";
const NO_PARTITIONS = "Segments of a table are skipped by their bounds without partitions: use one table.";
const NO_INHERITANCE =
  "Create one table with a column that tells the kinds of rows apart, or a view over several tables.";
const ROW_TRIGGERS = "CREATE TRIGGER … BEFORE … FOR EACH ROW sets columns or rejects a row.";

/** By what the feature's name holds; the first that fits counts. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /^(CREATE|ALTER|DROP|COMMENT|REFRESH) MATERIALIZED VIEW/,
    "Use a view, or CREATE TABLE … AS and fill the table anew.",
  ],
  [/EVENT TRIGGER/, ROW_TRIGGERS],
  [/^(ENABLE|DISABLE|CREATE CONSTRAINT) ?\/?.*TRIGGER|TRIGGER$/, ROW_TRIGGERS],
  [/FOREIGN|USER MAPPING|\bSERVER\b|^IMPORT/, FOREIGN_DATA],
  [/TEXT SEARCH/, NO_TEXT_SEARCH],
  [
    /\bPOLICY\b|ROW LEVEL SECURITY|\bROW LEVEL\b/,
    "Give each kind of reader a view or a server of its own; rows are not hidden from users.",
  ],
  [/^SECURITY LABEL/, ONE_USER],
  [/\b(ROLE|USER|GROUP|DEFAULT PRIVILEGES)\b|^(GRANT|REVOKE)|^(REASSIGN|DROP OWNED)/, ONE_USER],
  [/\bRULE\b/, `Rules rewrite queries unseen; use a view or a trigger. ${ROW_TRIGGERS}`],
  [/\b(PUBLICATION|SUBSCRIPTION)\b/, NO_REPLICATION_SLOTS],
  [/TABLESPACE/, ONE_STORAGE],
  [/ACCESS METHOD|^index method/, "Indexes serve equality and order; CREATE INDEX without USING makes one."],
  [/\bSTATISTICS\b/, "Make a generated column of the expression, and name that."],
  [/\bCOLLATION\b|^COLLATE/, 'Texts are ordered by code point, as by the collation "C".'],
  [/\b(AGGREGATE|ROUTINE|PROCEDURE|FUNCTION|LANGUAGE|PROCEDURAL|TRUSTED)\b|^CALL\b/, SQL_FUNCTIONS],
  [
    /\b(CAST|CONVERSION|TRANSFORM)\b/,
    "Write the conversion as an expression: CAST(… AS type) or a function.",
  ],
  [/\bOPERATOR\b/, `Call a function by its name. ${SQL_FUNCTIONS}`],
  [/LARGE OBJECT/, "Keep bytes in a column of type bytea."],
  [/^CREATE TYPE|^CREATE TABLE … OF/, "Write the columns out, or use a column of type jsonb."],
  [/\bDOMAIN\b/, "Give the column the base type and a CHECK constraint."],
  [
    /ALTER SYSTEM/,
    "Settings of the server are flags, DB_ variables and the file of --config: see dbd --help.",
  ],
  [
    /^ALTER DATABASE|^ALTER ROLE/,
    "A server has one database and one user; ALTER DATABASE … SET keeps settings.",
  ],
  [
    /^CLUSTER|CLUSTER ON|SET WITHOUT CLUSTER/,
    "Rows are ordered by their primary key already; leave the statement away.",
  ],
  [/^LOAD/, "Code is not loaded into the server; functions are written in WebAssembly."],
  [/PARTITION/, NO_PARTITIONS],
  [/INHERIT/, NO_INHERITANCE],
  [/REPLICA IDENTITY/, NO_REPLICATION_SLOTS],
  [
    /^EXCLUDE constraint/,
    "UNIQUE and CHECK constraints are enforced; ranges that overlap can be refused by a query in the transaction.",
  ],
  [/^WITH CHECK OPTION/, "Put the condition into a CHECK constraint of the table."],
  [/^WHERE CURRENT OF/, "Name the row by its primary key."],
  [/^a DEFERRABLE key/, "Foreign keys can be DEFERRABLE; unique keys are checked row by row."],
  [/^GENERATED … VIRTUAL/, "Write STORED, or compute the value in a view."],
  [/^CREATE TABLE AS EXECUTE/, "Write the query itself behind AS."],
  [/^CREATE RECURSIVE VIEW/, "Write CREATE VIEW … AS WITH RECURSIVE …"],
  [/SET (UN)?LOGGED/, "Every table is logged; CREATE UNLOGGED TABLE makes one like others."],
  [/TRANSACTION$/, "End the transaction with COMMIT; a transaction lives no longer than its connection."],
  [/^system column/, "Rows are told apart by the primary key, or by rowid in a table without one."],
  [/^XML|^IS DOCUMENT/, "Keep the text in a column of type text, or convert it to jsonb."],
  [/^EXPLAIN \(FORMAT/, "There are FORMAT TEXT and FORMAT JSON."],
  [
    /^SET TRANSACTION SNAPSHOT/,
    "Run the statements in one transaction, or read in READ ONLY transactions one after the other.",
  ],
];

/** What to do instead of a feature that is refused, where there is something to say. */
export function refusalHint(feature: string): string | undefined {
  return HINTS.find(([pattern]) => pattern.test(feature))?.[1];
}
