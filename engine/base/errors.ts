/**
 * The one error type for anything a user or client did wrong, or that the environment denied.
 *
 * Invariant: a {@link DatabaseError} always carries an SQLSTATE from {@link SQLSTATE}. Bugs are never reported
 * through it: those are assertion failures (see `assert.ts`) and end the process.
 */

/** The SQLSTATE codes this product raises, by the condition names of PostgreSQL's appendix A. */
export const SQLSTATE = {
  successfulCompletion: "00000",
  warning: "01000",
  noData: "02000",
  connectionException: "08000",
  sqlclientUnableToEstablishSqlconnection: "08001",
  protocolViolation: "08P01",
  featureNotSupported: "0A000",
  cardinalityViolation: "21000",
  dataException: "22000",
  stringDataRightTruncation: "22001",
  numericValueOutOfRange: "22003",
  nullValueNotAllowed: "22004",
  invalidDatetimeFormat: "22007",
  datetimeFieldOverflow: "22008",
  invalidPrecedingOrFollowingSize: "22013",
  invalidArgumentForNtile: "22014",
  invalidArgumentForNthValue: "22016",
  invalidTimeZoneDisplacementValue: "22009",
  substringError: "22011",
  invalidUseOfEscapeCharacter: "2200C",
  sequenceGeneratorLimitExceeded: "2200H",
  divisionByZero: "22012",
  intervalFieldOverflow: "22015",
  invalidArgumentForLogarithm: "2201E",
  invalidArgumentForPowerFunction: "2201F",
  invalidArgumentForWidthBucket: "2201G",
  invalidRowCountInLimitClause: "2201W",
  invalidRowCountInResultOffsetClause: "2201X",
  characterNotInRepertoire: "22021",
  invalidParameterValue: "22023",
  invalidEscapeSequence: "22025",
  invalidRegularExpression: "2201B",
  arraySubscriptError: "2202E",
  invalidTablesampleRepeat: "2202G",
  invalidTablesampleArgument: "2202H",
  invalidTextRepresentation: "22P02",
  invalidBinaryRepresentation: "22P03",
  badCopyFileFormat: "22P04",
  untranslatableCharacter: "22P05",
  invalidSqlJsonDatetime: "22031",
  invalidJsonText: "22032",
  invalidSqlJsonSubscript: "22033",
  nonNumericSqlJsonItem: "22036",
  singletonSqlJsonItemRequired: "22038",
  sqlJsonArrayNotFound: "22039",
  sqlJsonMemberNotFound: "2203A",
  sqlJsonNumberNotFound: "2203B",
  sqlJsonObjectNotFound: "2203C",
  integrityConstraintViolation: "23000",
  restrictViolation: "23001",
  notNullViolation: "23502",
  foreignKeyViolation: "23503",
  uniqueViolation: "23505",
  checkViolation: "23514",
  invalidCursorState: "24000",
  invalidTransactionState: "25000",
  activeSqlTransaction: "25001",
  readOnlySqlTransaction: "25006",
  noActiveSqlTransaction: "25P01",
  inFailedSqlTransaction: "25P02",
  idleInTransactionSessionTimeout: "25P03",
  invalidSqlStatementName: "26000",
  invalidAuthorizationSpecification: "28000",
  invalidPassword: "28P01",
  dependentObjectsStillExist: "2BP01",
  invalidCursorName: "34000",
  externalRoutineException: "38000",
  invalidExternalResult: "39P01",
  invalidCatalogName: "3D000",
  invalidSchemaName: "3F000",
  savepointException: "3B001",
  serializationFailure: "40001",
  statementCompletionUnknown: "40003",
  deadlockDetected: "40P01",
  syntaxErrorOrAccessRuleViolation: "42000",
  insufficientPrivilege: "42501",
  cannotCoerce: "42846",
  syntaxError: "42601",
  groupingError: "42803",
  datatypeMismatch: "42804",
  wrongObjectType: "42809",
  invalidForeignKey: "42830",
  invalidName: "42602",
  nameTooLong: "42622",
  reservedName: "42939",
  invalidSchemaDefinition: "42P15",
  undefinedColumn: "42703",
  undefinedFunction: "42883",
  undefinedTable: "42P01",
  undefinedParameter: "42P02",
  undefinedObject: "42704",
  duplicateColumn: "42701",
  duplicateCursor: "42P03",
  duplicateDatabase: "42P04",
  invalidFunctionDefinition: "42P13",
  duplicateFunction: "42723",
  duplicatePreparedStatement: "42P05",
  duplicateSchema: "42P06",
  duplicateTable: "42P07",
  duplicateAlias: "42712",
  duplicateObject: "42710",
  ambiguousColumn: "42702",
  ambiguousFunction: "42725",
  ambiguousParameter: "42P08",
  ambiguousAlias: "42P09",
  invalidColumnReference: "42P10",
  invalidColumnDefinition: "42611",
  invalidTableDefinition: "42P16",
  invalidObjectDefinition: "42P17",
  indeterminateDatatype: "42P18",
  invalidRecursion: "42P19",
  windowingError: "42P20",
  collationMismatch: "42P21",
  indeterminateCollation: "42P22",
  generatedAlways: "428C9",
  insufficientResources: "53000",
  diskFull: "53100",
  outOfMemory: "53200",
  tooManyConnections: "53300",
  configurationLimitExceeded: "53400",
  programLimitExceeded: "54000",
  statementTooComplex: "54001",
  tooManyColumns: "54011",
  tooManyArguments: "54023",
  objectNotInPrerequisiteState: "55000",
  cannotChangeParameter: "55P02",
  objectInUse: "55006",
  lockNotAvailable: "55P03",
  operatorIntervention: "57000",
  queryCanceled: "57014",
  adminShutdown: "57P01",
  crashShutdown: "57P02",
  cannotConnectNow: "57P03",
  idleSessionTimeout: "57P05",
  systemError: "58000",
  ioError: "58030",
  noActiveHandler: "0Z002",
  caseNotFound: "20000",
  errorInAssignment: "22005",
  raiseException: "P0001",
  noDataFound: "P0002",
  tooManyRows: "P0003",
  assertFailure: "P0004",
  fdwError: "HV000",
  fdwUnableToEstablishConnection: "HV00N",
  internalError: "XX000",
  dataCorrupted: "XX001",
  indexCorrupted: "XX002",
} as const;

