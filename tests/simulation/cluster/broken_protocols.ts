/** Protocols that are broken on purpose, one way each: the simulation must catch every one of them. */
import type { BrokenBuild, SeededBuild } from "../broken_builds.ts";

/** Nothing is broken here: sizes that a run of a few seconds reaches. No seed may fail. */
export const NARROW_PROTOCOL: BrokenBuild = {
  name: "windows and messages are narrow",
  file: "engine/replication/protocol/timeouts.ts",
  changes: [
    ["MAX_UNSTORED_COMMITS = 4096", "MAX_UNSTORED_COMMITS = 3"],
    ["MAX_WINDOW_ENTRIES = 4096", "MAX_WINDOW_ENTRIES = 12"],
    ["MAX_PREPARE_ENTRIES = 1024", "MAX_PREPARE_ENTRIES = 3"],
    ["MAX_REPAIR_ENTRIES = 256", "MAX_REPAIR_ENTRIES = 6"],
    ["MAX_START_HEADERS = 8192", "MAX_START_HEADERS = 5"],
  ],
};

/**
 * All of them. That a vote counts although its disk was replaced since, and that an old start of a view is taken, only
 * the model shows: both take more at one time than the seeds try.
 */
export const BROKEN_PROTOCOLS: readonly SeededBuild[] = [
  {
    name: "prepare_ok is sent before the sync",
    seed: 351,
    file: "engine/replication/protocol/view_log.ts",
    changes: [[" && this.#stored.isDurable(op)", ""]],
  },
  {
    name: "f members commit",
    seed: 2,
    file: "engine/replication/protocol/primary.ts",
    changes: [["[core.quorum - 1]", "[core.quorum - 2]"]],
  },
  {
    name: "the superblock is not durable before what follows it",
    seed: 22,
    file: "engine/replication/protocol/replica_core.ts",
    changes: [
      ["    this.#afterSuperblock = then;\n", ""],
      ["      voteBan: this.voteBan,\n    });", "      voteBan: this.voteBan,\n    });\n    then();"],
    ],
  },
  {
    name: "the longest log wins over the log view",
    seed: 126,
    file: "engine/replication/protocol/suffix_choice.ts",
    changes: [[
      "vote.logView === logView",
      "vote.commit + vote.slots.length === Math.max(...votes.map((one) => one.commit + one.slots.length))",
    ]],
  },
  {
    name: "what cannot be read counts as a nack",
    seed: 57,
    file: "engine/replication/protocol/suffix_choice.ts",
    changes: [['    case "unreadable":\n      return false;', '    case "unreadable":\n      return true;'], [
      "return !slot.isLost;",
      "return true;",
    ]],
  },
  {
    name: "lost entries are taken for torn ones",
    seed: 317,
    file: "tests/simulation/cluster/toy_log.ts",
    changes: [[
      "    this.#slots = disk.image.copy();",
      '    while (disk.image.items.at(-1) === "damaged") disk.image.items.pop();\n' +
      "    this.#slots = disk.image.copy();",
    ]],
  },
  {
    name: "a backup applies above the commit number",
    seed: 1,
    file: "engine/replication/protocol/replica_core.ts",
    changes: [[
      "this.isPrimary ? this.log.lastOp : Math.min(this.commit, this.log.lastOp)",
      "this.log.lastOp",
    ]],
  },
  {
    name: "a primary of before keeps its state",
    seed: 6,
    file: "engine/replication/protocol/replica_core.ts",
    changes: [["state.rebuild();", "return;"]],
  },
  {
    name: "a log keeps what its view goes without",
    seed: 9,
    file: "engine/replication/protocol/view_log.ts",
    changes: [["      this.#truncateAfter(op - 1);\n      return;\n", "      return;\n"], [
      "this.#suffix.get(op) ?? (",
      "undefined ?? (",
    ]],
  },
  {
    name: "a primary answers before its suffix is committed",
    seed: 1,
    file: "engine/replication/protocol/primary.ts",
    changes: [["return this.#core.commit >= this.#viewStartOp;", "return true;"]],
  },
  {
    name: "the log is truncated before the superblock",
    seed: 1,
    file: "engine/replication/protocol/replica_core.ts",
    changes: [[
      "    this.writeSuperblock({ logView: this.view, suffix }, () => {",
      "    this.ports.log.truncateAfter(Math.max(floor, suffix[0] === undefined ? 0 : suffix[0].op - 1));\n" +
      "    this.writeSuperblock({ logView: this.view, suffix }, () => {",
    ]],
  },
  {
    name: "a primary whose entries nobody acknowledges keeps its view",
    seed: 18,
    file: "engine/replication/protocol/primary.ts",
    changes: [["now - this.#progressAt >= STUCK_MILLISECONDS", "now - this.#progressAt >= Infinity"]],
  },
  {
    name: "a member whose disk hangs goes on",
    seed: 4,
    file: "engine/replication/sync_watch.ts",
    changes: [["this.#waited >= SYNC_MILLISECONDS", "this.#waited >= Infinity"]],
  },
  {
    name: "a member acknowledges across a gap",
    seed: 184,
    file: "engine/replication/protocol/backup.ts",
    changes: [["op: core.log.solidOp,", "op: core.log.lastOp,"]],
  },
  {
    name: "a restarted primary goes on in its view",
    seed: 1,
    file: "engine/replication/protocol/view_change.ts",
    changes: [[
      "    this.#round = core.ports.random(2 ** 32);\n",
      "    this.#round = core.ports.random(2 ** 32);\n" +
      "    if (core.view === 0 || !core.isPrimaryOfView || core.log.logView < core.view) return;\n" +
      "    const startView = startViewFrom(core, core.commit);\n    if (startView === null) return;\n" +
      '    core.status = "normal";\n    core.isPrimary = true;\n' +
      "    this.#primary = new Primary(core, startView);\n",
    ]],
  },
  {
    name: "reads are answered without a lease",
    seed: 1153,
    file: "engine/replication/protocol/read_lease.ts",
    changes: [[
      "this.#age(stamp) < LEASE_MILLISECONDS) return true;",
      "this.#age(stamp) > -1e9) return true;",
    ]],
  },
  {
    name: "a lease is measured by the monotonic clock alone",
    seed: 189,
    file: "engine/replication/protocol/read_lease.ts",
    changes: [[
      "return Math.max(this.#ports.now() - monotonic, this.#ports.wallNow() - wall);",
      "return this.#ports.now() - monotonic + 0 * wall;",
    ]],
  },
  {
    name: "a read without a lease does not wait for the entry behind it",
    seed: 114,
    file: "tests/simulation/cluster/toy_member.ts",
    changes: [["provenAt: this.#makeEntry(life, 0).op", "provenAt: op + 0 * this.#makeEntry(life, 0).op"]],
  },
  {
    name: "a backup votes within its promise",
    seed: 581,
    file: "engine/replication/protocol/replica_core.ts",
    changes: [[" && !this.promise.isRunning(this.ports.now())", ""]],
  },
  {
    name: "a restarted backup votes within its promise",
    seed: 3689,
    file: "engine/replication/protocol/vote_promise.ts",
    changes: [[
      "now: number) {\n    this.#view = view;\n    this.#until = now + PROMISE_MILLISECONDS;",
      "now: number) {\n    this.#view = view;\n    this.#until = now;",
    ]],
  },
  {
    name: "a replaced disk votes early",
    seed: 1863,
    file: "engine/replication/protocol/replica_core.ts",
    changes: [[" && this.voteBan === null &&", " &&"]],
  },
  {
    name: "a replaced disk begins as an empty one",
    seed: 21,
    file: "engine/replication/protocol/replica_core.ts",
    changes: [["this.voteBan = stored.voteBan;", "this.voteBan = null;"], [
      "if (stored.voteBan?.op === UNKNOWN_VOTE_BAN.op) {",
      "if (stored.voteBan?.op === -UNKNOWN_VOTE_BAN.op) {",
    ]],
  },
  {
    name: "a checkpoint is made above the commit number",
    seed: 25,
    file: "tests/simulation/cluster/toy_member.ts",
    changes: [["const op = Math.min(life.replica.commit, this.appliedOp);", "const op = this.appliedOp;"]],
  },
  {
    name: "a checkpoint takes the place of acknowledged entries above it",
    seed: 3118,
    file: "tests/simulation/cluster/toy_log.ts",
    changes: [[
      "    this.#beginAfter(checkpoint.length, checkpoint);",
      "    this.#beginAfter(checkpoint.length, checkpoint);\n    this.truncateAfter(checkpoint.length);",
    ]],
  },
];
