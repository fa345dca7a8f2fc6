import { usageError } from '../base/errors/errors.ts';
import { type Log, silentLog } from '../base/log.ts';
import type { Flags } from './config/load.ts';
import { writeLogLine } from './output.ts';
import { logLine } from './render/progress.ts';
import type { Terminal } from './terminal.ts';

/** From least to most detailed. */
export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'];

/** @throws a usage error for an unknown level */
export function logLevelIn({ logLevel }: Flags, usual = 'silent'): string {
  const level = logLevel ?? usual;
  if (logLevels.includes(level)) return level;
  throw usageError('INVALID_SETTING', `--log-level "${level}": use one of ${logLevels.join(', ')}.`);
}

/**
 * The structured log, JSON lines on standard error: events of each row, but no content and no token. With `--verbose`, readable
 * lines about the rate and retries instead.
 *
 * @param usual default level
 * @throws a usage error for an unknown level
 */
export async function openLog(flags: Flags, terminal: Terminal, usual = 'silent'): Promise<Log> {
  const level = logLevelIn(flags, usual);
  if (level === 'silent' && !flags.verbose) return silentLog;
  const { pino } = await import('pino');
  if (level === 'silent') {
    const write = (json: string): void => {
      const line = logLine(JSON.parse(json));
      if (line !== undefined) terminal.say(line);
    };
    const log: Log = pino({ level: 'debug' }, { write });
    return log;
  }
  const log: Log = pino({ level, base: { pid: process.pid } }, { write: writeLogLine });
  return log;
}
