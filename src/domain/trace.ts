import { hash } from 'node:crypto';

/** 64 hexadecimal digits that only run and row determine: what names a row's calls to the API is made of them. */
export function rowDigest(runKey: string, place: number): string {
  return hash('sha256', `${runKey}\n${place}`, 'hex');
}

/** The trace id of all calls of a row in a run: 32 hexadecimal digits (W3C Trace Context, section 3.2.2.3). */
export function traceId(runKey: string, place: number): string {
  return rowDigest(runKey, place).slice(0, 32);
}
