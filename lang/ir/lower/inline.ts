/**
 * Calls of small functions are lowered in place: their parameters become names of the caller's values, `inout` ones
 * of its places.
 *
 * That is the same as a call, because nobody else may touch a place that is held `inout`. Calls in place do not count
 * against the limit of depth, so functions that may call themselves are never treated so beyond themselves.
 */
import type { Argument, Expression, Local, Place, TypedFunction } from "../../typed/tree.ts";
import type { Type } from "../../types/type.ts";
import { type Layout, substitution } from "../layout.ts";
import { get, type IrPosition } from "../node.ts";
import type { LoweredArgument } from "./call.ts";
import { isQuiet } from "./memory.ts";
import { type ClosureBinding, type Frame, type Value, zeros } from "./frame.ts";
import { resolvePlace } from "./place.ts";
import { visitTree } from "./scan.ts";

/** Bodies of up to so many expressions are lowered in place. */
const SMALL_BODY = 28;
/** Closures of up to so many expressions are written where they are called. */
const SMALL_CLOSURE = 60;
/** Calls in place within one another. */
const MAX_NESTING = 5;
/** Statements of a function from which on nothing more is lowered in place. */
const LARGE_FUNCTION = 4000;

/** How large a body is. */
interface BodySize {
  readonly expressions: number;
  /** Whether it puts texts together, which is much code, mostly in what is told when something is wrong. */
  readonly hasTexts: boolean;
}

const sizes = new WeakMap<TypedFunction, BodySize>();

/** How many expressions a body has. */
function sizeOf(target: TypedFunction): BodySize {
  const known = sizes.get(target);
  if (known !== undefined) return known;
  let expressions = 0;
  let hasTexts = false;
  let isFit = true;
  if (target.body !== null) {
    visitTree(target.body, (at) => {
      expressions++;
      if (at.kind === "interpolation") hasTexts = true;
      // What makes functions of its own would be written once for each call.
      if (at.kind === "closure" || at.kind === "snapshot") isFit = false;
      if (at.kind === "call" && at.callee.kind === "function" && at.callee.function === target) isFit = false;
    });
  }
  const size = { expressions: isFit ? expressions : Number.POSITIVE_INFINITY, hasTexts };
  sizes.set(target, size);
  return size;
}

/**
 * Whether a call of the function is to be lowered in place; one that puts texts together only when all arguments are
 * known, which decides its branches.
 */
export function isInlined(frame: Frame, target: TypedFunction, args: readonly Argument[]): boolean {
  if (frame.program.keepsCalls && target.file.path.endsWith(".lang")) return false;
  if (target.body === null || frame.inlined.includes(target) || frame.source === target) return false;
  if (frame.inlined.length >= MAX_NESTING || frame.statementCount >= LARGE_FUNCTION) return false;
  const { expressions, hasTexts } = sizeOf(target);
  if (expressions > SMALL_BODY) return false;
  return !hasTexts || args.every((argument) => argument.kind === "value" && isKnown(frame, argument.value));
}

/** Whether the value of an expression is known now. */
function isKnown(frame: Frame, expression: Expression): boolean {
  switch (expression.kind) {
    case "integer":
    case "float":
    case "boolean":
    case "character":
      return true;
    case "negate":
      return isKnown(frame, expression.operand);
    case "local": {
      if (!frame.isBound(expression.local)) return false;
      const binding = frame.binding(expression.local);
      return binding.kind === "value" && binding.value.every((part) => part.kind === "const");
    }
    default:
      return false;
  }
}

/** The value of a call that is lowered in place. */
export function inlineCall(
  frame: Frame,
  target: TypedFunction,
  call: {
    readonly typeArguments: readonly Type[];
    readonly args: readonly LoweredArgument[];
    readonly place: IrPosition;
  },
): Value {
  const { body } = target;
  const { typeArguments, args, place } = call;
  if (body === null) throw new Error(`Cannot lower ${target.id} in place: it has no body`);
  const put = substitution(target.typeParameters, typeArguments);
  const closures = args.map((argument): ClosureBinding | null =>
    argument.kind !== "closure" ? null : {
      kind: "closure",
      expression: argument.expression,
      put: frame.put,
      file: frame.file,
      inlined: frame.inlined,
      caller: frame.caller,
      layout: frame.layout(argument.expression.type),
    }
  );
  const before = args.map((argument, index) => {
    const parameter = target.parameters[index];
    if (parameter === undefined || argument.kind !== "value") return null;
    return frame.stableValue(argument.value, frame.program.layouts.of(frame.typeIn(parameter.type, put)));
  });
  const locations = args.map((argument) =>
    argument.kind === "inout" ? resolvePlace(frame, argument.prepared) : null
  );
  const inlined = [...frame.inlined, target];
  return frame.within({ put, file: target.file, inlined, caller: place }, () => {
    for (const [index, parameter] of target.parameters.entries()) {
      const closure = closures[index] ?? null;
      if (closure !== null) frame.bind(parameter, closure);
      else bindParameter(frame, parameter, before[index] ?? null, locations[index] ?? null);
    }
    return lowerBody(frame, body, frame.layout(target.result));
  });
}

