/**
 * From text to compiled plan: the planner's environment for a session, and the cache in front of it.
 */
import { assertDefined } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { onceIn, type Pieces } from "../base/pieces.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { compileStatement } from "../execution/compile_statement.ts";
import type { CompiledStatement } from "../execution/runtime/execution.ts";
import type { TableStatistics } from "../sql/binder/environment.ts";
import type { ParsedStatement, Statement } from "../sql/parser/ast.ts";
import { type ExtractedLiteral, normalize } from "../sql/parser/fingerprint.ts";
import { errorPosition } from "../sql/parser/source_text.ts";
import { parseStatement } from "../sql/parser/statements.ts";
import { lockedPoint } from "../sql/fragments/points.ts";
import { isVolatilePlan } from "../sql/plan/build.ts";
import { type LiteralReader, PeekedLiterals } from "../sql/plan/peeked_literals.ts";
import type { PlannedStatement } from "../sql/plan/plan.ts";
import { type PlanEnvironment, planStatement } from "../sql/planner/plan_statement.ts";
import type { SqlType } from "../types/sql_type.ts";
import { parseText, type TextOptions } from "../types/text_io.ts";
import type { SqlValue } from "../types/value.ts";
import {
  type CachedPlan,
  planBytes,
  PlanCache,
  type PlanVariables,
  type PlanVariants,
} from "../statements/plan_cache.ts";
import type { TransactionStatus } from "../statements/outcome.ts";
import { isSamePath, PlanningInPieces, planningPieces } from "../statements/planning_in_pieces.ts";
import type { Prepared } from "../statements/prepared.ts";
import type { StatementHost } from "../statements/statement_host.ts";
import { StatementTree } from "../statements/statement_tree.ts";
import type { StateMachine } from "../state_machine/state_machine.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { isLongText, isPlannedAhead } from "./long_texts.ts";
import type { SliceTurns } from "../host/slice_turns.ts";
import { asDatabaseError } from "../statements/statement_errors.ts";
import { isPlannable } from "../statements/statement_kind.ts";
import { isBounded, isShort, isShortWrite, isSingleRow } from "./statement_runner.ts";
import { systemRelation, systemRelationNames } from "../system_catalog/system_relations.ts";

/** A plan is made anew when a table has grown or shrunk by this factor since. */
const REPLAN_FACTOR = 8;
/** Tables below this size do not make a plan stale. */
const REPLAN_FLOOR_ROWS = 1000;

/** The session that a statement is planned for. */
export interface PlanningSession {
  readonly catalog: Catalog;
  readonly currentTransaction: Transaction | null;
  readonly status: TransactionStatus;
  readonly temporarySchema: string;
  readonly evaluation: StatementHost["evaluation"];
  /** Raises 57014 when what it does is to end. */
  checkCanceled(): void;
}

/** Types of parameters, by their numbers; undefined where they follow from the statement. */
export type DeclaredTypes = readonly (SqlType | undefined)[];

/** Knows texts that were parsed just now. */
interface Parser {
  parse(text: string): readonly ParsedStatement[];
}

/** What planning in pieces needs of its engine. */
export interface PlanningEngine {
  monotonic(): number;
  readonly slices: SliceTurns;
  /** The shards that have the rows; null: they are here. */
  readonly shards: object | null;
}

/** See the file's head. */
export class Planning {
  readonly cache = new PlanCache();
  readonly #machine: StateMachine;
  /** What is wrong with statements that were planned ahead. */
  readonly #refused = new WeakMap<Statement, DatabaseError>();
  /** Of long statements that EXPLAIN is going to show. */
  readonly #explained = new WeakMap<Statement, CachedPlan>();
  /** Of transactions that may be rolled back, so that no two have the same. */
  #lastObjectId = 0;

  constructor(machine: StateMachine) {
    this.#machine = machine;
  }

