/** What members know their checkpoints by: hashes of files, ids, and what a comparison of two directories says. */
import { deepStrictEqual, match, ok, strictEqual, throws } from "node:assert/strict";
import { joinPath, readWholeFile, writeWholeFile } from "../../host/disk.ts";
import { MemoryDisk, memoryHost } from "../../host/memory_host.ts";
import { sha256Of } from "../../host/sha256.ts";
import { compareDatabases } from "../../storage/directory_comparison.ts";
import {
  type CheckpointProof,
  historyAfter,
  type Manifest,
  proofOfCheckpoint,
  readManifest,
} from "../../storage/manifest.ts";
import { openLoneMember } from "../../../tests/support/lone_member.ts";
import { CheckpointComparison } from "./checkpoint_comparison.ts";
import { runSql } from "../../../tests/support/run_sql.ts";

/** A history with merges, an index that comes later, ended rows, a table that goes. */
async function live(
  disk: MemoryDisk,
  directory: string,
  { from = 0, rounds = 9, extra = "" } = {},
): Promise<void> {
  const engine = await openLoneMember(disk, directory);
  const session = engine.openSession();
  if (from === 0) {
    await runSql(session, "CREATE TABLE t (a int PRIMARY KEY, b text)");
    await runSql(session, "CREATE TABLE gone (a int)");
  }
  for (let round = from; round < rounds; round++) {
    await runSql(
      session,
      `INSERT INTO t SELECT n, 'row ' || n FROM generate_series(${round * 300}, ${round * 300 + 299}) n`,
    );
    await runSql(session, `DELETE FROM t WHERE a % 7 = ${round % 7}`);
    if (round === 4) await runSql(session, "CREATE INDEX ON t (b)");
    if (round === 6) await runSql(session, "DROP TABLE gone");
    if (round === 7 && extra !== "") await runSql(session, extra);
    await engine.checkpoint();
  }
  session.close();
  await engine.close();
}

function copyLog(disk: MemoryDisk, from: string, to: string): void {
  disk.createDirectory(`${to}/log`);
  for (const name of disk.list(`${from}/log`)) {
    writeWholeFile(disk, `${to}/log/${name}`, readWholeFile(disk, `${from}/log/${name}`));
  }
}

function manifestOf(disk: MemoryDisk, directory: string): Manifest {
  const { manifest } = readManifest(disk, directory);
  ok(manifest !== null);
  return manifest;
}

/** Raises unless the hashes in the manifest are those of the files. */
function expectHashed(disk: MemoryDisk, directory: string): void {
  const { group, tables, state } = manifestOf(disk, directory);
  ok(group !== undefined);
  deepStrictEqual(group.files.map(({ name }) => name), [
    state.name,
    ...tables.flatMap(({ files }) => files.map((name) => `tables/${name}`)),
  ]);
  for (const { name, size, hash } of group.files) {
    const bytes = readWholeFile(disk, joinPath(directory, name));
    deepStrictEqual([bytes.length, sha256Of(bytes)], [size, hash], name);
  }
}

