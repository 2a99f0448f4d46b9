/** Which encoding can hold which values, and the reader of each. */
import { DeltaByteArrayReader, DeltaLengthReader, DeltaReader } from "./delta_values.ts";
import { HybridReader } from "./hybrid.ts";
import type { EncodingName } from "./metadata.ts";
import { plainReader, streamSplitReader, type ValueBytes, type ValueReader } from "./plain_values.ts";
import { type NumberVector, numberVector, ValueError } from "./vector.ts";

/** What can be read, for hints. */
export const readableEncodings: string =
  "PLAIN, PLAIN_DICTIONARY, RLE_DICTIONARY, RLE, DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY " +
  "and BYTE_STREAM_SPLIT, each for the types that the format has it for";

/** The reader of a page's values; undefined when the encoding has none for their type. Raises {@link ValueError}. */
export function valueReader(encoding: EncodingName, values: ValueBytes): ValueReader | undefined {
  const { type } = values;
  switch (encoding) {
    case "PLAIN":
      return plainReader(values);
    case "RLE":
      return type === "BOOLEAN" ? new RunReader(values) : undefined;
    case "DELTA_BINARY_PACKED":
      return type === "INT32" || type === "INT64" ? new DeltaReader(values) : undefined;
    case "DELTA_LENGTH_BYTE_ARRAY":
      return type === "BYTE_ARRAY" ? new DeltaLengthReader(values) : undefined;
    case "DELTA_BYTE_ARRAY":
      return type === "BYTE_ARRAY" || type === "FIXED_LEN_BYTE_ARRAY"
        ? new DeltaByteArrayReader(values)
        : undefined;
    case "BYTE_STREAM_SPLIT":
      return type === "BOOLEAN" || type === "BYTE_ARRAY" || type === "INT96"
        ? undefined
        : streamSplitReader(values);
    default:
      return undefined;
  }
}

/** Truth values as runs, behind their length. */
class RunReader implements ValueReader {
  readonly maxLength = 0;
  readonly vector: NumberVector;
  readonly #runs: HybridReader;
  readonly #values: Int32Array;

  constructor({ bytes, start, end, capacity }: ValueBytes) {
    this.vector = numberVector(capacity);
    this.#values = new Int32Array(capacity);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = start + 4 <= end ? view.getUint32(start, true) : Infinity;
    if (length > end - start - 4) throw new ValueError("the values are longer than their page");
    this.#runs = new HybridReader(bytes, start + 4, start + 4 + length, 1);
  }

  read(count: number): void {
    this.#runs.read(this.#values, count);
    for (let index = 0; index < count; index++) this.vector.data[index] = this.#values[index] as number;
  }
}
