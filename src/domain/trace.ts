import { hash } from 'node:crypto';

/** 64 hexadecimal digits, of which everything is made that names a row's calls to the API. */
export function rowDigest(runKey: string, place: number): string {
  return hash('sha256', `${runKey}\n${place}`, 'hex');
}

/** All calls of a row have it: 32 hexadecimal digits (W3C Trace Context, section 3.2.2.3). */
export function traceId(runKey: string, place: number): string {
  return rowDigest(runKey, place).slice(0, 32);
}
