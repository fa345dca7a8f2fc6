type Say = (known: object, what: string) => void;

/** Takes events of a run and its rows, like the logger `pino`: the facts, and what happened. */
export interface Log {
  readonly error: Say;
  readonly warn: Say;
  readonly info: Say;
  readonly debug: Say;
  /** Whether debug lines are logged; composing one costs more than a call. */
  readonly isLevelEnabled: (level: 'debug') => boolean;
}

const ignore = (): void => {};

/** Logs nothing. */
export const silentLog: Log = {
  error: ignore,
  warn: ignore,
  info: ignore,
  debug: ignore,
  isLevelEnabled: () => false,
};
