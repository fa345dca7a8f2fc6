type LogLine = (facts: object, message: string) => void;

/** Events of a run and its rows, as facts and a message. A logger of `pino` fits. */
export interface Log {
  readonly error: LogLine;
  readonly warn: LogLine;
  readonly info: LogLine;
  readonly debug: LogLine;
  /** If false, the program composes no debug line, which takes longer than this call. */
  readonly isLevelEnabled: (level: 'debug') => boolean;
}

const ignoreLine = (): void => {};

export const silentLog: Log = {
  error: ignoreLine,
  warn: ignoreLine,
  info: ignoreLine,
  debug: ignoreLine,
  isLevelEnabled: () => false,
};
