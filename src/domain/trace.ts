import { hash } from 'node:crypto';

/** 64 hexadecimal digits, from which the names of a row's calls are made. */
export function rowDigest(runKey: string, place: number): string {
  return hash('sha256', `${runKey}\n${place}`, 'hex');
}

/** 32 hexadecimal digits (W3C Trace Context, section 3.2.2.3), the same for all calls of a row. */
export function traceId(runKey: string, place: number): string {
  return rowDigest(runKey, place).slice(0, 32);
}
