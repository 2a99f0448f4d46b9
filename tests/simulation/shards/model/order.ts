/** Orders of transactions. */

/** Whether what must come before what leads back to where it began. */
export function hasCycle(edges: ReadonlyMap<number, ReadonlySet<number>>): boolean {
  for (const start of edges.keys()) {
    const reached = new Set<number>();
    const open = [...edges.get(start) ?? []];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === start) return true;
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(...edges.get(next) ?? []);
    }
  }
  return false;
}
