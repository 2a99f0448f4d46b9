/**
 * Storage under a toy state machine: recovery from checkpoints and log, equal files from equal logs, snapshots,
 * damage, full disks, failures, and crashes at any operation of a simulated disk. What is read back is compared with a
 * model that applies the same entries to Maps.
 */
import { deepStrictEqual as equal, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { crc32c } from "../base/checksum.ts";
import { DatabaseError } from "../base/errors.ts";
import { SeededRandom } from "../base/random.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { denoHost } from "../host/deno_host.ts";
import { SimulatedCrash } from "../host/simulated_disk.ts";
import { SimulatedHost } from "../host/simulated_host.ts";
import type { Host } from "../host/host.ts";
import { decodeCanonicalJson, encodeCanonicalJson } from "../operations/canonical_json.ts";
import { type Effect, type Entry, opNumber, type RowBatch, type StoredRow } from "../operations/effect.ts";
import { batchWeight } from "../operations/batch_codec.ts";
import { encodeEntry } from "../operations/entry_codec.ts";
import type { LogOptions } from "./log_options.ts";
import { manifestName, readManifest } from "./manifest.ts";
import type { RecoveredEntry } from "./recovered_entry.ts";
import { StorageEngine } from "./storage_engine.ts";
import { verifyDatabase } from "./verification.ts";
import { testColumn, testIndex, testTable } from "./table/table_model_test.ts";

const LOG: LogOptions = { fileBytes: 8192, reserveBytes: 1024, bufferBytes: 4096, directWriteBytes: 1024 };
const CHECKPOINT_BYTES = 6000;

type Model = Map<number, Map<number, StoredRow>>;

function definitionOf(id: number, hasExtra: boolean): TableDefinition {
  const columns = [testColumn(1, { kind: "i32" }), testColumn(2, { kind: "text" })];
  if (hasExtra) columns.push(testColumn(3, { kind: "i32" }, 42));
  return { ...testTable(columns, [testIndex(id * 10, [1])]), id, name: `t${id}` };
}

/** Applies entries to storage the way the state machine does. */
class ToyMachine {
  readonly storage: StorageEngine;
  lastOp = 0;

  constructor(storage: StorageEngine) {
    this.storage = storage;
    const { machineState, checkpointOp } = storage.recovered;
    if (machineState !== null) {
      const state = decodeCanonicalJson(new TextDecoder().decode(machineState));
      equal(state, { op: checkpointOp });
      this.lastOp = checkpointOp;
    }
    for (const { entry, payload } of storage.recovered.entries()) {
      strictEqual(entry.op, this.lastOp + 1);
      this.#apply(entry, payload.bytes);
      if (storage.isCheckpointing) { for (const _ of storage.finishReplayed()); }
    }
  }

  readonly encodeState = (): Uint8Array => new TextEncoder().encode(encodeCanonicalJson({ op: this.lastOp }));

  commit(effects: Effect[]): void {
    const entry: Entry = { op: opNumber(this.lastOp + 1), timestamp: 0, client: null, effects };
    const payload = encodeEntry(entry);
    this.storage.log.append(entry.op, payload);
    this.#apply(entry, payload.length);
  }

  /** Copies a checkpoint of the newest state. */
  snapshotTo(directory: string): Promise<number> {
    const { storage } = this;
    return storage.snapshotTo(
      directory,
      () => storage.makeCheckpoint(() => storage.beginCheckpoint(opNumber(this.lastOp), this.encodeState)),
    );
  }

  #apply({ op, effects }: RecoveredEntry["entry"], payloadBytes: number): void {
    const { storage } = this;
    const all = [...effects];
    const weights = all.map((effect) => effect.kind === "create_batch" ? batchWeight(effect.batch) : 0);
    const heldBytes = weights.reduce((sum, weight) => sum + weight, 0);
    const cutBytes = storage.cutBytesOf(payloadBytes);
    // More cuts than a machine makes, but of the entries that have any, behind which a checkpoint begins.
    const isCut = heldBytes >= cutBytes;
    for (const effect of all) {
      switch (effect.kind) {
        case "create":
          storage.table(effect.tableId).create(op, effect.id, effect.values);
          break;
        case "update":
          storage.table(effect.tableId).update(op, effect.id, effect.values);
          break;
        case "delete":
          storage.table(effect.tableId).delete(op, effect.id);
          break;
        case "create_batch": {
          const store = storage.table(effect.tableId);
          store.createBatch(op, effect.batch);
          if (isCut) { for (const _ of store.cutInSteps(op, effect.batch, cutBytes / 3)); }
          break;
        }
        case "delete_batch":
          for (const id of effect.ids) storage.table(effect.tableId).delete(op, id);
          break;
        case "truncate":
          storage.table(effect.tableId).truncate(op);
          break;
        case "ddl":
          if (effect.change.kind === "drop_table") storage.dropTable(effect.change.tableId, op);
          else if (effect.change.kind === "put_table") {
            const { table } = effect.change;
            if (table.nextColumnId === 3) storage.createTable(table, op);
            else storage.alterTable(table, op);
          }
          break;
        default:
          throw new Error(effect.kind);
      }
    }
    this.lastOp = op;
    storage.entryApplied({ op, payloadBytes, heldBytes, wantsCheckpoint: false }, this.encodeState);
  }

  /** What is in a table, by id; read by scan and checked by find and by index. */
  read(tableId: number): Map<number, StoredRow> {
    const store = this.storage.table(tableId);
    const columnIds = store.definition.columns.map((column) => column.id);
    const reader = store.at(opNumber(this.lastOp));
    const rows = new Map<number, StoredRow>();
    const cursor = reader.findRange({ prefix: [], low: null, high: null, backward: false });
    for (let location = cursor.next(); location >= 0; location = cursor.next()) {
      const id = reader.idAt(location);
      ok(typeof id === "number" && !rows.has(id));
      rows.set(id, columnIds.map((columnId) => reader.valueAt(location, columnId)));
    }
    let scanned = 0;
    const scan = reader.scan([], { ids: false, prune: [] });
    for (let block = scan.next(); block !== null; block = scan.next()) {
      for (let row = 0; row < block.rowCount; row++) {
        if (block.hidden === null || block.hidden[row] === 0) scanned++;
      }
    }
    strictEqual(scanned, rows.size);
    const index = reader.range(tableId * 10, { prefix: [], low: null, high: null, backward: false });
    let indexed = 0;
    for (let location = index.next(); location >= 0; location = index.next()) indexed++;
    strictEqual(indexed, rows.size);
    return rows;
  }
}