/** Lowers a body whose returns come here. */
function lowerBody(frame: Frame, body: Expression, layout: Layout): Value {
  const results = frame.locals("r", layout, true);
  let only: Value | null = null;
  frame.block("call", (label) => {
    frame.returnTo({ locals: results, label, layout }, () => {
      const value = frame.lower(body);
      // Without a return on the way, the value of the body is the result as it is.
      if (frame.isLeft(label)) frame.setAll(results, value);
      else only = value;
    });
  });
  if (!frame.isReachable) return zeros(layout);
  return only ?? results.map(get);
}

/** A call of a closure that is written where it is called. */
export function inlineClosure(
  frame: Frame,
  closure: ClosureBinding,
  args: readonly LoweredArgument[],
): Value {
  const { expression, put, file, inlined, caller } = closure;
  const values = args.map((argument, index) => {
    const parameter = expression.parameters[index];
    if (parameter === undefined || argument.kind !== "value") return null;
    return frame.stableValue(argument.value, frame.program.layouts.of(frame.typeIn(parameter.type, put)));
  });
  const locations = args.map((argument) =>
    argument.kind === "inout" ? resolvePlace(frame, argument.prepared) : null
  );
  const within = frame.inlined;
  const all = [...inlined, ...within.slice(inlined.length)];
  return frame.within({ put, file, inlined: all, caller }, () => {
    for (const [index, parameter] of expression.parameters.entries()) {
      bindParameter(frame, parameter, values[index] ?? null, locations[index] ?? null);
    }
    const type = frame.type(expression.type);
    return lowerBody(
      frame,
      expression.body,
      frame.layout(type.kind === "function" ? type.result : expression.body.type),
    );
  });
}

/** The closures among the arguments that the function does nothing with but call them. */
export function inlinedClosures(target: TypedFunction, args: readonly Argument[]): ReadonlySet<Expression> {
  const found = new Set<Expression>();
  const changed = new Set<Local>();
  for (const argument of args) if (argument.kind === "inout") changed.add(rootOf(argument.place));
  for (const [index, argument] of args.entries()) {
    const parameter = target.parameters[index];
    if (argument.kind !== "value" || argument.value.kind !== "closure" || parameter === undefined) continue;
    // A closure holds copies: what the call changes must not be seen by it.
    if (argument.value.captures.some((capture) => changed.has(capture))) continue;
    const seesVariables = argument.value.captures.some((capture) =>
      capture.kind === "var" || capture.kind === "inout"
    );
    const others = args.filter((other) => other !== argument);
    if (seesVariables && !others.every((other) => other.kind === "value" && isQuiet(other.value))) continue;
    if (isOnlyCalled(target, parameter) && closureSize(argument.value) <= SMALL_CLOSURE) {
      found.add(argument.value);
    }
  }
  return found;
}

function rootOf(place: Place): Local {
  let at = place;
  while (at.kind !== "local") at = at.target;
  return at.local;
}

function closureSize(closure: Expression & { readonly kind: "closure" }): number {
  let size = 0;
  visitTree(closure.body, (at) => {
    size++;
    if (at.kind === "closure") size += SMALL_CLOSURE;
  });
  return size;
}

/** Whether every use of a parameter is a call of it. */
function isOnlyCalled(target: TypedFunction, parameter: Local): boolean {
  let uses = 0;
  let calls = 0;
  if (target.body === null) return false;
  visitTree(target.body, (at) => {
    if (at.kind === "local" && at.local === parameter) uses++;
    if (at.kind === "call" && at.callee.kind === "value") {
      const { expression } = at.callee;
      if (expression.kind === "local" && expression.local === parameter) calls++;
    }
    // Inside of another closure the parameter would have to be a value.
    if (at.kind === "closure") uses++;
  });
  return uses === calls && calls <= 2;
}

function bindParameter(
  frame: Frame,
  parameter: Local,
  value: Value | null,
  location: ReturnType<typeof resolvePlace> | null,
): void {
  if (location !== null) {
    frame.bind(parameter, location);
    return;
  }
  const layout = frame.layout(parameter.type);
  // Trees of operations are worked out once, however often the parameter is used.
  const parts = (value ?? zeros(layout)).map((part) => frame.reusable(part));
  frame.bind(parameter, { kind: "value", value: parts, layout });
}
