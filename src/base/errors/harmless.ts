import type { Log } from '../log.ts';
import { errorText } from './errors.ts';

/**
 * A function of a user that only listens, made harmless: what it throws, or rejects with, ends nothing and is reported the first
 * time.
 */
export function harmless<Heard extends readonly unknown[]>(
  listen: (...heard: Heard) => unknown,
  report: (error: unknown) => void,
): (...heard: Heard) => void {
  let hasFailed = false;
  const failed = (error: unknown): void => {
    if (!hasFailed) report(error);
    hasFailed = true;
  };
  return (...heard) => {
    try {
      const end = listen(...heard);
      if (end instanceof Promise) end.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}

/** Reports an error where there is no log: as a warning of the process. */
export function warnOf(what: string): (error: unknown) => void {
  return (error) => process.emitWarning(`${what}: ${errorText(error)}`, 'CqbatchWarning');
}

/** A log of a user, made harmless. */
export function harmlessLog(log: Log): Log {
  const report = warnOf('The log fails');
  const line = (level: 'error' | 'warn' | 'info' | 'debug') =>
    harmless((known: object, what: string) => log[level](known, what), report);
  let isDebug = false;
  const askLevel = harmless((level: 'debug') => {
    isDebug = log.isLevelEnabled(level);
  }, report);
  return {
    error: line('error'),
    warn: line('warn'),
    info: line('info'),
    debug: line('debug'),
    isLevelEnabled(level) {
      askLevel(level);
      return isDebug;
    },
  };
}
