import { duration, perSecond } from '../../text/quantities.ts';

/** An entry of the structured log, with the members that are read here. */
export interface ProgramLogEntry {
  readonly time: number;
  readonly msg: string;
  readonly row?: number;
  readonly code?: string;
  readonly attempts?: number;
  readonly delay_ms?: number;
  readonly wait_ms?: number;
  readonly rate_per_s?: number;
  readonly limit_per_s?: number;
  readonly concurrency?: number;
  readonly reason?: string;
  readonly err?: string;
}

/** What `--verbose` says of an entry; nothing of most of them. */
export function logLine(entry: ProgramLogEntry): string | undefined {
  const text = textOf(entry);
  return text === undefined
    ? undefined
    : `${new Date(entry.time).toLocaleTimeString('en-GB', { hour12: false })}  ${text}`;
}

function textOf(entry: ProgramLogEntry): string | undefined {
  const { msg, row, code, attempts, delay_ms = 0, wait_ms = 0, err } = entry;
  switch (msg) {
    case 'pace':
      return `rate: ${paceText(entry)}`;
    case 'row waits':
      return `row ${row}: ${code}, attempt ${attempts}; tried again in ${shortDuration(delay_ms)}`;
    case 'row spared':
      return `row ${row}: ${code}, most likely trouble of the API; tried again, no attempt used up`;
    case 'the API asks to slow down':
      return `row ${row}: ${msg}${wait_ms > 0 ? `, for ${shortDuration(wait_ms)}` : ''}; tried again, no attempt used up`;
    case 'datastore error':
      return `datastore: ${err}`;
    default:
      return undefined;
  }
}

function paceText({ rate_per_s, limit_per_s, concurrency, wait_ms = 0, reason }: ProgramLogEntry): string {
  const parts = [
    wait_ms > 0
      ? `no call for ${shortDuration(wait_ms)}`
      : rate_per_s === undefined
        ? 'as fast as can be'
        : `at most ${perSecond(rate_per_s)}`,
    limit_per_s === undefined ? '' : `limit of the API ${perSecond(limit_per_s)}`,
    `${concurrency} in flight at most`,
  ];
  return `${parts.filter((part) => part !== '').join(', ')} (${reason})`;
}

/** `0.3 s`, `12 s` */
function shortDuration(milliseconds: number): string {
  return milliseconds < 10_000 ? `${(milliseconds / 1_000).toFixed(1)} s` : duration(milliseconds / 1_000);
}
