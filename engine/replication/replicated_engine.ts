/**
 * The engine of a member as the state of its replica: entries are applied to it, in one piece or in steps, and it is
 * opened anew when it must go back, or when a checkpoint of another member takes the place of its files. Files that are
 * damaged are fetched from others.
 *
 * It is opened as of its checkpoint. Whatever is committed behind that the replica applies, in slices between which it
 * hears what others say. While it is being opened nothing of the engine may be read, and the replica hears nothing.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { Horizon } from "../storage/commit_horizon.ts";
import { DamagedFileError } from "../storage/table/damaged_file.ts";
import type { HashedFile } from "../storage/file_hashes.ts";
import type { Manifest } from "../storage/manifest.ts";
import type { StoredPayload } from "../storage/stored_payload.ts";
import { MemberFiles, type MemberFilesOwner } from "./files/member_files.ts";
import { MemberTransfer, type TransferOwner } from "./files/member_transfer.ts";
import { MemberLog } from "./member_log.ts";
import type { MemberEngine, MemberOptions } from "./member_options.ts";
import { EMPTY_LOG, type EntryHeader, type ReplicatedEntry } from "./protocol/entry_header.ts";
import type { PeerMessage } from "./protocol/message.ts";
import type { CheckpointName, ReplicatedState } from "./protocol/ports.ts";
import type { Replica } from "./protocol/replica.ts";

/** What the state asks of its member. */
export interface StateOwner {
  readonly index: number;
  readonly view: number;
  readonly isServing: boolean;
  readonly isClosed: boolean;
  /** The member's replica; null: it has not joined its group. */
  readonly replicaIfJoined: Replica | null;
  /** Brings something to the replica, unless the state is being built again. */
  hear(bring: (replica: Replica) => void): void;
  /** The same for what is not said again: it is heard afterwards. */
  hearOnce(bring: (replica: Replica) => void): void;
  /** The state is there again. */
  hearMissed(): void;
  stopServing(): void;
  /** Something has failed: the member stops, unless the disk is full only. */
  fail(error: unknown): void;
  /** The member cannot go on. */
  stop(error: unknown): void;
}

