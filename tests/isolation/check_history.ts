/**
 * Finds anomalies in a history of transactions over append-only lists, or shows that there are none to be seen.
 *
 * After K. Kingsbury and P. Alvaro, "Elle: Inferring Isolation Anomalies from Experimental Observations" (VLDB 2020),
 * with the names of A. Adya, "Weak Consistency" (1999). A list that was read tells the order of its appends. From the
 * order follow dependencies: an append came after the one before it (ww), a read after the append that it ends with
 * (wr), an append after the reads that lack it (rw). A transaction that ended before another began came before it
 * (rt). A cycle is an anomaly.
 *
 * Below SERIALIZABLE some cycles are allowed. What it proves otherwise: a history without a cycle is strictly
 * serializable as far as its reads tell. Transactions of
 * unknown outcome count as committed when somebody has read one of their appends, otherwise as if they had never
 * been.
 */
import type { IsolationLevel } from "../../engine/transactions/isolation_level.ts";
import { DependencyGraph, type Edge, type EdgeKind } from "./dependency_graph.ts";
import type { RecordedTransaction } from "./history.ts";

/** The name of an anomaly. */
export type AnomalyName =
  | "garbage read"
  | "duplicate append"
  | "incompatible order"
  | "internal"
  | "aborted read (G1a)"
  | "intermediate read (G1b)"
  | "lost append"
  | "lost update"
  | "G0"
  | "G1c"
  | "G-single"
  | "G2-item"
  | "G2"
  | "G0-realtime"
  | "G1c-realtime"
  | "G-single-realtime"
  | "G2-item-realtime"
  | "G2-realtime";

/** One that was found. */
export interface Anomaly {
  readonly name: AnomalyName;
  /** The ids of the transactions, in the order of the cycle where there is one. */
  readonly transactions: readonly number[];
  readonly text: string;
}

/** What a check came to. */
export interface HistoryReport {
  readonly anomalies: readonly Anomaly[];
  /** Transactions in the graph. */
  readonly committed: number;
  readonly aborted: number;
  readonly unknown: number;
  readonly reads: number;
  readonly appends: number;
  readonly edges: number;
}

/** So many anomalies of one name are reported; one is enough to know. */
const mostOfOneName = 3;
/** See {@link shortestThrough}. */
const mostEdgesTried = { beforeOne: 100, afterOne: 5 };

/** What the levels below SERIALIZABLE allow, in PostgreSQL as here. */
const SKEWS: readonly AnomalyName[] = ["G2-item", "G2", "G2-item-realtime", "G2-realtime"];
const ALLOWED: Readonly<Record<IsolationLevel, readonly AnomalyName[]>> = {
  "serializable": [],
  "repeatable read": SKEWS,
  "read committed": [...SKEWS, "lost update", "G-single", "G-single-realtime"],
};

/** Checks a history whose transactions all asked for one level: what that allows is no anomaly. */
export function checkHistory(
  transactions: readonly RecordedTransaction[],
  level: IsolationLevel = "serializable",
): HistoryReport {
  return new Checker(transactions, level).check();
}

/** What a transaction saw of a key before its own appends. */
interface OutsideRead {
  readonly key: number;
  readonly list: readonly number[];
  readonly predicate: boolean;
}

interface Node {
  readonly index: number;
  readonly transaction: RecordedTransaction;
  readonly reads: OutsideRead[];
  /** Appends that were kept, by key. */
  readonly appends: Map<number, number[]>;
}

/** Who appended a value. */
interface Writer {
  readonly transaction: RecordedTransaction;
  /** Taken back by ROLLBACK TO. */
  readonly undone: boolean;
  /** Whether the transaction's last append to the key. */
  readonly last: boolean;
}

const nameOf = ({ id }: RecordedTransaction): string => `T${id}`;
const showList = (list: readonly number[]): string =>
  list.length <= 6 ? `[${list.join(",")}]` : `[… ${list.slice(-5).join(",")}]`;

