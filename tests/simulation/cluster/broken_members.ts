/**
 * Members that are broken on purpose, one way each, where only engines and files show it: the simulation of whole
 * members must catch every one of them. Those of the protocol are in `broken_protocols.ts`.
 */
import type { SeededBuild } from "../broken_builds.ts";

/** All of them, each with a seed that catches it. */
export const BROKEN_MEMBERS: readonly SeededBuild[] = [
  {
    name: "a checkpoint is installed above the commit number",
    seed: 91,
    file: "engine/storage/storage_engine.ts",
    changes: [["part?.installed ?? member?.horizon ?? this.log;", "part?.installed ?? this.log;"]],
  },
  {
    name: "a transferred file is not verified",
    seed: 76,
    file: "engine/replication/files/file_fetch.ts",
    changes: [["const isRight = found === wanted.hash;", 'const isRight = found !== "";']],
  },
  {
    name: "the replies to clients are forgotten at a failover",
    seed: 1,
    file: "engine/session/engine.ts",
    changes: [[
      "    this.#isServing = true;\n    // A shard",
      "    this.#isServing = true;\n    machine.clients.restore([]);\n    // A shard",
    ]],
  },
  {
    name: "a clock is read where an entry is applied",
    seed: 1,
    file: "engine/state_machine/state_machine.ts",
    changes: [[
      "Math.max(this.#lastTimestamp, entry.timestamp)",
      "Math.max(this.#lastTimestamp, entry.timestamp + Math.floor(performance.now()) % 2)",
    ]],
  },
  {
    name: "a backup drops temporary schemas",
    seed: 1,
    file: "engine/session/engine.ts",
    changes: [["if (!this.#isServing || this.isFailed ||", "if (this.isFailed ||"]],
  },
  {
    name: "a version is active when a majority speaks it",
    seed: 1,
    file: "engine/replication/version_watch.ts",
    changes: [[
      "return Math.min(...spoken);",
      "return spoken.sort((a, b) => b - a)[Math.floor(memberCount / 2)] ?? 0;",
    ]],
  },
  {
    name: "a log file is of the newest format before its version is active",
    seed: 1,
    file: "engine/storage/log_file.ts",
    changes: [[
      "return clusterVersion < 2 ? UNMARKED_FORMAT : MEMBER_FORMAT;",
      "return clusterVersion < 1 ? UNMARKED_FORMAT : MEMBER_FORMAT;",
    ]],
  },
  {
    name: "a large entry is read as a whole",
    seed: 1,
    file: "engine/replication/replicated_engine.ts",
    changes: [[
      "this.memberLog.storedPayload(header.op, header.digest);",
      "this.memberLog.storedPayload(header.op, header.digest)?.read(0, largeBytes) ?? null;",
    ]],
  },
  {
    name: "a primary that stops in the middle of a staged transaction goes on",
    seed: 14,
    file: "engine/replication/replicated_engine.ts",
    changes: [["      if (this.engine.isTorn) this.rebuild();\n", ""]],
  },
];
