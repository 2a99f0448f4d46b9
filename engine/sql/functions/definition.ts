/**
 * The shapes in which built-in functions, operators, casts and aggregates are defined.
 *
 * A definition is data: it drives name resolution, the code generator, `docs/functions.md` and the system catalog.
 * Each has a plain implementation (`evaluate`); hot ones also give the JavaScript that the code generator inlines.
 * Both must agree; a test compares them.
 */
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { BoundedForm, IntegerRange } from "./integer_range.ts";

/**
 * What an evaluation may ask besides its arguments. All of it is fixed by the session or chosen once by the node
 * that orders the log, so that evaluation is repeatable.
 */
export interface EvaluationContext {
  /** Microseconds since 2000-01-01 UTC; the transaction's timestamp (`now()`). */
  readonly transactionTimestamp: number;
  /** Microseconds since 2000-01-01 UTC; when the statement began (`statement_timestamp()`). */
  readonly statementTimestamp: number;
  /** The session's TimeZone setting, an IANA name or a fixed offset such as `+02:00`. */
  readonly timeZone: string;
  readonly dateStyle: string;
  readonly intervalStyle: string;
  readonly byteaOutput: string;
  readonly user: string;
  readonly database: string;
  /** Schemas searched for unqualified names. */
  readonly searchPath: readonly string[];
  /** Uniformly random number in [0, 1), from the node's random source. */
  random(): number;
  /** `n` random bytes, from the node's random source. */
  randomBytes(n: number): Uint8Array;
  /** Microseconds since 2000-01-01 UTC, now (`clock_timestamp()`). */
  clockTimestamp(): number;
  /** The session's services that some system functions need: settings, sequences, catalog look-ups, locks. */
  readonly services: SessionServices;
}

/** What functions such as `nextval`, `current_setting` or `pg_table_is_visible` ask of the session. */
export interface SessionServices {
  nextSequenceValue(sequence: string): number | bigint;
  currentSequenceValue(sequence: string): number | bigint;
  lastSequenceValue(): number | bigint;
  setSequenceValue(sequence: string, value: number | bigint, called: boolean): void;
  getSetting(name: string): string | undefined;
  /** Answers the value as it is kept. */
  setSetting(name: string, value: string | null, local: boolean): string;
  /**
   * Catalog-dependent functions by name: those of `catalogFunctionNames` (pg_get_indexdef …), and for each of regclass,
   * regtype, regproc and regnamespace `<type>in` (a name, to its object identifier) and `<type>out` (the reverse).
   */
  catalogFunction(name: string, args: readonly SqlValue[]): SqlValue;
}

/** immutable: folded at plan time. stable: once per statement may be assumed. volatile: evaluated at each row. */
export type Volatility = "immutable" | "stable" | "volatile";

/** Registers a run-time function for generated code and answers the identifier that the code calls it by. */
// deno-lint-ignore no-explicit-any -- run-time functions of every signature pass through here, untyped by nature
export type UseRuntime = (name: string, implementation: (...args: any[]) => unknown) => string;

/**
 * nothing: no error, whatever the arguments. pattern: errors of its pattern alone, which are the same for every text.
 */
export type Raises = "nothing" | "pattern" | "anything";

/** A function or operator chosen for concrete argument types. */
export interface BoundFunction {
  readonly name: string;
  /** The types that arguments must be converted to first (implicit casts are the binder's work). */
  readonly argumentTypes: readonly SqlType[];
  /** Those that it was chosen for, whose precision says what is exact. Absent: nobody knows. */
  readonly writtenTypes?: readonly SqlType[];
  readonly returnType: SqlType;
  readonly volatility: Volatility;
  /** true: any NULL argument gives NULL and `evaluate` and `inline` never see one. */
  readonly strict: boolean;
  /** true when the result can be NULL although no argument is. */
  readonly mayReturnNull: boolean;
  /** Which errors it raises; anything when absent. */
  readonly raises?: Raises;
  readonly evaluate: (context: EvaluationContext, ...args: SqlValue[]) => SqlValue;
  /**
   * The same as a JavaScript expression over `args`, each an identifier or literal (safe to repeat). For strict
   * functions arguments are never null. `use` registers run-time helpers. Absent: `evaluate` is called. The identifier
   * `context` is in scope.
   */
  readonly inline?: (args: readonly string[], use: UseRuntime) => string;
  /**
   * Steps that a call takes (see `engine/base/gas.ts`); "own": it charges them itself. Absent: judged by its types and
   * `step_rules.ts`.
   */
  readonly steps?: number | "own";
  /** The same for plain numbers whose ranges are known; undefined for ranges with which it would not be exact. */
  readonly bounded?: BoundedForm;
  /** A set-returning function (generate_series, unnest …): `evaluate` is not used, `rows` is. */
  readonly rows?: (context: EvaluationContext, ...args: SqlValue[]) => Iterable<readonly SqlValue[]>;
  /** The number of the user's function that it is; absent: built in. */
  readonly userFunctionId?: number;
  /** What it keeps in memory by itself, roughly, where that is much. */
  readonly heldBytes?: number;
  /** Columns of a set-returning function. */
  readonly rowColumns?: readonly { readonly name: string; readonly type: SqlType }[];
}

