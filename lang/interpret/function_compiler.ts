/**
 * Makes code from the expressions of one function, for one choice of its type parameters.
 *
 * An expression is made `owned` when its value gets a holder (a variable, a field, a result): what comes from a place
 * is then marked as shared. Otherwise the value is only looked at before anything else can change it. Blocks,
 * branches and loops as statements end with a completion; where `return`, `break` or `continue` stands within an
 * expression, it is thrown.
 */
import type { SourceFile, Span } from "../source/source_file.ts";
import type { Argument as TypedArgument, Expression, Local } from "../typed/tree.ts";
import type { Type } from "../types/type.ts";
import { arithmetic, type BinaryFunction, negation } from "./arithmetic.ts";
import { callCode, closureCode } from "./calls.ts";
import { expectCode, snapshotCode } from "./checks.ts";
import { BREAK, type Code, CONTINUE, ControlSignal, type Frame, type Step } from "./frame.ts";
import type { CompiledBody, Machine } from "./machine.ts";
import { matcher } from "./patterns.ts";
import { checkIndex, type PlaceCode, placeCode } from "./places.ts";
import { leave, sequence, slotCode, statementStep } from "./statements.ts";
import { ProgramTrap, type Site } from "./trap.ts";
import { isMutable, substitute, type Substitution } from "./types.ts";
import {
  Aggregate,
  aggregateOf,
  at,
  booleanOf,
  copied,
  decodeText,
  encodeText,
  InterpreterFault,
  joinTexts,
  listOf,
  ListValue,
  numberOf,
  textOf,
  UNIT_VALUE,
  variantOf,
  VariantValue,
} from "./value.ts";

/** Compiles one function, closure, test or constant. */
export class FunctionCompiler {
  readonly machine: Machine;
  readonly file: SourceFile;
  readonly substitution: Substitution;
  /** How many `break` and `continue` of the innermost loop are thrown. */
  loopSignals = 0;
  readonly #slots = new Map<Local, number>();
  readonly #references = new Set<Local>();
  readonly #captured: ReadonlySet<Local>;

  constructor(
    machine: Machine,
    file: SourceFile,
    substitution: Substitution,
    captured: ReadonlySet<Local> = new Set(),
  ) {
    this.machine = machine;
    this.file = file;
    this.substitution = substitution;
    this.#captured = captured;
  }

  /** How many slots a frame needs. */
  get slotCount(): number {
    return this.#slots.size;
  }

  /** Where the value of a local is. */
  readonly slotOf = (local: Local): number => {
    const known = this.#slots.get(local);
    if (known !== undefined) return known;
    if (local.kind === "inout" && !this.#captured.has(local)) return this.referenceSlotOf(local);
    const slot = this.#slots.size;
    this.#slots.set(local, slot);
    return slot;
  };

  /** Where the place is that a local stands for: -1 - its number. */
  referenceSlotOf(local: Local): number {
    const known = this.#slots.get(local);
    if (known !== undefined) return known;
    const slot = -1 - this.#slots.size;
    this.#slots.set(local, slot);
    this.#references.add(local);
    return slot;
  }

  /** Whether the local is a reference to another variable's place. */
  isReference(local: Local): boolean {
    return this.slotOf(local) < 0;
  }

  /** The type with the instance's types put in. */
  typeOf(type: Type): Type {
    return substitute(type, this.substitution);
  }

  /** Where a node stands. */
  siteOf(node: { readonly span: Span }): Site {
    return { file: this.file, span: node.span };
  }

  /** A function's body with the slots of its parameters; `entry` is the function's name. */
  body(parameters: readonly Local[], body: Expression, entry: Span): CompiledBody {
    const parameterSlots = parameters.map((parameter) => this.slotOf(parameter));
    const code = this.#tail(body);
    return { code, slotCount: this.slotCount, parameterSlots, entry: { file: this.file, span: entry } };
  }

  /** What a place is; see {@link PlaceCode}. */
  place(argument: Extract<TypedArgument, { kind: "inout" }>): PlaceCode {
    return placeCode(argument.place, this);
  }

  /** The body of a function, or what it ends with: returning is no leaving here, and its locals die. */
  #tail(node: Expression): Code {
    switch (node.kind) {
      case "return":
        return node.value === null ? () => UNIT_VALUE : this.#tail(node.value);
      case "local":
        // The last use of a variable gives it away.
        if ((node.local.kind === "let" || node.local.kind === "var") && !this.#captured.has(node.local)) {
          return this.expression(node, false);
        }
        return this.expression(node, true);
      case "block": {
        const steps = node.statements.map((statement) => statementStep(statement, this));
        const result = node.result === null ? null : this.#tail(node.result);
        this.loopSignals++;
        return (frame) => {
          for (const step of steps) {
            const completion = step(frame);
            if (completion === undefined) continue;
            if (typeof completion === "symbol") leave(completion);
            return completion;
          }
          return result === null ? UNIT_VALUE : result(frame);
        };
      }
      case "if":
      case "match": {
        const run = this.#branches(node, (branch) => this.#tail(branch));
        return (frame) => run(frame) ?? UNIT_VALUE;
      }
      default:
        return this.expression(node, true);
    }
  }

