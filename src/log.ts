type Say = (known: object, what: string) => void;

/** Takes what happens to a run and to its rows, as the logger `pino` does: what is known of it, and what it is. */
export interface Log {
  readonly error: Say;
  readonly warn: Say;
  readonly info: Say;
  readonly debug: Say;
  /** Whether it says what is only for those who look for a defect; to put that together costs more than a call. */
  readonly isLevelEnabled: (level: 'debug') => boolean;
}

const ignore = (): void => {};

/** Says nothing. */
export const silentLog: Log = {
  error: ignore,
  warn: ignore,
  info: ignore,
  debug: ignore,
  isLevelEnabled: () => false,
};
