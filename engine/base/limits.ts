/**
 * Every limit of the engine in one place, with its unit in its name: what a user, an operator or another machine can
 * run into, and what caches and queues may hold. How limits depend on each other is asserted when the module loads.
 * Constants that only tune an algorithm are next to it, and what the range of a type's values is, is with the type.
 */
import { assert } from "./assert.ts";

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const GIBIBYTE = 1024 * MEBIBYTE;

/** The limits. Those that an operator may change are the defaults of settings. */
export const LIMITS = {
  /** A frame of the binary protocol, its length prefix not counted. */
  maximumFrameBytes: 64 * MEBIBYTE,
  /** The body of an HTTP request. */
  maximumHttpBodyBytes: 8 * MEBIBYTE,
  /** A message on a WebSocket. */
  maximumWebSocketMessageBytes: 8 * MEBIBYTE,
  /** The text of one statement. */
  maximumStatementBytes: 64 * MEBIBYTE,
  /** Nesting of expressions, subqueries, joins and parentheses in a statement; each level is a call of the parser. */
  maximumNestingDepth: 500,
  /**
   * Depth of the tree of an expression. Operators in a row are read without recursion but make a tree as deep as they
   * are many, and whoever walks the tree recurses.
   */
  maximumExpressionDepth: 1000,
  /** Tokens of one text; its tree and plan take some hundred bytes for each, and the heap must hold them. */
  maximumStatementTokens: 2_500_000,
  /** Columns of one table, as in PostgreSQL. */
  maximumTableColumns: 1600,
  /** Columns of one index, as in PostgreSQL. */
  maximumIndexColumns: 32,
  /** Parameters of one statement: the PostgreSQL protocol counts them in 16 bits. */
  maximumParameters: 65_535,
  /** Bytes of an identifier; longer ones are cut, as in PostgreSQL. */
  maximumIdentifierBytes: 63,
  /** Grouping sets that CUBE, ROLLUP and their combinations may expand to, as in PostgreSQL. */
  maximumGroupingSets: 4096,
  /** Characters that varchar(n) and char(n) may declare, as in PostgreSQL. */
  maximumCharacterLength: 10_485_760,
  /** Digits, and digits after the point, that numeric(p, s) may declare, as in PostgreSQL. */
  maximumNumericPrecision: 1000,
  /** Dimensions of an array, as in PostgreSQL. */
  maximumArrayDimensions: 6,
  /** Elements that an assignment to an array may make it have. */
  maximumArrayElements: 16_777_216,
  /** Nesting of a JSON value. */
  maximumJsonDepth: 2000,
  /** Nesting of a jsonpath. */
  maximumJsonPathDepth: 500,
  /** Instructions of a compiled regular expression; repetition counts multiply them. */
  maximumRegularExpressionInstructions: 50_000,
  /** Steps of one search that has to backtrack: some tenths of a second. */
  regularExpressionSteps: 10_000_000,
  /** Alternatives that such a search may have still to try at once. */
  regularExpressionAlternatives: 1_000_000,
  /** How long a statement waits for a state that is new enough, unless lock_timeout or statement_timeout is set. */
  stateWaitMilliseconds: 5_000,
  /** Seconds that pg_sleep may wait; a timer holds 31 bits of milliseconds. */
  maximumSleepSeconds: 86_400 * 24,
  /** How often a statement or DO block runs again because other transactions keep getting in its way. */
  maximumConflictRetries: 20,

  /** One value of a text or bytea column. */
  maximumValueBytes: 256 * MEBIBYTE,
  /** A page of a Parquet file after decompression, by default and at most. */
  parquetPageBytes: 256 * MEBIBYTE,
  maximumParquetPageBytes: 511 * MEBIBYTE,
  /** One row of COPY data. */
  maximumCopyRowBytes: 512 * MEBIBYTE,
  /** One entry of the log, which is one transaction's effects. */
  maximumEntryBytes: GIBIBYTE,
  /** The same of a server that is alone, where an entry is in parts. */
  maximumLongEntryBytes: 1024 * GIBIBYTE,
  /** Bytes of an entry in one of its parts. */
  logPartBytes: 768 * KIBIBYTE,
  /** Entries of more bytes, as they are estimated, are written in parts. */
  partedEntryBytes: 256 * MEBIBYTE,
  /** Effects in one entry. */
  maximumEntryEffects: 16_777_216,
  /** Values out of their column's range that the verification of a database names. */
  maximumWrongValues: 1000,
  /** Rows of one columnar batch in an entry. */
  maximumBatchRows: 16_777_216,
  /** Digits of an integer that a number literal, entry or message may carry, in bytes of its encoding. */
  maximumIntegerBytes: 64 * KIBIBYTE,

  /** Rows that a commit may write in one go; more are applied in steps, between which others read. */
  commitAtOnceRows: 512,
  /** The same in bytes. */
  commitAtOnceBytes: MEBIBYTE,

  /** A log file is closed and the next begun when it would grow beyond this. */
  logFileBytes: 64 * MEBIBYTE,
  /** Space of a log file that is written with zeros ahead, so that a full disk shows before an entry is accepted. */
  logReserveBytes: MEBIBYTE,
  /** Entries collected for one write. */
  groupCommitBufferBytes: MEBIBYTE,
  /** Entries from this size on go to the file at once, without a copy in the buffer. */
  directWriteBytes: 64 * KIBIBYTE,
  /** A checkpoint begins when the log has grown by this much since the last one. */
  checkpointLogBytes: 64 * MEBIBYTE,
  /** Commits wait while the log of a replication group's primary is further ahead of the commit number. */
  uncommittedLogBytes: 64 * MEBIBYTE,
  /** A member of a replication group keeps so many bytes of log before its checkpoint for members that lag. */
  keptLogBytes: 128 * MEBIBYTE,
  /** A member of a replication group reads so much of its files each second, to find damage before it is needed. */
  scrubBytesPerSecond: MEBIBYTE,
  /** A checkpoint that found the disk full tries again after this much more log. */
  checkpointRetryLogBytes: MEBIBYTE,
  /** A server that stops makes a checkpoint when more log than this would have to be read again. */
  settledLogBytes: MEBIBYTE,
  /** Column values that one step of building a segment handles before it looks at the time. */
  checkpointStepValues: 4096,

  /** Segments of one table that a point read may probe. */
  maximumProbedSegments: 8,
  /** Decoded blocks kept in memory. */
  blockCacheBytes: 128 * MEBIBYTE,

  /** Prepared statements of one session. */
  maximumPreparedStatements: 10_000,
  /** Prepared statements of all sessions together. */
  preparedStatements: 50_000,
  /** Advisory locks that one session may hold. */
  maximumAdvisoryLocks: 10_000,
  /** Open cursors and portals of one session. */
  maximumCursors: 1000,
  /** Notifications that one transaction may send, and that may wait for one session. */
  maximumPendingNotifications: 10_000,
  /** Length of a notification's payload, PostgreSQL's. */
  maximumNotificationBytes: 7_999,
  /** Plans kept by shape; as many again of large ones. */
  maximumCachedPlans: 2000,
  /** Texts of BEGIN, COMMIT and ROLLBACK whose trees are kept. */
  keptBlockTexts: 32,
  /** Characters of a statement whose tree is kept; that of a longer one is made again when it is needed again. */
  keptTreeCharacters: 16_384,
  /** Compiled patterns of LIKE and of regular expressions that are kept. */
  keptPatterns: 500,
  /** Templates of to_char and to_date that are kept, as many again of to_number. */
  keptTemplates: 200,
  /** Expressions of the catalog whose texts are kept. */
  keptExpressionTexts: 10_000,
  /** Parent keys that one statement remembers for each foreign key. */
  keptParentKeys: 65_536,
  /** What the plans kept may hold in memory, roughly; the same again for large ones. */
  cachedPlanBytes: 64 * MEBIBYTE,
  /** Clients whose last reply is kept for exactly-once. */
  exactlyOnceClients: 10_000,
  /** Rows of shards that one statement may fetch. */
  fetchedBytes: 256 * MEBIBYTE,
  /** What a statement takes without asking for its share of the memory of all statements. */
  freeStatementBytes: 512 * KIBIBYTE,
  /** Memory that threads share for hash tables, which gets pages as far as it is used and keeps them. */
  sharedTableBytes: 256 * MEBIBYTE,
  /** What a statement gets at least when it has waited for memory, so that it writes few and long runs. */
  spillingMemoryBytes: 4 * MEBIBYTE,
  /** Memory of all statements together, unless it is given. */
  queryMemoryBytes: GIBIBYTE,
  /** The same at least, on a small machine. */
  leastQueryMemoryBytes: 256 * MEBIBYTE,
  /** Temporary files of all statements together, unless it is given. */
  temporaryFileBytes: 64 * GIBIBYTE,
  /** Uncommitted rows of one transaction, roughly. */
  transactionMemoryBytes: GIBIBYTE,
  /** The same for bulk loads, whose rows are in arrays outside of the heap. */
  transactionBatchBytes: 4 * GIBIBYTE,
  /** Beyond so much of bulk loads and of changed rows the transaction writes the latter to a temporary file. */
  transactionKeptBatchBytes: 128 * MEBIBYTE,
  /** An INSERT of so many rows, as the planner estimates them, may write them in batches. */
  batchedInsertRows: 100,
  /** Committed writes kept to validate open transactions against; older transactions must be run again beyond it. */
  validationHistoryWrites: 1_000_000,
  /** Steps of one evaluation of a trigger or CHECK expression. */
  expressionGas: 100_000,
  /** Calls on large values that other threads compute for one statement, which is taken back for each. */
  largeCalls: 64,
  /** Size of their values together (see `sizeOf`) beyond which the statement computes the rest by itself. */
  largeCallsSize: 64 * MEBIBYTE,
  /** Instructions of one call of a WebAssembly function. */
  wasmGas: 10_000_000,
  /** Instructions that a function may ask for; the slowest ones need some tens of milliseconds for as many. */
  maximumWasmGas: 25_000_000,
  /** Instructions that count as one step where an expression is counted. */
  wasmInstructionsPerStep: 250,
  /** A WASM function whose code shows that it takes no more is called without looking at what it took. */
  shortWasmInstructions: 2_500,
  /** Characters of a module's text below which it is prepared in one piece, in a few milliseconds. */
  smallModuleText: 16 * KIBIBYTE,
  /** Modules that are kept beside those that functions hold, with what they were rewritten to. */
  keptModuleBytes: 32 * MEBIBYTE,
  /** A module of a WebAssembly function. */
  maximumModuleBytes: 4 * MEBIBYTE,
  /** Types, functions, globals, exports and segments of a module, each. */
  maximumWasmItems: 50_000,
  /** Code of one function of a module. */
  maximumWasmBodyBytes: MEBIBYTE,
  /** Parameters of a function of a module, as many as PostgreSQL's functions have. */
  maximumWasmParameters: 100,
  /** Results of a function, or of a block, of a module. */
  maximumWasmResults: 32,
  /** Parameters, variables and operands of one function of a module. */
  maximumWasmFrameSlots: 20_000,
  /** Blocks in each other in a module. */
  maximumWasmNesting: 5_000,
  /** Elements of the table of a module. */
  maximumWasmTableElements: 100_000,
  /** Pages of 64 KiB that the memory of a module may have, whatever it declares: 16 MiB. */
  maximumWasmMemoryPages: 256,
  /** What the frames of the calls of a module may take on the stack, as it is estimated from their variables. */
  wasmStackBytes: 384 * KIBIBYTE,
  /** Memory of all instances together; the one that was used least recently makes room. */
  wasmInstanceBytes: 256 * MEBIBYTE,
  /** Instances that are kept, for each reserves address space. */
  wasmInstances: 64,

  /** PostgreSQL connections. */
  pgConnections: 256,
  /** HTTP connections. */
  httpConnections: 1024,
  /** Requests of one HTTP connection that wait for an answer before no more of it is read. */
  httpPipelinedRequests: 64,
  /** HTTP requests being answered. */
  httpRequestsInFlight: 4096,
  /** Binary-protocol connections. */
  binaryConnections: 1024,
  /** Messages waiting to be sent on one WebSocket. */
  webSocketSendQueue: 16,
} as const;