/** Applies effects to Maps. */
function applyToModel(model: Model, effects: readonly Effect[]): void {
  for (const effect of effects) {
    if (effect.kind === "ddl") {
      if (effect.change.kind === "drop_table") model.delete(effect.change.tableId);
      else if (effect.change.kind === "put_table") {
        const { table } = effect.change;
        const rows = model.get(table.id) ?? new Map<number, StoredRow>();
        for (const [id, row] of rows) {
          rows.set(id, table.columns.map((column, index) => row[index] ?? column.missingValue));
        }
        model.set(table.id, rows);
      }
      continue;
    }
    if (!("tableId" in effect)) continue;
    const rows = model.get(effect.tableId);
    ok(rows !== undefined);
    if (effect.kind === "create" || effect.kind === "update") rows.set(Number(effect.id), effect.values);
    else if (effect.kind === "delete") rows.delete(Number(effect.id));
    else if (effect.kind === "delete_batch") { for (const id of effect.ids) rows.delete(id); }
    else if (effect.kind === "truncate") rows.clear();
    else {
      const [numbers, texts] = effect.batch.columns;
      ok(numbers?.storageClass === "int" && texts?.storageClass === "text");
      for (let row = 0; row < effect.batch.rowCount; row++) {
        const text = new TextDecoder().decode(
          texts.bytes.subarray(texts.offsets[row], texts.offsets[row + 1]),
        );
        const values: StoredRow = [numbers.data[row] ?? 0, text];
        rows.set(effect.batch.ids[row] ?? 0, effect.batch.columns.length > 2 ? [...values, 0] : values);
      }
    }
  }
}