Deno.test("SHA-256 is that of the standard", () => {
  strictEqual(
    sha256Of(new TextEncoder().encode("abc")),
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});

Deno.test("a member's manifest has the hashes of its files, and the same history the same id", async () => {
  const disk = new MemoryDisk();
  await live(disk, "half", { rounds: 5 });
  copyLog(disk, "half", "a");
  await live(disk, "a", { from: 5 });
  // The same log at another member, in two lives: what was hashed in the first is known from its manifest.
  copyLog(disk, "half", "b");
  await (await openLoneMember(disk, "b")).close();
  copyLog(disk, "a", "b");
  await (await openLoneMember(disk, "b")).close();
  for (const directory of ["a", "b"]) expectHashed(disk, directory);
  const [a, b] = ["a", "b"].map((directory) => manifestOf(disk, directory));
  ok(a !== undefined && b !== undefined && a.tables.some(({ files }) => files.length > 3));
  deepStrictEqual(proofOfCheckpoint(b), proofOfCheckpoint(a));
  match(proofOfCheckpoint(a)?.id ?? "", /^[0-9a-f]{64}$/);
  // Nor does the id depend on how many manifests there were.
  strictEqual(proofOfCheckpoint({ ...a, number: 99 })?.id, proofOfCheckpoint(a)?.id);
  const { differences, notes } = await compareDatabases({ ...memoryHost(), disk }, "a", "b");
  deepStrictEqual(differences, []);
  match(notes.join(), new RegExp(`checkpoint of op ${a.op}, id ${proofOfCheckpoint(a)?.id},log up to op`));
});

Deno.test("dbd --verify-against names files, tables and entries that differ", async () => {
  const disk = new MemoryDisk();
  const host = { ...memoryHost(), disk };
  await live(disk, "a");
  await live(disk, "b", { extra: "UPDATE t SET b = 'other' WHERE a = 1999" });
  await live(disk, "c", { extra: "UPDATE t SET b = 'third' WHERE a = 1999" });
  const { op } = manifestOf(disk, "b");
  const { differences } = await compareDatabases(host, "b", "c");
  match(
    differences.join("\n"),
    new RegExp(`the checkpoints of op ${op} have the ids [0-9a-f]+ and [0-9a-f]+`),
  );
  match(differences.join("\n"), /"state-[0-9a-f]+" differs from byte offset \d+ on/);
  match(differences.join("\n"), /"tables\/\d+-[0-9a-f]+-flush.segment" differs from byte offset \d+ on/);
  match(differences.join("\n"), /table \d+ "t": the manifests describe it differently/);
  match(differences.join("\n"), new RegExp(`the logs differ at or before op ${op}`));
  // Logs of different lengths, with checkpoints of different ops.
  const other = await compareDatabases(host, "a", "b");
  match(other.notes.join("\n"), /the checkpoints are of ops \d+ and \d+: their files were not compared/);
});

Deno.test("checkpoints are compared when their histories are equal, whoever makes them first", () => {
  const proof = (op: number, history: string, id: string): CheckpointProof => ({ op, history, id });
  const comparison = new CheckpointComparison();
  comparison.made(proof(5, "h5", "five"));
  comparison.heard(proof(5, "h5", "five"));
  comparison.heard(proof(9, "h9", "nine"));
  strictEqual(comparison.areHistoriesOther, false);
  throws(
    () => comparison.made(proof(9, "h9", "other")),
    { code: "XX001", message: /checkpoint of op 9 differs .* its id is other, the primary's nine$/ },
  );
  // One that was left out by one of them: nothing can be said of the next.
  comparison.made(proof(12, "h12", "twelve"));
  comparison.heard(proof(12, "h12 without 9", "else"));
  strictEqual(comparison.areHistoriesOther, true);
  throws(() => comparison.heard(proof(5, "h5", "late")), { code: "XX001" });
});

Deno.test("a checkpoint that one of two has left out shows in those around it, whatever ops they are of", () => {
  const history = (ops: readonly number[]) => {
    const proofs: CheckpointProof[] = [];
    for (const op of ops) {
      const own = historyAfter(proofs.at(-1)?.history ?? "", op);
      proofs.push({ op, history: own, id: `${own} ${op}` });
    }
    return proofs;
  };
  const compared = (own: readonly CheckpointProof[], primary: readonly CheckpointProof[]) => {
    const comparison = new CheckpointComparison();
    for (const proof of own) comparison.made(proof);
    for (const proof of primary) comparison.heard(proof);
    return comparison;
  };
  const whole = history([10, 20, 30, 40]);
  strictEqual(compared(whole, whole).areHistoriesOther, false);
  // Not all are heard of.
  strictEqual(compared(whole, whole.filter(({ op }) => op === 10 || op === 40)).areHistoriesOther, false);
  strictEqual(
    compared(whole.filter(({ op }) => op === 20 || op === 40), whole.slice(0, 3)).areHistoriesOther,
    false,
  );
  strictEqual(compared(whole, []).areHistoriesOther, false);
  const without = history([10, 27, 37]);
  strictEqual(compared(without.slice(0, 2), whole.slice(0, 1)).areHistoriesOther, false);
  strictEqual(compared(without.slice(0, 2), whole.slice(0, 2)).areHistoriesOther, true);
  strictEqual(compared(whole.slice(0, 3), without.slice(0, 2)).areHistoriesOther, true);
  const comparison = compared(without, whole);
  strictEqual(comparison.areHistoriesOther, true);
  comparison.replaced();
  for (const proof of whole.slice(2)) comparison.made(proof);
  strictEqual(comparison.areHistoriesOther, false);
  for (const proof of without) comparison.made(proof);
  strictEqual(comparison.areHistoriesOther, true);
  comparison.primaryChanged();
  strictEqual(comparison.areHistoriesOther, false);
});
