/**
 * Which queries of a WITH clause name which others. In WITH RECURSIVE a query may name those that follow, so that
 * they are bound in the order of what they need; queries that need each other are refused, as in PostgreSQL.
 *
 * A name means the clause's query unless a WITH further inside gives it to another one.
 */
import { SQLSTATE } from "../../base/errors.ts";
import type { CommonTable, WithClause } from "../parser/ast.ts";
import type { Binding } from "./binding.ts";

/** Whether a piece of syntax names the query from FROM, anywhere within. */
export function mentions(node: unknown, name: string): boolean {
  return namesIn(node, new Set([name])).size > 0;
}

/** The queries of WITH RECURSIVE, each after those that it names. Raises 0A000 when there is no such order. */
export function inOrderOfNeed(binding: Binding, items: readonly CommonTable[]): readonly CommonTable[] {
  const names = new Set(items.map((item) => item.name));
  const needs = new Map(items.map((item) => {
    const found = namesIn(item.statement, names);
    found.delete(item.name);
    return [item, found] as const;
  }));
  const waiting = [...items];
  const ordered: CommonTable[] = [];
  while (waiting.length > 0) {
    const next = waiting.findIndex((item) => needs.get(item)?.size === 0);
    const item = waiting[next];
    if (item === undefined) {
      throw binding.error(
        SQLSTATE.featureNotSupported,
        "mutual recursion between WITH items is not implemented",
        waiting[0]?.position,
      );
    }
    // The first that waits changes places with the one that is taken; which one an error names depends on that.
    const first = waiting[0];
    if (first !== undefined) waiting[next] = first;
    waiting.shift();
    ordered.push(item);
    for (const each of needs.values()) each.delete(item.name);
  }
  return ordered;
}

/** Those of the names that a piece of syntax reads from in FROM. */
function namesIn(node: unknown, names: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  collect(node, names, found);
  return found;
}

function collect(node: unknown, names: ReadonlySet<string>, found: Set<string>): void {
  if (typeof node !== "object" || node === null || names.size === 0) return;
  if (Array.isArray(node)) {
    for (const each of node) collect(each, names, found);
    return;
  }
  const table = tableName(node);
  if (table !== undefined && names.has(table)) found.add(table);
  const inner = withClauseOf(node);
  if (inner === null) {
    for (const each of Object.values(node)) collect(each, names, found);
    return;
  }
  let visible = names;
  const hide = (hidden: readonly CommonTable[]) => {
    visible = new Set([...visible].filter((name) => hidden.every((item) => item.name !== name)));
  };
  if (inner.recursive) hide(inner.items);
  for (const item of inner.items) {
    collect(item.statement, visible, found);
    if (!inner.recursive) hide([item]);
  }
  for (const [key, each] of Object.entries(node)) if (key !== "with") collect(each, visible, found);
}

/** The unqualified name of a table in FROM. */
function tableName(node: object): string | undefined {
  if (!("kind" in node) || node.kind !== "table" || !("name" in node)) return undefined;
  const { name } = node;
  if (typeof name !== "object" || name === null || !("name" in name) || !("schema" in name)) return undefined;
  return name.schema === null && typeof name.name === "string" ? name.name : undefined;
}

function withClauseOf(node: object): WithClause | null {
  if (!("with" in node) || typeof node.with !== "object" || node.with === null) return null;
  return "items" in node.with && "recursive" in node.with ? node.with as WithClause : null;
}
