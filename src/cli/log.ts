import { type Logger, pino } from 'pino';
import { usageError } from '../errors.ts';
import { writeLogLine } from './output.ts';

const levels = ['silent', 'error', 'warn', 'info', 'debug'];

/**
 * The structured log, JSON lines on standard error: what happens to each row, never what is in it, never a token.
 *
 * @throws a usage error for an unknown level.
 */
export function openLog(level = 'silent'): Logger {
  if (!levels.includes(level)) {
    throw usageError('INVALID_SETTING', `--log-level "${level}": known are ${levels.join(', ')}.`);
  }
  return pino({ level, base: { pid: process.pid } }, { write: writeLogLine });
}
