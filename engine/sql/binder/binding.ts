/**
 * The state of binding one statement: column numbers, parameters, positions of errors, what was used.
 *
 * Invariant: parameter types only go from unknown to known, by the first context that needs one.
 */
import type { RelationShape } from "../../catalog/definitions.ts";
import { assertDefined } from "../../base/assert.ts";
import { onceIn, type Pieces, type PieceState } from "../../base/pieces.ts";
import { DatabaseError, type ErrorFields, SQLSTATE, type SqlState } from "../../base/errors.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { Delete, Expression as Ast, Insert, Update } from "../parser/ast.ts";
import { errorPosition } from "../parser/source_text.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import { expressionKey, longExpressionKey } from "../plan/build.ts";
import { operands } from "../plan/traverse.ts";
import type { Plan } from "../plan/plan.ts";
import type { BoundQuery } from "./bound_query.ts";
import type { CommonTableScope } from "./scope.ts";
import type { PlanningEnvironment } from "./environment.ts";

/** Operands whose keys are made in pieces. */
const LONG_KEY = 1000;

/** A common table's definition while the statement is bound. */
export type WithDefinition = (Plan & { readonly kind: "with" })["definitions"][number];

/** What is known of expressions that were bound in a piece before: they are the same objects in all pieces. */
interface BoundBefore {
  readonly rowFields: WeakMap<Expression, readonly Expression[]>;
  readonly positions: WeakMap<Expression, number>;
  /** What was learned of parameters, in the order in which it was: that one is used, or its type. */
  readonly learned: { readonly index: number; readonly type: SqlType | undefined }[];
}

const boundBefore = new WeakMap<object, BoundBefore>();

/** The state of binding one statement: column numbers, parameters, positions of errors, what was used. */
export class Binding implements PieceState<number> {
  readonly environment: PlanningEnvironment;
  readonly #parameterTypes: (SqlType | undefined)[] = [];
  readonly #learned: BoundBefore["learned"];
  #learnedCount = 0;
  #parameterCount: number;
  /** Whether the highest `$n` is fixed: lifted literals are numbered behind it. */
  readonly parametersFixed: boolean;
  /** How `table.column` is shown in messages about a column. */
  readonly columnNames = new Map<ColumnRef, string>();
  /** The fields of rows of FROM that may be missing as a whole. */
  readonly rowFields: BoundBefore["rowFields"];
  /** Where a column reference is in the text. */
  readonly positions: BoundBefore["positions"];
  /** Views that are being expanded, against endless recursion. */
  readonly openViews: string[] = [];
  /**
   * Schemas of the views whose stored text is being bound: its names mean the same whatever the session's search
   * path.
   */
  readonly storedSchemas: string[] = [];
  /** What these views see of the relations that they read. */
  readonly storedShapes: (readonly RelationShape[] | undefined)[] = [];
  /** The statement's own WITH, in which alone data may be changed; null in other contexts. */
  outermostWith: object | null = null;
  /** Binds a data change in WITH; set by whoever plans the statement. */
  bindModification:
    | ((statement: Insert | Update | Delete, commonTables: CommonTableScope | null) => BoundQuery)
    | null = null;
  /** The columns that set-returning functions of a select list make. */
  readonly setOutputs = new Set<ColumnRef>();
  /**
   * Direct arguments of ordered-set aggregates, by their syntax and as they are bound: they are values of a group, not
   * of its rows.
   */
  readonly directArguments = { asts: new WeakSet<Ast>(), bound: new WeakSet<Expression>(), any: false };
  writesSequences = false;
  locks = false;
  readonly #pieces: Pieces | undefined;
  #nextColumn = 1;
  #nextWith = 1;
  #positionsOff = 0;

  constructor(environment: PlanningEnvironment) {
    this.environment = environment;
    const { pieces } = environment;
    this.#pieces = pieces;
    const known = (pieces && boundBefore.get(pieces)) ??
      { rowFields: new WeakMap(), positions: new WeakMap(), learned: [] };
    if (pieces !== undefined) boundBefore.set(pieces, known);
    this.rowFields = known.rowFields;
    this.positions = known.positions;
    this.#learned = known.learned;
    if (environment.reads !== undefined) this.storedShapes.push(environment.reads);
    this.#parameterCount = Math.max(environment.parameterCount ?? 0, environment.parameterTypes?.length ?? 0);
    this.parametersFixed = environment.parameterCount !== undefined ||
      (environment.literals?.length ?? 0) > 0;
    for (let index = 0; index < this.parameterCount; index++) {
      const declared = environment.parameterTypes?.[index];
      this.#parameterTypes.push(declared?.kind === "unknown" ? undefined : declared);
    }
    for (const _ of environment.literals ?? []) this.#parameterTypes.push(undefined);
  }

  /** By parameter index; undefined while it is not known. */
  get parameterTypes(): readonly (SqlType | undefined)[] {
    return this.#parameterTypes;
  }

