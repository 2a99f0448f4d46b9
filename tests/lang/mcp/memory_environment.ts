/** A package in memory, before the tools of the Model Context Protocol, for tests in this process. */
import { CommandThread } from "../../../cli/lang/threads/command_thread.ts";
import { TestThreads } from "../../../cli/lang/threads/test_threads.ts";
import { AgentPackage } from "../../../lang/servers/agent/agent_package.ts";
import { requireInside } from "../../../lang/servers/agent/package_path.ts";
import type { AgentEnvironment } from "../../../lang/servers/agent/environment.ts";
import * as sdk from "../../../lang/servers/mcp/sdk.ts";
import { Resources } from "../../../lang/servers/mcp/resources.ts";
import type { PackageContext } from "../../../lang/servers/mcp/server.ts";
import { ToolSession } from "../../../lang/servers/mcp/tool_session.ts";
import { MEASURE_HERE } from "../../../lang/commands/cost_run.ts";
import { MemoryFiles } from "../../../lang/package/package_files.ts";
import { SymbolLookups } from "../../../lang/ide/lookups.ts";

/** What a test is given. */
export interface MemoryEnvironment extends PackageContext, Disposable {
  readonly files: MemoryFiles;
}

const MANIFEST = 'name = "tried"\nversion = "0.1.0"\n';

/** A package of these sources. */
export function memoryEnvironment(sources: Readonly<Record<string, string>>): MemoryEnvironment {
  const files = new MemoryFiles([["project.toml", MANIFEST], ...Object.entries(sources)]);
  const tests = new TestThreads({ threads: 1 });
  const opened = new AgentPackage({ files, folder: null, symbols: () => new SymbolLookups() });
  const environment: AgentEnvironment = {
    langVersion: "0.0.0",
    tests,
    meter: MEASURE_HERE,
    programsIn: ({ onWritten }) => new CommandThread({ onWritten, hasInput: false }),
    open: (path = ".") => {
      if (path === ".") return { package: opened, path, file: null };
      requireInside(path);
      return { package: opened, path, file: path };
    },
  };
  const tools = new ToolSession(environment);
  return {
    sdk,
    version: "0.0.0",
    files,
    tools,
    resources: new Resources(() => files),
    every: (milliseconds, call) => {
      const timer = setInterval(call, milliseconds);
      return () => clearInterval(timer);
    },
    [Symbol.dispose]: () => {
      tools.close();
      tests[Symbol.dispose]();
    },
  };
}
