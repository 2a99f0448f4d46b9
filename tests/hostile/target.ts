/**
 * The server that hostile clients meet: the real program as a process of its own, what `/proc` says of its memory and
 * file descriptors, and a witness, a well-behaved client that asks all the time and must be answered all the time.
 */
import { projectRoot } from "../../tools/project.ts";
import { ServerProcess } from "../support/server_process.ts";
import { until } from "../support/until.ts";
import type { Testimony } from "./witness_worker.ts";

const MEBIBYTE = 1 << 20;
/** How often the server's memory is looked at. */
const SAMPLE_MILLISECONDS = 20;

/** A running server. */
export interface Target extends AsyncDisposable {
  readonly pgPort: number;
  readonly httpPort: number;
  readonly binaryPort: number;
  /** Bytes of its memory that are resident now. */
  residentBytes(): number;
  /** Open file descriptors. */
  descriptors(): number;
  /** What it has said on standard error. */
  log(): string;
}

/** Starts one with an empty database. */
export async function startTarget(): Promise<Target> {
  const server = await ServerProcess.startEmpty(Deno.execPath(), {
    before: ["run", "-A", "--no-check", `${projectRoot}/cli/dbd.ts`],
  });
  const { pid } = server.child;
  return {
    pgPort: server.portOf("PostgreSQL protocol"),
    httpPort: server.portOf("HTTP"),
    binaryPort: server.portOf("binary protocol"),
    residentBytes: () =>
      Number(/^VmRSS:\s+(\d+) kB$/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1]) * 1024,
    descriptors: () => [...Deno.readDirSync(`/proc/${pid}/fd`)].length,
    log: () => server.log,
    [Symbol.asyncDispose]: () => server.end("SIGKILL"),
  };
}

/** What was seen while an attack ran. */
export interface Observation {
  /** Growth of the resident memory at its highest, in MiB. */
  readonly grownMebibytes: number;
  /** Answers that the witness got. */
  readonly answers: number;
  /** The longest that the witness waited for one. */
  readonly slowestMilliseconds: number;
  readonly seconds: number;
}

/** Runs an attack beside the witness. Rejects when the witness is not served or the server has a bug to tell of. */
export async function observe(target: Target, attack: () => Promise<void>): Promise<Observation> {
  const witness = new Worker(new URL("witness_worker.ts", import.meta.url), { type: "module" });
  const testifying = new Promise<Testimony>((resolve, reject) => {
    witness.onmessage = ({ data }: MessageEvent<Testimony>) => resolve(data);
    witness.onerror = (event) => reject(new Error(event.message));
  });
  const before = target.residentBytes();
  let highest = before;
  const sampler = setInterval(() => highest = Math.max(highest, target.residentBytes()), SAMPLE_MILLISECONDS);
  const startedAt = performance.now();
  try {
    witness.postMessage(target.pgPort);
    await Promise.race([attack(), testifying]);
    witness.postMessage(null);
    const { answers, slowestMilliseconds, error } = await testifying;
    if (error !== null) throw new Error(error);
    if (/internal error|AssertionError|TypeError|panicked/.test(target.log())) throw new Error(target.log());
    return {
      grownMebibytes: Math.round((highest - before) / MEBIBYTE),
      answers,
      slowestMilliseconds,
      seconds: Math.round((performance.now() - startedAt) / 1000),
    };
  } finally {
    clearInterval(sampler);
    witness.terminate();
  }
}

/** Files of the log, of the event loop and of the workers' loops, which come when they are first of use. */
const FURTHER_DESCRIPTORS = 24;

/** Waits until the server has given back all file descriptors of its clients. */
export async function descriptorsGivenBack(target: Target, before: number): Promise<void> {
  await until(
    () => target.descriptors() <= before + FURTHER_DESCRIPTORS,
    () => `${before} file descriptors, as before, instead of ${target.descriptors()}`,
  );
}