assert(
  LIMITS.maximumNestingDepth <= LIMITS.maximumExpressionDepth,
  "the tree of what the parser accepts is accepted",
);
assert(LIMITS.wasmGas <= LIMITS.maximumWasmGas, "the gas that functions get is allowed");
assert(LIMITS.maximumSleepSeconds * 1000 < 2 ** 31, "a timer holds the longest sleep");
assert(LIMITS.groupCommitBufferBytes <= LIMITS.logFileBytes, "the group-commit buffer fits a log file");
assert(
  LIMITS.directWriteBytes <= LIMITS.groupCommitBufferBytes,
  "what is not written directly fits the buffer",
);
assert(LIMITS.logReserveBytes <= LIMITS.logFileBytes, "the reserve fits a log file");
assert(LIMITS.maximumValueBytes <= LIMITS.maximumCopyRowBytes, "a value fits a row of COPY data");
assert(
  LIMITS.maximumPreparedStatements <= LIMITS.preparedStatements,
  "one session may have all the prepared statements that it is allowed",
);
assert(
  LIMITS.maximumWasmMemoryPages * 65_536 * 4 <= LIMITS.wasmInstanceBytes,
  "several instances of the largest memory fit",
);
assert(LIMITS.maximumEntryBytes < 2 ** 31, "an entry fits one byte array");
assert(LIMITS.maximumFrameBytes <= LIMITS.maximumEntryBytes, "what one frame carries fits an entry");
assert(
  LIMITS.maximumHttpBodyBytes <= LIMITS.maximumFrameBytes,
  "what HTTP accepts the binary protocol accepts",
);
assert(LIMITS.maximumWebSocketMessageBytes <= LIMITS.maximumFrameBytes, "a WebSocket message fits a frame");
assert(LIMITS.maximumValueBytes <= LIMITS.maximumEntryBytes, "a value fits an entry");
assert(LIMITS.checkpointLogBytes >= LIMITS.logFileBytes, "a checkpoint frees at least one log file");
