/**
 * What a member's log says of its cluster as it changes: which members are connected, and who is the primary.
 *
 * Changes are gathered for a second, so that a network that flutters fills no log; what is as before is not said again.
 */

const GATHERING_MILLISECONDS = 1000;
/** At the start; a member that fits to no other has ended by then, and has said that alone. */
const FIRST_GATHERING_MILLISECONDS = 3000;

/** What lines are made of. */
export interface ClusterView {
  readonly index: number;
  readonly memberCount: number;
  /** Whether another member is connected. */
  connected(index: number): boolean;
  /** The member that serves clients, and in which view; null: there is none. */
  primary(): { readonly index: number; readonly view: number } | null;
}

/** See the head of the file. */
export class ClusterLines {
  readonly #cluster: ClusterView;
  readonly #log: (line: string) => void;
  /** By member: whether it was connected. */
  readonly #connected = new Map<number, boolean>();
  #primary = "";
  #timer: ReturnType<typeof setTimeout> | null = null;
  #gathering = FIRST_GATHERING_MILLISECONDS;
  #isClosed = false;

  constructor(cluster: ClusterView, log: (line: string) => void) {
    this.#cluster = cluster;
    this.#log = log;
  }

  /** Something may have changed. */
  changed(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#gathering = GATHERING_MILLISECONDS;
      this.#say();
    }, this.#gathering);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #say(): void {
    const { index: own, memberCount } = this.#cluster;
    const others = Array.from({ length: memberCount }, (_, index) => index).filter((index) => index !== own);
    for (const index of others) {
      const isConnected = this.#cluster.connected(index);
      if (isConnected === (this.#connected.get(index) ?? false)) continue;
      this.#log(`member ${index} is ${isConnected ? "connected" : "not connected any more"}`);
      this.#connected.set(index, isConnected);
    }
    const line = this.#primaryLine(others.filter((index) => this.#cluster.connected(index)).length + 1);
    if (line !== this.#primary) this.#log(line);
    this.#primary = line;
  }

  /** `present`: how many members are there, this one among them. */
  #primaryLine(present: number): string {
    const { index: own, memberCount } = this.#cluster;
    const primary = this.#cluster.primary();
    if (primary !== null) {
      return `${
        primary.index === own ? "this member" : `member ${primary.index}`
      } is the primary, in view ${primary.view}`;
    }
    const needed = (memberCount >> 1) + 1;
    return present >= needed
      ? "there is no primary at the moment"
      : `there is no primary: ${present} of ${memberCount} members reach each other here, and ${needed} are needed`;
  }
}
