/** The call around a place that is being written, and which of its parameters the place is for. */
import { resolve } from "../types/primitives.ts";
import { typeText } from "../types/type_text.ts";
import {
  placedFunctionSignature,
  placedInterfaceFunctionSignature,
  placedVariantSignature,
  type Signature,
} from "../typed/signature.ts";
import { describe } from "./describe.ts";
import type { SignatureHelp } from "./symbol_service.ts";
import type { Target } from "./targets.ts";
import type { Trial } from "./trial.ts";

interface Called {
  readonly signature: Signature;
  readonly names: readonly (string | null)[];
  readonly documentation: string | null;
}

/** The call around the place of a trial. */
export function signatureHelp({ graph, index, path }: Trial): SignatureHelp | null {
  const around = path.findLast((node) => node.kind === "argument");
  if (around?.kind !== "argument") return null;
  const { call, argument } = around;
  const { callee } = call;
  const span = callee.kind === "field" ? callee.name.span : callee.span;
  const target = index.occurrences.find((each) =>
    each.span.start === span.start && each.span.end === span.end
  )
    ?.target;
  const called = target === undefined ? null : calledOf(target);
  if (called === null || target === undefined) return null;
  const isOnValue = callee.kind === "field" && called.names[0] === "self" &&
    !namesType(index, callee.target.span.start, callee.target.span.end);
  const skip = isOnValue ? 1 : 0;
  const names = called.names.slice(skip);
  const parameters = called.signature.parameters.slice(skip);
  const { name } = argument;
  const position = name === null ? call.arguments.indexOf(argument) : names.indexOf(name.text);
  return {
    signature: called.signature.text,
    documentation: describe(graph, target).documentation,
    parameters,
    active: position >= 0 && position < parameters.length ? position : null,
  };
}

/** Whether a type or module is named there: `Ball.move(ball)`. */
function namesType(index: Trial["index"], start: number, end: number): boolean {
  return index.occurrences.some(({ span, target }) =>
    span.end === end && span.start >= start && (target.kind === "type" || target.kind === "module")
  );
}

function calledOf(target: Target): Called | null {
  switch (target.kind) {
    case "value": {
      const { symbol } = target;
      if (symbol.kind === "constant") return null;
      return {
        signature: placedFunctionSignature(symbol),
        names: symbol.parameters.map(({ name }) => name),
        documentation: symbol.documentation,
      };
    }
    case "variant":
      return {
        signature: placedVariantSignature(target.variant),
        names: target.variant.fields.map(({ name }) => name),
        documentation: target.variant.documentation,
      };
    case "interface-function": {
      const found = target.interface.functions.find((each) => each.name === target.name);
      return found === undefined ? null : {
        signature: placedInterfaceFunctionSignature(found),
        names: found.parameters.map(({ name }) => name),
        documentation: null,
      };
    }
    case "local": {
      const type = resolve(target.variable.type);
      if (type.kind !== "function") return null;
      let at = target.variable.name.length + 1;
      const parameters = type.parameters.map((each) => {
        const length = (each.isInout ? "inout " : "").length + typeText(each.type).length;
        const span = { start: at, end: at + length };
        at = span.end + ", ".length;
        return span;
      });
      const text = typeText(type).replace(/^fn/, target.variable.name);
      return { signature: { text, parameters }, names: type.parameters.map(() => null), documentation: null };
    }
    default:
      return null;
  }
}