function modelOf(history: readonly Effect[][], lastOp: number): Model {
  const model: Model = new Map();
  for (const effects of history.slice(0, lastOp)) applyToModel(model, effects);
  return model;
}

function batchOf(ids: readonly number[], columnCount: number): RowBatch {
  const texts = ids.map((id) => `batch ${id}`);
  const bytes = new TextEncoder().encode(texts.join(""));
  const offsets = new Uint32Array(ids.length + 1);
  texts.forEach((text, row) => offsets[row + 1] = (offsets[row] ?? 0) + text.length);
  const columns: RowBatch["columns"] = [
    { storageClass: "int", data: Float64Array.from(ids, (id) => id % 7), nulls: null, big: null },
    { storageClass: "text", offsets, bytes, nulls: null },
    { storageClass: "int", data: new Float64Array(ids.length), nulls: null, big: null },
  ];
  return { rowCount: ids.length, ids: Float64Array.from(ids), columns: columns.slice(0, columnCount) };
}

/** The effects of a random transaction that is valid for the model; the model moves on with them. */
function randomTransaction(random: SeededRandom, model: Model, extra: Set<number>): Effect[] {
  const effects: Effect[] = [];
  const add = (effect: Effect) => {
    effects.push(effect);
    applyToModel(model, [effect]);
  };
  const existing = [...model.keys()];
  if (existing.length < 2 || random.chance(0.02)) {
    const id = 1 + random.below(3);
    if (!model.has(id)) {
      extra.delete(id);
      add({ kind: "ddl", change: { kind: "put_table", table: definitionOf(id, false) } });
    } else if (random.chance(0.3)) add({ kind: "ddl", change: { kind: "drop_table", tableId: id } });
    else if (!extra.has(id)) {
      extra.add(id);
      add({ kind: "ddl", change: { kind: "put_table", table: definitionOf(id, true) } });
    }
    if (effects.length === 0) add({ kind: "truncate", tableId: existing[0] ?? 0 });
    return effects;
  }
  for (let count = random.between(1, 6); count > 0; count--) {
    const tableId = random.pick(existing);
    const rows = model.get(tableId);
    ok(rows !== undefined);
    const width = extra.has(tableId) ? 3 : 2;
    const row = (): StoredRow => [random.below(50), "x".repeat(random.below(30)), 7].slice(0, width);
    const ids = [...rows.keys()];
    const kind = random.below(100);
    if (kind < 45 || ids.length < 5) {
      const id = random.below(100_000);
      if (!rows.has(id)) add({ kind: "create", tableId, id, values: row() });
    } else if (kind < 70) add({ kind: "update", tableId, id: random.pick(ids), values: row() });
    else if (kind < 90) add({ kind: "delete", tableId, id: random.pick(ids) });
    else {
      const first = 200_000 + random.below(1_000_000);
      // Some of these are cut as they are applied.
      const length = random.chance(0.1) ? 300 : random.between(1, 30);
      const free = Array.from({ length }, (_, at) => first + at).filter((id) => !rows.has(id));
      if (free.length > 0) add({ kind: "create_batch", tableId, batch: batchOf(free, width) });
    }
  }
  if (effects.length === 0) add({ kind: "truncate", tableId: random.pick(existing) });
  return effects;
}

function checkState(machine: ToyMachine, model: Model, what: string): void {
  for (const [tableId, rows] of model) {
    const sorted = new Map([...rows].sort(([left], [right]) => left - right));
    equal(machine.read(tableId), sorted, `${what}, table ${tableId}`);
    strictEqual(machine.storage.table(tableId).rowCount, rows.size);
  }
}

async function open(
  host: Host,
  directory = "db",
  horizon: { oldestSnapshot(): number } | null = null,
  checkpointLogBytes = CHECKPOINT_BYTES,
) {
  const machineHolder: { machine: ToyMachine | null } = { machine: null };
  const storage = await StorageEngine.open({
    host,
    directory,
    horizon: horizon ?? { oldestSnapshot: () => machineHolder.machine?.lastOp ?? 0 },
    checkpointLogBytes,
    log: LOG,
  });
  try {
    return machineHolder.machine = new ToyMachine(storage);
  } catch (error) {
    await storage.close().catch(() => undefined);
    throw error;
  }
}