class Checker {
  readonly #all: readonly RecordedTransaction[];
  readonly #anomalies: Anomaly[] = [];
  readonly #named = new Map<AnomalyName, number>();
  /** By key, then value. */
  readonly #writers = new Map<number, Map<number, Writer>>();
  readonly #nodes: Node[] = [];
  readonly #nodeOf = new Map<RecordedTransaction, Node>();
  /** The order of appends, by key. */
  readonly #orders = new Map<number, readonly number[]>();

  readonly #level: IsolationLevel;

  constructor(transactions: readonly RecordedTransaction[], level: IsolationLevel) {
    this.#all = transactions;
    this.#level = level;
  }

  check(): HistoryReport {
    for (const transaction of this.#all) this.#noteWriters(transaction);
    for (const transaction of this.#happened()) this.#noteNode(transaction);
    for (const node of this.#nodes) for (const read of node.reads) this.#checkRead(node, read);
    this.#inferOrders();
    this.#checkLost();
    const graph = this.#graph();
    this.#findCycles(graph);
    const count = (outcome: string) => this.#all.filter((each) => each.outcome === outcome).length;
    return {
      anomalies: this.#anomalies,
      committed: this.#nodes.length,
      aborted: count("aborted"),
      unknown: count("unknown"),
      reads: this.#nodes.reduce((sum, { reads }) => sum + reads.length, 0),
      appends: this.#nodes.reduce((sum, { appends }) => sum + [...appends.values()].flat().length, 0),
      edges: graph.edgeCount,
    };
  }

  #report(name: AnomalyName, transactions: readonly RecordedTransaction[], text: string): void {
    if (ALLOWED[this.#level].includes(name)) return;
    const before = this.#named.get(name) ?? 0;
    this.#named.set(name, before + 1);
    if (before < mostOfOneName) {
      this.#anomalies.push({
        name,
        transactions: transactions.map(({ id }) => id),
        text: `${name}: ${text}`,
      });
    }
  }

  #noteWriters(transaction: RecordedTransaction): void {
    const kept = keptAppends(transaction);
    for (const operation of transaction.operations) {
      if (operation.kind !== "append") continue;
      const { key, value } = operation;
      let values = this.#writers.get(key);
      if (values === undefined) this.#writers.set(key, values = new Map());
      const other = values.get(value);
      if (other !== undefined) {
        throw new Error(`value ${value} was appended to key ${key} twice: not a history`);
      }
      const own = kept.get(key) ?? [];
      values.set(value, { transaction, undone: !own.includes(value), last: own.at(-1) === value });
    }
  }

  /** Transactions that committed, and those that others have seen. */
  #happened(): RecordedTransaction[] {
    const seen = new Set<RecordedTransaction>();
    for (const { outcome, operations } of this.#all) {
      if (outcome !== "committed") continue;
      for (const operation of operations) {
        if (operation.kind !== "read") continue;
        for (const value of operation.list) {
          const writer = this.#writers.get(operation.key)?.get(value);
          if (writer?.transaction.outcome === "unknown") seen.add(writer.transaction);
        }
      }
    }
    return this.#all.filter((each) => each.outcome === "committed" || seen.has(each));
  }

