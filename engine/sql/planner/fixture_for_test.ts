/** A catalog to plan against in tests: small helpers to define tables, and TPC-H's schema with its sizes. */
import { Catalog } from "../../catalog/catalog.ts";
import {
  type ColumnDefinition,
  type ConstraintDefinition,
  type IndexDefinition,
  plainColumn,
  type TableDefinition,
} from "../../catalog/definitions.ts";
import type { ColumnStatistics } from "../../storage/access/readable_table.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { parseTypeText } from "../../types/type_names.ts";
import type { PlanningEnvironment } from "../binder/environment.ts";
import { parseStatement } from "../parser/statements.ts";
import type { PlannedStatement } from "../plan/plan.ts";
import { explainPlan } from "./explain_plan.ts";
import { planStatement } from "./plan_statement.ts";

/** A table in short form: `columns` are `name type [not null]`. */
export interface TableSketch {
  readonly name: string;
  readonly columns: readonly string[];
  readonly primaryKey?: readonly string[];
  readonly unique?: readonly (readonly string[])[];
  readonly indexes?: readonly (readonly string[])[];
  readonly checks?: readonly string[];
  readonly rows?: number;
  /** Distinct values by column; the default is a tenth of the rows. */
  readonly distinct?: Readonly<Record<string, number>>;
  /** The least and the greatest stored value by column; the default is that they are not known. */
  readonly ends?: Readonly<Record<string, readonly [number, number]>>;
}

function columnOf(text: string, id: number, primaryKey: readonly string[]): ColumnDefinition {
  const [, name = "", rest = ""] = /^(\S+) (.*)$/.exec(text) ?? [];
  const match = /^(.*?)( not null)?( default (.*?))?( generated (.*))?( identity (always|by default))?$/.exec(
    rest,
  );
  const type: SqlType | undefined = parseTypeText(match?.[1] ?? "");
  if (type === undefined) throw new Error(`type of ${text}`);
  const identity = match?.[8];
  return plainColumn(id, name, type, {
    notNull: match?.[2] !== undefined || primaryKey.includes(name),
    defaultText: match?.[4] ?? null,
    identity: identity === "always" || identity === "by default" ? identity : null,
    generatedText: match?.[6] ?? null,
  });
}

/** The definition of a sketched table. */
export function tableOf(sketch: TableSketch, firstId: number): TableDefinition {
  const primaryKey = sketch.primaryKey ?? [];
  const columns = sketch.columns.map((text, index) => columnOf(text, index + 1, primaryKey));
  const idOf = (name: string) => columns.find((column) => column.name === name)?.id ?? 0;
  let next = firstId + 1;
  const indexes: IndexDefinition[] = [];
  const constraints: ConstraintDefinition[] = [];
  const addIndex = (name: string, keys: readonly string[], unique: boolean): number => {
    const id = next++;
    indexes.push({
      id,
      name,
      kind: "plain",
      unique,
      nullsNotDistinct: false,
      columns: keys.map((key) => ({ columnId: idOf(key), descending: false, nullsFirst: false })),
      includes: [],
      predicateText: null,
      comment: null,
    });
    return id;
  };
  const single = primaryKey.length === 1
    ? columns.find((column) => column.name === primaryKey[0])
    : undefined;
  const isRowId = single !== undefined && ["i32", "i64"].includes(single.type.kind);
  if (primaryKey.length > 0) {
    const indexId = isRowId ? null : addIndex(`${sketch.name}_pkey`, primaryKey, true);
    constraints.push({
      kind: "primary_key",
      id: next++,
      name: `${sketch.name}_pkey`,
      columns: primaryKey.map(idOf),
      indexId,
    });
  }
  for (const keys of sketch.unique ?? []) {
    const name = `${sketch.name}_${keys.join("_")}_key`;
    const indexId = addIndex(name, keys, true);
    constraints.push({
      kind: "unique",
      id: next++,
      name,
      columns: keys.map(idOf),
      indexId,
      nullsNotDistinct: false,
    });
  }
  for (const keys of sketch.indexes ?? []) addIndex(`${sketch.name}_${keys.join("_")}_idx`, keys, false);
  for (const [index, text] of (sketch.checks ?? []).entries()) {
    constraints.push({
      kind: "check",
      id: next++,
      name: `${sketch.name}_check${index || ""}`,
      text,
      columns: [],
    });
  }
  return {
    id: firstId,
    schema: "public",
    name: sketch.name,
    columns,
    nextColumnId: columns.length + 1,
    rowIdColumn: isRowId && single !== undefined ? single.id : null,
    constraints,
    indexes,
    triggers: [],
    options: {},
    comment: null,
  };
}

/** An environment with these tables. */
export function environmentOf(sketches: readonly TableSketch[]): PlanningEnvironment {
  let catalog = Catalog.initial();
  const byId = new Map<number, TableSketch>();
  for (const sketch of sketches) {
    const table = tableOf(sketch, catalog.nextObjectId);
    byId.set(table.id, sketch);
    catalog = catalog.apply({ kind: "put_table", table });
  }
  return {
    catalog,
    searchPath: ["public"],
    statistics: (tableId) => {
      const sketch = byId.get(tableId);
      const rows = sketch?.rows ?? 1000;
      const table = catalog.table(tableId);
      return {
        rows,
        column: (columnId): ColumnStatistics | undefined => {
          const column = table?.columns.find((each) => each.id === columnId);
          if (column === undefined) return undefined;
          const distinct = sketch?.distinct?.[column.name] ??
            (table?.rowIdColumn === columnId ? rows : Math.max(1, rows / 10));
          const [minimum = null, maximum = null] = sketch?.ends?.[column.name] ?? [];
          return { distinct, nullFraction: 0, minimum, maximum, averageBytes: 8 };
        },
      };
    },
  };
}

