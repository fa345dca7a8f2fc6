import { describe, expect, test } from 'vitest';
import type { FailureClass } from '../../../../src/domain/codes.ts';
import type { Reached, RequestProgress } from '../../../../src/engine/api/network/exchange.ts';
import { lostFailure, stopFailure } from '../../../../src/engine/api/network/network-failure.ts';

function error(code: string, message = 'm', name = 'Error'): Error {
  return Object.assign(new Error(message), { name, ...(code !== '' && { code }) });
}

describe('a request that was never sent', () => {
  test.each<[string, FailureClass, string]>([
    ['ECONNREFUSED', 'unreachable', 'CONNECTION_REFUSED'],
    ['ENOTFOUND', 'unreachable', 'HOST_NOT_FOUND'],
    ['EAI_AGAIN', 'unreachable', 'HOST_NOT_FOUND'],
    ['EAI_NODATA', 'unreachable', 'HOST_NOT_FOUND'],
    ['UND_ERR_CONNECT_TIMEOUT', 'unreachable', 'CONNECT_TIMEOUT'],
    ['ETIMEDOUT', 'unreachable', 'CONNECT_TIMEOUT'],
    ['ECONNRESET', 'unreachable', 'CONNECT_FAILED'],
    ['EHOSTUNREACH', 'unreachable', 'CONNECT_FAILED'],
    ['ENETUNREACH', 'unreachable', 'CONNECT_FAILED'],
    ['EMFILE', 'unreachable', 'CONNECT_FAILED'],
    ['ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', 'unreachable', 'CONNECT_FAILED'],
    ['EPROTO', 'unreachable', 'CONNECT_FAILED'],
    ['CERT_HAS_EXPIRED', 'unreachable', 'TLS_ERROR'],
    ['CERT_NOT_YET_VALID', 'unreachable', 'TLS_ERROR'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'unreachable', 'TLS_ERROR'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'unreachable', 'TLS_ERROR'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unreachable', 'TLS_ERROR'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'unreachable', 'TLS_ERROR'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'unreachable', 'TLS_ERROR'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'unreachable', 'TLS_ERROR'],
  ])('by %s: %s, %s, clear', (reason, failureClass, code) => {
    expect(lostFailure(error(reason), { progress: 'unsent' })).toEqual({
      class: failureClass,
      code,
      message: expect.any(String),
      unclear: false,
    });
  });

  test('by an old name for the wrong protocol', () => {
    const failure = lostFailure(error('EPROTO', 'SSL routines:wrong version number'), { progress: 'unsent' });
    expect(failure).toMatchObject({ class: 'unreachable', code: 'TLS_ERROR' });
  });

  test('by an error without a code', () => {
    expect(lostFailure(error('', 'm', 'SocketError'), { progress: 'unsent' }).message).toContain(
      'SocketError',
    );
  });
});

describe('a request that was lost', () => {
  test.each<[string, RequestProgress, number | undefined, FailureClass, string, boolean]>([
    ['UND_ERR_SOCKET', 'sent', undefined, 'retry', 'CONNECTION_LOST', true],
    ['ECONNRESET', 'sent', undefined, 'retry', 'CONNECTION_LOST', true],
    ['EPIPE', 'sent', undefined, 'retry', 'CONNECTION_LOST', true],
    ['ETIMEDOUT', 'sent', undefined, 'retry', 'CONNECTION_LOST', true],
    ['UND_ERR_HEADERS_OVERFLOW', 'sent', undefined, 'retry', 'ANSWER_TOO_LARGE', true],
    ['UND_ERR_HEADERS_TIMEOUT', 'sent', undefined, 'retry', 'HEADERS_TIMEOUT', true],
    ['UND_ERR_BODY_TIMEOUT', 'answering', 200, 'retry', 'BODY_TIMEOUT', true],
    ['UND_ERR_BODY_TIMEOUT', 'answering', 404, 'retry', 'BODY_TIMEOUT', false],
    ['UND_ERR_SOCKET', 'answering', 200, 'retry', 'ANSWER_CUT_OFF', true],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'answering', 200, 'retry', 'ANSWER_CUT_OFF', true],
    ['UND_ERR_SOCKET', 'answering', 302, 'retry', 'ANSWER_CUT_OFF', true],
    ['UND_ERR_SOCKET', 'answering', 400, 'retry', 'ANSWER_CUT_OFF', false],
    ['UND_ERR_SOCKET', 'answering', 429, 'retry', 'ANSWER_CUT_OFF', false],
    ['UND_ERR_SOCKET', 'answering', 500, 'retry', 'ANSWER_CUT_OFF', true],
    ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'answering', 200, 'retry', 'ANSWER_TOO_LARGE', true],
  ])('by %s when %s %s: %s, %s, unclear: %s', (reason, progress, status, failureClass, code, unclear) => {
    const reached = { progress, ...(status !== undefined && { status }) };
    expect(lostFailure(error(reason), reached)).toEqual({
      class: failureClass,
      code,
      message: expect.any(String),
      unclear,
      ...(status !== undefined && { status }),
    });
  });

  test('by an answer that is not HTTP', () => {
    const parser = error('', 'Response does not match\n(x)', 'HTTPParserError');
    expect(lostFailure(parser, { progress: 'sent' })).toMatchObject({
      code: 'ANSWER_NOT_HTTP',
      message: "The server's answer is not HTTP (Response does not match (x))",
      unclear: true,
    });
    expect(lostFailure(parser, { progress: 'answering', status: 200 })).toMatchObject({
      code: 'ANSWER_CUT_OFF',
    });
  });
});

describe('a request that was stopped', () => {
  test.each<[Reached, boolean]>([
    [{ progress: 'unsent' }, false],
    [{ progress: 'sent' }, true],
    [{ progress: 'answering', status: 200 }, true],
    [{ progress: 'answering', status: 400 }, false],
    [{ progress: 'answering', status: 502 }, true],
  ])('at %o, unclear: %s', (reached, unclear) => {
    expect(stopFailure(reached, 'aborted')).toMatchObject({ class: 'aborted', code: 'INTERRUPTED', unclear });
    expect(stopFailure(reached, 'timed-out')).toMatchObject({
      class: 'retry',
      code: 'TOTAL_TIMEOUT',
      unclear,
    });
  });
});
