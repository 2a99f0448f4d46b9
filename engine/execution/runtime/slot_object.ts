/** Objects of the runtime in slots of an execution. */
import type { ExecutionState } from "./execution_state.ts";
import type { MemoryUser } from "./memory_user.ts";

/** The object of a slot, made at first use: a slot has objects of one class. */
export function slotObject<T extends object, A extends readonly unknown[]>(
  state: ExecutionState,
  slot: number,
  kind: new (state: MemoryUser, ...parts: A) => T,
  ...parts: A
): T {
  const known = state.x[slot];
  if (known !== undefined) return known as T;
  const made = new kind(state.userOf(slot), ...parts);
  state.x[slot] = made;
  return made;
}
