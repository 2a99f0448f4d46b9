/**
 * Decides who owns each counted pointer, and writes the counting: `retain`, `release`, and moves.
 *
 * Parameters belong to the caller. Every other pointer variable owns its pointer, unless it can borrow: one that is
 * set once, from a variable or from memory that another pointer keeps alive, borrows when that pointer is neither
 * given away nor set anew while the variable is used. The last `own` of an owned variable moves, any other adds to
 * the count; a variable is released as soon as nothing follows that uses it, or what borrows from it. (After A.
 * Reinking, N. Xie, L. de Moura, D. Leijen: "Perceus: Garbage Free Reference Counting with Reuse", PLDI 2021; with
 * borrowing.)
 *
 * Two walks backwards over the statements with the set of live variables: the first finds who cannot borrow, the
 * second rewrites.
 */
import {
  get,
  type IrExpression,
  type IrFunction,
  type IrLocal,
  type Label,
  newLocal,
  type Statement,
} from "./node.ts";
import { bodiesOf, expressionsOf, mapStatement, visitExpression } from "./visit.ts";

/** Variables that are used later; null where the program is about to end, so that nothing has to be released. */
type Live = Set<IrLocal> | null;

/** Rewrites the body of a function. */
export function insertCounts(target: IrFunction): void {
  if (target.body === null || target.isRaw) return;
  if (!target.locals.some((local) => local.pointer !== null)) return;
  const pass = new OwnershipPass(target);
  pass.findBorrowers(target.body);
  target.body = pass.rewrite(target.body);
}

interface Uses {
  /** Pointers looked at, also through addresses inside of what they point to. */
  readonly borrowed: IrLocal[];
  /** Pointers whose count is handed on, as often as that happens. */
  readonly owned: IrLocal[];
}

function usesOf(statement: Statement): Uses {
  const borrowed: IrLocal[] = [];
  const owned: IrLocal[] = [];
  for (const expression of expressionsOf(statement)) {
    visitExpression(expression, (at) => {
      if (at.kind === "own") owned.push(at.local);
      else if (at.kind === "get") {
        if (at.local.pointer !== null) borrowed.push(at.local);
        else if (at.local.base !== null) borrowed.push(at.local.base);
      }
    });
  }
  return { borrowed, owned };
}

function definitionsOf(statement: Statement): readonly IrLocal[] {
  switch (statement.kind) {
    case "set":
    case "unique":
      return [statement.local];
    case "multi":
      return statement.locals;
    default:
      return [];
  }
}

class OwnershipPass {
  readonly #function: IrFunction;
  /** What a variable borrows from; null for what is never freed. */
  readonly #parents = new Map<IrLocal, IrLocal | null>();
  readonly #labels = new Map<Label, Live>();
  /** What was live at the start of a loop when it was walked last: the first guess of the next walk. */
  readonly #settled = new Map<Label, ReadonlySet<IrLocal>>();
  #isRewriting = false;

  constructor(target: IrFunction) {
    this.#function = target;
  }

  /** Finds the variables that may borrow. */
  findBorrowers(body: Statement[]): void {
    const counts = new Map<IrLocal, number>();
    const visit = (statements: readonly Statement[]): void => {
      for (const statement of statements) {
        for (const local of definitionsOf(statement)) counts.set(local, (counts.get(local) ?? 0) + 1);
        for (const inner of bodiesOf(statement)) visit(inner);
      }
    };
    visit(body);
    const candidates = (statements: readonly Statement[]): void => {
      for (const statement of statements) {
        if (
          statement.kind === "set" && statement.local.pointer !== null && counts.get(statement.local) === 1
        ) {
          const parent = parentOf(statement.value);
          if (parent !== undefined) this.#parents.set(statement.local, parent);
        }
        for (const inner of bodiesOf(statement)) candidates(inner);
      }
    };
    for (const parameter of this.#function.parameters) {
      counts.set(parameter, (counts.get(parameter) ?? 0) + 1);
    }
    candidates(body);
    this.#isRewriting = false;
    this.#walk(body, new Set());
  }