  /**
   * The plan and parameters for a simple query's text, when a query of the same shape was planned before or can be
   * now; null when the text must take the general way (several statements, not a query, an own catalog).
   */
  find(
    session: PlanningSession,
    text: string,
    pieces?: Pieces,
  ): { readonly plan: CachedPlan; readonly parameters: readonly SqlValue[] } | null {
    if (session.status === "failed" || session.currentTransaction?.hasDdl === true) return null;
    // A long one has been parsed, in pieces; to look for its literals and parse it here would hold everybody up.
    const normalized = isLongText(text) ? null : normalize(text);
    if (normalized === null) return null;
    let key = `s${placeOf(session)}${normalized.key}`;
    let plan = this.#usable(session, key);
    if (plan?.pinsLiterals === true) return null;
    const variants = plan?.variants ?? null;
    const variant = variants === null
      ? null
      : otherVariant(variants, literalReader(session, normalized.literals));
    if (variant !== null) {
      key += `\n${variant}`;
      plan = this.#usable(session, key);
    }
    if (plan === undefined) {
      const { literals } = normalized;
      const parsed = onceIn(pieces, () => parseStatement(text, { literals }));
      if (!isPlannable(parsed.statement) || parsed.parameterCount > 0) return null;
      if (parsed.pinnedLiterals.length > 0) return null;
      plan = this.#plan(session, text, parsed, [], literals, { pieces });
      this.cache.put(key, plan);
      if (plan.pinsLiterals) return null;
    }
    return { plan, parameters: literalValues(session, plan, text, normalized.literals) };
  }

  /** Plans a parsed statement. Raises the binder's errors. */
  plan(
    session: PlanningSession,
    text: string,
    parsed: ParsedStatement,
    declared: readonly (SqlType | undefined)[],
  ): CachedPlan {
    this.#refuse(parsed.statement);
    const ownCatalog = session.currentTransaction?.hasDdl === true;
    const key = parsedKey(session, text, parsed, declared);
    if (!ownCatalog) {
      const cached = this.#usable(session, key);
      if (cached !== undefined) return cached;
    }
    const plan = this.#plan(session, text, parsed, declared, []);
    if (ownCatalog) this.cache.putAside(plan);
    else this.cache.put(key, plan);
    return plan;
  }

  /**
   * Plans the long statements of a text piece by piece, so that {@link plan} or {@link plannedAhead} finds them, or
   * what is wrong with the only one: those before may make what another needs. Without `declared` {@link find} finds
   * the only one, if it is short. What shards run, which get terms and no calls, is planned when it runs. Raises 57014.
   */
  async planAhead(
    session: PlanningSession,
    { text, declared, statements }: {
      readonly text: string;
      readonly declared: DeclaredTypes | undefined;
      readonly statements: readonly ParsedStatement[];
    },
    engine: PlanningEngine,
  ): Promise<void> {
    if (engine.shards !== null) return;
    const [only] = statements;
    if (only !== undefined && statements.length === 1) {
      if (declared === undefined && await this.#isFoundAhead(session, text, engine)) return;
      const refusal = await this.#planAhead(session, { text, declared, given: only }, engine);
      if (refusal !== null) this.#refused.set(unexplained(only).statement, refusal);
      return;
    }
    for (const each of statements) {
      if (isPlannedAhead(text.slice(each.start, each.end), session.catalog)) {
        await this.#planAhead(session, { text, declared, given: each }, engine);
      }
    }
  }

  /** Whether {@link find} has a plan now, or will say what is wrong. */
  async #isFoundAhead(session: PlanningSession, text: string, engine: PlanningEngine): Promise<boolean> {
    const found = await inPieces(session, engine, (pieces) => this.find(session, text, pieces));
    return found !== null;
  }

