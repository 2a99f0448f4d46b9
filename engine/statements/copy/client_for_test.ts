/** A client of a real engine over a host in memory, for tests: SQL in, rows as text out, COPY data both ways. */
import { DatabaseError } from "../../base/errors.ts";
import { memoryHost } from "../../host/memory_host.ts";
import { formatText } from "../../types/text_io.ts";
import { Engine } from "../../session/engine.ts";
import type { CopyFormat, CopyTarget, StatementOutcome } from "../outcome.ts";
import { RowBuffer } from "../row_buffer.ts";
import type { Session } from "../../session/session.ts";

/** Collects rows and COPY data, and sends what COPY asks for. */
class ClientSink extends RowBuffer {
  input = new Uint8Array(0);
  pieceBytes = Infinity;
  readonly output: Uint8Array[] = [];

  override copyOutBegin(): void {}

  override copyOutData(bytes: Uint8Array): void {
    this.output.push(bytes);
  }

  override async copyIn(_format: CopyFormat, target: CopyTarget): Promise<void> {
    const { input, pieceBytes } = this;
    // What comes later is behind each piece, where nobody may look.
    for (let at = 0; at < input.length; at += pieceBytes) {
      await target.write(input, at, Math.min(input.length, at + pieceBytes));
    }
  }
}

/** See the file's head. */
export class TestClient {
  readonly engine: Engine;
  readonly session: Session;

  private constructor(engine: Engine) {
    this.engine = engine;
    this.session = engine.openSession();
  }

  static async open(): Promise<TestClient> {
    return new TestClient(await Engine.open({ host: memoryHost(), directory: ":memory:" }));
  }

  /** A client of an engine that the test has opened; closing it closes the engine. */
  static over(engine: Engine): TestClient {
    return new TestClient(engine);
  }

  close(): Promise<void> {
    return this.engine.close();
  }

  async #send(text: string, sink: ClientSink): Promise<StatementOutcome> {
    const outcomes: StatementOutcome[] = [];
    await this.session.simple(text, sink, (outcome) => outcomes.push(outcome));
    await this.session.whenDurable(Math.max(0, ...outcomes.map(({ durableOp }) => durableOp)));
    const last = outcomes.at(-1);
    if (last === undefined) throw new Error("no outcome");
    return last;
  }

  /** Runs statements; answers the last one's tag. */
  async run(...texts: readonly string[]): Promise<string> {
    let tag = "";
    for (const text of texts) tag = (await this.#send(text, new ClientSink())).tag;
    return tag;
  }

  /** Rows of a query, columns joined by `|`, NULL empty. */
  async rows(text: string): Promise<string[]> {
    const sink = new ClientSink();
    await this.#send(text, sink);
    return sink.rows.map((row) =>
      row.map((value, column) => {
        const type = sink.columns[column]?.type;
        return value === null || type === undefined ? "" : formatText(type, value);
      }).join("|")
    );
  }

  /** COPY … FROM STDIN with data in pieces of `size` bytes. */
  async copyIn(text: string, data: string | Uint8Array, size = 1 << 16): Promise<string> {
    const sink = new ClientSink();
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    sink.input = bytes.slice();
    sink.pieceBytes = size;
    return (await this.#send(text, sink)).tag;
  }

  /** The bytes of COPY … TO STDOUT. */
  async copyOut(text: string): Promise<Uint8Array> {
    const sink = new ClientSink();
    await this.#send(text, sink);
    return new Uint8Array(await new Blob(sink.output.map((piece) => piece.slice())).arrayBuffer());
  }

  /** The text of COPY … TO STDOUT. */
  async copyText(text: string): Promise<string> {
    return new TextDecoder().decode(await this.copyOut(text));
  }

  /** `code message / detail / where` of what fails. */
  async failure(action: Promise<unknown> | string): Promise<string> {
    try {
      await (typeof action === "string" ? this.run(action) : action);
    } catch (thrown) {
      if (!(thrown instanceof DatabaseError)) throw thrown;
      const { code, message, detail, where } = thrown;
      return [`${code} ${message}`, detail, where].filter((part) => part !== undefined).join(" / ");
    }
    return "no error";
  }
}
