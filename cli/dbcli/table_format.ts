/**
 * Results as text: aligned tables in psql's form, and the lines of the other kinds of answers. Pure.
 *
 * Limits: widths count code points, those of East Asian wide characters and emoji double, combining marks not at all.
 */
import type { StatementResult } from "../../gateways/binary/client_result.ts";

/** How NULL is shown. */
export const NULL_TEXT = "NULL";

const NUMBER_TYPES = /^(i8|smallint|integer|bigint|u8|u16|u32|u64|real|double precision|numeric.*|oid)$/;

/** What is printed for an answer, with its last line break; empty for an empty statement. */
export function formatResult(result: StatementResult): string {
  switch (result.kind) {
    case "empty":
      return "";
    case "value": {
      const value = result.texts()[0]?.[0] ?? null;
      return `= ${value ?? NULL_TEXT}\n`;
    }
    case "describe":
      return formatDescription(result);
    case "explain":
      return result.texts().map(([line]) => `${line ?? ""}\n`).join("");
    default:
      return result.columns.length > 0
        ? formatTable({
          names: result.columns.map((column) => column.name),
          alignRight: result.columns.map((column) => NUMBER_TYPES.test(column.type)),
          rows: result.texts(),
        })
        : `${result.command}\n`;
  }
}

/** DESCRIBE: the table's name, then its columns with type and whether they may be NULL. */
function formatDescription(result: StatementResult): string {
  const rows = result.texts().map(([name, type, nullable]) => [
    name ?? "",
    type ?? "",
    nullable === "t" ? "YES" : "NO",
  ]);
  const widths = [0, 1, 2].map((index) =>
    Math.max(
      ...["column", "type", "null"].map((title, at) => at === index ? title.length : 0),
      0,
      ...rows.map((row) => displayWidth(row[index] ?? "")),
    )
  );
  const line = (cells: readonly string[]): string =>
    `  ${cells.map((cell, index) => pad(cell, widths[index] ?? 0)).join("  ").trimEnd()}\n`;
  return `${result.command.replace(/^DESCRIBE /, "")}\n${line(["column", "type", "null"])}${
    rows.map(line).join("")
  }`;
}

/** A table to be aligned. */
export interface TextTable {
  readonly names: readonly string[];
  readonly alignRight: readonly boolean[];
  /** null: NULL. */
  readonly rows: readonly (readonly (string | null)[])[];
}

/** An aligned table and its row count line. */
export function formatTable(table: TextTable): string {
  const { names, alignRight, rows } = table;
  const cells = rows.map((row) => row.map((text) => (text ?? NULL_TEXT).split("\n").map(visible)));
  const widths = names.map((name) => displayWidth(name));
  for (const row of cells) {
    for (const [index, lines] of row.entries()) {
      for (const line of lines) widths[index] = Math.max(widths[index] ?? 0, displayWidth(line));
    }
  }
  let text = `${names.map((name, index) => ` ${center(name, widths[index] ?? 0)} `).join("|")}\n`;
  text += `${widths.map((width) => "-".repeat(width + 2)).join("+")}\n`;
  for (const row of cells) {
    const height = Math.max(...row.map((lines) => lines.length), 1);
    for (let line = 0; line < height; line++) {
      const parts = row.map((lines, index) => {
        const content = lines[line] ?? "";
        const width = widths[index] ?? 0;
        const more = line < lines.length - 1 ? "+" : " ";
        return ` ${alignRight[index] === true ? padStart(content, width) : pad(content, width)}${more}`;
      });
      text += `${parts.join("|").trimEnd()}\n`;
    }
  }
  return `${text}(${rows.length} ${rows.length === 1 ? "row" : "rows"})\n`;
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

function padStart(text: string, width: number): string {
  return " ".repeat(Math.max(0, width - displayWidth(text))) + text;
}

function center(text: string, width: number): string {
  const free = Math.max(0, width - displayWidth(text));
  const left = Math.floor(free / 2);
  return " ".repeat(left) + text + " ".repeat(free - left);
}

/** Control characters as escapes, so that a value cannot drive the terminal. */
function visible(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, (character) => {
    if (character === "\t") return "\\t";
    if (character === "\r") return "\\r";
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`;
  });
}

/** Columns that a text takes on a terminal. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/\p{Mark}|\u200d|\ufe0f/u.test(character)) continue;
    width +=
      /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u
          .test(character)
        ? 2
        : 1;
  }
  return width;
}