/** Plans a text. */
export function plan(environment: PlanningEnvironment, text: string, optimize = true): PlannedStatement {
  const { statement, parameterCount } = parseStatement(text);
  return planStatement(statement, { ...environment, text, parameterCount }, { optimize });
}

/** The plan's shape as EXPLAIN shows it, without row estimates. */
export function shape(environment: PlanningEnvironment, text: string): string {
  return explainPlan(plan(environment, text).plan).map((line) => line.replace(/ {2}\(rows=\d+\)/, "")).join(
    "\n",
  );
}

/** TPC-H's tables at scale 1. */
export const TPCH: readonly TableSketch[] = [
  {
    name: "region",
    columns: ["r_regionkey integer not null", "r_name char(25) not null", "r_comment varchar(152)"],
    primaryKey: ["r_regionkey"],
    rows: 5,
    distinct: { r_name: 5 },
  },
  {
    name: "nation",
    columns: [
      "n_nationkey integer not null",
      "n_name char(25) not null",
      "n_regionkey integer not null",
      "n_comment varchar(152)",
    ],
    primaryKey: ["n_nationkey"],
    rows: 25,
    distinct: { n_name: 25, n_regionkey: 5 },
  },
  {
    name: "part",
    columns: [
      "p_partkey integer not null",
      "p_name varchar(55) not null",
      "p_mfgr char(25) not null",
      "p_brand char(10) not null",
      "p_type varchar(25) not null",
      "p_size integer not null",
      "p_container char(10) not null",
      "p_retailprice numeric(15,2) not null",
      "p_comment varchar(23) not null",
    ],
    primaryKey: ["p_partkey"],
    rows: 200_000,
    distinct: { p_brand: 25, p_type: 150, p_size: 50, p_container: 40, p_name: 200_000 },
  },
  {
    name: "supplier",
    columns: [
      "s_suppkey integer not null",
      "s_name char(25) not null",
      "s_address varchar(40) not null",
      "s_nationkey integer not null",
      "s_phone char(15) not null",
      "s_acctbal numeric(15,2) not null",
      "s_comment varchar(101) not null",
    ],
    primaryKey: ["s_suppkey"],
    rows: 10_000,
    distinct: { s_nationkey: 25, s_name: 10_000 },
  },
  {
    name: "partsupp",
    columns: [
      "ps_partkey integer not null",
      "ps_suppkey integer not null",
      "ps_availqty integer not null",
      "ps_supplycost numeric(15,2) not null",
      "ps_comment varchar(199) not null",
    ],
    primaryKey: ["ps_partkey", "ps_suppkey"],
    rows: 800_000,
    distinct: { ps_partkey: 200_000, ps_suppkey: 10_000 },
  },
  {
    name: "customer",
    columns: [
      "c_custkey integer not null",
      "c_name varchar(25) not null",
      "c_address varchar(40) not null",
      "c_nationkey integer not null",
      "c_phone char(15) not null",
      "c_acctbal numeric(15,2) not null",
      "c_mktsegment char(10) not null",
      "c_comment varchar(117) not null",
    ],
    primaryKey: ["c_custkey"],
    rows: 150_000,
    distinct: { c_nationkey: 25, c_mktsegment: 5 },
  },
  {
    name: "orders",
    columns: [
      "o_orderkey integer not null",
      "o_custkey integer not null",
      "o_orderstatus char(1) not null",
      "o_totalprice numeric(15,2) not null",
      "o_orderdate date not null",
      "o_orderpriority char(15) not null",
      "o_clerk char(15) not null",
      "o_shippriority integer not null",
      "o_comment varchar(79) not null",
    ],
    primaryKey: ["o_orderkey"],
    rows: 1_500_000,
    distinct: { o_custkey: 100_000, o_orderstatus: 3, o_orderdate: 2400, o_orderpriority: 5 },
  },
  {
    name: "lineitem",
    columns: [
      "l_orderkey integer not null",
      "l_partkey integer not null",
      "l_suppkey integer not null",
      "l_linenumber integer not null",
      "l_quantity numeric(15,2) not null",
      "l_extendedprice numeric(15,2) not null",
      "l_discount numeric(15,2) not null",
      "l_tax numeric(15,2) not null",
      "l_returnflag char(1) not null",
      "l_linestatus char(1) not null",
      "l_shipdate date not null",
      "l_commitdate date not null",
      "l_receiptdate date not null",
      "l_shipinstruct char(25) not null",
      "l_shipmode char(10) not null",
      "l_comment varchar(44) not null",
    ],
    primaryKey: ["l_orderkey", "l_linenumber"],
    rows: 6_000_000,
    distinct: {
      l_orderkey: 1_500_000,
      l_partkey: 200_000,
      l_suppkey: 10_000,
      l_shipmode: 7,
      l_returnflag: 3,
      l_shipdate: 2500,
    },
  },
];
