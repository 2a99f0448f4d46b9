/**
 * Gas: what each run of statements costs is taken off before it runs, what is copied or allocated by its size.
 *
 * An operation costs 1, a call 3 more; eight bytes copied, filled or allocated cost 1. Runs end where control may
 * come from elsewhere.
 */
import { i32, type IrExpression, type IrFunction, op, type Statement } from "./node.ts";
import { bodiesOf, expressionsOf, mapBodies, visitExpression } from "./visit.ts";

const CALL_COST = 3;
/** Bytes that cost one, as a shift. */
const BYTES_SHIFT = 3;
/** Counting up or down. */
const COUNT_COST = 4;

/** Writes the charges into a function. */
export function chargeGas(target: IrFunction): void {
  if (target.body !== null) target.body = chargeBody(target.body);
}

/** The cost of the statements of a run, without what is inside of them. */
export function costOf(statement: Statement): number {
  let cost = 0;
  for (const expression of expressionsOf(statement)) {
    visitExpression(expression, (at) => {
      switch (at.kind) {
        case "op":
        case "load":
        case "select":
        case "memory-grow":
          cost++;
          return;
        case "call":
        case "indirect":
          cost += 1 + CALL_COST;
          return;
        default:
      }
    });
  }
  switch (statement.kind) {
    case "at":
    case "charge":
    case "block":
    case "loop":
      return cost;
    case "retain":
    case "release":
    case "unique":
      return cost + COUNT_COST;
    default:
      return cost + 1;
  }
}

function chargeBody(body: readonly Statement[]): Statement[] {
  const out: Statement[] = [];
  let start = 0;
  let cost = 0;
  const close = (): void => {
    if (cost > 0) out.splice(start, 0, { kind: "charge", amount: cost, bytes: null });
    cost = 0;
  };
  for (const statement of body) {
    cost += costOf(statement);
    const bytes = bytesOf(statement);
    if (bytes !== null) {
      out.push({ kind: "charge", amount: 0, bytes: op("i32.shr_u", bytes, i32(BYTES_SHIFT)) });
    }
    if (bodiesOf(statement).length === 0) {
      out.push(statement);
      continue;
    }
    out.push(mapBodies(statement, chargeBody));
    close();
    start = out.length;
  }
  close();
  return out;
}

/** Bytes that a statement moves, when it moves many. */
function bytesOf(statement: Statement): IrExpression | null {
  return statement.kind === "copy" || statement.kind === "fill" ? statement.bytes : null;
}