  /** What is wrong with the statement; null: nothing was found. */
  async #planAhead(
    session: PlanningSession,
    { text, declared = [], given }: {
      readonly text: string;
      readonly declared: DeclaredTypes | undefined;
      readonly given: ParsedStatement;
    },
    engine: PlanningEngine,
  ): Promise<DatabaseError | null> {
    const parsed = unexplained(given);
    if (!isPlannable(parsed.statement)) return null;
    const key = parsedKey(session, text, parsed, declared);
    if (this.#usable(session, key) !== undefined) return null;
    const planned = await inPieces(
      session,
      engine,
      (pieces) => this.#plan(session, text, parsed, declared, [], { pieces }),
    );
    if (planned === null || planned instanceof DatabaseError) return planned;
    if (parsed !== given) this.#explained.set(parsed.statement, planned);
    else this.cache.put(key, planned);
    return null;
  }

  /** The plan of a statement that EXPLAIN shows, if {@link planAhead} has made it. Raises what is wrong with it. */
  plannedAhead(
    session: Pick<PlanningSession, "catalog" | "evaluation">,
    statement: Statement,
  ): PlannedStatement | undefined {
    this.#refuse(statement);
    const plan = this.#explained.get(statement);
    return plan !== undefined && this.#isCurrent(session, plan) ? plan.planned : undefined;
  }

  /** Raises what was wrong with a statement that was planned ahead. */
  #refuse(statement: Statement): void {
    const refusal = this.#refused.get(statement);
    if (refusal !== undefined) throw refusal;
  }

  /** Plans a statement of a PL/pgSQL block; such plans are not shared. */
  planWithVariables(
    session: PlanningSession,
    text: string,
    parsed: ParsedStatement,
    variables: PlanVariables,
  ): CachedPlan {
    return this.#plan(session, text, parsed, variables.types, [], { variables });
  }

  /** Whether a prepared statement may be planned ahead: it has no plan, or one that {@link refresh} does not use. */
  isStale(session: PlanningSession, { plan, text }: Prepared): boolean {
    if (plan === null) return true;
    return isPlannedAhead(text, session.catalog) && !this.#isCurrent(session, plan);
  }

  /** The plan of a prepared statement, made anew when the catalog or the tables' sizes have changed. */
  refresh(session: PlanningSession & { readonly engine: Parser }, prepared: Prepared): CachedPlan {
    const { plan } = prepared;
    if (plan !== null && this.#isCurrent(session, plan)) return plan;
    const parsed = assertDefined(prepared.tree, "statement").get((text) => session.engine.parse(text));
    const variables = plan?.origin.variables;
    const fresh = variables === undefined
      ? this.plan(session, prepared.text, parsed, prepared.parameterTypes)
      : this.planWithVariables(session, prepared.text, parsed, variables);
    prepared.plan = fresh;
    return fresh;
  }

  /**
   * The plan to run now in place of one that was chosen before a wait: another transaction may have changed the
   * catalog meanwhile. Raises 0A000 when the result would have another shape than announced.
   */
  current(session: PlanningSession, plan: CachedPlan): CachedPlan {
    if (plan.catalogSerial === session.catalog.serial && !plan.isDropped) return plan;
    const { text, tree, declared, literals, variables } = plan.origin;
    const fresh = this.#plan(session, text, tree.get(), declared, literals, variables && { variables });
    const shapeOf = (each: CachedPlan): string =>
      JSON.stringify([
        each.planned.columns.map((column) => [column.name, column.type]),
        each.planned.parameterTypes,
      ]);
    if (shapeOf(fresh) !== shapeOf(plan)) {
      throw new DatabaseError(SQLSTATE.featureNotSupported, "cached plan must not change result type", {
        hint: "The table was altered while the statement waited; run it again.",
      });
    }
    return fresh;
  }

  /** What the planner asks about the session and the tables. */
  environment(
    session: PlanningSession,
    text: string,
    declared: readonly (SqlType | undefined)[],
    literals: readonly ExtractedLiteral[],
  ): PlanEnvironment {
    const { catalog } = session;
    return {
      text,
      catalog,
      searchPath: session.evaluation.searchPath,
      temporarySchema: session.temporarySchema,
      newObjectId: (least) => this.#lastObjectId = Math.max(this.#lastObjectId + 1, least),
      evaluation: session.evaluation,
      parameterTypes: declared,
      literals,
      virtualRelation: (schema, name) => systemRelation(catalog, schema, name),
      virtualRelationNames: systemRelationNames,
      hasPendingChecks: (tableId) => session.currentTransaction?.deferred.hasPending(tableId) === true,
      statistics: (tableId) => this.#statistics(catalog, tableId),
    };
  }

  #plan(
    session: PlanningSession,
    text: string,
    parsed: ParsedStatement,
    declared: readonly (SqlType | undefined)[],
    literals: readonly ExtractedLiteral[],
    { variables, pieces }: {
      readonly variables?: PlanVariables;
      readonly pieces?: Pieces | undefined;
    } = {},
  ): CachedPlan {
    const { catalog } = session;
    const environment = this.environment(session, text, declared, literals);
    const read = literalReader(session, literals);
    const peeked = onceIn(pieces, () => new PeekedLiterals(declared.length, read));
    const { planned, compiled } = compile(parsed.statement, {
      ...environment,
      ...(literals.length === 0 ? {} : { peeked }),
      ...variables?.binding,
      ...(pieces === undefined ? {} : { pieces }),
    });
    const variantOf = peeked.variants;
    return {
      planned,
      variants: variantOf === null ? null : { of: variantOf, own: variantOf(read), others: new Set() },
      compiled,
      origin: {
        text,
        tree: new StatementTree(text, parsed, literals),
        declared,
        literals,
        ...(variables === undefined ? {} : { variables }),
      },
      catalogSerial: catalog.serial,
      searchPath: session.evaluation.searchPath,
      short: planned.parts === undefined && isShortWrite(planned.plan),
      isBounded: isBounded(planned.plan),
      point: planned.parts === undefined && isShortWrite(planned.plan) ? lockedPoint(planned.plan) : null,
      // What waits or takes locks needs a transaction of its own.
      isPoint: planned.readOnly && isShort(planned.plan) && !isVolatilePlan(planned.plan),
      isSingleRow: planned.tableIds.length === 1 && isSingleRow(planned.plan),
      pinsLiterals: literals.length > 0 &&
        (peeked.isPinned || planned.tableIds.some((id) => hasIndexConstants(catalog.table(id)))),
      parameterCount: planned.parameterTypes.length - literals.length,
      tableRows: planned.tableIds.map((id) => this.#rows(id)),
      statisticsVersion: this.#version(planned.tableIds),
      analyses: this.#machine.analyses,
      bytes: planBytes(planned, text),
      isDropped: false,
    };
  }

  #usable(session: PlanningSession, key: string): CachedPlan | undefined {
    const plan = this.cache.get(key);
    return plan !== undefined && this.#isCurrent(session, plan) ? plan : undefined;
  }

  #isCurrent(session: Pick<PlanningSession, "catalog" | "evaluation">, plan: CachedPlan): boolean {
    const { catalog } = session;
    if (plan.catalogSerial !== catalog.serial || plan.isDropped) return false;
    if (!isSamePath(plan.searchPath, session.evaluation.searchPath)) return false;
    const { tableIds } = plan.planned;
    for (let i = 0; i < tableIds.length; i++) {
      const rows = this.#rows(tableIds[i] as number), planned = plan.tableRows[i] as number;
      if (rows > planned * REPLAN_FACTOR + REPLAN_FLOOR_ROWS) return false;
      if (planned > rows * REPLAN_FACTOR + REPLAN_FLOOR_ROWS) return false;
    }
    const { analyses, remoteVersion } = this.#machine;
    if (plan.analyses === analyses && remoteVersion === null) return true;
    if (plan.statisticsVersion !== this.#version(tableIds)) return false;
    plan.analyses = analyses;
    return true;
  }

  /** Grows with what is found out of the tables. */
  #version(tableIds: readonly number[]): number {
    let sum = 0;
    for (let i = 0; i < tableIds.length; i++) sum += this.#machine.statisticsVersion(tableIds[i] as number);
    return sum;
  }

  #rows(tableId: number): number {
    return this.#machine.rowCount(tableId);
  }

  #statistics(catalog: Catalog, tableId: number): TableStatistics {
    const machine = this.#machine;
    if (machine.catalog.table(tableId) === undefined) return { rows: 0, column: () => undefined };
    const known = new Set(catalog.table(tableId)?.columns.map((column) => column.id));
    const remote = machine.remoteRowCount(tableId);
    const analysis = remote === undefined ? machine.store(tableId).analysis : null;
    return {
      rows: remote ?? machine.store(tableId).at(machine.lastOp).estimatedRows,
      isRemote: remote !== undefined,
      column: (columnId) => known.has(columnId) ? machine.columnStatistics(tableId, columnId) : undefined,
      ...(analysis === null ? {} : { whole: analysis.whole, groups: analysis.groups }),
    };
  }
}

