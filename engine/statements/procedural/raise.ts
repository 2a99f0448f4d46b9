/** What RAISE says: its message put together, as a notice or an error. */
import { DatabaseError, type ErrorFields, SQLSTATE, type SqlState } from "../../base/errors.ts";
import type { Raise, RaiseOption } from "../../sql/procedural/block.ts";
import { conditionCode } from "../../sql/procedural/conditions.ts";
import type { Notice } from "../outcome.ts";

/** A RAISE whose expressions have been evaluated to text. */
export interface RaiseTexts {
  readonly arguments: readonly string[];
  readonly options: ReadonlyMap<RaiseOption, string>;
}

/** The error of RAISE EXCEPTION. */
export function raisedError(raise: Raise, texts: RaiseTexts): DatabaseError {
  const { options } = texts;
  const fields: ErrorFields = {
    ...field("detail", options.get("detail")),
    ...field("hint", options.get("hint")),
    ...field("column", options.get("column")),
    ...field("constraint", options.get("constraint")),
    ...field("dataType", options.get("datatype")),
    ...field("table", options.get("table")),
    ...field("schema", options.get("schema")),
  };
  return new DatabaseError(codeOf(raise, texts), messageOf(raise, texts), fields);
}

/** The notice of another level; null for those that are meant for the server's log. */
export function raisedNotice(raise: Raise, texts: RaiseTexts): Notice | null {
  const severity = SEVERITIES[raise.level];
  if (severity === undefined) return null;
  const { options } = texts;
  const code = options.has("errcode") || raise.condition !== null
    ? codeOf(raise, texts)
    : severity === "WARNING"
    ? SQLSTATE.warning
    : SQLSTATE.successfulCompletion;
  return {
    severity,
    code,
    message: messageOf(raise, texts),
    ...field("detail", options.get("detail")),
    ...field("hint", options.get("hint")),
  };
}

const SEVERITIES: Readonly<Partial<Record<Raise["level"], Notice["severity"]>>> = {
  info: "INFO",
  notice: "NOTICE",
  warning: "WARNING",
};

function field<K extends keyof ErrorFields>(name: K, value: string | undefined): Pick<ErrorFields, never> {
  return value === undefined ? {} : { [name]: value };
}

function messageOf(raise: Raise, texts: RaiseTexts): string {
  if (raise.format === null) {
    return texts.options.get("message") ?? raise.condition?.name ?? SQLSTATE.raiseException;
  }
  if (texts.options.has("message")) {
    throw new DatabaseError(SQLSTATE.syntaxError, "RAISE option already specified: MESSAGE");
  }
  let next = 0;
  return raise.format.replace(/%%|%/g, (mark) => mark === "%%" ? "%" : texts.arguments[next++] ?? "");
}

function codeOf(raise: Raise, texts: RaiseTexts): SqlState {
  const given = texts.options.get("errcode");
  if (given === undefined) return (raise.condition?.code ?? SQLSTATE.raiseException) as SqlState;
  const code = /^[0-9A-Z]{5}$/.test(given) ? given : conditionCode(given);
  if (code !== undefined) return code as SqlState;
  throw new DatabaseError(SQLSTATE.undefinedObject, `unrecognized exception condition "${given}"`);
}
