import type { Log } from '../log.ts';
import { errorText } from './errors.ts';

/** Errors of a user's listener can't end a run: the first that it throws, or rejects with, is reported, later ones are ignored. */
export function harmless<Arguments extends readonly unknown[]>(
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

/** Reports an error as a warning of the process, for where there is no log. */
export function warnOf(what: string): (error: unknown) => void {
  return (error) => process.emitWarning(`${what}: ${errorText(error)}`, 'CqbatchWarning');
}

/** Errors of a user's log can't end a run; `warnOf` reports the first. */
export function harmlessLog(log: Log): Log {
  const report = warnOf('The log fails');
  const line = (level: 'error' | 'warn' | 'info' | 'debug') =>
    harmless((facts: object, message: string) => log[level](facts, message), report);
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
