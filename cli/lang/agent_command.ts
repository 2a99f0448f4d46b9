/** `lang agent`. */
import { type Command, Option } from "commander";
import type { Context } from "./shared/context.ts";
import { examples } from "./examples.ts";
import type { AgentOptions, AgentProcess } from "./servers/agent/agent_command.ts";

/** Adds the command. */
export function addAgentCommand(program: Command, context: Context): void {
  program.command("agent")
    .summary("answer requests from programs, as lines of JSON")
    .description(
      "Lets a program use the toolchain. Requests are JSON objects, one per line; answers are lines of JSON that end with `done`. Ops: check, run, test, inspect, find, explain, fmt, fix, symbols, references, rename, hover, complete, cancel, schema, version, halt.",
    )
    .option(
      "--single-shot",
      "answer one request from standard input and exit with its exit code",
    )
    .addOption(transportOption())
    .option("--port <number>", "HTTP: listen on this port of 127.0.0.1, 0 for a free one", "8889")
    .option("--socket <path>", "unix: listen on a socket at this path")
    .option(
      "--listen <address>",
      "host:port for HTTP, a path for unix; overrides --port and --socket",
    )
    .option("--auth-token <token>", "HTTP: refuse requests without this bearer token")
    .option("--record <path>", "append each request and its answer to this file")
    .option("--replay <path>", "repeat the requests of a recording and compare the answers byte for byte")
    .addHelpText(
      "after",
      examples([
        ["lang agent", "requests on standard input"],
        [`echo '{"op":"check"}' | lang agent --single-shot`, "one request"],
        ["lang agent --transport http --port 8889", "POST /v1/agent"],
        ["lang agent --replay session.ndjson", "exits with 1 if an answer differs"],
      ]),
    )
    .action(async (options: AgentOptions) => {
      const { runAgent } = await import("./servers/agent/agent_command.ts");
      context.exitCode = await runAgent(options, context, thisProcess());
    });
}

/** Its values are completed by shells, but checked by the agent, which answers a line. */
function transportOption(): Option {
  const option = new Option("--transport <kind>", "transport of requests").default("stdio");
  option.argChoices = ["stdio", "http", "unix"];
  return option;
}

function thisProcess(): AgentProcess {
  return {
    folder: Deno.cwd(),
    os: Deno.build.os,
    streams: {
      input: Deno.stdin.readable,
      write: async (text) => {
        let rest = new TextEncoder().encode(text);
        while (rest.length > 0) rest = rest.subarray(await Deno.stdout.write(rest));
      },
    },
    onStop: (stop) => {
      const signals: readonly Deno.Signal[] = Deno.build.os === "windows"
        ? ["SIGINT"]
        : ["SIGINT", "SIGTERM"];
      for (const signal of signals) Deno.addSignalListener(signal, stop);
      return () => {
        for (const signal of signals) Deno.removeSignalListener(signal, stop);
      };
    },
  };
}