/** One overload in the table of functions or operators. */
export interface FunctionDefinition {
  /** Lower case, without schema; operators by their symbol. */
  readonly name: string;
  /** For documentation and the catalog, e.g. `["numeric", "i32"]`; patterns such as `anyelement` are allowed. */
  readonly signature: readonly string[];
  readonly returns: string;
  readonly variadic?: boolean;
  /**
   * Of a variadic one: the overload that a call with VARIADIC chooses, whose last parameter is the array of the rest.
   */
  readonly spread?: Pick<FunctionDefinition, "name" | "signature" | "bind">;
  readonly category:
    | "mathematical"
    | "text"
    | "binary"
    | "date/time"
    | "array"
    | "json"
    | "conditional"
    | "comparison"
    | "system"
    | "sequence"
    | "set-returning"
    | "conversion"
    | "cryptographic"
    | "logical";
  /** One sentence for `docs/functions.md`. */
  readonly summary: string;
  /** Chooses this overload for the given argument types, or says that it does not fit. `cost` counts implicit casts. */
  readonly bind: (
    argumentTypes: readonly SqlType[],
  ) => { readonly cost: number; readonly bound: BoundFunction } | undefined;
}

/** One component of an aggregate's state; `float` states live in a Float64Array, `object` states in a plain array. */
export interface AggregateSlot {
  readonly kind: "float" | "object";
  /** JavaScript literal of the initial value, e.g. `0` or `null`. */
  readonly initial: string;
}

/** What generated code knows of the values that an aggregate folds. */
export interface StepFacts {
  /** Ranges of the arguments that are plain integers. */
  readonly ranges: readonly (IntegerRange | undefined)[];
  /** The state begins with a value: slots that begin as NaN for "no row yet" begin as 0. */
  readonly hasValue: boolean;
  /** How many rows will be folded, an expression; for {@link BoundAggregate.needsCount} only. */
  readonly count?: string;
  /**
   * The caller flushes the component's sum in time, see {@link AggregateComponent.flush}; the step declares the new
   * number by this name.
   */
  readonly flushed?: string;
}

/** A part of a state that aggregates over the same argument have in common: `sum(x)` and `avg(x)` keep one sum. */
export interface AggregateComponent {
  /** Pieces of one key over one argument are the same. */
  readonly key: string;
  /** It counts rows, whatever the argument is, as long as that is not NULL. */
  readonly countsRows?: boolean;
  readonly slots: readonly AggregateSlot[];
  /**
   * The component is an exact sum in two slots, a number and a bigint. Whoever folds plain integers of known bounds
   * may leave the tests out of `step` and move the number to the bigint itself, before the values folded since can
   * add up to 2^51.
   */
  readonly flush?: boolean;
  /** As {@link BoundAggregate.step}, over the component's own slots. */
  readonly step: BoundAggregate["step"];
}

/** An aggregate chosen for concrete argument types; fused into generated code. */
export interface BoundAggregate {
  readonly name: string;
  readonly argumentTypes: readonly SqlType[];
  /** See {@link BoundFunction.writtenTypes}. */
  readonly writtenTypes?: readonly SqlType[];
  readonly returnType: SqlType;
  /** true: rows in which any argument is NULL are skipped before `step` (all but array_agg, json_agg, count(*)). */
  readonly skipsNulls: boolean;
  readonly slots: readonly AggregateSlot[];
  /**
   * A JavaScript statement that folds one row into the state. `slots` are assignable expressions (a local variable or
   * `state0[group]`), `args` identifiers.
   */
  readonly step: (
    slots: readonly string[],
    args: readonly string[],
    use: UseRuntime,
    facts?: StepFacts,
  ) => string;
  /** What the state consists of, when others can share it: `slots` and `step` are those of the components in a row. */
  readonly components?: readonly AggregateComponent[];
  /** A JavaScript expression of the result (a value of returnType, or null). */
  readonly finish: (slots: readonly string[], use: UseRuntime) => string;
  /** How the states of parts of the rows become one; absent: all rows must be in one place. */
  readonly parts?: AggregateMerge;
  /** The value over no rows at all equals `finish` of the initial state. */
  readonly orderSensitive: boolean;
  /** Its rows always come in an order, and `step` is given their number. */
  readonly needsCount?: true;
}

/** How an aggregate is computed over parts of the rows, each in another place, and then over those results. */
export interface AggregateMerge {
  /** What each part answers, as values of SQL types. */
  readonly results: readonly { readonly type: SqlType; readonly finish: BoundAggregate["finish"] }[];
  /** Folds what a part answers into the state, as `step` folds a row; parts with a NULL in it are skipped. */
  readonly merge: BoundAggregate["step"];
}

/** One overload of an aggregate. */
export interface AggregateDefinition {
  readonly name: string;
  readonly signature: readonly string[];
  readonly returns: string;
  readonly summary: string;
  readonly bind: (
    argumentTypes: readonly SqlType[],
  ) => { readonly cost: number; readonly bound: BoundAggregate } | undefined;
}

/** In which places a cast happens by itself: everywhere, when assigned to a column, or only when written. */
export type CastContext = "implicit" | "assignment" | "explicit";

/** A conversion between two types, chosen for concrete types (typmods included: length and scale checks are in it). */
export interface BoundCast {
  readonly from: SqlType;
  readonly to: SqlType;
  readonly context: CastContext;
  /** What it was looked for as, which decides what happens to values that do not fit. */
  readonly requested: CastContext;
  /** Whether it gives an operand of a comparison, which need not be a value of the target type. */
  readonly isCompared?: true;
  readonly volatility: Volatility;
  readonly mayReturnNull: boolean;
  /** True when values stay as they are, so that the cast may be left out of a plan. */
  readonly identity: boolean;
  readonly evaluate: (context: EvaluationContext, value: SqlValue) => SqlValue;
  readonly inline?: (argument: string, use: UseRuntime) => string;
}
