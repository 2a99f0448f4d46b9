/** Protocols that are broken on purpose, one way each: the simulation must catch every one of them. */
import type { BrokenBuild } from "../broken_builds.ts";

/** All of them; the numbers of the first lines' names are in `docs/replication.md`. */
export const BROKEN_PROTOCOLS: readonly BrokenBuild[] = [
  {
    name: "prepare_ok is sent before the sync",
    file: "engine/replication/view_log.ts",
    changes: [[" && this.#stored.isDurable(op)", ""]],
  },
  {
    name: "f members commit",
    file: "engine/replication/replica.ts",
    changes: [[
      "durable.sort((a, b) => b - a)[this.#quorum - 1]",
      "durable.sort((a, b) => b - a)[this.#quorum - 2]",
    ]],
  },
  {
    name: "the superblock is not durable before what follows it",
    file: "engine/replication/replica.ts",
    changes: [
      ["    this.#afterSuperblock = then;\n", ""],
      ["commit: this.#durableCommit, suffix });", "commit: this.#durableCommit, suffix });\n    then();"],
    ],
  },
  {
    name: "the longest log wins over the log view",
    file: "engine/replication/suffix_choice.ts",
    changes: [[
      "vote.logView === logView",
      "vote.commit + vote.slots.length === Math.max(...votes.map((one) => one.commit + one.slots.length))",
    ]],
  },
  {
    name: "what cannot be read counts as a nack",
    file: "engine/replication/suffix_choice.ts",
    changes: [['    case "unreadable":\n      return false;', '    case "unreadable":\n      return true;'], [
      "return !slot.isLost;",
      "return true;",
    ]],
  },
  {
    name: "lost entries are taken for torn ones",
    file: "tests/simulation/cluster/toy_log.ts",
    changes: [[
      "    this.#slots = [...disk.image];",
      '    while (disk.image.at(-1) === "damaged") disk.image.pop();\n    this.#slots = [...disk.image];',
    ]],
  },
  {
    name: "a backup applies above the commit number",
    file: "engine/replication/replica.ts",
    changes: [[
      "this.isPrimary ? this.#log.lastOp : Math.min(this.#commit, this.#log.lastOp)",
      "this.#log.lastOp",
    ]],
  },
  {
    name: "a primary of before keeps its state",
    file: "engine/replication/replica.ts",
    changes: [["state.rebuild(this.#provenOp);", "return;"]],
  },
  {
    name: "a log keeps what its view goes without",
    file: "engine/replication/view_log.ts",
    changes: [["      this.#truncateAfter(op - 1);\n      return;\n", "      return;\n"], [
      "this.#suffix.get(op) ?? (",
      "undefined ?? (",
    ]],
  },
  {
    name: "a primary answers before its suffix is committed",
    file: "engine/replication/replica.ts",
    changes: [["return this.#isReady && this.#commit >= this.#viewStartOp;", "return this.#isReady;"]],
  },
  {
    name: "the log is truncated before the superblock",
    file: "engine/replication/replica.ts",
    changes: [[
      "    this.#writeSuperblock({ logView: this.#view, suffix }, () => {",
      "    this.#ports.log.truncateAfter(Math.max(floor, suffix[0] === undefined ? 0 : suffix[0].op - 1));\n" +
      "    this.#writeSuperblock({ logView: this.#view, suffix }, () => {",
    ]],
  },
  {
    name: "a member acknowledges across a gap",
    file: "engine/replication/replica.ts",
    changes: [["op: this.#log.solidOp,", "op: this.#log.lastOp,"]],
  },
  {
    name: "a restarted primary goes on in its view",
    file: "engine/replication/replica.ts",
    changes: [[
      "if (this.#view > this.#log.logView || this.#isPrimaryOfView) {",
      "if (this.#view > this.#log.logView) {",
    ]],
  },
];
