/** Parser of RAISE. */
import { SQLSTATE } from "../../base/errors.ts";
import type { TokenStream } from "../parser/token_stream.ts";
import type { Fragment, Raise, RaiseLevel, RaiseOption } from "./block.ts";
import { expectCondition, expectSqlState } from "./conditions.ts";
import { readFragment } from "./fragment_reader.ts";

const LEVELS: readonly RaiseLevel[] = ["debug", "log", "info", "notice", "warning", "exception"];

const OPTIONS: readonly RaiseOption[] = [
  "message",
  "detail",
  "hint",
  "errcode",
  "column",
  "constraint",
  "datatype",
  "table",
  "schema",
];

/** Reads RAISE from its first word on. Raises 42601 when arguments and placeholders differ in number. */
export function parseRaise(stream: TokenStream, line: number): Raise {
  stream.advance();
  const level = LEVELS.find((each) => stream.acceptWord(each)) ?? "exception";
  let format: string | null = null;
  let condition: Raise["condition"] = null;
  const args: Fragment[] = [];
  if (stream.isString()) {
    const { position } = stream;
    format = stream.expectString();
    while (stream.acceptSymbol(",")) {
      args.push(readFragment(stream, { words: ["using"], symbols: [",", ";"] }));
    }
    const wanted = placeholders(format);
    if (wanted !== args.length) {
      const many = wanted > args.length ? "few" : "many";
      throw stream.error(SQLSTATE.syntaxError, `too ${many} parameters specified for RAISE`, position);
    }
  } else if (stream.acceptWord("sqlstate")) {
    const code = expectSqlState(stream);
    condition = { name: code, code };
  } else if (!stream.isSymbol(";") && !stream.isWord("using")) {
    const name = stream.value();
    condition = { name, code: expectCondition(stream) };
  }
  const options: { option: RaiseOption; value: Fragment }[] = [];
  if (stream.acceptWord("using")) {
    do {
      const option = OPTIONS.find((each) => stream.acceptWord(each));
      if (option === undefined) throw stream.syntaxError();
      if (!stream.acceptSymbol(":=")) stream.expectSymbol("=");
      options.push({ option, value: readFragment(stream, { symbols: [",", ";"] }) });
    } while (stream.acceptSymbol(","));
  }
  stream.expectSymbol(";");
  return { kind: "raise", level, format, arguments: args, condition, options, line };
}

/** How many `%` of the format stand for an argument; `%%` is one percent sign. */
function placeholders(format: string): number {
  return (format.replaceAll("%%", "").match(/%/g) ?? []).length;
}