  /** Follows a transaction's steps: what it reads must be what it found first, then its own appends. */
  #noteNode(transaction: RecordedTransaction): void {
    const node: Node = {
      index: this.#nodes.length,
      transaction,
      reads: [],
      appends: keptAppends(transaction),
    };
    this.#nodes.push(node);
    this.#nodeOf.set(transaction, node);
    const own = new Map<number, number[]>();
    const found = new Map<number, readonly number[]>();
    transaction.operations.forEach((operation, index) => {
      switch (operation.kind) {
        case "append":
          own.set(operation.key, [...own.get(operation.key) ?? [], operation.value]);
          return;
        case "undo":
          own.clear();
          for (const [key, values] of keptAppends(transaction, index + 1)) own.set(key, values);
          return;
        case "read":
          this.#noteRead(node, operation, own.get(operation.key) ?? [], found);
      }
    });
  }

  #noteRead(
    node: Node,
    read: OutsideRead,
    own: readonly number[],
    found: Map<number, readonly number[]>,
  ): void {
    const { key, list, predicate } = read;
    const { transaction } = node;
    const outside = list.slice(0, Math.max(0, list.length - own.length));
    const tail = list.slice(outside.length);
    const before = found.get(key);
    if (!isSame(tail, own)) {
      const text = `${nameOf(transaction)} read key ${key} as ${showList(list)} after its own appends ${
        showList(own)
      }`;
      this.#report("internal", [transaction], text);
      return;
    }
    const hasMoved = before !== undefined && !isSame(before, outside);
    // At READ COMMITTED a later statement may see what others have appended since.
    const mayMove = hasMoved && this.#level === "read committed" &&
      before?.every((value, index) => outside[index] === value) === true;
    if (hasMoved && !mayMove) {
      const text = `${nameOf(transaction)} read key ${key} as ${showList(outside)} after ${showList(before)}`;
      this.#report("internal", [transaction], text);
    }
    if (before === undefined || mayMove || predicate) node.reads.push({ key, list: outside, predicate });
    if (before === undefined || mayMove) found.set(key, outside);
  }

  #checkRead({ transaction }: Node, { key, list }: OutsideRead): void {
    const who = `${nameOf(transaction)} read key ${key} as ${showList(list)}`;
    if (new Set(list).size !== list.length) this.#report("duplicate append", [transaction], who);
    list.forEach((value, index) => {
      const writer = this.#writers.get(key)?.get(value);
      if (writer === undefined) {
        this.#report("garbage read", [transaction], `${who}: nobody has appended ${value}`);
        return;
      }
      const pair = [transaction, writer.transaction];
      if (writer.transaction.outcome === "aborted" || writer.undone) {
        const { told = null } = writer.transaction;
        const how = writer.undone ? "took it back" : `was rolled back${told === null ? "" : ` by ${told}`}`;
        this.#report(
          "aborted read (G1a)",
          pair,
          `${who}: ${nameOf(writer.transaction)} appended ${value} and ${how}`,
        );
      } else if (index === list.length - 1 && !writer.last) {
        const text = `${who}: ${nameOf(writer.transaction)} appended more than ${value}`;
        this.#report("intermediate read (G1b)", pair, text);
      }
    });
  }

  #inferOrders(): void {
    const longest = new Map<number, { readonly node: Node; readonly list: readonly number[] }>();
    for (const node of this.#nodes) {
      for (const { key, list } of node.reads) {
        if (list.length > (longest.get(key)?.list.length ?? -1)) longest.set(key, { node, list });
      }
    }
    for (const [key, { list }] of longest) this.#orders.set(key, list);
    for (const node of this.#nodes) {
      for (const { key, list } of node.reads) {
        const best = longest.get(key);
        if (best === undefined || list.every((value, index) => best.list[index] === value)) continue;
        this.#report(
          "incompatible order",
          [node.transaction, best.node.transaction],
          `${nameOf(node.transaction)} read key ${key} as ${showList(list)}, ${
            nameOf(best.node.transaction)
          } as ${showList(best.list)}`,
        );
      }
    }
  }

  /** Appends that went missing, and transactions that built on the same state of a list. */
  #checkLost(): void {
    const lastStart = new Map<number, number>();
    const bases = new Map<string, Node>();
    for (const node of this.#nodes) {
      for (const { key, list } of node.reads) {
        lastStart.set(key, Math.max(lastStart.get(key) ?? -1, node.transaction.start));
        if (!node.appends.has(key)) continue;
        const base = `${key}:${list.length}`;
        const other = bases.get(base);
        if (other === undefined || other === node) bases.set(base, node);
        else {
          const [a, b] = [nameOf(other.transaction), nameOf(node.transaction)];
          const text = `${a} and ${b} both read key ${key} as ${showList(list)} and appended to it`;
          this.#report("lost update", [other.transaction, node.transaction], text);
        }
      }
    }
    for (const { transaction, appends } of this.#nodes) {
      for (const [key, values] of appends) {
        if ((lastStart.get(key) ?? -1) < transaction.end) continue;
        const order = this.#orders.get(key) ?? [];
        for (const value of values) {
          if (order.includes(value)) continue;
          const text = `${nameOf(transaction)} appended ${value} to key ${key}, which nobody read afterwards`;
          this.#report("lost append", [transaction], text);
        }
      }
    }
  }

  #graph(): DependencyGraph {
    const graph = new DependencyGraph(this.#nodes.length);
    for (const [key, order] of this.#orders) this.#addWrites(graph, key, order);
    const unread = this.#unreadAppends();
    for (const node of this.#nodes) {
      for (const read of node.reads) this.#addRead(graph, node, read, unread.get(read.key) ?? []);
    }
    this.#addRealTime(graph);
    return graph;
  }

  #nodeOfValue(key: number, value: number | undefined): Node | undefined {
    const writer = value === undefined ? undefined : this.#writers.get(key)?.get(value);
    return writer === undefined ? undefined : this.#nodeOf.get(writer.transaction);
  }

  #addWrites(graph: DependencyGraph, key: number, order: readonly number[]): void {
    for (let index = 1; index < order.length; index++) {
      const [before, after] = [
        this.#nodeOfValue(key, order[index - 1]),
        this.#nodeOfValue(key, order[index]),
      ];
      if (before === undefined || after === undefined) continue;
      graph.add({
        kind: "ww",
        from: before.index,
        to: after.index,
        predicate: false,
        reason: `key ${key}: ${order[index - 1]}, then ${order[index]}`,
      });
    }
  }

  /** Kept appends that are in no list that was read: they came after everything that was. */
  #unreadAppends(): Map<number, { readonly node: Node; readonly value: number }[]> {
    const unread = new Map<number, { readonly node: Node; readonly value: number }[]>();
    for (const node of this.#nodes) {
      for (const [key, values] of node.appends) {
        const order = new Set(this.#orders.get(key) ?? []);
        const value = values.find((each) => !order.has(each));
        if (value !== undefined) unread.set(key, [...unread.get(key) ?? [], { node, value }]);
      }
    }
    return unread;
  }

  #addRead(
    graph: DependencyGraph,
    node: Node,
    { key, list, predicate }: OutsideRead,
    unread: readonly { readonly node: Node; readonly value: number }[],
  ): void {
    const writer = this.#nodeOfValue(key, list.at(-1));
    if (writer !== undefined) {
      const reason = `key ${key}: read ${showList(list)}`;
      graph.add({ kind: "wr", from: writer.index, to: node.index, predicate: false, reason });
    }
    const order = this.#orders.get(key) ?? [];
    const next = order[list.length];
    const following = this.#nodeOfValue(key, next);
    const later = following === undefined || next === undefined ? [] : [{ node: following, value: next }];
    for (const { node: other, value } of [...later, ...(order.length === list.length ? unread : [])]) {
      const reason = `key ${key}: read ${showList(list)}, without ${value}`;
      graph.add({ kind: "rw", from: node.index, to: other.index, predicate, reason });
    }
  }

  /** Only from transactions that no other ended one lies between: the rest follows. */
  #addRealTime(graph: DependencyGraph): void {
    const moments = this.#nodes.flatMap((node) => [
      { at: node.transaction.start, node, starts: true },
      ...(node.transaction.end === Infinity ? [] : [{ at: node.transaction.end, node, starts: false }]),
    ]).sort((a, b) => a.at - b.at);
    let ended: Node[] = [];
    for (const { node, starts } of moments) {
      if (starts) {
        for (const before of ended) {
          graph.add({
            kind: "rt",
            from: before.index,
            to: node.index,
            predicate: false,
            reason: "ended before",
          });
        }
      } else {
        const { start } = node.transaction;
        ended = [...ended.filter(({ transaction }) => transaction.end > start), node];
      }
    }
  }

  #findCycles(graph: DependencyGraph): void {
    const without = this.#findCyclesIn(graph, [], "");
    // What is a cycle already needs no clock to be one.
    if (!without) this.#findCyclesIn(graph, ["rt"], "-realtime");
  }

  #findCyclesIn(graph: DependencyGraph, more: readonly EdgeKind[], suffix: "" | "-realtime"): boolean {
    const write = new Set<EdgeKind>(["ww", ...more]);
    const flow = new Set<EdgeKind>(["ww", "wr", ...more]);
    const all = new Set<EdgeKind>(["ww", "wr", "rw", ...more]);
    for (const component of graph.components(write)) {
      const cycle = shortestThrough(graph, component, "ww", write);
      if (cycle !== null) this.#reportCycle(`G0${suffix}`, cycle);
    }
    for (const component of graph.components(flow)) {
      const cycle = shortestThrough(graph, component, "wr", flow);
      if (cycle !== null) this.#reportCycle(`G1c${suffix}`, cycle);
    }
    const components = graph.components(all);
    for (const component of components) {
      const single = shortestThrough(graph, component, "rw", flow);
      if (single !== null) {
        this.#reportCycle(`G-single${suffix}`, single);
        continue;
      }
      const several = shortestThrough(graph, component, "rw", all);
      if (several === null) continue;
      const byCondition = several.some(({ kind, predicate }) => kind === "rw" && predicate);
      this.#reportCycle(byCondition ? `G2${suffix}` : `G2-item${suffix}`, several);
    }
    return components.length > 0;
  }

  #reportCycle(name: AnomalyName, cycle: readonly Edge[]): void {
    const transactionOf = (index: number): RecordedTransaction => {
      const node = this.#nodes[index];
      if (node === undefined) throw new Error(`no node ${index}`);
      return node.transaction;
    };
    const members = cycle.map(({ from }) => transactionOf(from));
    const text = cycle.map(({ kind, from, to, reason, predicate }) =>
      `${nameOf(transactionOf(from))} -${kind}${predicate ? " by condition" : ""} (${reason})-> ${
        nameOf(transactionOf(to))
      }`
    ).join("; ");
    this.#report(name, members, text);
  }
}

