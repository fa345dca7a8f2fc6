import type { ApiRequest } from '../api/request.ts';

/** Headers that an operation must not set: the client or HTTP sets them, or they change the target, the user or the end of a request. */
const ownHeaders = new RegExp(
  `^(?:${[
    'accept-encoding|authorization|connection|content-(?:encoding|length)|cookie|expect|host|keep-alive|proxy-.*',
    'te|traceparent|trailer|transfer-encoding|upgrade|user-agent',
  ].join('|')})$`,
);

/** The name of a header by RFC 9110, section 5.1. */
const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const headerValue = /^[!-~](?:[\t -~]{0,8190}[!-~])?$/;

/** Checks the headers of a request. @throws a RangeError that names what can't be sent */
export function requireHeaders({ headers = {} }: Pick<ApiRequest, 'headers'>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!headerName.test(name)) throw new RangeError(`${JSON.stringify(name)} can't be the name of a header`);
    if (name === keyHeader)
      throw new RangeError(
        'an operation sends Idempotency-Key by its member idempotencyKey: true, or (row) => the key',
      );
    if (ownHeaders.test(name))
      throw new RangeError(`the client sets the header ${name} itself: leave it out`);
    requireValue(name, value);
  }
}

export function requireValue(name: string, value: unknown): void {
  if (typeof value !== 'string' || !headerValue.test(value))
    throw new RangeError(
      `the header ${name} can't have the value ${JSON.stringify(value)}: it must be visible ASCII characters, with blanks between them`,
    );
}

/** Whether a header may carry the token. */
export function mayCarryToken(header: string): boolean {
  const name = header.toLowerCase();
  return name === 'authorization' || (headerName.test(name) && !ownHeaders.test(name) && name !== keyHeader);
}

export const keyHeader = 'idempotency-key';
