/**
 * Running SQL in tests through the compiled code and through the interpreter, over {@link MemoryTable}s.
 */
import { interpretPlan } from "../oracle/interpret_plan.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { StoredValue } from "../../operations/effect.ts";
import type { PlannedStatement } from "../../sql/plan/plan.ts";
import type { EvaluationContext, SessionServices } from "../../sql/functions/definition.ts";
import { environmentOf, plan, type TableSketch } from "../../sql/planner/fixture_for_test.ts";
import { ReadCounts } from "../../storage/access/read_counts.ts";
import { formatText } from "../../types/text_io.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { compileStatement } from "../compile_statement.ts";
import { ExecutionState } from "../runtime/execution_state.ts";
import type { ExecutionContext, RowTransaction } from "../runtime/execution.ts";
import { ValueWriter } from "../runtime/value_writer.ts";
import { MemoryTable } from "./memory_table.ts";
import type { SeededRandom } from "./seeded_random.ts";

/** Keeps rows as arrays of values. */
export class RowCollector extends ValueWriter {
  readonly rows: SqlValue[][] = [];

  endRow(): void {
    this.rows.push(this.row);
  }
}

const noServices = new Proxy({}, {
  get: (_target, name) => () => {
    throw new Error(`session service ${String(name)} is not available in this test`);
  },
}) as SessionServices;

/** An evaluation context with fixed times. */
export const testEvaluation: EvaluationContext = {
  transactionTimestamp: 800_000_000_000_000,
  statementTimestamp: 800_000_000_000_000,
  timeZone: "UTC",
  dateStyle: "ISO, MDY",
  intervalStyle: "postgres",
  byteaOutput: "hex",
  user: "tester",
  database: "test",
  searchPath: ["public"],
  random: () => 0.5,
  randomBytes: (n) => new Uint8Array(n),
  clockTimestamp: () => 800_000_000_000_000,
  services: noServices,
};

const noWrites = new Proxy({}, {
  get: (_target, name) =>
    name === "lockRow" ? () => true : () => {
      throw new Error(`write ${String(name)} in a read-only test`);
    },
}) as RowTransaction;

/** A column type of a random table, with the values it takes. */
type MakeValue = (random: SeededRandom) => StoredValue;

/** Tables with random rows, and how to query them. */
export class TestDatabase {
  readonly environment: ReturnType<typeof environmentOf>;
  readonly tables = new Map<number, MemoryTable>();

  constructor(
    sketches: readonly (TableSketch & {
      readonly make: Readonly<Record<string, MakeValue>>;
      readonly count: number;
    })[],
    random: SeededRandom,
  ) {
    this.environment = environmentOf(sketches);
    const { catalog } = this.environment as { readonly catalog: Catalog };
    for (const definition of catalog.tables) {
      const sketch = sketches.find(({ name }) => name === definition.name);
      if (sketch === undefined) continue;
      const rows = Array.from({ length: sketch.count }, (_, index) => {
        const values = definition.columns.map((column) =>
          column.id === definition.rowIdColumn ? index + 1 : sketch.make[column.name]?.(random) ?? null
        );
        return { id: index + 1, values };
      });
      this.tables.set(definition.id, new MemoryTable(definition, rows, random));
    }
  }

  /** `microsecondsPerLook`: how far the clock goes on each time it is read. */
  context(
    parameters: readonly SqlValue[] = [],
    memoryLimitBytes = 2 ** 30,
    microsecondsPerLook = 0,
  ): ExecutionContext {
    let now = 0;
    return {
      evaluation: testEvaluation,
      parameters,
      table: (id) => {
        const table = this.tables.get(id);
        if (table === undefined) throw new Error(`no table ${id}`);
        return table;
      },
      reads: new ReadCounts(),
      writer: noWrites,
      checkCanceled: () => {},
      monotonic: () => now += microsecondsPerLook,
      memoryLimitBytes,
    };
  }

  plan(text: string, optimize: boolean): PlannedStatement {
    return plan(this.environment, text, optimize);
  }

  /** The rows that compiled code gives, as texts. `inSmallSteps`: a step ends at each place where one can end. */
  compiled(
    planned: PlannedStatement,
    parameters: readonly SqlValue[] = [],
    options: { readonly inSmallSteps?: boolean } = {},
  ): string[][] {
    const compiled = compileStatement(planned);
    const collector = new RowCollector();
    const isSmall = options.inSmallSteps === true;
    const execution = compiled.start(this.context(parameters, 2 ** 30, isSmall ? 1_000_000 : 0));
    if (isSmall && execution instanceof ExecutionState) execution.batchRows = 1;
    while (!execution.step(collector));
    return collector.rows.map((row) => show(row, planned.columns.map(({ type }) => type)));
  }

  /** The rows that the interpreter gives, as texts. */
  interpreted(planned: PlannedStatement, parameters: readonly SqlValue[] = []): string[][] {
    const scope = {
      context: this.context(parameters),
      row: new Map(),
      definitions: new Map(),
      working: new Map(),
    };
    return [...interpretPlan(planned.plan, scope)].map((row) =>
      show(
        planned.columns.map(({ column }) => row.get(column) ?? null),
        planned.columns.map(({ type }) => type),
      )
    );
  }
}

function show(row: readonly SqlValue[], types: readonly SqlType[]): string[] {
  return row.map((value, index) => {
    const type = types[index];
    if (value === null || type === undefined) return "NULL";
    return type.kind === "record" ? JSON.stringify(value) : formatText(type, value);
  });
}
