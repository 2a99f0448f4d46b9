/** Answers and failures as JSON objects, one a line, in the shapes and with the values that HTTP has. */
import type { DatabaseError } from "../../engine/base/errors.ts";
import type { StatementResult } from "../../gateways/binary/client_result.ts";
import { JsonBuffer } from "../../gateways/shared/json/json_buffer.ts";
import { memberNames } from "../../gateways/shared/json/member_names.ts";
import { writeJsonInteger, writeJsonValue } from "../../gateways/shared/json/json_value.ts";

/** An answer as one line. */
export function resultJson(result: StatementResult): string {
  const buffer = new JsonBuffer();
  buffer.text('{"status":"ok"');
  switch (result.kind) {
    case "value":
      buffer.text(',"value":');
      writeCell(buffer, result, result.sqlValues()[0] ?? [], 0);
      break;
    case "describe":
      buffer.text(`,"table":${JSON.stringify(result.command.replace(/^DESCRIBE /, ""))},"columns":`);
      buffer.text(
        JSON.stringify(
          result.rows().map(({ name, type, nullable, default: initial, primary_key: key }) => ({
            name,
            type,
            nullable,
            ...(initial === null ? {} : { default: initial }),
            ...(key === true ? { primary_key: true } : {}),
          })),
        ),
      );
      break;
    case "explain":
      buffer.text(`,"plan":${JSON.stringify(result.texts().map(([line]) => line))}`);
      break;
    case "affected":
      buffer.text(`,"affected":${result.rowCount}`);
      if (result.insertedId !== null) {
        buffer.text(',"id":');
        writeJsonInteger(buffer, result.insertedId);
      }
      break;
    default:
      if (result.columns.length > 0) writeRows(buffer, result);
  }
  buffer.text("}\n");
  return new TextDecoder().decode(buffer.take());
}

/** A failure as one line. */
export function failureJson(error: DatabaseError): string {
  const { message, code, detail, hint, position, where } = error;
  return JSON.stringify({ status: "error", message, code, detail, hint, position, where }) + "\n";
}

function writeRows(buffer: JsonBuffer, result: StatementResult): void {
  const keys = memberNames(result.columns).map((name) => `${JSON.stringify(name)}:`);
  buffer.text(',"rows":[');
  for (const [index, row] of result.sqlValues().entries()) {
    buffer.text(index === 0 ? "{" : ",{");
    for (const [column, key] of keys.entries()) {
      if (column > 0) buffer.text(",");
      buffer.text(key);
      writeCell(buffer, result, row, column);
    }
    buffer.text("}");
  }
  buffer.text("]");
}

function writeCell(
  buffer: JsonBuffer,
  result: StatementResult,
  row: ReturnType<StatementResult["sqlValues"]>[number],
  column: number,
): void {
  const value = row[column] ?? null, type = result.columns[column]?.sqlType;
  if (value === null || type === undefined) buffer.text("null");
  else writeJsonValue(buffer, type, value, result.textOptions);
}