/** One of the five-character codes of {@link SQLSTATE}. */
export type SqlState = typeof SQLSTATE[keyof typeof SQLSTATE];

/** What may be said about an error besides its code and message; the fields of PostgreSQL's ErrorResponse. */
export interface ErrorFields {
  /** One more sentence about the circumstances, for example the offending key. */
  readonly detail?: string;
  /** What the user can do about it, for example `Did you mean "price"?`. */
  readonly hint?: string;
  /** Position in the statement's text, counted from 1 in code points; only for errors in the text. */
  readonly position?: number;
  /** Where in the data or the call chain it happened, for example `COPY t, line 3, column a: "x"`. */
  readonly where?: string;
  /** Schema of the object that the error is about. */
  readonly schema?: string;
  /** Table that the error is about. */
  readonly table?: string;
  /** Column that the error is about. */
  readonly column?: string;
  /** Data type that the error is about. */
  readonly dataType?: string;
  /** Constraint that was violated. */
  readonly constraint?: string;
  /** What was thrown beneath. */
  readonly cause?: unknown;
}

/** Something a user, client or the environment did. */
export class DatabaseError extends Error {
  /** The SQLSTATE. */
  readonly code: SqlState;
  /** See {@link ErrorFields.detail}. */
  readonly detail: string | undefined;
  /** What the user can do about it. */
  readonly hint: string | undefined;
  /** Position in the text, from 1 in code points. */
  readonly position: number | undefined;
  /** See {@link ErrorFields.where}. */
  readonly where: string | undefined;
  /** Schema of the object that the error is about. */
  readonly schema: string | undefined;
  /** Table that the error is about. */
  readonly table: string | undefined;
  /** Column that the error is about. */
  readonly column: string | undefined;
  /** Data type that the error is about. */
  readonly dataType: string | undefined;
  /** Constraint that was violated. */
  readonly constraint: string | undefined;

  /** `message` is worded as PostgreSQL words it, without a final period. */
  constructor(code: SqlState, message: string, fields: ErrorFields = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.name = "DatabaseError";
    this.code = code;
    this.detail = fields.detail;
    this.hint = fields.hint;
    this.position = fields.position;
    this.where = fields.where;
    this.schema = fields.schema;
    this.table = fields.table;
    this.column = fields.column;
    this.dataType = fields.dataType;
    this.constraint = fields.constraint;
  }

  /** The same error with a position, unless it has one already. */
  at(position: number | undefined): DatabaseError {
    if (this.position !== undefined || position === undefined) return this;
    return new DatabaseError(this.code, this.message, definedFields({ ...this.fields(), position }));
  }

  /** The fields that are set, to build a changed copy from. */
  fields(): ErrorFields {
    return definedFields({
      detail: this.detail,
      hint: this.hint,
      position: this.position,
      where: this.where,
      schema: this.schema,
      table: this.table,
      column: this.column,
      dataType: this.dataType,
      constraint: this.constraint,
      cause: this.cause,
    });
  }
}

function definedFields(fields: Record<string, unknown>): ErrorFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
