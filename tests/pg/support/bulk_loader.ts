/**
 * A worker that loads rows with COPY as fast as the server takes them, while a second connection reads, in threads of
 * their own so that neither waits for the server's. Told the port, it answers how many reads were answered during the
 * load.
 */
import { message } from "../../../gateways/pg/testing/wire.ts";
import { RawClient } from "./raw_client.ts";

const ROWS_A_MESSAGE = 1000;

/** What a worker of this module is told. */
export interface Task {
  readonly role: "load" | "read";
  readonly port: number;
  readonly rowCount: number;
}

async function load({ port, rowCount }: Task): Promise<void> {
  using client = await RawClient.start(port);
  await client.send(message("Q", "COPY loaded FROM STDIN"));
  await client.until("G");
  const filler = "x".repeat(80);
  for (let row = 0; row < rowCount; row += ROWS_A_MESSAGE) {
    let text = "";
    for (let each = row; each < row + ROWS_A_MESSAGE; each++) text += `${each}\t${filler}\n`;
    await client.send(message("d", new TextEncoder().encode(text)));
  }
  await client.send(message("c"));
  await client.until("Z");
}

/** What a worker sees of itself; the types of the project are those of the main thread. */
const worker = globalThis as unknown as {
  onmessage: (event: MessageEvent<Task | "count">) => void;
  postMessage(data: unknown): void;
};

let answers = 0;

async function read({ port }: Task): Promise<void> {
  using client = await RawClient.start(port);
  for (;;) {
    await client.send(message("Q", "SELECT x FROM one"));
    await client.until("Z");
    answers++;
    if (answers === 1) worker.postMessage("reading");
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

worker.onmessage = ({ data }) => {
  if (data === "count") worker.postMessage(answers);
  else if (data.role === "read") void read(data);
  else void load(data).then(() => worker.postMessage("loaded"));
};
