/**
 * Walks over the intermediate representation: the expressions of a statement, the parts of an expression, and
 * rebuilding them.
 */
import type { IrCall, IrExpression, ScalarType, Statement } from "./node.ts";
import { accessShape, operationShape } from "./operations.ts";

const NONE: readonly IrExpression[] = [];

/** The expressions that a statement evaluates itself, in their order; not those of statements inside. */
export function expressionsOf(statement: Statement): readonly IrExpression[] {
  switch (statement.kind) {
    case "set":
    case "set-global":
      return [statement.value];
    case "multi":
    case "call":
      return [statement.call];
    case "store":
      return [statement.address, statement.value];
    case "copy":
      return [statement.to, statement.from, statement.bytes];
    case "fill":
      return [statement.to, statement.byte, statement.bytes];
    case "if":
    case "check":
      return [statement.condition];
    case "switch":
      return [statement.index];
    case "return":
      return statement.values;
    case "charge":
      return statement.bytes === null ? NONE : [statement.bytes];
    default:
      return NONE;
  }
}

/** The operands of an expression, in their order. */
function operandsOf(expression: IrExpression): readonly IrExpression[] {
  switch (expression.kind) {
    case "op":
    case "call":
      return expression.args;
    case "indirect":
      return [...expression.args, expression.index];
    case "load":
      return [expression.address];
    case "select":
      return [expression.then, expression.otherwise, expression.condition];
    case "memory-grow":
      return [expression.pages];
    default:
      return NONE;
  }
}

/** Calls the function for an expression and all inside of it, operands first. */
export function visitExpression(expression: IrExpression, visitor: (at: IrExpression) => void): void {
  switch (expression.kind) {
    case "const":
    case "get":
    case "own":
      break;
    case "op":
    case "call":
      for (const operand of expression.args) visitExpression(operand, visitor);
      break;
    case "load":
      visitExpression(expression.address, visitor);
      break;
    default:
      for (const operand of operandsOf(expression)) visitExpression(operand, visitor);
  }
  visitor(expression);
}

/** The expression with its operands rewritten, then itself. Keeps what does not change. */
export function mapExpression(
  expression: IrExpression,
  rewrite: (at: IrExpression) => IrExpression,
): IrExpression {
  return rewrite(mapOperands(expression, (operand) => mapExpression(operand, rewrite)));
}

function mapList(
  list: readonly IrExpression[],
  rewrite: (at: IrExpression) => IrExpression,
): readonly IrExpression[] {
  let changed: IrExpression[] | null = null;
  for (let index = 0; index < list.length; index++) {
    const before = list[index];
    if (before === undefined) continue;
    const after = rewrite(before);
    if (after !== before) {
      changed ??= list.slice();
      changed[index] = after;
    }
  }
  return changed ?? list;
}

/** The expression with its operands rewritten. */
function mapOperands(
  expression: IrExpression,
  rewrite: (at: IrExpression) => IrExpression,
): IrExpression {
  switch (expression.kind) {
    case "const":
    case "get":
    case "own":
    case "global":
    case "memory-size":
      return expression;
    case "op": {
      const args = mapList(expression.args, rewrite);
      return args === expression.args ? expression : { ...expression, args };
    }
    case "load": {
      const address = rewrite(expression.address);
      return address === expression.address ? expression : { ...expression, address };
    }
    case "select": {
      const then = rewrite(expression.then);
      const otherwise = rewrite(expression.otherwise);
      const condition = rewrite(expression.condition);
      if (
        then === expression.then && otherwise === expression.otherwise && condition === expression.condition
      ) {
        return expression;
      }
      return { ...expression, then, otherwise, condition };
    }
    case "memory-grow":
      return { ...expression, pages: rewrite(expression.pages) };
    case "call":
    case "indirect":
      return mapCall(expression, rewrite);
  }
}

/** A call with its operands rewritten. */
function mapCall(call: IrCall, rewrite: (at: IrExpression) => IrExpression): IrCall {
  const args = mapList(call.args, rewrite);
  if (call.kind === "call") return args === call.args ? call : { ...call, args };
  return { ...call, args, index: rewrite(call.index) };
}

/** The statement with the expressions that it evaluates itself rewritten; statements inside stay as they are. */
export function mapStatement(statement: Statement, rewrite: (at: IrExpression) => IrExpression): Statement {
  switch (statement.kind) {
    case "set":
    case "set-global": {
      const value = rewrite(statement.value);
      return value === statement.value ? statement : { ...statement, value };
    }
    case "multi":
    case "call": {
      const call = rewrite(statement.call);
      if (call === statement.call || (call.kind !== "call" && call.kind !== "indirect")) return statement;
      return { ...statement, call };
    }
    case "store": {
      const address = rewrite(statement.address);
      const value = rewrite(statement.value);
      return address === statement.address && value === statement.value
        ? statement
        : { ...statement, address, value };
    }
    case "copy":
      return {
        ...statement,
        to: rewrite(statement.to),
        from: rewrite(statement.from),
        bytes: rewrite(statement.bytes),
      };
    case "fill":
      return {
        ...statement,
        to: rewrite(statement.to),
        byte: rewrite(statement.byte),
        bytes: rewrite(statement.bytes),
      };
    case "if":
    case "check": {
      const condition = rewrite(statement.condition);
      return condition === statement.condition ? statement : { ...statement, condition };
    }
    case "switch":
      return { ...statement, index: rewrite(statement.index) };
    case "charge":
      return statement.bytes === null ? statement : { ...statement, bytes: rewrite(statement.bytes) };
    case "return": {
      const values = mapList(statement.values, rewrite);
      return values === statement.values ? statement : { ...statement, values };
    }
    default:
      return statement;
  }
}

/** The lists of statements inside of a statement. */
export function bodiesOf(statement: Statement): readonly Statement[][] {
  switch (statement.kind) {
    case "if":
      return [statement.then, statement.otherwise];
    case "block":
    case "loop":
      return [statement.body];
    case "switch":
      return statement.cases;
    default:
      return [];
  }
}

/** The statement with the lists inside rewritten. */
export function mapBodies(statement: Statement, rewrite: (body: Statement[]) => Statement[]): Statement {
  switch (statement.kind) {
    case "if":
      return { ...statement, then: rewrite(statement.then), otherwise: rewrite(statement.otherwise) };
    case "block":
    case "loop":
      return { ...statement, body: rewrite(statement.body) };
    case "switch":
      return { ...statement, cases: statement.cases.map((body) => rewrite(body)) };
    default:
      return statement;
  }
}

/** The type of an expression; of a call the type of its first result. */
export function typeOf(expression: IrExpression): ScalarType {
  switch (expression.kind) {
    case "const":
    case "select":
      return expression.type;
    case "get":
    case "own":
      return expression.local.type;
    case "op":
      return operationShape(expression.op).result;
    case "load":
      return accessShape(expression.op).type;
    case "global":
      return expression.global.type;
    case "memory-size":
    case "memory-grow":
      return "i32";
    case "call":
      return expression.function.results[0]?.type ?? "i32";
    case "indirect":
      return expression.results[0]?.type ?? "i32";
  }
}
