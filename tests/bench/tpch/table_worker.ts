/** A thread that writes one table's file, and says when it is written. */
import { type TableRequest, writeTable } from "./table_writer.ts";

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<TableRequest>) => void) | null;
  postMessage(message: null): void;
};
scope.onmessage = ({ data }) => {
  writeTable(data);
  scope.postMessage(null);
};
