/**
 * Effects as written behind `uses`.
 */
import type * as ast from "../syntax/ast.ts";
import { type Effect, EFFECTS } from "../types/type.ts";
import { nearest } from "../../engine/base/suggest.ts";
import type { ModuleScope } from "./symbols.ts";

const BY_NAME: ReadonlyMap<string, Effect> = new Map(EFFECTS.map((effect) => [effect, effect]));

/** What effects are called elsewhere. */
const FOREIGN_EFFECTS: Readonly<Record<string, Effect>> = {
  Console: "Log",
  Print: "Log",
  Io: "Log",
  Output: "Log",
  Canvas: "Draw",
  Graphics: "Draw",
  Sound: "Audio",
  Keyboard: "Input",
  Clock: "Time",
  Rand: "Random",
  Storage: "Store",
  File: "Store",
  Http: "Net",
  Network: "Net",
};

/** The effects that a function declares, or null when it declares none. */
export function declaredEffects(scope: ModuleScope, declaration: ast.FunctionDeclaration): Effect[] | null {
  if (declaration.effects === null) return null;
  const effects: Effect[] = [];
  const { reporter } = scope;
  for (const [index, name] of declaration.effects.entries()) {
    const effect = BY_NAME.get(name.text);
    if (effect === undefined) {
      const foreign = FOREIGN_EFFECTS[name.text];
      const names = foreign === undefined ? nearest(name.text, EFFECTS) : [foreign];
      reporter.report("EF0002", name.span, `Unknown effect \`${name.text}\`.`, {
        hint: `The effects are ${EFFECTS.map((each) => `\`${each}\``).join(", ")}.`,
        fixes: names.map((other) => reporter.fix(`write \`${other}\``, "maybe", name.span, other)),
      });
    } else if (effects.includes(effect)) {
      const before = declaration.effects[index - 1];
      reporter.report("EF0006", name.span, `The effect \`${effect}\` is listed twice.`, {
        fixes: before === undefined
          ? []
          : [reporter.fix("remove the second", "safe", { start: before.span.end, end: name.span.end }, "")],
      });
    } else effects.push(effect);
  }
  return effects;
}
