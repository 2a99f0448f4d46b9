/** Keys of several values together: equal exactly when the values are. */
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { valueKey } from "./expression.ts";

/** The key of some values in a Set or Map. */
export function keyOfValues(types: readonly SqlType[], values: readonly SqlValue[]): unknown {
  const parts = values.map((value, index) => {
    const type = types[index];
    return value === null || type === undefined ? null : valueKey(type, value);
  });
  if (parts.length === 1) return parts[0];
  return parts.map((part) => `${typeof part}:${String(part).length}:${String(part)}`).join("|");
}

/** Whether some values are those of another row. */
export function hasSameKeys(
  types: readonly SqlType[],
  left: readonly SqlValue[],
  right: readonly SqlValue[],
): boolean {
  return types.every((type, index) => {
    const first = left[index] ?? null;
    const second = right[index] ?? null;
    if (first === null || second === null) return first === second;
    const [one, other] = [valueKey(type, first), valueKey(type, second)];
    return one === other || Number.isNaN(one) && Number.isNaN(other);
  });
}