/** Runs transactions; work is done in slices between them. */
async function run(
  machine: ToyMachine,
  random: SeededRandom,
  history: Effect[][],
  turns: number,
  turn: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  const model = modelOf(history, machine.lastOp);
  history.length = machine.lastOp;
  // Of its own, so that the transactions do not depend on how the work is sliced.
  const slices = new SeededRandom(machine.lastOp + turns);
  const extra = new Set<number>();
  for (const tableId of model.keys()) {
    if (machine.storage.table(tableId).definition.columns.length > 2) extra.add(tableId);
  }
  for (let count = 0; count < turns; count++) {
    const effects = randomTransaction(random, model, extra);
    // Known to the model first: a crash while committing may leave the entry on the disk all the same.
    history.push(effects);
    machine.commit(effects);
    if (machine.storage.hasWork && slices.chance(0.5)) machine.storage.work(0);
    await turn();
    if (machine.storage.log.error !== null) throw machine.storage.log.error;
  }
}

/** The files that the manifest names, and the manifest, by content. */
function filesOf(host: SimulatedHost, directory = "db"): Record<string, number> {
  const { manifest } = readManifest(host.disk, directory);
  ok(manifest !== null);
  const names = manifest.tables.flatMap((table) => table.files).map((name) => `tables/${name}`);
  const paths = [...names, manifest.state.name, manifestName(manifest.number)].map((name) =>
    `${directory}/${name}`
  );
  return Object.fromEntries(paths.map((path) => [path, crc32c(host.disk.contentOf(path))]));
}

Deno.test("StorageEngine gives back every row after reopening, from checkpoint and log", async () => {
  const host = new SimulatedHost(1);
  const random = new SeededRandom(1);
  const history: Effect[][] = [];
  for (let life = 0; life < 6; life++) {
    const machine = await open(host);
    strictEqual(machine.lastOp, history.length);
    checkState(machine, modelOf(history, machine.lastOp), `life ${life}`);
    await run(machine, random, history, 120, () => host.step());
    if (life > 1) ok(machine.storage.checkpointOp > 0);
    machine.storage.verify();
    await host.settle(machine.storage.close());
  }
});

Deno.test("StorageEngine in memory checkpoints and keeps everything", async () => {
  const host = denoHost();
  const machine = await open(host, ":memory:");
  const history: Effect[][] = [];
  await run(machine, new SeededRandom(2), history, 300, () => host.timers.yieldToLoop());
  while (machine.storage.hasWork) await machine.storage.work(1000);
  ok(machine.storage.checkpointOp > 0);
  checkState(machine, modelOf(history, machine.lastOp), "memory");
  await machine.storage.close();
});

