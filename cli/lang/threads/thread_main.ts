/**
 * A thread that runs tests or a command, or measures: it knows compiled modules and no sources, so it starts quickly,
 * and it can be stopped at any time.
 *
 * The first message to it brings the port by which it talks. What it does comes one after the other.
 */
import { measureRun } from "../../../lang/commands/cost_run.ts";
import { runModule } from "../../../lang/commands/run_module.ts";
import { WasmProgram } from "../../../lang/host/wasm_program.ts";
import { runJob, startRun } from "../../../lang/testing/run_job.ts";
import { hostOfTry } from "../../../lang/testing/run_property.ts";
import type { JobOutcome, TestSuite } from "../../../lang/testing/test_suite.ts";
import { trapOf } from "../../../lang/testing/trap_of.ts";
import { ProcessHost } from "../shared/process_host.ts";
import { Terminal } from "../shared/terminal.ts";
import { GuestHost } from "./guest_host.ts";
import { jobWord, sentWord, STOPPED, type ThreadMessage, type ThreadRequest, tryWord } from "./messages.ts";

type Say = (message: ThreadMessage) => void;

addEventListener("message", (event) => {
  if (!(event instanceof MessageEvent)) return;
  const [port] = event.ports;
  if (port === undefined) return;
  const say: Say = (message) => port.postMessage(message);
  port.onmessage = ({ data }: MessageEvent<ThreadRequest>) => {
    try {
      answer(data, say);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      say({ kind: "failed", reason, trace: error instanceof Error ? error.stack ?? "" : "" });
    }
  };
});

function answer(request: ThreadRequest, say: Say): void {
  switch (request.kind) {
    case "suite":
      runTests(request, say);
      return say({ kind: "done" });
    case "cost": {
      const { run, stop } = request;
      const measured = measureRun(run, () => Atomics.load(stop, 0) !== 0);
      return say({ kind: "measured", measured });
    }
    case "arguments":
      return reportArguments(request, say);
    case "command": {
      const { module, args, gas, isCaptured, hasInput, guest } = request;
      const terminal = isCaptured
        ? new Terminal(stream("stdout", say), stream("stderr", say))
        : new Terminal();
      const host = guest === null
        ? new ProcessHost(terminal, { hasInput })
        : new GuestHost(guest, (stream, bytes) =>
          stream === "stdout" ? terminal.writeBytes(bytes) : terminal.writeErrorBytes(bytes));
      say({ kind: "begun" });
      return say({ kind: "ended", end: runModule(module, { args, gas, host }) });
    }
  }
}

function runTests({ suite, thread, shared }: ThreadRequest & { readonly kind: "suite" }, say: Say): void {
  const compiled = new WasmProgram(suite.module);
  const send = (job: number, outcome: JobOutcome, isFinal: boolean) => {
    say({ kind: "outcome", job, outcome, isFinal });
    Atomics.add(shared, sentWord(thread), 1);
  };
  for (let job = next(shared); job < suite.jobs.length; job = next(shared)) {
    const number = job;
    const test = suite.jobs[number];
    if (test === undefined) break;
    Atomics.store(shared, tryWord(thread), 0);
    Atomics.store(shared, jobWord(thread), number + 1);
    const outcome = runJob(compiled, suite, test, {
      onTry: (attempt) => Atomics.store(shared, tryWord(thread), attempt),
      onFailure: (found) => send(number, found, false),
    });
    if (Atomics.compareExchange(shared, jobWord(thread), number + 1, 0) === STOPPED) return;
    send(number, outcome, true);
  }
}

/** Takes the next test. */
function next(shared: Int32Array): number {
  return Atomics.add(shared, 0, 1);
}

function reportArguments(
  { suite, job, attempt }: { readonly suite: TestSuite; readonly job: number; readonly attempt: number },
  say: Say,
): void {
  const test = suite.jobs[job];
  say({ kind: "begun" });
  if (test === undefined) return say({ kind: "done" });
  const host = hostOfTry(suite.seed, attempt, (argument) => say({ kind: "argument", argument }));
  const run = startRun(new WasmProgram(suite.module), suite, host);
  trapOf(() => run.call(test.name));
  say({ kind: "done" });
}

function stream(name: "stdout" | "stderr", say: Say) {
  return {
    writeSync: (bytes: Uint8Array): number => {
      say({ kind: "written", stream: name, bytes: bytes.slice() });
      return bytes.length;
    },
    isTerminal: () => false,
  };
}
