/**
 * Leaves out checks whose answer is known: bounds that were checked before or follow from a loop's range, and
 * uniqueness of blocks that are unique already.
 *
 * A forward walk with what is known. Behind a block or loop all is forgotten that something inside of it might have
 * changed. The check for uniqueness of a block that a loop writes in every round is done once before the loop. Nobody
 * else can change a block that a variable holds, so a length only changes with its variable, or through a store into
 * its header; before a loop that does neither it is loaded once for all its checks. Checks of overflow are left out
 * where branches tell that the numbers are small enough (`ranges.ts`).
 */
import {
  get,
  type IrExpression,
  type IrFunction,
  type IrLocal,
  type Label,
  load,
  newLocal,
  type Statement,
} from "./node.ts";
import { LENGTH_OFFSET } from "./layout.ts";
import {
  addNumbers,
  assume,
  copyNumbers,
  forgetNumber,
  isImpossible,
  joinNumbers,
  learnNumber,
  learnPassed,
  noNumbers,
  type Numbers,
  rangeOf,
  replaceNumbers,
} from "./ranges.ts";
import { bodiesOf, expressionsOf, mapExpression, mapStatement, visitExpression } from "./visit.ts";

/** Leaves out what is known. */
export function useFacts(target: IrFunction): void {
  if (target.body === null || target.isRaw) return;
  const pass = new FactPass(target);
  target.body = pass.walk(target.body, emptyFacts());
}

interface Facts {
  /** Indexes that are inside of a variable's block. */
  readonly inside: Map<IrLocal, Set<IrLocal>>;
  /** How many elements a variable's block has at least. */
  readonly least: Map<IrLocal, number>;
  /** Variables that hold the length of a variable's block. */
  readonly lengths: Map<IrLocal, IrLocal>;
  readonly unique: Set<IrLocal>;
  /** Variables that the compiler has put a block's length into, by the variable of the block. */
  readonly held: Map<IrLocal, IrLocal>;
  readonly numbers: Numbers;
}

function emptyFacts(): Facts {
  return {
    inside: new Map(),
    least: new Map(),
    lengths: new Map(),
    unique: new Set(),
    held: new Map(),
    numbers: noNumbers(),
  };
}

function copyFacts(facts: Facts): Facts {
  return {
    inside: new Map([...facts.inside].map(([pointer, indexes]) => [pointer, new Set(indexes)])),
    least: new Map(facts.least),
    lengths: new Map(facts.lengths),
    unique: new Set(facts.unique),
    held: new Map(facts.held),
    numbers: copyNumbers(facts.numbers),
  };
}

/** What statements may change. */
interface Changes {
  /** Variables that are set. */
  readonly set: Set<IrLocal>;
  /** Variables whose pointer goes elsewhere, so that it may be shared. */
  readonly shared: Set<IrLocal>;
  /** Variables that are made unique in every run of the statements. */
  readonly made: Set<IrLocal>;
  /** Whether a length is stored. */
  readonly resized: Set<IrLocal>;
  /** Variables of blocks whose length an index is compared with. */
  readonly tested: Set<IrLocal>;
}

class FactPass {
  readonly #function: IrFunction;
  readonly #changes = new WeakMap<readonly Statement[], Changes>();

  constructor(target: IrFunction) {
    this.#function = target;
  }

  walk(body: readonly Statement[], facts: Facts): Statement[] {
    const out: Statement[] = [];
    for (const statement of body) this.#statement(statement, facts, out);
    return out;
  }

