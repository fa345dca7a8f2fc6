import { exactDuration, perSecond } from '../../base/text/format.ts';
import { allowedText } from './words.ts';

export interface ProgramLogEntry {
  readonly time: number;
  readonly msg: string;
  readonly row?: number;
  readonly code?: string;
  readonly attempts?: number;
  readonly delay_ms?: number;
  readonly wait_ms?: number;
  readonly wait_by?: string;
  readonly rate_per_s?: number;
  readonly limit_per_s?: number;
  readonly concurrency?: number;
  readonly reason?: string;
  readonly err?: string;
  readonly header?: string;
  readonly value?: string;
}

/** A log entry as `--verbose` shows it. Undefined for most entries. */
export function logLine(entry: ProgramLogEntry): string | undefined {
  const text = textOf(entry);
  return text && `${new Date(entry.time).toLocaleTimeString('en-GB', { hour12: false })}  ${text}`;
}

function textOf(entry: ProgramLogEntry): string | undefined {
  const { msg, row, code, attempts, delay_ms = 0, wait_ms = 0, err, header, value } = entry;
  switch (msg) {
    case 'pace':
      return `rate: ${loggedPace(entry)}`;
    case 'row waits':
      return `row ${row}: ${code}, attempt ${attempts}; next attempt in ${exactDuration(delay_ms)}`;
    case 'row spared':
      return `row ${row}: ${code}, probably an API outage; the row will be retried and keeps its attempts`;
    case 'the API asks to slow down':
      return `row ${row}: ${msg}${wait_ms > 0 ? `, for ${exactDuration(wait_ms)}` : ''}; the row will be retried and keeps its attempts`;
    case 'waiting time ignored':
      return `the API states the waiting time "${header}: ${value}", which is not between 0 and 24 hours: it is ignored`;
    case 'datastore error':
      return `datastore: ${err}`;
    default:
      return undefined;
  }
}

function loggedPace(entry: ProgramLogEntry): string {
  const { rate_per_s, limit_per_s, concurrency, wait_ms = 0, wait_by, reason } = entry;
  const limit = limit_per_s === undefined ? '' : `, API limit ${perSecond(limit_per_s)}`;
  const allowed =
    wait_ms > 0 ? `no calls for ${exactDuration(wait_ms)}${limit}` : allowedText(rate_per_s, limit_per_s);
  const why =
    wait_by === undefined ? reason : `${reason}, "${wait_by}"; a rate that you set with --rate ends the wait`;
  return `${allowed}, at most ${concurrency} in flight (${why})`;
}
