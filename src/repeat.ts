/** A task that is done again and again. */
export interface Repeated {
  /** Does it now, or once more when what is under way has ended; after that it is due in `everyMs`. */
  now(): void;
  /** Begins it no more, and resolves when nothing is under way. */
  stop(): Promise<void>;
}

export interface RepeatOptions {
  /** From one beginning to the next, milliseconds. */
  readonly everyMs: number | (() => number);
  /** Called with what the task throws; it is done again all the same. Default: it is dropped. */
  readonly onError?: (error: Error) => void;
  /**
   * Whether a task that takes longer than `everyMs` starts again as soon as it ends; else when it is due the next time.
   * Default false.
   */
  readonly catchUp?: boolean;
}

/** Repeats a task, never twice at the same time. The first time is after `everyMs`. It keeps no process alive. */
export function repeat(task: () => Promise<void> | void, options: RepeatOptions): Repeated {
  const { everyMs, onError = () => {}, catchUp = false } = options;
  let working: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function work(): Promise<void> {
    do {
      again = false;
      try {
        await task();
      } catch (error) {
        onError(error as Error);
      }
    } while (again && !stopped);
    working = undefined;
  }
  function begin(): void {
    if (stopped) return;
    if (working !== undefined) again = true;
    else working = work();
  }
  function wait(): void {
    clearTimeout(timer);
    timer = setTimeout(
      () => {
        wait();
        if (working === undefined || catchUp) begin();
      },
      typeof everyMs === 'number' ? everyMs : everyMs(),
    );
    timer.unref();
  }
  wait();
  return {
    now() {
      if (!stopped) wait();
      begin();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await working;
    },
  };
}