  /** Writes the counting. */
  rewrite(body: Statement[]): Statement[] {
    this.#isRewriting = true;
    this.#settled.clear();
    const { live, statements } = this.#walk(body, new Set());
    const unused = this.#function.parameters.filter((parameter) =>
      parameter.pointer !== null && !parameter.isBorrowed && live !== null && !live.has(parameter)
    );
    return [...unused.map((local): Statement => ({ kind: "release", local })), ...statements];
  }

  #isOwned(local: IrLocal): boolean {
    return local.pointer !== null && !local.isBorrowed && !this.#parents.has(local);
  }

  /** The variable that has to live for this one to be used, or null when the caller or nobody frees it. */
  #ownerOf(local: IrLocal): IrLocal | null {
    let at: IrLocal | null = local;
    while (at !== null && this.#parents.has(at)) at = this.#parents.get(at) ?? null;
    return at === null || at.isBorrowed || at.pointer === null ? null : at;
  }

  #walk(body: readonly Statement[], liveAfter: Live): { live: Live; statements: Statement[] } {
    let live = liveAfter === null ? null : new Set(liveAfter);
    const reversed: Statement[] = [];
    for (let index = body.length - 1; index >= 0; index--) {
      const statement = body[index];
      if (statement === undefined) continue;
      live = this.#statement(statement, live, reversed);
    }
    return { live, statements: this.#isRewriting ? reversed.reverse() : [] };
  }

  /** Handles one statement; what it becomes is pushed in reverse order. */
  #statement(statement: Statement, live: Live, out: Statement[]): Live {
    switch (statement.kind) {
      case "if": {
        const ways = [statement.then, statement.otherwise].map((body) => this.#walk(body, live));
        return this.#branching(statement, ways, out, ([then, otherwise]) => ({
          ...statement,
          then: then ?? [],
          otherwise: otherwise ?? [],
        }));
      }
      case "switch": {
        const ways = statement.cases.map((body) => this.#walk(body, live));
        return this.#branching(statement, ways, out, (cases) => ({ ...statement, cases: [...cases] }));
      }
      case "block": {
        this.#labels.set(statement.label, live);
        const inner = this.#walk(statement.body, live);
        out.push({ ...statement, body: inner.statements });
        return inner.live;
      }
      case "loop":
        return this.#loop(statement, live, out);
      case "branch": {
        const target = this.#labels.get(statement.label) ?? null;
        out.push(statement);
        return target === null ? null : new Set(target);
      }
      case "trap":
        out.push(statement);
        return null;
      case "return":
        return this.#return(statement, out);
      case "touch":
        if (live !== null) this.#refuse(statement.local, (borrower) => live.has(borrower));
        return live;
      case "at":
      case "charge":
        out.push(statement);
        return live;
      default:
        return this.#simple(statement, live, out);
    }
  }

  #branching(
    statement: Statement,
    ways: readonly { readonly live: Live; readonly statements: Statement[] }[],
    out: Statement[],
    rebuild: (bodies: readonly Statement[][]) => Statement,
  ): Live {
    const uses = usesOf(statement);
    const reaching = ways.filter((way) => way.live !== null);
    if (reaching.length === 0) {
      if (this.#isRewriting) out.push(rebuild(ways.map((way) => way.statements)));
      return this.#usedBy(uses);
    }
    const total = this.#usedBy(uses);
    for (const way of reaching) for (const local of way.live ?? []) total.add(local);
    if (this.#isRewriting) {
      const bodies = ways.map((way) => {
        if (way.live === null) return way.statements;
        const dead: Statement[] = [];
        for (const local of total) if (!way.live.has(local)) dead.push({ kind: "release", local });
        return [...dead, ...way.statements];
      });
      out.push(rebuild(bodies));
    }
    return total;
  }

  /** The owned variables that a statement uses. */
  #usedBy(uses: Uses): Set<IrLocal> {
    const used = new Set<IrLocal>();
    for (const local of [...uses.borrowed, ...uses.owned]) {
      const owner = this.#isRewriting ? this.#ownerOf(local) : local;
      if (owner !== null && !owner.isBorrowed) used.add(owner);
    }
    return used;
  }

  #loop(statement: Statement & { readonly kind: "loop" }, live: Live, out: Statement[]): Live {
    // What is live at the start of the loop is live where it is continued: guessed, and corrected until it agrees.
    let guess: Set<IrLocal> = new Set(this.#settled.get(statement.label));
    for (let round = 0;; round++) {
      this.#labels.set(statement.label, guess);
      const inner: { live: Live; statements: Statement[] } = this.#walk(statement.body, live);
      if (inner.live === null) {
        out.push({ ...statement, body: inner.statements });
        return null;
      }
      if (isSubset(inner.live, guess) && isSubset(guess, inner.live)) {
        out.push({ ...statement, body: inner.statements });
        this.#settled.set(statement.label, inner.live);
        return inner.live;
      }
      // Grows until it covers; a fixed point is reached because each round adds a variable.
      const next: Set<IrLocal> = new Set(guess);
      for (const local of inner.live) next.add(local);
      guess = next.size === guess.size ? inner.live : next;
      if (round > 1000) {
        throw new Error(`Cannot find what is live in ${this.#function.name}: the loop does not settle`);
      }
    }
  }

  #return(statement: Statement & { readonly kind: "return" }, out: Statement[]): Live {
    const uses = usesOf(statement);
    const used = this.#usedBy(uses);
    if (!this.#isRewriting) {
      this.#disqualify(uses, [], new Set());
      return used;
    }
    const { before, moved } = this.#handOn(uses, new Set(), new Set());
    const dead = [...used].filter((local) =>
      !moved.has(local) && uses.borrowed.some((each) => this.#ownerOf(each) === local)
    );
    for (const local of this.#retainedOwners(uses, moved)) if (!dead.includes(local)) dead.push(local);
    if (dead.length === 0) {
      out.push(statement, ...before);
      return used;
    }
    // The values are worked out before what they look at is released.
    const values: IrExpression[] = [];
    const sets: Statement[] = [];
    for (const [index, value] of statement.values.entries()) {
      const slot = this.#function.results[index];
      if (value.kind === "const" || value.kind === "own" || slot === undefined) {
        values.push(value);
        continue;
      }
      const local = newLocal(this.#function, { name: "result", type: slot.type });
      sets.push({ kind: "set", local, value });
      values.push(get(local));
    }
    out.push({ kind: "return", values });
    for (const local of dead) out.push({ kind: "release", local });
    out.push(...sets.reverse(), ...before);
    return used;
  }

  /** Owners of borrowed variables that are handed on here, which have to live until the count has been added. */
  #retainedOwners(uses: Uses, moved: ReadonlySet<IrLocal>): IrLocal[] {
    const owners: IrLocal[] = [];
    for (const local of uses.owned) {
      if (this.#isOwned(local)) continue;
      const owner = this.#ownerOf(local);
      if (owner !== null && !moved.has(owner) && !owners.includes(owner)) owners.push(owner);
    }
    return owners;
  }

  /** Which `own`s move, and the counts to be added for the others. */
  #handOn(
    uses: Uses,
    liveAfter: ReadonlySet<IrLocal>,
    defined: ReadonlySet<IrLocal>,
  ): { before: Statement[]; moved: Set<IrLocal> } {
    const before: Statement[] = [];
    const moved = new Set<IrLocal>();
    const looked = new Set<IrLocal>();
    for (const local of uses.borrowed) {
      const owner = this.#ownerOf(local);
      if (owner !== null) looked.add(owner);
    }
    for (const local of uses.owned) {
      if (this.#isOwned(local)) continue;
      const owner = this.#ownerOf(local);
      if (owner !== null) looked.add(owner);
    }
    for (const local of uses.owned) {
      const isLast = this.#isOwned(local) && !moved.has(local) && !looked.has(local) &&
        (!liveAfter.has(local) || defined.has(local));
      if (isLast) moved.add(local);
      else before.push({ kind: "retain", local });
    }
    return { before, moved };
  }

  #simple(statement: Statement, live: Live, out: Statement[]): Live {
    const definitions = definitionsOf(statement);
    const after = live ?? new Set<IrLocal>();
    if (!this.#isRewriting) {
      const uses = usesOf(statement);
      this.#disqualify(uses, definitions, after, statement);
      const before = new Set(after);
      for (const local of definitions) before.delete(local);
      for (const local of this.#usedBy(uses)) before.add(local);
      if (statement.kind === "unique") before.add(statement.local);
      return before;
    }
    if (statement.kind === "set" && statement.local.pointer !== null && isPlain(statement.value)) {
      const { local } = statement;
      // Nobody uses it: nothing to set, nothing to count. What is taken out of memory has to be released, though.
      const isUsed = this.#parents.has(local) || after.has(local);
      if (!isUsed && !(statement.value.kind === "load" && statement.value.isTaken === true)) return live;
      if (this.#parents.has(local)) return this.#borrow(statement, live, out);
    }
    return this.#rewriteSimple(statement, definitions, live, after, out);
  }

  /** A variable that borrows is set without counting. */
  #borrow(statement: Statement & { readonly kind: "set" }, live: Live, out: Statement[]): Live {
    const value: IrExpression = statement.value.kind === "own" ? get(statement.value.local) : statement.value;
    out.push({ ...statement, value });
    const uses = this.#usedBy(usesOf({ ...statement, value }));
    if (live === null) return uses;
    // What it borrows from lives at least as long, so nothing dies here but an owner that nobody needs any more.
    for (const owner of uses) {
      if (live.has(owner)) continue;
      out.splice(out.length - 1, 0, { kind: "release", local: owner });
    }
    const before = new Set(live);
    for (const owner of uses) before.add(owner);
    return before;
  }

  #rewriteSimple(
    statement: Statement,
    definitions: readonly IrLocal[],
    live: Live,
    after: ReadonlySet<IrLocal>,
    out: Statement[],
  ): Live {
    const uses = usesOf(statement);
    const defined = new Set(definitions);
    const { before, moved } = this.#handOn(uses, after, defined);
    const behind: Statement[] = [];
    const front: Statement[] = [...before];
    // What was set and is not used.
    if (live !== null) {
      for (const local of definitions) {
        if (this.#isOwned(local) && !after.has(local)) behind.push({ kind: "release", local });
      }
    }
    if (
      statement.kind === "set" && statement.local.pointer !== null && statement.value.kind === "load" &&
      statement.value.isTaken !== true && after.has(statement.local)
    ) {
      behind.push({ kind: "retain", local: statement.local });
    }
    if (statement.kind === "set" && statement.value.kind === "const" && statement.local.pointer !== null) {
      if (statement.value.value !== 0 && after.has(statement.local)) {
        behind.push({ kind: "retain", local: statement.local });
      }
    }
    const used = this.#usedBy(uses);
    const fresh = new Set<IrLocal>();
    for (const owner of used) {
      if (moved.has(owner)) continue;
      const isRedefined = defined.has(owner) && statement.kind !== "unique";
      if (isRedefined) {
        const old = newLocal(this.#function, {
          name: `${owner.name}.old`,
          type: "i32",
          pointer: owner.pointer,
        });
        fresh.add(old);
        front.push({ kind: "set", local: old, value: get(owner) });
        if (live !== null) behind.push({ kind: "release", local: old });
      } else if (!after.has(owner) && live !== null) {
        behind.push({ kind: "release", local: owner });
      }
    }
    for (let index = behind.length - 1; index >= 0; index--) {
      const each = behind[index];
      if (each !== undefined) out.push(each);
    }
    out.push(plain(statement));
    for (let index = front.length - 1; index >= 0; index--) {
      const each = front[index];
      if (each !== undefined) out.push(each);
    }
    const result = new Set(after);
    for (const local of definitions) result.delete(local);
    for (const local of used) result.add(local);
    if (statement.kind === "unique") result.add(statement.local);
    return result;
  }

  /** Takes the right to borrow from those that are used after what they borrow from is given away or set anew. */
  #disqualify(
    uses: Uses,
    definitions: readonly IrLocal[],
    after: ReadonlySet<IrLocal>,
    statement: Statement | null = null,
  ): void {
    if (this.#parents.size === 0) return;
    const target = statement?.kind === "set" ? statement.local : null;
    const looked = new Set(uses.borrowed);
    for (const local of uses.owned) {
      if (local.isBorrowed || looked.has(local)) continue;
      if (after.has(local) && !definitions.includes(local)) continue;
      // A move. A copy of a variable that is not used any more takes its place.
      if (target !== null && this.#parents.get(target) === local && !this.#parents.has(local)) {
        this.#parents.delete(target);
      }
      if (target !== null && this.#parents.get(target) === local) continue;
      this.#refuse(
        local,
        (borrower) => after.has(borrower) || looked.has(borrower) || uses.owned.includes(borrower),
      );
    }
    for (const local of definitions) {
      if (local.pointer !== null) this.#refuse(local, (borrower) => after.has(borrower));
    }
    // What is taken out of memory may be given back at once: who looks at it there, or at what else lies there, needs
    // a count of its own.
    const taken = statement?.kind === "set" ? takenFrom(statement.value) : null;
    if (taken !== null) this.#refuse(this.#rootOf(taken), (borrower) => after.has(borrower));
  }

  /** Where the chain of borrowing ends. */
  #rootOf(local: IrLocal): IrLocal {
    let at = local;
    for (
      let parent = this.#parents.get(at) ?? null;
      parent !== null;
      parent = this.#parents.get(at) ?? null
    ) at = parent;
    return at;
  }

  #refuse(parent: IrLocal, isUsed: (borrower: IrLocal) => boolean): void {
    for (const borrower of this.#parents.keys()) {
      if (borrower === parent || !isUsed(borrower)) continue;
      for (let at = this.#parents.get(borrower) ?? null; at !== null; at = this.#parents.get(at) ?? null) {
        if (at === parent) {
          this.#parents.delete(borrower);
          break;
        }
      }
    }
  }
}

