import { hash } from 'node:crypto';

/** 64 hexadecimal digits: what names a row's calls to the API is made of them. */
export function rowDigest(runKey: string, place: number): string {
  return hash('sha256', `${runKey}\n${place}`, 'hex');
}

/** The same for all calls of a row: 32 hexadecimal digits (W3C Trace Context, section 3.2.2.3). */
export function traceId(runKey: string, place: number): string {
  return rowDigest(runKey, place).slice(0, 32);
}
