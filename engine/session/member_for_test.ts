/** A member of a replication group whose commit number a test moves by hand. */
import { DatabaseError } from "../base/errors.ts";
import { SPOKEN_VERSIONS, type VersionRange } from "../catalog/cluster_version.ts";
import { memoryHost } from "../host/memory_host.ts";
import type { MemberSeat } from "../replication/member_seat.ts";
import type { ClusterStatus } from "../system_catalog/cluster_status.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import { Horizon } from "../storage/commit_horizon.ts";
import { Engine, type EngineOptions } from "./engine.ts";
import type { Session } from "./session.ts";

/** What an engine asks of its group; a test moves the commit number. */
export class Seat implements MemberSeat {
  readonly horizon = new Horizon(0);
  replayTo = 0;
  viewNumber = 3;
  canRead = true;
  staleness = 0;
  announced = 0;
  readonly versions: VersionRange;

  constructor(versions = SPOKEN_VERSIONS) {
    this.versions = versions;
  }

  status(): ClusterStatus {
    return {
      index: 1,
      state: "normal",
      clusterVersion: 1,
      viewNumber: this.viewNumber,
      commitNumber: this.horizon.durableOp,
      appliedOp: 0,
      primaryIndex: 1,
      isAvailable: true,
      readLease: "valid",
      transfer: null,
      checkpoint: null,
      members: [],
    };
  }

  onDamage(): void {}

  appended(): void {
    this.announced++;
  }
}

type Options = Partial<EngineOptions>;

/** An engine in memory that is the state of a member. */
export class Member {
  readonly seat: Seat;
  readonly host: ReturnType<typeof memoryHost>;
  readonly engine: Engine;

  private constructor(seat: Seat, host: ReturnType<typeof memoryHost>, engine: Engine) {
    this.seat = seat;
    this.host = host;
    this.engine = engine;
  }

  static async open(options: Options = {}): Promise<Member> {
    const seat = new Seat(), host = memoryHost();
    return new Member(seat, host, await Engine.open({ host, directory: "data", member: seat, ...options }));
  }

  static async primary(options: Options = {}): Promise<Member> {
    const member = await Member.open(options);
    member.engine.startServing();
    return member;
  }

  /** Everything is committed as soon as it is durable here. */
  commitAlone(): this {
    const { storage } = this.engine;
    storage.log.onDurable((op) => this.seat.horizon.advance(op));
    return this;
  }

  /** Stores what another member has in its log and this one has not, and applies it. */
  async follow(primary: Member): Promise<void> {
    const { engine, seat } = this;
    // A payload is good until the next entry is read.
    const logged = primary.engine.storage.log.entries(engine.storage.log.lastOp);
    const entries = Array.from(logged, ({ op, payload }) => ({ op, payload: payload.slice() }));
    for (const { op, payload } of entries) {
      engine.storage.log.append(op, payload);
    }
    for (const { op, payload } of entries) {
      seat.horizon.advance(op);
      await engine.applyEntry(op, payload);
    }
  }

  /** All files of the data directory but the log's. */
  files(): Map<string, string> {
    const files = new Map<string, string>();
    for (const folder of ["data", "data/tables"]) {
      for (const name of this.host.disk.list(folder)) {
        if (name === "log" || name === "tables") continue;
        const file = this.host.disk.openFile(`${folder}/${name}`, { create: false, write: false });
        const bytes = new Uint8Array(file.size);
        file.readAt(0, bytes);
        files.set(`${folder}/${name}`, bytes.toHex());
      }
    }
    return files;
  }
}

/** Runs statements; answers the last rows and the op that must be durable before they may be sent. */
export async function run(
  session: Session,
  sql: string,
): Promise<{ rows: readonly (readonly unknown[])[]; op: number }> {
  const sink = new RowBuffer();
  let op = 0;
  await session.simple(sql, sink, (outcome) => op = Math.max(op, outcome.durableOp));
  return { rows: sink.rows, op };
}

/** The SQLSTATE that a promise is rejected with; 00000: it is not. */
export async function failure(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof DatabaseError) return error.code;
    throw error;
  }
  return "00000";
}
