export interface RepeatedTask {
  /** Runs the task now or, during a run, once more after it. The next run is due `everyMs` later. */
  now(): void;
  stop(): Promise<void>;
}

export interface RepeatOptions {
  /** The time from the start of one run of the task to the start of the next. */
  readonly everyMs: number | (() => number);
  /** Gets each error of the task, which is repeated in any case. Default: the error is dropped. */
  readonly onError?: (error: Error) => void;
  /** After a run longer than `everyMs`, begin the next at once. Default: false. */
  readonly catchUp?: boolean;
}

/** Repeats a task, never twice at the same time, first after `everyMs`. Does not keep the process alive. */
export function repeat(task: () => Promise<void> | void, options: RepeatOptions): RepeatedTask {
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
