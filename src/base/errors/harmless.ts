import type { Log } from '../log.ts';
import { errorText } from './errors.ts';

/** Keeps errors of a user's listener from ending a run. Reports only the first error or rejection. */
export function harmlessCallback<Arguments extends readonly unknown[]>(
  listen: (...args: Arguments) => unknown,
  report: (error: unknown) => void,
): (...args: Arguments) => void {
  let hasFailed = false;
  const failed = (error: unknown): void => {
    if (!hasFailed) report(error);
    hasFailed = true;
  };
  return (...args) => {
    try {
      const end = listen(...args);
      if (end instanceof Promise) end.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}

/** Reports an error where there is no log. */
export function warnOf(what: string): (error: unknown) => void {
  return (error) => process.emitWarning(`${what}: ${errorText(error)}`, 'CqbatchWarning');
}

/** Keeps errors of a user's log from ending a run; `warnOf` reports the first. */
export function harmlessLog(log: Log): Log {
  const report = warnOf('The log fails');
  const line = (level: 'error' | 'warn' | 'info' | 'debug') =>
    harmlessCallback((facts: object, message: string) => log[level](facts, message), report);
  let isDebug = false;
  const askLevel = harmlessCallback((level: 'debug') => {
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