/** What `plan` makes piece by piece, or raises; null: the session has definitions of its own. Raises 57014. */
async function inPieces<T>(
  session: PlanningSession,
  engine: PlanningEngine,
  plan: (pieces: Pieces | undefined) => T,
): Promise<T | DatabaseError | null> {
  const planning = new PlanningInPieces(engine);
  while (session.currentTransaction?.hasDdl !== true) {
    try {
      const planned = planning.run(session, plan);
      if (planned !== null) return planned.value;
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      return error;
    }
    await engine.slices.next(planningPieces.microseconds);
    session.checkCanceled();
  }
  return null;
}

/** Binds, optimizes and compiles. Raises 54001 for what nests more deeply than the stack. */
function compile(
  statement: Statement,
  environment: PlanEnvironment,
): { readonly planned: PlannedStatement; readonly compiled: CompiledStatement } {
  try {
    const planned = onceIn(environment.pieces, () => planStatement(statement, environment));
    return { planned, compiled: compileStatement(planned) };
  } catch (thrown) {
    throw asDatabaseError(thrown);
  }
}

/**
 * Whether an index of the table has a constant in an expression or predicate. A query that repeats it can use the
 * index only when its own constant is known.
 */
function hasIndexConstants(table: TableDefinition | undefined): boolean {
  if (table === undefined) return false;
  return table.indexes.some((index) => index.predicateText !== null && CONSTANT.test(index.predicateText)) ||
    table.columns.some((column) => column.hidden && CONSTANT.test(column.generatedText ?? ""));
}

