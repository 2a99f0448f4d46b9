/** The client of a COPY … FROM STDIN, which sends a text. */
import type { CopyFormat, CopyTarget } from "../../engine/statements/outcome.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";

/** See the head of the file. */
export class CopiedText extends RowBuffer {
  readonly #text: string;

  constructor(text: string) {
    super();
    this.#text = text;
  }

  override async copyIn(_format: CopyFormat, target: CopyTarget): Promise<void> {
    await target.write(new TextEncoder().encode(this.#text));
  }
}
