/** The value of a setting, from the literals that SET lists. */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { SETTINGS } from "./setting_table.ts";

/** The values of SET as one text. Raises 22023 for several of a setting that is no list. */
export function settingText(
  name: string,
  values: readonly { readonly text: string; readonly type?: string }[],
): string {
  const isList = SETTINGS.get(name)?.list ?? false;
  if (values.length > 1 && !isList) {
    throw new DatabaseError(SQLSTATE.invalidParameterValue, `SET ${name} takes only one argument`);
  }
  if (name === "search_path") {
    return values
      .map((value) =>
        !/^[a-z_][a-z0-9_$]*$/.test(value.text) ? `"${value.text.replaceAll('"', '""')}"` : value.text
      )
      .join(", ");
  }
  return values.map((value) => value.type === "interval" ? hoursOf(value.text) : value.text).join(
    ", ",
  );
}

/** `INTERVAL '-08:00'` as a number of hours, which a time zone may be. */
function hoursOf(text: string): string {
  const match = /^([+-]?)(\d{1,2})(?::(\d{2}))?$/.exec(text.trim());
  if (match === null) return text;
  const hours = Number(match[2]) + Number(match[3] ?? 0) / 60;
  return `${match[1] === "-" ? "-" : ""}${hours}`;
}
