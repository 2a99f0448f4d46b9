/**
 * Binding of FROM: tables, views, common tables, subqueries, functions and joins.
 *
 * Each item gives a plan and the scope of its columns. LATERAL items see what is to their left; every other item
 * sees only the queries around.
 */
import { unreachable } from "../../base/assert.ts";
import type { FromItem, SubqueryItem } from "../parser/ast.ts";
import type { Plan } from "../plan/plan.ts";
import type { Binding } from "./binding.ts";
import { bindQuery } from "./query_binder.ts";
import { EMPTY_SCOPE, type FromScope, QueryLevel } from "./scope.ts";
import { aliased, type BoundFrom, checkAliases, lateralLevel, mergeScopes } from "./bound_from.ts";
import { bindJoin, join } from "./join_binder.ts";
import { bindTable } from "./table_item_binder.ts";
import { bindFunctionItem } from "./function_item_binder.ts";

/** One row without columns: the source of a query without FROM. */
export const ONE_ROW: Plan = { kind: "values", outputs: [], types: [], list: [[]], rows: 1 };

/** Binds a FROM list and makes its scope the level's. */
export function bindFrom(binding: Binding, level: QueryLevel, items: readonly FromItem[]): Plan {
  let result: BoundFrom | null = null;
  for (const item of items) {
    const right: BoundFrom = bindItem(binding, level, item, result?.scope ?? EMPTY_SCOPE);
    if (result === null) result = right;
    else {
      checkAliases(binding, result.scope, right.scope, item.position);
      result = {
        plan: join("inner", result.plan, right.plan, null),
        scope: mergeScopes(result.scope, right.scope),
      };
    }
  }
  level.from = result?.scope ?? EMPTY_SCOPE;
  level.hiddenTables = [];
  return result?.plan ?? ONE_ROW;
}

/** Binds one item; `visible` is what LATERAL sees to its left. */
export function bindItem(binding: Binding, level: QueryLevel, item: FromItem, visible: FromScope): BoundFrom {
  switch (item.kind) {
    case "table":
      return bindTable(binding, level, item, visible);
    case "subquery":
      return bindSubqueryItem(binding, level, item, visible);
    case "function":
      return bindFunctionItem(binding, level, item, visible);
    case "join":
      return bindJoin(binding, level, item, visible);
    default:
      return unreachable(item);
  }
}

function bindSubqueryItem(
  binding: Binding,
  level: QueryLevel,
  item: SubqueryItem,
  visible: FromScope,
): BoundFrom {
  let parent = level.parent;
  if (item.lateral) parent = lateralLevel(level, visible);
  else if (visible.tables.length > 0) {
    // Names to the left cannot be used, but the message shall say why.
    const outside = new QueryLevel(level.parent, level.commonTables);
    outside.hiddenTables = visible.tables;
    parent = outside;
  }
  const bound = bindQuery(binding, { parent, commonTables: level.commonTables }, item.query);
  return aliased(binding, bound.plan, bound.columns, item.alias, "");
}
