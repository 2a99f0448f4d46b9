/** Threads of the real machine: another program of the engine with a heap of its own, and messages both ways. */

/** A thread, as the one that started it sees it. */
export interface Thread<Sent, Received> {
  post(message: Sent): void;
  onMessage: (message: Received) => void;
  /** An error in the thread that nobody caught. */
  onError: (message: string) => void;
  /** Ends it at once. */
  stop(): void;
}

/** The other end: what a thread sees of the one that started it. */
export interface ThreadOwner<Sent, Received> {
  post(message: Sent): void;
  onMessage: (message: Received) => void;
  /** Ends the thread. */
  end(): void;
}

/** Starts the module as a thread. */
export function startThread<Sent, Received>(module: string, name: string): Thread<Sent, Received> {
  const worker = new Worker(module, { type: "module", name });
  const thread: Thread<Sent, Received> = {
    post: (message) => worker.postMessage(message),
    onMessage: () => {},
    onError: () => {},
    stop: () => worker.terminate(),
  };
  worker.onmessage = ({ data }: MessageEvent<Received>) => thread.onMessage(data);
  worker.onerror = (event) => {
    event.preventDefault();
    thread.onError(event.message);
  };
  return thread;
}

interface WorkerScope {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

/** The owner of the thread that this code runs in. */
export function threadOwner<Sent, Received>(): ThreadOwner<Sent, Received> {
  const scope = self as unknown as WorkerScope;
  const owner: ThreadOwner<Sent, Received> = {
    post: (message) => scope.postMessage(message),
    onMessage: () => {},
    end: () => scope.close(),
  };
  scope.onmessage = ({ data }) => owner.onMessage(data as Received);
  return owner;
}