/** The pointer whose memory a value is moved out of, or null. */
function takenFrom(value: IrExpression): IrLocal | null {
  if (value.kind !== "load" || value.isTaken !== true || value.address.kind !== "get") return null;
  const { local } = value.address;
  return local.pointer !== null ? local : local.base;
}

/** What a variable of this value could borrow from; undefined when it has to own. */
function parentOf(value: IrExpression): IrLocal | null | undefined {
  switch (value.kind) {
    case "const":
      return null;
    case "own":
      return value.local;
    case "load": {
      if (value.isTaken === true) return undefined;
      if (value.isForever === true) return null;
      const { address } = value;
      if (address.kind !== "get") return undefined;
      if (address.local.pointer !== null) return address.local;
      return address.local.base ?? undefined;
    }
    default:
      return undefined;
  }
}

function isPlain(value: IrExpression): boolean {
  return value.kind === "const" || value.kind === "own" || value.kind === "load";
}

/** The statement with `own` written as a plain use: the counting stands beside it now. */
function plain(statement: Statement): Statement {
  const strip = (expression: IrExpression): IrExpression => {
    if (expression.kind === "own") return get(expression.local);
    if (expression.kind === "call" || expression.kind === "indirect") {
      return { ...expression, args: expression.args.map(strip) };
    }
    return expression;
  };
  return mapStatement(statement, strip);
}

function isSubset(one: ReadonlySet<IrLocal>, other: ReadonlySet<IrLocal>): boolean {
  for (const local of one) if (!other.has(local)) return false;
  return true;
}
