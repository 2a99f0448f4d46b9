/**
 * Statements and loops, made into steps.
 */
import type { Expression, Statement } from "../typed/tree.ts";
import { arithmetic } from "./arithmetic.ts";
import {
  BREAK,
  type Code,
  type Completion,
  CONTINUE,
  ControlSignal,
  type Frame,
  type Step,
} from "./frame.ts";
import type { FunctionCompiler } from "./function_compiler.ts";
import { matcher } from "./patterns.ts";
import { placeCode } from "./places.ts";
import { at, booleanOf, InterpreterFault, listOf, numberOf, Reference, uniqueList } from "./value.ts";

/** Makes a statement. */
export function statementStep(statement: Statement, compiler: FunctionCompiler): Step {
  switch (statement.kind) {
    case "let": {
      const value = compiler.expression(statement.value, true);
      const bind = matcher(statement.pattern, compiler.slotOf);
      return (frame) => {
        if (!bind(value(frame), frame)) throw new InterpreterFault("a pattern that always fits did not");
        return undefined;
      };
    }
    case "let-else": {
      const value = compiler.expression(statement.value, true);
      const bind = matcher(statement.pattern, compiler.slotOf);
      const otherwise = compiler.step(statement.otherwise);
      return (frame) => bind(value(frame), frame) ? undefined : otherwise(frame);
    }
    case "var": {
      const value = compiler.expression(statement.value, true);
      const slot = compiler.slotOf(statement.local);
      return (frame) => {
        frame.slots[slot] = value(frame);
        return undefined;
      };
    }
    case "assign":
      return assignStep(statement, compiler);
    case "while": {
      const condition = compiler.expression(statement.condition, false);
      return loop(statement.body, compiler, (frame, turn) => {
        while (booleanOf(condition(frame))) {
          const completion = turn(frame);
          if (completion !== undefined) return completion;
        }
        return undefined;
      });
    }
    case "for-range":
      return rangeStep(statement, compiler);
    case "for-list": {
      const list = compiler.expression(statement.list, true);
      const bind = matcher(statement.pattern, compiler.slotOf);
      return loop(statement.body, compiler, (frame, turn) => {
        const { items } = listOf(list(frame));
        for (const item of items.slice()) {
          if (!bind(item, frame)) throw new InterpreterFault("the pattern of a loop did not fit");
          const completion = turn(frame);
          if (completion !== undefined) return completion;
        }
        return undefined;
      });
    }
    case "for-inout": {
      const place = placeCode(statement.list, compiler);
      const slot = compiler.referenceSlotOf(statement.local);
      return loop(statement.body, compiler, (frame, turn) => {
        const { items } = uniqueList(place.resolve(frame, place.prepare(frame)));
        for (let index = 0; index < items.length; index++) {
          frame.references[-1 - slot] = new Reference(items, index);
          const completion = turn(frame);
          if (completion !== undefined) return completion;
        }
        return undefined;
      });
    }
    case "expression":
      return compiler.step(statement.expression);
  }
}

function assignStep(statement: Extract<Statement, { kind: "assign" }>, compiler: FunctionCompiler): Step {
  const place = placeCode(statement.place, compiler);
  const value = compiler.expression(statement.value, true);
  if (statement.operator === null) {
    return (frame) => {
      const indexes = place.prepare(frame);
      const computed = value(frame);
      place.resolve(frame, indexes).write(computed);
      return undefined;
    };
  }
  const type = compiler.typeOf(statement.place.type);
  const site = compiler.siteOf(statement);
  const compute = type.kind === "primitive" && type.name !== "String"
    ? arithmetic(statement.operator, type.name, site)
    : compiler.concatenation(type);
  return (frame) => {
    const indexes = place.prepare(frame);
    const right = value(frame);
    const reference = place.resolve(frame, indexes);
    reference.write(compute(reference.read(), right));
    return undefined;
  };
}

function rangeStep(statement: Extract<Statement, { kind: "for-range" }>, compiler: FunctionCompiler): Step {
  const start = compiler.expression(statement.start, false);
  const end = compiler.expression(statement.end, false);
  const slot = compiler.slotOf(statement.local);
  return loop(statement.body, compiler, (frame, turn) => {
    const first = numberOf(start(frame));
    const last = numberOf(end(frame)) - (statement.isInclusive ? 0 : 1);
    for (let number = first; number <= last; number++) {
      frame.slots[slot] = number;
      const completion = turn(frame);
      if (completion !== undefined) return completion;
    }
    return undefined;
  });
}

/**
 * Makes a loop: `run` goes on while a turn ends with undefined. When control may leave the body from within an
 * expression, that is caught here.
 */
function loop(
  body: Expression,
  compiler: FunctionCompiler,
  run: (frame: Frame, turn: Step) => Completion,
): Step {
  const before = compiler.loopSignals;
  compiler.loopSignals = 0;
  const turnStep = compiler.step(body);
  const throws = compiler.loopSignals > 0;
  compiler.loopSignals = before;
  const turn: Step = (frame) => {
    const completion = throws ? caught(turnStep, frame) : turnStep(frame);
    return completion === CONTINUE ? undefined : completion;
  };
  return (frame) => {
    const completion = run(frame, turn);
    return completion === BREAK ? undefined : completion;
  };
}

function caught(step: Step, frame: Frame): Completion {
  try {
    return step(frame);
  } catch (error) {
    if (error instanceof ControlSignal && typeof error.completion === "symbol") return error.completion;
    throw error;
  }
}
/** Runs steps until one ends early. */
export function sequence(steps: readonly Step[]): Step {
  return (frame) => {
    for (const step of steps) {
      const completion = step(frame);
      if (completion !== undefined) return completion;
    }
    return undefined;
  };
}

/** The value of an expression whose part ran as a step: leaving it is thrown. */
export function leave(completion: Exclude<Completion, undefined>): never {
  throw new ControlSignal(completion);
}

/** The value at a slot. */
export function slotCode(slot: number): Code {
  return (frame) => at(frame.slots, slot);
}
