import { expect, test } from 'vitest';
import type { ExchangeProgress } from '../../../../src/engine/api/network/exchange.ts';
import { lostFailure, stopFailure } from '../../../../src/engine/api/network/network-failure.ts';
import { briefly } from '../local-server.ts';

function error(code: string, message = 'm', name = 'Error'): Error {
  return Object.assign(new Error(message), { name, ...(code !== '' && { code }) });
}

test.each([
  ['CONNECTION_REFUSED', ['ECONNREFUSED']],
  ['HOST_NOT_FOUND', ['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA']],
  ['CONNECT_TIMEOUT', ['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']],
  ['CONNECT_FAILED', ['ECONNRESET', 'EHOSTUNREACH', 'EPERM', 'EPROTO', 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR']],
  ['LOCAL_LIMIT', ['EMFILE', 'ENFILE', 'ENOMEM']],
  ['TLS_ERROR', ['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN']],
  ['TLS_ERROR', ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_TLS_CERT_ALTNAME_INVALID']],
  ['TLS_ERROR', ['ERR_SSL_WRONG_VERSION_NUMBER']],
])('a request that was never sent is clear: %s for %j', (code, reasons) => {
  for (const reason of reasons)
    expect(briefly(lostFailure(error(reason), { progress: 'unsent' }))).toBe(`unreachable ${code}`);
});

test('without memory for a connection, the limit is named, and not the network', () => {
  const words = 'WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory for new instance';
  expect(lostFailure(error('', words, 'RangeError'), { progress: 'unsent' })).toMatchObject({
    code: 'LOCAL_LIMIT',
    message: 'No connection to the server: this process has reached its limit of memory',
  });
});

const sent = { progress: 'sent' } as const;
const answering = (status: number) => ({ progress: 'answering', status }) as const;

test.each<[reason: string, ExchangeProgress, failure: string]>([
  ['ETIMEDOUT', sent, 'retry CONNECTION_LOST unclear'],
  ['UND_ERR_HEADERS_OVERFLOW', sent, 'retry ANSWER_TOO_LARGE unclear'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', answering(200), 'retry ANSWER_CUT_OFF 200 unclear'],
  ['UND_ERR_SOCKET', answering(200), 'retry ANSWER_CUT_OFF 200 unclear'],
  ['UND_ERR_SOCKET', answering(500), 'retry ANSWER_CUT_OFF 500 unclear'],
])('a request that was lost by %s at %o: %s', (reason, reached, failure) => {
  expect(briefly(lostFailure(error(reason), reached))).toBe(failure);
});

test('an answer that is not HTTP is quoted, and one that goes on with something else is cut off', () => {
  const parser = error('', 'Response does not match\n(x)', 'HTTPParserError');
  expect(lostFailure(parser, sent)).toMatchObject({
    code: 'ANSWER_NOT_HTTP',
    message: "The server's answer is not HTTP (Response does not match (x))",
    unclear: true,
  });
  expect(lostFailure(parser, answering(200))).toMatchObject({ code: 'ANSWER_CUT_OFF' });
});

test.each<[ExchangeProgress, state: string]>([
  [{ progress: 'unsent' }, ''],
  [sent, ' unclear'],
  [answering(200), ' 200 unclear'],
  [answering(400), ' 400'],
  [answering(502), ' 502 unclear'],
])('a request that was stopped at %o is "%s"', (reached, state) => {
  expect(briefly(stopFailure(reached, 'aborted'))).toBe(`aborted INTERRUPTED${state}`);
  expect(briefly(stopFailure(reached, 'timed-out'))).toBe(`retry TOTAL_TIMEOUT${state}`);
});
