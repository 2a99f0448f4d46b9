/**
 * Removes what has no use: copies of variables that do not change, constants in variables, values that nobody reads,
 * branches that are decided.
 *
 * Runs before ownership is decided, where pointers are left alone, and after it, where a pointer that is only a name
 * for another one goes as well.
 */
import { fold } from "./fold.ts";
import type { IrExpression, IrFunction, IrLocal, Statement } from "./node.ts";
import { bodiesOf, expressionsOf, mapBodies, mapExpression, mapStatement, visitExpression } from "./visit.ts";

/** Cleans a function up. */
export function cleanUp(target: IrFunction, options: { readonly isCounted: boolean }): void {
  if (target.body === null) return;
  const pass = new Cleanup(target, options.isCounted);
  target.body = pass.run(target.body);
}

class Cleanup {
  readonly #function: IrFunction;
  readonly #isCounted: boolean;
  readonly #writes = new Map<IrLocal, number>();
  readonly #reads = new Map<IrLocal, number>();
  /** What a variable that is set once stands for. */
  readonly #meanings = new Map<IrLocal, IrExpression>();

  constructor(target: IrFunction, isCounted: boolean) {
    this.#function = target;
    this.#isCounted = isCounted;
  }

  run(body: Statement[]): Statement[] {
    this.#countWrites(body);
    for (const parameter of this.#function.parameters) this.#add(this.#writes, parameter, 1);
    const result = this.#substitute(body);
    this.#countReads(result);
    return this.#removeDead(result);
  }

  #add(table: Map<IrLocal, number>, local: IrLocal, count: number): void {
    table.set(local, (table.get(local) ?? 0) + count);
  }

  #countWrites(body: readonly Statement[]): void {
    for (const statement of body) {
      switch (statement.kind) {
        case "set":
        case "unique":
          this.#add(this.#writes, statement.local, 1);
          break;
        case "multi":
          for (const local of statement.locals) this.#add(this.#writes, local, 1);
          break;
        default:
      }
      for (const inner of bodiesOf(statement)) this.#countWrites(inner);
    }
  }

  #isSetOnce(local: IrLocal): boolean {
    return this.#writes.get(local) === 1;
  }

  /** Replaces variables by what they stand for, and decides branches. */
  #substitute(body: readonly Statement[]): Statement[] {
    const out: Statement[] = [];
    const rewrite = (expression: IrExpression): IrExpression =>
      mapExpression(expression, (at) => this.#meaningOf(at));
    for (const before of body) {
      const statement = mapStatement(before, rewrite);
      switch (statement.kind) {
        case "set": {
          const meaning = this.#meaningOfSet(statement.local, statement.value);
          if (meaning !== null) {
            this.#meanings.set(statement.local, meaning);
            continue;
          }
          out.push(statement);
          break;
        }
        case "if": {
          const { condition } = statement;
          if (condition.kind === "const") {
            out.push(...this.#substitute(condition.value === 0 ? statement.otherwise : statement.then));
            break;
          }
          out.push(mapBodies(statement, (inner) => this.#substitute(inner)));
          break;
        }
        case "check":
          if (statement.condition.kind === "const") {
            if (statement.condition.value !== 0) out.push({ kind: "trap", site: statement.site });
            break;
          }
          out.push(statement);
          break;
        case "retain":
        case "release": {
          const meaning = this.#meanings.get(statement.local);
          if (meaning === undefined) out.push(statement);
          else if (meaning.kind === "get") out.push({ kind: statement.kind, local: meaning.local });
          else if (meaning.kind === "const" && meaning.value !== 0) out.push(statement);
          break;
        }
        default:
          out.push(mapBodies(statement, (inner) => this.#substitute(inner)));
      }
      const last = out[out.length - 1];
      if (last !== undefined && (last.kind === "branch" || last.kind === "return" || last.kind === "trap")) {
        return out;
      }
    }
    return out;
  }

  #meaningOf(at: IrExpression): IrExpression {
    if (at.kind === "get" || (at.kind === "own" && this.#isCounted)) {
      return this.#meanings.get(at.local) ?? at;
    }
    return fold(at);
  }

  /** What the variable stands for from now on, when it need not be set. */
  #meaningOfSet(local: IrLocal, value: IrExpression): IrExpression | null {
    if (!this.#isSetOnce(local)) return null;
    if (local.pointer !== null && !this.#isCounted) return null;
    // A static pointer that is counted keeps its variable.
    if (value.kind === "const") return local.pointer !== null && value.value !== 0 ? null : value;
    if (value.kind !== "get" && value.kind !== "own") return null;
    const source = value.local;
    if (!this.#isSetOnce(source)) return null;
    if (
      !this.#isCounted && (source.pointer !== null || (source.base !== local.base && source.base === null))
    ) return null;
    return { kind: "get", local: source };
  }

  #countReads(body: readonly Statement[]): void {
    for (const statement of body) {
      for (const expression of expressionsOf(statement)) {
        visitExpression(expression, (at) => {
          if (at.kind === "get" || at.kind === "own") this.#add(this.#reads, at.local, 1);
        });
      }
      switch (statement.kind) {
        case "retain":
        case "release":
        case "unique":
          this.#add(this.#reads, statement.local, 1);
          break;
        default:
      }
      for (const inner of bodiesOf(statement)) this.#countReads(inner);
    }
  }

  /** Backwards, so that what only dead values read is dead when it is reached. */
  #removeDead(body: readonly Statement[]): Statement[] {
    const reversed: Statement[] = [];
    for (let index = body.length - 1; index >= 0; index--) {
      const statement = body[index];
      if (statement === undefined) continue;
      if (
        statement.kind === "set" && (this.#reads.get(statement.local) ?? 0) === 0 &&
        this.#canVanish(statement)
      ) {
        this.#forgetReads(statement);
        continue;
      }
      const kept = mapBodies(statement, (inner) => this.#removeDead(inner));
      if (
        kept.kind === "if" && kept.then.length === 0 && kept.otherwise.length === 0 && isPure(kept.condition)
      ) {
        this.#forgetReads(kept);
        continue;
      }
      reversed.push(kept);
    }
    return reversed.reverse();
  }

  #forgetReads(statement: Statement): void {
    for (const expression of expressionsOf(statement)) {
      visitExpression(expression, (at) => {
        if (at.kind === "get" || at.kind === "own") this.#add(this.#reads, at.local, -1);
      });
    }
  }

  #canVanish(statement: Statement & { readonly kind: "set" }): boolean {
    if (!isPure(statement.value)) return false;
    if (this.#isCounted || statement.local.pointer === null) return true;
    // A pointer that is taken out of memory has to be released, one that is handed over as well.
    return statement.value.kind === "load" && statement.value.isTaken !== true;
  }
}

/** Whether the expression can be left out: all but calls and growing memory; divisors have been checked. */
export function isPure(expression: IrExpression): boolean {
  let pure = true;
  visitExpression(expression, (at) => {
    if (at.kind === "call" || at.kind === "indirect" || at.kind === "memory-grow") pure = false;
  });
  return pure;
}
