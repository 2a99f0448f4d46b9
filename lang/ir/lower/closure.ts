/**
 * Closures: a counted cell with the number of its code, the number of the function that frees it, and copies of what
 * it uses.
 *
 * The code takes the cell as its first parameter and borrows the captured values from it.
 */
import type { Expression, Local } from "../../typed/tree.ts";
import { CAPTURES_OFFSET, type CellField, type CellVariant, CODE_OFFSET, RELEASE_OFFSET } from "../layout.ts";
import { get, i32, type IrExpression, newFunction, newLocal } from "../node.ts";
import { locatedOf, read, readMemory, storeMemory } from "./memory.ts";
import { Frame } from "./frame.ts";

/** The value of a closure. */
export function lowerClosure(
  frame: Frame,
  expression: Expression & { readonly kind: "closure" },
): IrExpression {
  const type = frame.type(expression.type);
  const { shape, slots } = frame.layout(type);
  if (shape.kind !== "function") throw new Error("Cannot lower a closure: its type is no function");
  const captured = captureCell(frame, expression.captures);
  const code = lowerCode(frame, expression, captured);
  const codeNumber = frame.program.tableIndex(code);
  const slot = slots[0] ?? { type: "i32", pointer: shape.cell };
  const local = frame.local("closure", slot);
  if (expression.captures.length === 0) {
    frame.set(local, i32(frame.program.statics.constantClosure(codeNumber)));
    return get(local);
  }
  const release = frame.program.cells.freeClosure(code.name, captured);
  const releaseNumber = frame.program.tableIndex(release);
  frame.set(local, frame.program.allocator.take(captured.size));
  const word = (offset: number, value: number): void =>
    frame.emit({ kind: "store", op: "i32.store", address: get(local), offset, value: i32(value) });
  word(0, 1);
  word(CODE_OFFSET, codeNumber);
  word(RELEASE_OFFSET, releaseNumber);
  for (const [index, capture] of expression.captures.entries()) {
    const field = captured.fields[index];
    if (field === undefined) continue;
    storeMemory(frame, {
      kind: "memory",
      address: get(local),
      offset: field.offset,
      base: local,
      layout: field.layout,
    }, read(frame, locatedOf(frame.binding(capture))));
  }
  return get(local);
}

function captureCell(frame: Frame, captures: readonly Local[]): CellVariant {
  let end = CAPTURES_OFFSET;
  const fields: CellField[] = captures.map((capture) => {
    const layout = frame.layout(capture.type);
    const offset = Math.ceil(end / layout.alignment) * layout.alignment;
    end = offset + layout.size;
    return { layout, offset };
  });
  return { tag: 0, fields, size: end };
}

function lowerCode(
  frame: Frame,
  expression: Expression & { readonly kind: "closure" },
  captured: CellVariant,
) {
  const { shape } = frame.layout(expression.type);
  const code = newFunction(`${frame.function.name}.closure${frame.program.nextClosure()}`, {
    place: frame.place(expression.span),
  });
  const environment = newLocal(code, {
    name: "environment",
    type: "i32",
    pointer: shape.kind === "function" ? shape.cell : null,
    isBorrowed: true,
  });
  code.parameters.push(environment);
  const type = frame.type(expression.type);
  const inner = new Frame({
    program: frame.program,
    function: code,
    file: frame.file,
    source: frame.source,
    put: frame.put,
    result: type.kind === "function" ? type.result : expression.body.type,
  });
  inner.declareParameters(expression.parameters);
  for (const [index, capture] of expression.captures.entries()) {
    const field = captured.fields[index];
    if (field === undefined) continue;
    const value = readMemory(inner, {
      kind: "memory",
      address: get(environment),
      offset: field.offset,
      base: environment,
      layout: field.layout,
    }, false);
    inner.bind(capture, {
      kind: "value",
      value: value.map((part) => inner.stable(part)),
      layout: field.layout,
    });
  }
  inner.return(inner.lower(expression.body));
  frame.program.addFunction(code);
  return code;
}