  /** `if` and `match` with their branches made by a function. */
  #branches<T>(
    node: Extract<Expression, { kind: "if" | "match" }>,
    make: (branch: Expression) => (frame: Frame) => T,
  ): (frame: Frame) => T | undefined {
    if (node.kind === "if") {
      const condition = this.expression(node.condition, false);
      const then = make(node.then);
      const otherwise = node.otherwise === null ? null : make(node.otherwise);
      return (frame) => booleanOf(condition(frame)) ? then(frame) : otherwise?.(frame);
    }
    const subject = this.expression(node.subject, false);
    const arms = node.arms.map((arm) => ({
      fits: matcher(arm.pattern, this.slotOf),
      guard: arm.guard === null ? null : this.expression(arm.guard, false),
      body: make(arm.body),
    }));
    return (frame) => {
      const value = subject(frame);
      for (const arm of arms) {
        if (!arm.fits(value, frame)) continue;
        if (arm.guard !== null && !booleanOf(arm.guard(frame))) continue;
        return arm.body(frame);
      }
      throw new InterpreterFault("no case of a match fits");
    };
  }

  /** An expression as a statement. */
  step(node: Expression): Step {
    switch (node.kind) {
      case "block": {
        const steps = node.statements.map((statement) => statementStep(statement, this));
        if (node.result !== null) steps.push(this.step(node.result));
        return sequence(steps);
      }
      case "if":
      case "match":
        return this.#branches(node, (branch) => this.step(branch));
      case "return": {
        if (node.value === null) return () => UNIT_VALUE;
        return this.#tail(node.value);
      }
      case "break":
        return () => BREAK;
      case "continue":
        return () => CONTINUE;
      default: {
        const code = this.expression(node, false);
        return (frame) => {
          code(frame);
        };
      }
    }
  }

  /** Two operands: the left one is kept when the right one might change it. */
  #operands(left: Expression, right: Expression): readonly [Code, Code] {
    return [this.expression(left, !isSimple(right)), this.expression(right, false)];
  }

  /** The function that joins two texts or lists. */
  concatenation(type: Type): BinaryFunction {
    if (type.kind === "primitive") return (left, right) => joinTexts([textOf(left), textOf(right)]);
    return (left, right) => new ListValue([...listOf(left).items, ...listOf(right).items].map(copied));
  }

  /** Code for an expression; see the head of this file for `owned`. */
  expression(node: Expression, owned: boolean): Code {
    switch (node.kind) {
      case "integer": {
        const type = this.typeOf(node.type);
        const value = type.kind === "primitive" && type.name === "Int64" ? node.value : Number(node.value);
        return () => value;
      }
      case "float": {
        const type = this.typeOf(node.type);
        const value = type.kind === "primitive" && type.name === "F32" ? Math.fround(node.value) : node.value;
        return () => value;
      }
      case "boolean":
        return () => node.value;
      case "character":
        return () => node.codePoint;
      case "string": {
        const text = encodeText(node.value);
        return () => text;
      }
      case "interpolation":
        return this.#interpolation(node);
      case "local":
        return this.#marked(this.#local(node.local), node, owned);
      case "constant": {
        const { constant } = node;
        return () => this.machine.constant(constant);
      }
      case "function": {
        const { callee } = node;
        return () => this.machine.functionValue(this.machine.invocation(callee, this.substitution));
      }
      case "call":
        return callCode(node, this);
      case "tuple":
      case "list": {
        const elements = node.elements.map((element) => this.expression(element, true));
        if (node.kind === "list") return (frame) => new ListValue(elements.map((element) => element(frame)));
        if (elements.length === 0) return () => UNIT_VALUE;
        return (frame) => new Aggregate(elements.map((element) => element(frame)));
      }
      case "record": {
        const fields = this.#ordered(node.fields, node.order);
        return (frame) => new Aggregate(fields(frame));
      }
      case "variant": {
        const { index } = node.variant;
        if (node.fields.length === 0) {
          const value = new VariantValue(index, []);
          return () => value;
        }
        const fields = this.#ordered(node.fields, node.order);
        return (frame) => new VariantValue(index, fields(frame));
      }
      case "update": {
        const base = this.expression(node.base, true);
        const fields = node.fields.map((field) => ({
          index: field.index,
          value: this.expression(field.value, true),
        }));
        return (frame) => {
          const parts = aggregateOf(base(frame)).parts.map(copied);
          for (const field of fields) parts[field.index] = field.value(frame);
          return new Aggregate(parts);
        };
      }
      case "field": {
        const target = this.expression(node.target, false);
        const { index } = node;
        return this.#marked((frame) => at(aggregateOf(target(frame)).parts, index), node, owned);
      }
      case "element": {
        const [target, index] = this.#operands(node.target, node.index);
        const site = this.siteOf(node);
        const code: Code = (frame) => {
          const { items } = listOf(target(frame));
          const position = numberOf(index(frame));
          checkIndex(position, items.length, site);
          return at(items, position);
        };
        return this.#marked(code, node, owned);
      }
      case "negate": {
        const operand = this.expression(node.operand, false);
        const type = this.typeOf(node.type);
        const negate = negation(type.kind === "primitive" ? type.name : "Never", this.siteOf(node));
        return (frame) => negate(operand(frame));
      }
      case "not": {
        const operand = this.expression(node.operand, false);
        return (frame) => !booleanOf(operand(frame));
      }
      case "arithmetic": {
        const [left, right] = this.#operands(node.left, node.right);
        const type = this.typeOf(node.type);
        const compute = type.kind === "primitive" && type.name !== "String"
          ? arithmetic(node.operator, type.name, this.siteOf(node))
          : this.concatenation(type);
        return (frame) => compute(left(frame), right(frame));
      }
      case "compare": {
        const [left, right] = this.#operands(node.left, node.right);
        const holds = this.comparison(node);
        return (frame) => holds(left(frame), right(frame));
      }
      case "and":
      case "or": {
        const left = this.expression(node.left, false);
        const right = this.expression(node.right, false);
        if (node.kind === "and") return (frame) => booleanOf(left(frame)) && booleanOf(right(frame));
        return (frame) => booleanOf(left(frame)) || booleanOf(right(frame));
      }
      case "block": {
        const run = sequence(node.statements.map((statement) => statementStep(statement, this)));
        const result = node.result === null ? null : this.expression(node.result, owned);
        this.loopSignals++;
        return (frame) => {
          const completion = run(frame);
          if (completion !== undefined) leave(completion);
          return result === null ? UNIT_VALUE : result(frame);
        };
      }
      case "if":
      case "match": {
        const step = this.#branches(node, (branch) => this.expression(branch, owned));
        return (frame) => step(frame) ?? UNIT_VALUE;
      }
      case "closure":
        return closureCode(node, this);
      case "propagate": {
        const target = this.expression(node.target, false);
        return (frame) => {
          const variant = variantOf(target(frame));
          if (variant.index !== 0) throw new ControlSignal(variant);
          return copied(at(variant.fields, 0));
        };
      }
      case "return": {
        const value = node.value === null ? null : this.expression(node.value, true);
        return (frame) => leave(value === null ? UNIT_VALUE : value(frame));
      }
      case "break":
      case "continue": {
        this.loopSignals++;
        const signal = node.kind === "break" ? BREAK : CONTINUE;
        return () => leave(signal);
      }
      case "expect":
        return expectCode(node, this);
      case "snapshot":
        return snapshotCode(node, this);
      case "panic": {
        const message = this.expression(node.message, false);
        const site = this.siteOf(node);
        return (frame) => {
          throw new ProgramTrap("panic", site, decodeText(textOf(message(frame))));
        };
      }
    }
  }

  #marked(code: Code, node: Expression, owned: boolean): Code {
    if (!owned || !isMutable(this.typeOf(node.type))) return code;
    return (frame) => copied(code(frame));
  }

  #local(local: Local): Code {
    const slot = this.slotOf(local);
    if (slot >= 0) return slotCode(slot);
    return (frame) => {
      const reference = frame.references[-1 - slot];
      if (reference === undefined) throw new InterpreterFault(`${local.name} has no place`);
      return reference.read();
    };
  }

  /** Values of fields in the order in which they were written, put in the order of the definition. */
  #ordered(fields: readonly Expression[], order: readonly number[]): (frame: Frame) => Aggregate["parts"] {
    const codes = fields.map((field) => this.expression(field, true));
    return (frame) => {
      const values: Aggregate["parts"] = new Array<Aggregate["parts"][number]>(codes.length).fill(UNIT_VALUE);
      for (const index of order) {
        const code = codes[index];
        if (code === undefined) throw new InterpreterFault(`there is no field ${index}`);
        values[index] = code(frame);
      }
      return values;
    };
  }

  /** Whether a comparison holds between two values. */
  comparison(
    node: Extract<Expression, { kind: "compare" }>,
  ): (left: Aggregate["parts"][number], right: Aggregate["parts"][number]) => boolean {
    const type = this.typeOf(node.left.type);
    const { operator } = node;
    if (operator === "==" || operator === "!=") {
      const equals = this.machine.structure.equals(type);
      return operator === "==" ? equals : (left, right) => !equals(left, right);
    }
    if (type.kind === "primitive" && (type.name === "Float" || type.name === "F32")) {
      switch (operator) {
        case "<":
          return (left, right) => left < right;
        case "<=":
          return (left, right) => left <= right;
        case ">":
          return (left, right) => left > right;
        case ">=":
          return (left, right) => left >= right;
      }
    }
    const compare = this.machine.structure.compare(type);
    switch (operator) {
      case "<":
        return (left, right) => compare(left, right) < 0;
      case "<=":
        return (left, right) => compare(left, right) <= 0;
      case ">":
        return (left, right) => compare(left, right) > 0;
      case ">=":
        return (left, right) => compare(left, right) >= 0;
    }
  }

  #interpolation(node: Extract<Expression, { kind: "interpolation" }>): Code {
    const parts = node.parts.map((part): Code => {
      if (typeof part === "string") {
        const text = encodeText(part);
        return () => text;
      }
      const value = this.expression(part, false);
      const display = this.machine.structure.display(this.typeOf(part.type));
      return (frame) => display(value(frame));
    });
    return (frame) => joinTexts(parts.map((part) => textOf(part(frame))));
  }
}

/** Whether evaluating it certainly changes nothing that another expression looks at. */
export function isSimple(node: Expression): boolean {
  switch (node.kind) {
    case "integer":
    case "float":
    case "boolean":
    case "character":
    case "string":
    case "local":
    case "constant":
    case "function":
    case "closure":
      return true;
    case "interpolation":
      return node.parts.every((part) => typeof part === "string" || isSimple(part));
    case "call":
      return node.arguments.every((argument) => argument.kind === "value" && isSimple(argument.value)) &&
        (node.callee.kind !== "value" || isSimple(node.callee.expression));
    case "tuple":
    case "list":
      return node.elements.every(isSimple);
    case "record":
    case "variant":
      return node.fields.every(isSimple);
    case "field":
      return isSimple(node.target);
    case "element":
      return isSimple(node.target) && isSimple(node.index);
    case "negate":
    case "not":
      return isSimple(node.operand);
    case "arithmetic":
    case "compare":
    case "and":
    case "or":
      return isSimple(node.left) && isSimple(node.right);
    default:
      return false;
  }
}
