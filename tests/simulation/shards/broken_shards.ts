/** Shards that are broken on purpose, one way each: their simulation must catch every one of them. */
import type { SeededBuild } from "../broken_builds.ts";

/** All of them, each with a seed that catches it. */
export const BROKEN_SHARDS: readonly SeededBuild[] = [
  {
    name: "parts are applied out of the log's order",
    seed: 1,
    file: "engine/sharding/shard_group.ts",
    changes: [[
      "this.#queue.push({ op, timestamp, slices: own });\n    this.#send();",
      "this.#queue.unshift({ op, timestamp, slices: own });\n" +
      "    void (async () => { for (let turn = 0; turn < 20; turn++) await null; this.#send(); })();",
    ]],
  },
  {
    name: "an entry is appended without the last vote",
    seed: 1,
    file: "engine/sharding/shard_commits.ts",
    changes: [[
      "this.#asking.within(asked, milliseconds)",
      "this.#asking.within(asked.slice(0, -1), milliseconds)",
    ]],
  },
  {
    name: "the replay applies twice",
    seed: 1,
    file: "engine/state_machine/state_machine.ts",
    changes: [
      ["    if (op <= this.#lastOp) return;\n", ""],
      [
        "      if (storage.cutBytesOf(payload.bytes) === Infinity && !machine.stage.exists) {",
        '      for (const effect of entry.effects) {\n        if (effect.kind === "slices") storage.applySlices(entry.op, ' +
        "entry.timestamp, effect.slices);\n      }\n" +
        "      if (storage.cutBytesOf(payload.bytes) === Infinity && !machine.stage.exists) {",
      ],
    ],
  },
  {
    name: "a cut is one op late",
    seed: 2,
    file: "engine/sharding/shard.ts",
    changes: [[
      "branch === null ? this.#machine.lastOp : this.#branch(branch).snapshot",
      "branch === 0 ? this.#branch(branch).snapshot : this.#machine.lastOp",
    ]],
  },
  {
    name: "pending parts are not validated against",
    seed: 5,
    file: "engine/transactions/transaction_manager.ts",
    changes: [[
      "for (const { record } of this.#pending) {",
      "for (const { record } of this.validates ? [] : this.#pending) {",
    ]],
  },
  {
    name: "readers are answered before what they have seen is durable",
    seed: 23,
    file: "engine/sharding/committed_changes.ts",
    changes: [["return this.#written.get(tableId)?.op ?? 0;", "return 0 * tableId;"]],
  },
  {
    name: "what was read in scans counts as certain",
    seed: 3,
    file: "engine/sharding/certain_reads.ts",
    changes: [[
      '} else if (read.kind !== "index") return false;',
      '} else if (read.kind !== "index") return true;',
    ]],
  },
  {
    name: "a row that was fetched ahead is written though others change it",
    seed: 1,
    file: "engine/sharding/committed_changes.ts",
    changes: [[
      "return this.#changes.row(tableId, id) > cut || this.#older.row(tableId, id) > cut;",
      "return id === null && this.#changes.row(tableId, id) > cut;",
    ]],
  },
  {
    name: "a sequence goes back in the log",
    seed: 6,
    file: "engine/sharding/router.ts",
    changes: [["here.map((effect) => this.#newest(effect))", "here"]],
  },
  {
    name: "merged rows of equal values come in the order in which shards answer",
    seed: 1,
    file: "engine/sharding/merge_rows.ts",
    changes: [[
      "for (const stream of open) if (!stream.isReady()) all = false;",
      "const late = open.filter((stream) => !stream.isReady());\n" +
      "    if (late.length > 0) {\n      all = false;\n" +
      "      open = [...open.filter((stream) => !late.includes(stream)), ...late];\n    }",
    ]],
  },
];