Deno.test("StorageEngine on a real disk survives reopening and takes the directory for itself", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const host = denoHost();
    const history: Effect[][] = [];
    const machine = await open(host, directory);
    await rejects(
      open(host, directory),
      (error) =>
        error instanceof DatabaseError && error.code === "55006" && error.message.includes(directory),
    );
    await run(machine, new SeededRandom(3), history, 200, () => host.timers.yieldToLoop());
    await machine.storage.close();
    const again = await open(host, directory);
    checkState(again, modelOf(history, again.lastOp), "reopened");
    await again.storage.close();
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("StorageEngine makes equal files from equal logs, however the work was sliced and whether replayed", async () => {
  const outcomes: Record<string, number>[] = [];
  for (const slicing of [1, 2, 3]) {
    const host = new SimulatedHost(slicing);
    const history: Effect[][] = [];
    const machine = await open(host);
    const turns = new SeededRandom(slicing);
    await run(machine, new SeededRandom(77), history, 400, async () => {
      if (slicing > 1 && turns.chance(0.5)) await host.step();
    });
    if (slicing === 3) {
      // As after a crash of the process: the log is synced, the rest is found again by replay.
      machine.storage.log.syncNow();
      host.crash();
      const replayed = await open(host);
      await host.settle(drain(replayed, host));
      await host.settle(replayed.storage.close());
    } else {
      await host.settle(drain(machine, host));
      await host.settle(machine.storage.close());
    }
    outcomes.push(filesOf(host));
  }
  ok(Object.keys(outcomes[0] ?? {}).length > 1);
  equal(outcomes[1], outcomes[0]);
  equal(outcomes[2], outcomes[0]);
});

async function drain(machine: ToyMachine, host: Host): Promise<void> {
  while (machine.storage.hasWork) {
    await machine.storage.work(1000);
    await host.timers.yieldToLoop();
  }
}

Deno.test("StorageEngine.snapshotTo() copies one state while writes go on", async () => {
  for (const seed of [1, 2, 3]) {
    const host = new SimulatedHost(seed);
    const random = new SeededRandom(seed);
    const history: Effect[][] = [];
    const machine = await open(host);
    await run(machine, random, history, 100, () => host.step());
    const copying = machine.snapshotTo("copy");
    await run(machine, random, history, 40, () => host.step());
    const copied = await host.settle(copying);
    ok(copied >= 100 && copied <= machine.lastOp);
    await rejects(
      machine.snapshotTo("copy"),
      (error) => error instanceof DatabaseError && error.code === "55000",
    );
    await run(machine, random, history, 150, () => host.step());
    const copy = await open(host, "copy");
    strictEqual(copy.lastOp, copied);
    checkState(copy, modelOf(history, copied), "copy");
    await run(copy, random, history.slice(0, copied), 50, () => host.step());
    checkState(machine, modelOf(history, machine.lastOp), "original");
    await host.settle(copy.storage.close());
    await host.settle(machine.storage.close());
  }
});

Deno.test("verifyDatabase() tells what there is and raises XX001 for a flipped bit", async () => {
  const host = new SimulatedHost(7);
  const machine = await open(host);
  await run(machine, new SeededRandom(7), [], 100, () => host.step());
  await host.settle(drain(machine, host));
  await host.settle(machine.storage.close());
  const verify = async () => {
    const found = verifyDatabase(host, "db");
    // Closing waits for the simulated disk.
    await host.settle(found.then(() => undefined, () => undefined));
    return await found;
  };
  const found = await verify();
  strictEqual(found.lastOp, machine.lastOp);
  strictEqual(found.entries, found.lastOp - found.checkpointOp);
  ok(found.checkpointOp > 0 && found.tables.some(({ segments, rows }) => segments > 0 && rows > 0));
  const name = host.disk.list("db/tables").find((each) => each.endsWith(".segment")) ?? "";
  host.disk.flipBit(`db/tables/${name}`, 40, 1);
  await rejects(verify, { code: "XX001" });
  await rejects(() => verifyDatabase(host, "nowhere"), { code: "3D000" });
});

Deno.test("verifyDatabase() names values that their columns may not hold, by their last version", async () => {
  const host = new SimulatedHost(11);
  const machine = await open(host);
  const wrong = 4294967294;
  const ddl: Effect = {
    kind: "ddl",
    change: { kind: "put_table", table: { ...definitionOf(1, false), nextColumnId: 3 } },
  };
  const row = (id: number, a: number | null): Effect => ({
    kind: "create",
    tableId: 1,
    id,
    values: [a, "x"],
  });
  machine.commit([ddl, row(1, wrong), row(2, 2147483647), row(3, null), row(4, wrong), row(5, 0.5)]);
  await host.settle(drain(machine, host));
  const verify = async () => {
    const found = verifyDatabase(host, "db");
    await host.settle(found.then(() => undefined, () => undefined));
    return (await found).wrongValues.map(({ table, column, type, rowId, value, op }) =>
      `${table}.${column} ${type} ${rowId}: ${value} ${op === null ? "segment" : "log"}`
    );
  };
  await host.settle(machine.storage.close());
  const inLog = [
    `public.t1.c1 integer 1: ${wrong} log`,
    `public.t1.c1 integer 4: ${wrong} log`,
    "public.t1.c1 integer 5: 0.5 log",
  ];
  equal(await verify(), inLog);
  const again = await open(host);
  again.storage.beginCheckpoint(opNumber(again.lastOp), again.encodeState);
  await host.settle(drain(again, host));
  again.commit([{ kind: "update", tableId: 1, id: 4, values: [7, "x"] }, {
    kind: "delete",
    tableId: 1,
    id: 5,
  }, row(6, -wrong)]);
  await host.settle(drain(again, host));
  await host.settle(again.storage.close());
  equal(await verify(), [
    `public.t1.c1 integer 1: ${wrong} segment`,
    `public.t1.c1 integer 6: ${-wrong} log`,
  ]);
});

Deno.test("verifyDatabase() looks at the values of a large entry, where shards are counted too", async () => {
  const host = new SimulatedHost(12);
  const machine = await open(host, "db", null, 64 << 20);
  const table = { ...definitionOf(1, false), nextColumnId: 3 };
  const rows = Array.from({ length: 3000 }, (_, index): Effect => ({
    kind: "create",
    tableId: 1,
    id: index + 1,
    values: [index === 7 ? 4294967294 : index, "x".repeat(1000)],
  }));
  machine.commit([{ kind: "ddl", change: { kind: "put_table", table } }, ...rows]);
  await host.settle(drain(machine, host));
  await host.settle(machine.storage.close());
  for (const count of [null, 1]) {
    const found = verifyDatabase(host, "db", count);
    await host.settle(found.then(() => undefined, () => undefined));
    equal((await found).wrongValues.map(({ rowId }) => rowId), [8]);
  }
});

Deno.test("StorageEngine.open() names file and offset of a flipped bit and never serves it", async () => {
  const host = new SimulatedHost(5);
  const history: Effect[][] = [];
  const machine = await open(host);
  await run(machine, new SeededRandom(5), history, 250, () => host.step());
  await host.settle(drain(machine, host));
  await host.settle(machine.storage.close());
  const random = new SeededRandom(6);
  const paths = [
    ...host.disk.list("db").filter((name) => /^(MANIFEST|state)/.test(name)),
    ...host.disk.list("db/tables").map((name) => `tables/${name}`),
  ]
    .map((name) => `db/${name}`);
  for (const path of paths) {
    for (let round = 0; round < 6; round++) {
      const position = random.below(host.disk.contentOf(path).length);
      const bit = random.below(8);
      host.disk.flipBit(path, position, bit);
      await rejects(
        async () => {
          const damaged = await open(host);
          try {
            damaged.storage.verify();
          } finally {
            await host.settle(damaged.storage.close());
          }
        },
        (error) =>
          error instanceof DatabaseError && ["XX001", "XX002", "0A000"].includes(error.code) &&
          error.message.includes(path.split("/").at(-1) ?? ""),
        `${path} ${position}`,
      );
      host.disk.flipBit(path, position, bit);
    }
  }
  const whole = await open(host);
  checkState(whole, modelOf(history, whole.lastOp), "mended");
  await host.settle(whole.storage.close());
});

Deno.test("StorageEngine stops the log when a checkpoint cannot be written", async () => {
  const host = new SimulatedHost(7);
  const machine = await open(host);
  const history: Effect[][] = [];
  host.disk.failNext("sync", "db/tables");
  await rejects(
    run(machine, new SeededRandom(7), history, 400, () => host.step()),
    (error) => error instanceof DatabaseError && error.code === "58030",
  );
  strictEqual((await machine.storage.log.failed).code, "58030");
  ok(!machine.storage.hasWork);
  throws(() => machine.commit([{ kind: "truncate", tableId: 1 }]), DatabaseError);
  await rejects(host.settle(machine.storage.close()), DatabaseError);
  const again = await open(host);
  checkState(again, modelOf(history, again.lastOp), "after a failed checkpoint");
  await host.settle(again.storage.close());
});

Deno.test("StorageEngine leaves it to the next checkpoint to cut an entry where the disk is full", async () => {
  for (const failing of ["cut-1", "cut-2", "none"]) {
    const host = new SimulatedHost(14);
    const machine = await open(host);
    const ids = Array.from({ length: 600 }, (_, at) => 1000 + at);
    const history: Effect[][] = [
      [{ kind: "ddl", change: { kind: "put_table", table: definitionOf(1, false) } }],
      [{ kind: "create", tableId: 1, id: 5, values: [1, "five"] }],
      [0, 200, 400].map((from) => {
        return { kind: "create_batch", tableId: 1, batch: batchOf(ids.slice(from, from + 200), 2) };
      }),
    ];
    if (failing !== "none") host.disk.failNext("write", failing, "ENOSPC");
    for (const effects of history) machine.commit(effects);
    const { segments, frozenDeltas } = machine.storage.table(1).layout();
    equal({ segments, frozenDeltas }, {
      segments: failing === "none" ? 3 : 2,
      frozenDeltas: failing === "none" ? 0 : 1,
    });
    checkState(machine, modelOf(history, 3), `without ${failing}`);
    await host.settle(drain(machine, host));
    strictEqual(machine.storage.checkpointOp, 3);
    checkState(machine, modelOf(history, 3), `with all, ${failing}`);
    machine.storage.verify();
    await host.settle(machine.storage.close());
    const again = await open(host);
    checkState(again, modelOf(history, 3), `reopened, ${failing}`);
    await host.settle(again.storage.close());
  }
});

Deno.test("StorageEngine refuses statements on a full disk, opens on it, and goes on when there is space", async () => {
  for (const seed of [11, 12, 13]) {
    const host = new SimulatedHost(seed, { capacityBytes: 40_000 });
    const history: Effect[][] = [];
    const first = await open(host);
    await rejects(
      run(first, new SeededRandom(seed), history, 2000, () => host.step()),
      (error) => error instanceof DatabaseError && error.code === "53100",
    );
    strictEqual(first.storage.log.error, null);
    strictEqual(first.lastOp, history.length - 1, "the refused transaction left nothing");
    checkState(first, modelOf(history, first.lastOp), "full");
    await rejects(
      host.settle(first.snapshotTo("copy")),
      (error) => error instanceof DatabaseError && error.code === "53100",
    );
    await host.settle(first.storage.close());
    const second = await open(host);
    strictEqual(second.lastOp, first.lastOp);
    checkState(second, modelOf(history, second.lastOp), "opened full");
    host.disk.faults = { ...host.disk.faults, capacityBytes: 10_000_000 };
    await run(second, new SeededRandom(seed), history, 100, () => host.step());
    const copied = await host.settle(
      second.snapshotTo("copy2"),
    );
    strictEqual(copied, second.lastOp);
    strictEqual(second.storage.checkpointOp, second.lastOp);
    checkState(second, modelOf(history, second.lastOp), "with space");
    await host.settle(second.storage.close());
    const third = await open(host);
    checkState(third, modelOf(history, third.lastOp), "reopened");
    await host.settle(third.storage.close());
  }
});

Deno.test("StorageEngine in memory copies a snapshot to the disk of its host", async () => {
  const host = new SimulatedHost(20);
  const machine = await open(host, ":memory:");
  const history: Effect[][] = [];
  await run(machine, new SeededRandom(20), history, 60, () => host.step());
  const copied = await host.settle(
    machine.snapshotTo("copy"),
  );
  const copy = await open(host, "copy");
  strictEqual(copy.lastOp, copied);
  checkState(copy, modelOf(history, copied), "copy");
  await host.settle(copy.storage.close());
  await host.settle(machine.storage.close());
});

/** One seeded history with crashes; answers its trace. */
async function crashRun(seed: number): Promise<string> {
  const random = new SeededRandom(seed);
  const host = new SimulatedHost(seed);
  const history: Effect[][] = [];
  let acknowledged = 0;
  for (let life = 0; life < 4; life++) {
    const horizon = random.between(10, 500);
    host.disk.faults = { ...host.disk.faults, crashAtOperation: host.disk.operations + horizon };
    try {
      const machine = await open(host);
      ok(
        machine.lastOp >= acknowledged,
        `seed ${seed}: op ${acknowledged} was acknowledged, ${machine.lastOp} is there`,
      );
      ok(machine.lastOp <= history.length, `seed ${seed}`);
      checkState(machine, modelOf(history, machine.lastOp), `seed ${seed} life ${life}`);
      machine.storage.log.onDurable((op) => acknowledged = op);
      await run(machine, random, history, 200, async () => {
        if (random.chance(0.6)) await host.step();
      });
    } catch (error) {
      ok(
        error instanceof SimulatedCrash || (error instanceof DatabaseError && error.code === "58030"),
        `seed ${seed}: ${error instanceof Error ? error.stack : error}`,
      );
    }
    await host.rest();
    host.crash();
  }
  host.disk.faults = { ...host.disk.faults, crashAtOperation: 0 };
  const machine = await open(host);
  ok(machine.lastOp >= acknowledged, `seed ${seed}`);
  checkState(machine, modelOf(history, machine.lastOp), `seed ${seed} at the end`);
  machine.storage.verify();
  await host.settle(machine.storage.close());
  return host.traceDigest;
}

Deno.test("StorageEngine loses nothing acknowledged in crashes at any operation, the same way each time", async () => {
  for (let seed = 1; seed <= 25; seed++) {
    strictEqual(await crashRun(seed), await crashRun(seed), `seed ${seed} twice`);
  }
});

Deno.test("StorageEngine goes on when a checkpoint that was being synced is finished on a full disk", async () => {
  const host = new SimulatedHost(21);
  const machine = await open(host);
  const history: Effect[][] = [];
  await run(machine, new SeededRandom(21), history, 60, () => host.step());
  await host.settle(drain(machine, host));
  // The first of several files is being synced when the next checkpoint falls due and finds no space for its state.
  await run(machine, new SeededRandom(22), history, 20, () => Promise.resolve());
  machine.storage.beginCheckpoint(opNumber(machine.lastOp), machine.encodeState);
  const working = machine.storage.work(1_000_000);
  host.disk.failNext("write", "db/state", "ENOSPC");
  await run(machine, new SeededRandom(23), history, 1, () => Promise.resolve());
  machine.storage.beginCheckpoint(opNumber(machine.lastOp), machine.encodeState);
  await host.settle(working);
  strictEqual(machine.storage.log.error, null);
  machine.storage.beginCheckpoint(opNumber(machine.lastOp), machine.encodeState);
  await host.settle(drain(machine, host));
  strictEqual(machine.storage.checkpointOp, machine.lastOp);
  await host.settle(machine.storage.close());
  const again = await open(host);
  checkState(again, modelOf(history, again.lastOp), "after it");
  await host.settle(again.storage.close());
});

Deno.test("StorageEngine lets go of a dropped table after its last readers, and not before a checkpoint of it", async () => {
  const host = denoHost();
  let oldest = 0;
  const machine = await open(host, ":memory:", { oldestSnapshot: () => oldest });
  const { storage } = machine;
  const closed: number[] = [];
  const dropNew = async (id: number, between = (): void => {}) => {
    machine.commit([{ kind: "ddl", change: { kind: "put_table", table: definitionOf(id, false) } }]);
    machine.commit([{ kind: "create_batch", tableId: id, batch: batchOf([1, 2, 3], 2) }]);
    const store = storage.table(id);
    const close = store.close.bind(store);
    store.close = () => {
      closed.push(id);
      close();
    };
    between();
    machine.commit([{ kind: "ddl", change: { kind: "drop_table", tableId: id } }]);
    await storage.log.whenDurable(opNumber(machine.lastOp));
  };
  await dropNew(1);
  equal(closed, []);
  oldest = Infinity;
  await dropNew(2);
  equal(closed, [1, 2]);
  await dropNew(3, () => storage.beginCheckpoint(opNumber(machine.lastOp), machine.encodeState));
  equal(closed, [1, 2]);
  while (storage.hasWork) await storage.work(1000);
  await dropNew(4);
  equal(closed, [1, 2, 3, 4]);
  await storage.close();
  equal(closed, [1, 2, 3, 4]);
});