/** A text without these has no number and no string. */
const CONSTANT = /['0-9]/;

/** The statement that EXPLAIN shows, or the given one. */
function unexplained(parsed: ParsedStatement): ParsedStatement {
  const { statement } = parsed;
  return statement.kind === "explain" ? { ...parsed, statement: statement.statement } : parsed;
}

/** What the plan of a parsed statement is found by. */
function parsedKey(
  session: PlanningSession,
  text: string,
  { start, end }: ParsedStatement,
  declared: readonly (SqlType | undefined)[],
): string {
  const types = declared.map((type) => type === undefined ? "?" : JSON.stringify(type));
  return `p${placeOf(session)}${types.join(",")}\n${text.slice(start, end)}`;
}

/** What sets a session's names apart: sessions with temporary tables do not take each other's plans. */
function placeOf(session: PlanningSession): string {
  const path = session.evaluation.searchPath;
  return path[0] === session.temporarySchema ? `${session.temporarySchema}\n` : "";
}

/** A shape has no more plans for values that select fewer or more rows: one that is there is used. */
const MAX_VARIANTS = 16;

/** What tells the plan for these literals apart; null: it is this one. */
function otherVariant(variants: PlanVariants, read: LiteralReader): string | null {
  const variant = variants.of(read);
  if (variant === variants.own) return null;
  if (!variants.others.has(variant)) {
    if (variants.others.size >= MAX_VARIANTS) return null;
    variants.others.add(variant);
  }
  return variant;
}

/** Reads the texts of literals. */
function literalReader(session: PlanningSession, literals: readonly ExtractedLiteral[]): LiteralReader {
  let options: TextOptions | undefined;
  return (index, type) => {
    const literal = literals[index];
    if (literal === undefined) return undefined;
    if (literal.kind === "integer" && type.kind === "i32") return Number(literal.text);
    try {
      return parseText(type, literal.text, options ??= session.evaluation.textOptions);
    } catch (error) {
      // The statement raises it, with its position.
      if (error instanceof DatabaseError) return undefined;
      throw error;
    }
  };
}

function literalValues(
  session: PlanningSession,
  plan: CachedPlan,
  text: string,
  literals: readonly ExtractedLiteral[],
): SqlValue[] {
  const values: SqlValue[] = [];
  let options: TextOptions | undefined;
  for (let i = 0; i < literals.length; i++) {
    const literal = literals[i] as ExtractedLiteral;
    const type = assertDefined(plan.planned.parameterTypes[plan.parameterCount + i], "literal's type");
    if (literal.kind === "integer" && type.kind === "i32") values.push(Number(literal.text));
    else {
      try {
        values.push(parseText(type, literal.text, options ??= session.evaluation.textOptions));
      } catch (error) {
        if (error instanceof DatabaseError) throw error.at(errorPosition(text, literal.position));
        throw error;
      }
    }
  }
  return values;
}