  get parameterCount(): number {
    return this.#parameterCount;
  }

  /**
   * Grows with each subquery, aggregate, window, set-returning function and sequence, which have a part elsewhere in
   * the statement. Where it is the same, an expression is all that was made.
   */
  get progress(): number {
    const flags = Number(this.writesSequences) + Number(this.locks) + Number(this.directArguments.any);
    return this.#nextColumn + this.#nextWith + flags;
  }

  save(): number {
    return this.#learnedCount;
  }

  /** Learns of parameters what bound items, which are not bound again, had told. */
  restore(count: number): void {
    while (this.#learnedCount < count) {
      const { index, type } = assertDefined(this.#learned[this.#learnedCount++], "what was learned");
      this.#apply(index, type);
    }
  }

  /** What `bind` makes of each item of a list, which may be long. */
  each<Item, Bound>(list: readonly Item[], bind: (item: Item, index: number) => Bound): readonly Bound[] {
    if (this.#pieces === undefined) return list.map(bind);
    return this.#pieces.collect(
      { state: this, mark: list.length },
      (index) => index < list.length ? bind(list[index] as Item, index) : undefined,
    );
  }

  /** What follows from the items of a long list. */
  once<T>(make: () => T): T {
    return onceIn(this.#pieces, make, this);
  }

  /** {@link expressionKey}, in pieces where the expression is long. */
  keyOf(expression: Expression): string {
    if (this.#pieces === undefined || operands(expression).length < LONG_KEY) {
      return expressionKey(expression);
    }
    return this.once(() => longExpressionKey(expression, (terms) => this.each(terms, expressionKey)));
  }

  /** Takes note that `$n` is used; answers false when there is no such parameter. */
  useParameter(number: number): boolean {
    if (number <= this.#parameterCount) return true;
    if (this.parametersFixed) return false;
    this.#learn(number - 1, undefined);
    return true;
  }

  /** The parameter has this type from now on. */
  takeParameterType(index: number, type: SqlType): void {
    this.#learn(index, type);
  }

  #learn(index: number, type: SqlType | undefined): void {
    if (this.#pieces !== undefined) this.#learned[this.#learnedCount++] = { index, type };
    this.#apply(index, type);
  }

  #apply(index: number, type: SqlType | undefined): void {
    if (type !== undefined) {
      this.#parameterTypes[index] = type;
      return;
    }
    while (this.#parameterTypes.length <= index) this.#parameterTypes.push(undefined);
    this.#parameterCount = index + 1;
  }

  /** The columns of a relation that the text being bound can see, by the names it knows them by; undefined: all. */
  knownColumns(relationId: number): RelationShape["columns"] | undefined {
    return this.storedShapes.at(-1)?.find((each) => each.relationId === relationId)?.columns;
  }

  newColumn(): ColumnRef {
    return this.#nextColumn++;
  }

  newColumns(count: number): ColumnRef[] {
    return Array.from({ length: count }, () => this.newColumn());
  }

  newWithId(): number {
    return this.#nextWith++;
  }

  /** Makes sure that numbers of columns that were made elsewhere are not given out again. */
  get nextColumn(): ColumnRef {
    return this.#nextColumn;
  }

  /** Runs `action` for text other than the statement's (a view, a default): its errors carry no position. */
  inOtherText<T>(action: () => T): T {
    this.#positionsOff++;
    try {
      return action();
    } finally {
      this.#positionsOff--;
    }
  }

  /** Whether expressions come from the statement's own text. */
  get inOwnText(): boolean {
    return this.#positionsOff === 0;
  }

  /** The position that errors carry for an offset into the text. */
  position(offset: number | undefined): number | undefined {
    if (offset === undefined || this.#positionsOff > 0 || this.environment.text === undefined) {
      return undefined;
    }
    return errorPosition(this.environment.text, offset);
  }

  /**
   * Options for functions that raise errors with a position. It is counted out only when an error asks for it: counting
   * reads the text up to there.
   */
  at(offset: number | undefined): { readonly position?: number } {
    const { text } = this.environment;
    if (offset === undefined || this.#positionsOff > 0 || text === undefined) return {};
    return {
      get position() {
        return errorPosition(text, offset);
      },
    };
  }

  error(code: SqlState, message: string, offset?: number, fields: ErrorFields = {}): DatabaseError {
    return new DatabaseError(code, message, { ...fields, ...this.at(offset) });
  }

  unsupported(feature: string, offset?: number): DatabaseError {
    return this.error(SQLSTATE.featureNotSupported, `${feature} is not supported`, offset);
  }

  /** Runs `action`; errors without a position get this one. */
  locate<T>(offset: number | undefined, action: () => T): T {
    try {
      return action();
    } catch (error) {
      if (error instanceof DatabaseError) throw error.at(this.position(offset));
      throw error;
    }
  }
}