/**
 * A short cycle within a component that has an edge of the one kind and goes back by edges of these; null when there
 * is none. In large components not every edge is tried: then a cycle may get the name of a weaker anomaly, but none
 * is overlooked, because every component has one.
 */
function shortestThrough(
  graph: DependencyGraph,
  component: readonly number[],
  kind: EdgeKind,
  back: ReadonlySet<EdgeKind>,
): readonly Edge[] | null {
  const within = new Set(component);
  let best: readonly Edge[] | null = null;
  let tried = 0;
  for (const from of component) {
    for (const edge of graph.edges(from, new Set([kind]))) {
      if (!within.has(edge.to)) continue;
      const most = best === null ? mostEdgesTried.beforeOne : mostEdgesTried.afterOne;
      if (best?.length === 2 || tried++ > most) return best;
      const way = graph.path(edge.to, from, within, back);
      if (way !== null && (best === null || way.length + 1 < best.length)) best = [edge, ...way];
    }
  }
  return best;
}

/** The appends of the first so many steps that were not taken back, by key. */
function keptAppends({ operations }: RecordedTransaction, steps = operations.length): Map<number, number[]> {
  const kept: { readonly at: number; readonly key: number; readonly value: number }[] = [];
  operations.slice(0, steps).forEach((operation, at) => {
    if (operation.kind === "append") kept.push({ at, key: operation.key, value: operation.value });
    else if (operation.kind === "undo") {
      while ((kept.at(-1)?.at ?? -1) >= operation.since) kept.pop();
    }
  });
  const byKey = new Map<number, number[]>();
  for (const { key, value } of kept) byKey.set(key, [...byKey.get(key) ?? [], value]);
  return byKey;
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
