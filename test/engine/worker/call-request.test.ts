import { describe, expect, test } from 'vitest';
import { traceId } from '../../../src/domain/trace.ts';
import type { RowCall } from '../../../src/engine/queue/payload.ts';
import { callRequest } from '../../../src/engine/worker/call-request.ts';

const task: RowCall = {
  run: 'r',
  row: 7,
  operation: 'pay',
  subject: '1',
  path: '/pay',
  body: '{}',
};
const keyed = { operation: { key: 'by run' }, policy: { key: 'a' } } as const;

const keyOf = (row: number, key: string) =>
  callRequest({ ...task, row }, keyed.operation, { key }).headers?.['idempotency-key'];

describe('the key of a row', () => {
  test('is the same for each attempt, and another one for each row and run', () => {
    const keys = [keyOf(7, 'a'), keyOf(8, 'a'), keyOf(7, 'b')];
    expect(keyOf(7, 'a')).toBe(keys[0]);
    expect(new Set(keys).size).toBe(3);
    expect(keys[0]).toMatch(/^"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}"$/);
  });

  test('is that of an earlier run that may have had the row processed', () => {
    const { headers } = callRequest({ ...task, key: '"k"' }, keyed.operation, keyed.policy);
    expect(headers).toMatchObject({ 'idempotency-key': '"k"' });
  });

  test('comes beside the headers of the request', () => {
    const { headers } = callRequest(
      { ...task, headers: { 'if-match': '"7"' } },
      keyed.operation,
      keyed.policy,
    );
    expect(headers).toMatchObject({ 'if-match': '"7"', 'idempotency-key': keyOf(7, 'a') });
  });

  test('is not sent for an operation without keys', () => {
    expect(callRequest(task, {}, keyed.policy).headers).not.toHaveProperty('idempotency-key');
  });

  test('is not sent for a run of an earlier version, which has none', () => {
    expect(callRequest(task, keyed.operation, {})).toBe(task);
  });
});

describe('the trace of a row', () => {
  const traceOf = (row: number, key: string) =>
    callRequest({ ...task, row }, {}, { key }).headers?.['traceparent']?.split('-') ?? [];

  test('has the id that the report shows, and another parent for each call', () => {
    const [first, second] = [traceOf(7, 'a'), traceOf(7, 'a')];
    expect(first).toEqual(['00', traceId('a', 7), expect.stringMatching(/^[0-9a-f]{16}$/), '01']);
    expect(second[1]).toBe(first[1]);
    expect(second[2]).not.toBe(first[2]);
  });
});
