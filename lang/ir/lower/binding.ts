/**
 * What a name stands for, as something that can be read.
 */
import type { Local } from "../../typed/tree.ts";
import { get } from "../node.ts";
import type { Located } from "./expression.ts";
import type { Frame } from "./frame.ts";

/** The value of a name, or the memory where it lies. */
export function locatedBinding(frame: Frame, local: Local): Located {
  const binding = frame.binding(local);
  if (binding.kind === "closure") throw new Error(`Cannot capture ${local.name}: it is only called`);
  return binding.kind === "locals"
    ? { kind: "value", value: binding.locals.map(get), layout: binding.layout }
    : binding;
}
