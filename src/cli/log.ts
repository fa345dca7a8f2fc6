import { type Logger, pino } from 'pino';
import { usageError } from '../errors.ts';
import type { Flags } from './config/load.ts';
import { writeLogLine } from './output.ts';
import { logLine } from './render/progress.ts';
import type { Terminal } from './terminal.ts';

/** From saying nothing to saying everything. */
export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'];

/**
 * The structured log, JSON lines on standard error: what happens to each row, never what is in it, never a token. With
 * `--verbose` lines for people in its place, of the rate and of what is tried again.
 *
 * @param usual the level where none is typed
 * @throws a usage error for an unknown level.
 */
export function openLog({ logLevel, verbose }: Flags, terminal: Terminal, usual = 'silent'): Logger {
  const level = logLevel ?? usual;
  if (verbose && level === 'silent') {
    const write = (json: string): void => {
      const line = logLine(JSON.parse(json));
      if (line !== undefined) terminal.say(line);
    };
    return pino({ level: 'debug' }, { write });
  }
  if (!logLevels.includes(level)) {
    throw usageError('INVALID_SETTING', `--log-level "${level}": known are ${logLevels.join(', ')}.`);
  }
  return pino({ level, base: { pid: process.pid } }, { write: writeLogLine });
}