  #statement(statement: Statement, facts: Facts, out: Statement[]): void {
    switch (statement.kind) {
      case "check": {
        if (this.#isKnown(statement.condition, facts)) return;
        out.push(withHeldLengths(statement, facts));
        learn(statement.condition, facts);
        learnPassed(statement.condition, facts.numbers);
        return;
      }
      case "unique":
        if (facts.unique.has(statement.local)) {
          out.push({ kind: "touch", local: statement.local });
          return;
        }
        facts.unique.add(statement.local);
        out.push(statement);
        return;
      case "if": {
        const then = copyFacts(facts);
        const otherwise = copyFacts(facts);
        assume(statement.condition, true, then.numbers);
        assume(statement.condition, false, otherwise.numbers);
        const bodies = [this.walk(statement.then, then), this.walk(statement.otherwise, otherwise)] as const;
        const { condition } = withHeldLengths(statement, facts);
        out.push({ ...statement, condition, then: bodies[0], otherwise: bodies[1] });
        const leaves = bodies.map((each) => {
          const last = each[each.length - 1];
          return last !== undefined &&
            (last.kind === "branch" || last.kind === "return" || last.kind === "trap");
        });
        if (leaves[0] === true && leaves[1] === true) return;
        if (leaves[0] !== true) restrict(facts, then, leaves[1] === true);
        if (leaves[1] !== true) restrict(facts, otherwise, leaves[0] === true);
        return;
      }
      case "switch": {
        const cases = statement.cases.map((body) => this.walk(body, copyFacts(facts)));
        out.push({ ...withHeldLengths(statement, facts), cases });
        for (const body of statement.cases) forget(facts, this.#changesOf(body));
        return;
      }
      case "block": {
        const body = this.walk(statement.body, copyFacts(facts));
        out.push({ ...statement, body });
        forget(facts, this.#changesOf(statement.body));
        return;
      }
      case "loop": {
        const changes = this.#changesOf(statement.body);
        forget(facts, changes);
        for (const local of changes.made) {
          if (changes.set.has(local) || changes.shared.has(local) || facts.unique.has(local)) continue;
          facts.unique.add(local);
          out.push({ kind: "unique", local });
        }
        for (const local of changes.tested) {
          if (changes.set.has(local) || changes.resized.has(local) || facts.held.has(local)) continue;
          const length = newLocal(this.#function, { name: `${local.name}.length`, type: "i32" });
          out.push({ kind: "set", local: length, value: load("i32.load", get(local), LENGTH_OFFSET) });
          facts.held.set(local, length);
        }
        out.push({ ...statement, body: this.walk(statement.body, copyFacts(facts)) });
        return;
      }
      default:
        out.push(withHeldLengths(statement, facts));
        if (statement.kind === "set") {
          const learned = noNumbers();
          learnNumber(statement.local, statement.value, facts.numbers, learned);
          forget(facts, changesOfOne(statement));
          learnSet(statement.local, statement.value, facts);
          addNumbers(facts.numbers, learned);
        } else forget(facts, changesOfOne(statement));
    }
  }

  #changesOf(body: readonly Statement[]): Changes {
    const known = this.#changes.get(body);
    if (known !== undefined) return known;
    const all: Changes = {
      set: new Set(),
      shared: new Set(),
      made: new Set(),
      resized: new Set(),
      tested: new Set(),
    };
    for (const statement of body) {
      const one = changesOfOne(statement);
      if (statement.kind === "unique") all.made.add(statement.local);
      if (statement.kind === "check") {
        const test = boundsTest(statement.condition);
        if (test !== null) all.tested.add(test.pointer);
      }
      for (const inner of bodiesOf(statement)) {
        const below = this.#changesOf(inner);
        for (const local of below.set) all.set.add(local);
        for (const local of below.shared) all.shared.add(local);
        for (const local of below.resized) all.resized.add(local);
        for (const local of below.tested) all.tested.add(local);
        if (statement.kind === "loop") { for (const local of below.made) all.made.add(local); }
        if (statement.kind === "block") this.#madeInBlock(statement, all.made);
      }
      for (const local of one.set) all.set.add(local);
      for (const local of one.shared) all.shared.add(local);
      for (const local of one.resized) all.resized.add(local);
    }
    this.#changes.set(body, all);
    return all;
  }

  /** What a block makes unique before anything leaves it. */
  #madeInBlock(block: Statement & { readonly kind: "block" }, made: Set<IrLocal>): void {
    for (const statement of block.body) {
      if (statement.kind === "unique") made.add(statement.local);
      if (statement.kind === "loop") {
        for (const local of this.#changesOf(statement.body).made) made.add(local);
      }
      if (statement.kind === "block") this.#madeInBlock(statement, made);
      if (branchesTo(statement, block.label)) return;
    }
  }

  #isKnown(condition: IrExpression, facts: Facts): boolean {
    const test = boundsTest(condition);
    if (test === null) return isImpossible(condition, facts.numbers);
    const { index, pointer } = test;
    if (index.kind === "const") {
      return Number(index.value) >= 0 && Number(index.value) < (facts.least.get(pointer) ?? 0);
    }
    if (index.kind !== "get") return false;
    if (facts.inside.get(pointer)?.has(index.local) === true) return true;
    return index.local.below !== null && facts.lengths.get(index.local.below) === pointer;
  }
}

function branchesTo(statement: Statement, label: Label): boolean {
  if (statement.kind === "branch") return statement.label === label;
  return bodiesOf(statement).some((body) => body.some((inner) => branchesTo(inner, label)));
}

/** The statement with loads of lengths that a variable holds replaced by it. */
function withHeldLengths<S extends Statement>(
  statement: S,
  facts: Facts,
): Statement & { readonly kind: S["kind"] };
function withHeldLengths(statement: Statement, { held }: Facts): Statement {
  if (held.size === 0) return statement;
  return mapStatement(statement, (expression) =>
    mapExpression(expression, (at) => {
      if (at.kind !== "load" || at.op !== "i32.load" || at.offset !== LENGTH_OFFSET) return at;
      const length = at.address.kind === "get" ? held.get(at.address.local) : undefined;
      return length === undefined ? at : get(length);
    }));
}

/** The index and the variable of a test whether an index is outside. */
function boundsTest(
  condition: IrExpression,
): { readonly index: IrExpression; readonly pointer: IrLocal } | null {
  if (condition.kind !== "op" || condition.op !== "i32.ge_u") return null;
  const [index, length] = condition.args;
  if (
    index === undefined || length === undefined || length.kind !== "load" || length.offset !== LENGTH_OFFSET
  ) {
    return null;
  }
  const { address } = length;
  if (address.kind !== "get" || address.local.pointer === null) return null;
  return { index, pointer: address.local };
}

/** What follows when the program goes on behind a check. */
function learn(condition: IrExpression, facts: Facts): void {
  const test = boundsTest(condition);
  if (test === null) return;
  const { index, pointer } = test;
  if (index.kind === "const") {
    facts.least.set(pointer, Math.max(facts.least.get(pointer) ?? 0, Number(index.value) + 1));
  } else if (index.kind === "get") {
    const indexes = facts.inside.get(pointer) ?? new Set<IrLocal>();
    facts.inside.set(pointer, indexes.add(index.local));
    // With `i + 1` is `i` inside, when it is not negative.
    const sum = facts.numbers.sums.get(index.local);
    if (
      sum !== undefined && sum.isExact && !sum.isDifference && rangeOf(sum.right, facts.numbers).low >= 0 &&
      rangeOf(get(sum.left), facts.numbers).low >= 0
    ) {
      indexes.add(sum.left);
    }
  }
}

function learnSet(local: IrLocal, value: IrExpression, facts: Facts): void {
  if (value.kind === "get" && local.pointer === null) {
    for (const indexes of facts.inside.values()) if (indexes.has(value.local)) indexes.add(local);
  }
  if (
    value.kind === "load" && value.offset === LENGTH_OFFSET && value.op === "i32.load" &&
    value.address.kind === "get" && value.address.local.pointer !== null && !local.isMutable
  ) {
    facts.lengths.set(local, value.address.local);
  }
}

function changesOfOne(statement: Statement): Changes {
  const set = new Set<IrLocal>();
  const shared = new Set<IrLocal>();
  const resized = new Set<IrLocal>();
  switch (statement.kind) {
    case "set":
      set.add(statement.local);
      break;
    case "multi":
      for (const local of statement.locals) set.add(local);
      break;
    case "store":
      if (statement.offset === LENGTH_OFFSET && statement.address.kind === "get") {
        resized.add(statement.address.local);
      }
      break;
    default:
  }
  for (const expression of expressionsOf(statement)) {
    visitExpression(expression, (at) => {
      if (at.kind === "own") shared.add(at.local);
      if (at.kind !== "call" && at.kind !== "indirect") return;
      for (const argument of at.args) {
        if (argument.kind === "get" && argument.local.pointer !== null) shared.add(argument.local);
      }
    });
  }
  return { set, shared, made: new Set(), resized, tested: new Set() };
}

function forget(facts: Facts, changes: Changes): void {
  for (const local of changes.set) {
    facts.inside.delete(local);
    facts.least.delete(local);
    facts.unique.delete(local);
    facts.lengths.delete(local);
    facts.held.delete(local);
    forgetNumber(local, facts.numbers);
    for (const indexes of facts.inside.values()) indexes.delete(local);
    for (const [length, pointer] of facts.lengths) if (pointer === local) facts.lengths.delete(length);
  }
  for (const local of changes.shared) facts.unique.delete(local);
  for (const local of changes.resized) {
    facts.held.delete(local);
    facts.inside.delete(local);
    facts.least.delete(local);
    for (const [length, pointer] of facts.lengths) if (pointer === local) facts.lengths.delete(length);
  }
}

/** Keeps what another way knows as well; takes all of it when it is the only way. */
function restrict(facts: Facts, other: Facts, isOnly: boolean): void {
  if (isOnly) {
    replace(facts, other);
    return;
  }
  for (const [pointer, indexes] of facts.inside) {
    const known = other.inside.get(pointer);
    for (const index of indexes) if (known?.has(index) !== true) indexes.delete(index);
  }
  for (const [pointer, count] of facts.least) {
    facts.least.set(pointer, Math.min(count, other.least.get(pointer) ?? 0));
  }
  for (const [length, pointer] of facts.lengths) {
    if (other.lengths.get(length) !== pointer) facts.lengths.delete(length);
  }
  for (const local of facts.unique) if (!other.unique.has(local)) facts.unique.delete(local);
  for (const [pointer, length] of facts.held) {
    if (other.held.get(pointer) !== length) facts.held.delete(pointer);
  }
  joinNumbers(facts.numbers, other.numbers);
}

function replace(facts: Facts, other: Facts): void {
  facts.inside.clear();
  for (const [pointer, indexes] of other.inside) facts.inside.set(pointer, indexes);
  facts.least.clear();
  for (const [pointer, count] of other.least) facts.least.set(pointer, count);
  facts.lengths.clear();
  for (const [length, pointer] of other.lengths) facts.lengths.set(length, pointer);
  facts.unique.clear();
  for (const local of other.unique) facts.unique.add(local);
  facts.held.clear();
  for (const [pointer, length] of other.held) facts.held.set(pointer, length);
  replaceNumbers(facts.numbers, other.numbers);
}
