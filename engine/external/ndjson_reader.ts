/**
 * FORMAT NDJSON: each line is a row. Empty lines are passed over. The paging path is looked for in the rows, and the
 * last one says where to go on, so that `PAGE CURSOR JSON 'id' PARAM 'after'` asks for what comes after the last row.
 */
import { parseSourcePath } from "../catalog/source_path.ts";
import type { ExternalSourceDefinition } from "../catalog/external_source.ts";
import { PartialRow } from "../statements/copy/partial_row.ts";
import type { RowTarget } from "../statements/refresh/row_target.ts";
import type { FormatReader, SourceBytes } from "./source_reader.ts";
import { rowFields } from "./json_reader.ts";
import { JsonScanner } from "./json_scanner.ts";
import { piecesWithoutMark } from "./text_mark.ts";

const NEWLINE = 10;
/** Bytes of lines read between looks at the clock. */
const PIECE_BYTES = 16_384;

/** See the file's head. */
export const ndjsonReader: FormatReader = {
  format: "ndjson",
  async read(
    bytes: SourceBytes,
    target: RowTarget,
    source: ExternalSourceDefinition,
  ): Promise<string | null> {
    const fields = rowFields(target);
    const { page } = source;
    if (page !== null && page.kind !== "next_link") fields.at(parseSourcePath(page.path)).isPaging = true;
    const scanner = new JsonScanner(target);
    const line = (data: Uint8Array, start: number, end: number): void => {
      scanner.begin(data, start, end);
      if (scanner.peek() < 0) return;
      scanner.paging = null;
      scanner.row(fields);
      scanner.requireEnd();
    };
    const carry = new PartialRow(() => target.place);
    for await (const piece of piecesWithoutMark(bytes.chunks())) {
      let start = 0;
      if (carry.length > 0) {
        const end = piece.indexOf(NEWLINE);
        carry.append(end < 0 ? piece : piece.subarray(0, end));
        if (end < 0) continue;
        const whole = carry.joined();
        line(whole, 0, carry.length);
        carry.drop(carry.length);
        start = end + 1;
      }
      let paused = start;
      for (;;) {
        const end = piece.indexOf(NEWLINE, start);
        if (end < 0) break;
        line(piece, start, end);
        start = end + 1;
        if (start - paused < PIECE_BYTES) continue;
        paused = start;
        const pause = target.pause();
        if (pause !== undefined) await pause;
      }
      if (start < piece.length) carry.append(piece.subarray(start));
      await target.pause();
    }
    if (carry.length > 0) line(carry.joined(), 0, carry.length);
    return scanner.paging;
  },
};
