/**
 * Watches the members of a cluster while faults happen to them: what each says of itself, so that a long time without
 * service can be taken apart (until it is noticed, until there is a primary, until clients are served; and whether the
 * machine is at fault), and how much memory each takes as time goes by.
 */
import type { ClusterProcesses, MemberProcess } from "./cluster_processes.ts";

const SAMPLE_MILLISECONDS = 200;
/** Who has waited for a processor for so long between two samples is starved by the machine. */
const STARVED_MILLISECONDS = 200;
/** A life that is shorter says nothing of growth. */
const LONG_LIFE_MILLISECONDS = 300_000;

/** What of a member is looked at, by the names of its metrics. */
const SHOWN = ["view", "is_primary", "is_available", "is_normal", "commit_number", "transfer_bytes"] as const;

/** The memory of a process, from its start on. */
interface Life {
  readonly member: number;
  readonly processId: number;
  readonly samples: { readonly at: number; readonly mebibytes: number }[];
  /** How long it had waited for a processor at the last sample. */
  waited: number;
}

/** See the head of the file. */
export class MemberWatch implements AsyncDisposable {
  readonly #cluster: ClusterProcesses;
  readonly #lives: Life[] = [];
  readonly #watching: Promise<unknown>;
  #markedAt = performance.now();
  #lines: string[] = [];
  #isOver = false;

  private constructor(cluster: ClusterProcesses) {
    this.#cluster = cluster;
    this.#watching = Promise.all(cluster.members.map((member) => this.#watch(member)));
  }

  static start(cluster: ClusterProcesses): MemberWatch {
    return new MemberWatch(cluster);
  }

  /** Something begins to happen now. */
  mark(): void {
    this.#markedAt = performance.now();
    this.#lines = [];
  }

  /** Adds what somebody else has seen. */
  note(line: string): void {
    this.#lines.push(`${Math.round(performance.now() - this.#markedAt)} ms: ${line}`);
  }

  /** What has changed since the mark, line by line. */
  get timeline(): readonly string[] {
    return this.#lines;
  }

  /**
   * By how much the memory of a member that has run for long has grown, in MiB: the middle of the last third of its
   * life less that of the second one. The first third is spent on becoming warm.
   */
  growth(): number[] {
    const long = this.#lives.filter(({ samples }) =>
      (samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0) > LONG_LIFE_MILLISECONDS
    );
    return long.map(({ samples }) => {
      const third = Math.floor(samples.length / 3);
      return Math.round(middle(samples.slice(-third)) - middle(samples.slice(third, -third)));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#watching;
  }

  async #watch(member: MemberProcess): Promise<void> {
    let before = "";
    while (!this.#isOver) {
      if (member.isRunning) this.#remember(member);
      const metrics = member.isRunning ? await member.metrics("db_cluster_") : null;
      const now = !member.isRunning
        ? "is not running"
        : metrics === null
        ? "does not answer"
        : SHOWN.map((name) => `${name} ${metrics.get(name) ?? "?"}`).join(", ");
      const shape = now.replace(/commit_number \d+/, "");
      if (shape !== before) this.note(`member ${member.index} ${now}`);
      before = shape;
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MILLISECONDS));
    }
  }

  #remember(member: MemberProcess): void {
    const mebibytes = member.mebibytes();
    if (mebibytes === null) return;
    const { index, processId } = member;
    let life = this.#lives.findLast((each) => each.member === index);
    if (life?.processId !== processId) {
      life = { member: index, processId, samples: [], waited: member.waitedMilliseconds() ?? 0 };
      this.#lives.push(life);
    }
    life.samples.push({ at: performance.now(), mebibytes });
    const waited = member.waitedMilliseconds() ?? life.waited;
    if (waited - life.waited > STARVED_MILLISECONDS) {
      this.note(`member ${index} has waited ${Math.round(waited - life.waited)} ms for a processor`);
    }
    life.waited = waited;
  }
}

function middle(samples: readonly { readonly mebibytes: number }[]): number {
  const sorted = samples.map(({ mebibytes }) => mebibytes).sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