/** See the head of the file. */
export class ReplicatedEngine<E extends MemberEngine>
  implements ReplicatedState, TransferOwner, MemberFilesOwner {
  readonly horizon: Horizon;
  readonly files: MemberFiles;
  readonly transfer: MemberTransfer;
  readonly #options: MemberOptions<E>;
  readonly #owner: StateOwner;
  #engine: E | null = null;
  #log: MemberLog | null = null;
  /** What the state is busy with; null: nothing. */
  #work: object | null = null;
  /** The entry that is applied in steps. */
  #applying: EntryHeader | null = null;
  #isRebuilding = false;
  /** Another member's checkpoint has taken the place of the own, which the replica has not heard. */
  #taken: CheckpointName | null = null;
  #forgetLog: () => void = () => {};

  constructor(options: MemberOptions<E>, owner: StateOwner) {
    this.#options = options;
    this.#owner = owner;
    this.horizon = new Horizon(options.superblock.read().commit);
    const { host, directory, scrubBytesPerSecond = 0 } = options;
    this.files = new MemberFiles({ host, directory, scrubBytesPerSecond, owner: this });
    this.transfer = new MemberTransfer(host, directory, (to, message) => this.send(to, message), this);
  }

  /** Opens it for the first time, at what is known to be committed. */
  async open(openEngine: () => Promise<E>): Promise<void> {
    await this.files.openRepaired(
      async () => void (this.#engine = await openEngine()),
      (checkpoint) => this.#takeUp(checkpoint),
    );
    this.#log = new MemberLog(this.engine.storage.log, this.#options.largeEntries);
    this.#listenToLog();
  }

  /** Nothing is appended or acknowledged any more. */
  stop(error: DatabaseError): void {
    this.#engine?.storage.log.stop(error);
  }

  /** Nothing is fetched or repaired any more. */
  close(): void {
    this.transfer.close();
    this.files.close();
  }

  /** The engine; it must have been opened. */
  get engine(): E {
    assert(this.#engine !== null, "the engine was opened");
    return this.#engine;
  }

  /** The engine's log as the replica sees it; the engine must have been opened. */
  get memberLog(): MemberLog {
    assert(this.#log !== null, "the engine was opened");
    return this.#log;
  }

  /** The engine, unless there is none to be read. */
  get engineIfOpen(): E | null {
    return this.#isRebuilding ? null : this.#engine;
  }

  /** Whether the state is being built again. */
  get isRebuilding(): boolean {
    return this.#isRebuilding;
  }

  // --- what the replica asks ---

  get isBusy(): boolean {
    return this.#work !== null;
  }

  get appliedOp(): number {
    return this.#isRebuilding ? 0 : this.#applying?.op ?? this.engine.appliedOp;
  }

  get appliedDigest(): bigint {
    return this.#isRebuilding ? EMPTY_LOG.digest : this.#applying?.digest ?? this.engine.appliedDigest;
  }

  apply({ header, payload, largeBytes }: ReplicatedEntry): void {
    const whole = largeBytes === undefined ? payload : this.memberLog.storedPayload(header.op, header.digest);
    // The replica finds out that it cannot be read when it asks for the slot again.
    if (whole === null) return;
    const applying = this.#applied(header.op, whole);
    if (applying === null) return this.#checkDigest(header);
    this.#applying = header;
    this.#workUntil(applying, () => {
      this.#applying = null;
      this.#checkDigest(header);
    });
  }

  /** Damage is the same to the replica, whether an entry is applied in one piece or in steps. */
  #applied(op: number, payload: Uint8Array | StoredPayload): Promise<void> | null {
    try {
      return this.engine.applyEntry(op, payload);
    } catch (error) {
      if (error instanceof DamagedFileError) return Promise.reject(error);
      throw error;
    }
  }

  #checkDigest({ op, digest }: EntryHeader): void {
    if (this.engine.appliedDigest === digest) return;
    throw new DatabaseError(
      SQLSTATE.dataCorrupted,
      `the state differs from the group's after op ${op}`,
      {
        hint:
          "Empty the data directory of this member, and start it again: it fetches the state from the others.",
      },
    );
  }

  rest(): void {
    this.#workUntil(this.#options.host.timers.yieldToLoop(), () => {});
  }

  rebuild(): void {
    this.#workUntil(this.#openAgain(), () => this.#rebuilt());
  }

  roleChanged(isPrimary: boolean): void {
    if (!isPrimary) {
      this.#owner.stopServing();
      if (this.engine.isTorn) this.rebuild();
      return;
    }
    this.memberLog.forgetComing();
    this.engine.storage.log.view = this.#owner.view;
  }

  committed(): void {
    // Answers leave when the replica is through with what it does: see `Member`.
  }

  // --- checkpoints of others ---

  get index(): number {
    return this.#owner.index;
  }

  get view(): number {
    return this.#owner.view;
  }

  get manifest(): Manifest | null {
    return this.engineIfOpen?.storage.manifest ?? null;
  }

  continuesLog(checkpoint: CheckpointName): boolean {
    return this.#log?.continues(checkpoint) ?? true;
  }

  wantsCheckpoint({ op }: CheckpointName): boolean {
    return !this.#isRebuilding && this.#owner.replicaIfJoined?.wantsCheckpoint(op) === true;
  }

  mayGoBackTo(checkpoint: CheckpointName): boolean {
    const replica = this.#owner.replicaIfJoined;
    const isBackup = replica?.status === "normal" && !replica.isPrimary && !this.#isRebuilding;
    return isBackup && checkpoint.op <= replica.commit && this.continuesLog(checkpoint);
  }

  replaceState({ op }: CheckpointName, replace: () => void): Promise<void> {
    const replaced = this.#openAgain(() => {
      replace();
      // A checkpoint is of what is committed.
      this.horizon.advance(op);
    });
    this.#work = replaced;
    return replaced;
  }

  onTransferred(checkpoint: CheckpointName): void {
    this.#work = null;
    this.#taken ??= checkpoint;
    this.#rebuilt();
    this.#owner.hearMissed();
  }

  onDiskFull(error: DatabaseError): void {
    this.#owner.fail(error);
  }

  onTransferFailed(): void {
    this.#owner.hearOnce((replica) => replica.onStateTransferFailed());
  }

  onTransferBroken(error: unknown): void {
    this.#owner.stop(error);
  }

  // --- damaged files ---

  get donors(): readonly number[] {
    const { peers, superblock } = this.#options;
    const connected = new Set(peers.statistics().flatMap((each) => each.isConnected ? [each.index] : []));
    return Array.from({ length: superblock.identity.memberCount }, (_, index) => index)
      .filter((index) => index !== this.index)
      .sort((a, b) => Number(connected.has(b)) - Number(connected.has(a)));
  }

  send(to: number, message: PeerMessage): void {
    this.#options.peers.send(to, message);
  }

  log(line: string): void {
    this.#options.log(line);
  }

  onWrongFile(file: HashedFile): void {
    // Whether that is so is looked at first.
    this.files.onDamage(file);
  }

  /** A reader of the engine has found damage in a file of the checkpoint. */
  onDamage(file: HashedFile): void {
    this.files.onDamage(file);
  }

  onRepaired(): void {
    this.engineIfOpen?.filesRepaired();
  }

  /** A primary lets another serve first. Checkpoints come one at a time: what stays damaged is reported again. */
  onIrreparable(): void {
    const { isClosed, isServing, replicaIfJoined } = this.#owner;
    if (this.#isRebuilding || isClosed || replicaIfJoined === null || replicaIfJoined.isTransferring) return;
    if (isServing) return this.#owner.hear((replica) => replica.handOver());
    this.#workUntil(
      this.#openAgain(async () => this.#takeUp(await this.files.fetchCheckpoint())),
      () => this.#rebuilt(),
    );
  }

  onError(error: unknown): void {
    this.#owner.fail(error);
  }

  // --- opening it anew ---

  /** Opens the engine anew, as of its checkpoint; `between`: while nothing is open. */
  async #openAgain(between: () => void | Promise<void> = () => {}): Promise<void> {
    this.#applying = null;
    this.#isRebuilding = true;
    this.#forgetLog();
    this.transfer.giveUp();
    await this.engine.abandon();
    await between();
    await this.files.openRepaired(() => this.engine.reopen(), (checkpoint) => this.#takeUp(checkpoint));
    this.memberLog.attach(this.engine.storage.log);
    this.#listenToLog();
  }

  /** A checkpoint of another member is here; it is of what is committed. */
  #takeUp(checkpoint: CheckpointName): void {
    const { op } = checkpoint;
    this.horizon.advance(op);
    // A replica that is not there yet will see it.
    if (this.#owner.replicaIfJoined !== null) this.#taken = checkpoint;
  }

  /** The state is there again, from the own checkpoint or another member's. */
  #rebuilt(): void {
    this.#isRebuilding = false;
    const taken = this.#taken;
    this.#taken = null;
    if (taken !== null) this.#owner.hear((replica) => replica.onStateTransferred(taken.op, taken.digest));
  }

  /** The state is busy until then, unless something else comes first. */
  #workUntil(end: Promise<void>, finish: () => void): void {
    const work = this.#work = {};
    end.then(() => {
      if (this.#work !== work) return;
      this.#work = null;
      const wasRebuilding = this.#isRebuilding;
      finish();
      this.#owner.hear((replica) => replica.onApplied());
      if (wasRebuilding) this.#owner.hearMissed();
    }).catch((error) => {
      if (!(error instanceof DamagedFileError) || this.#work !== work) return this.#owner.stop(error);
      // An entry is applied in part: the state is built again as soon as what it needs can be read.
      this.rebuild();
    });
  }

  #listenToLog(): void {
    this.#forgetLog();
    const { log } = this.engine.storage;
    for (const { from, to, path, start } of log.damaged) {
      // A checkpoint has what is not above it.
      if (to <= log.checkpointOp) continue;
      const what = from === to ? `op ${from}` : `ops ${from} to ${to}`;
      this.log(`log file "${path}" is damaged at byte offset ${start}: ${what} will be fetched from others`);
    }
    this.#forgetLog = log.onDurable(() => this.#owner.hear((replica) => replica.onDurable()));
  }
}
