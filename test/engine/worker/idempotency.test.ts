import { describe, expect, test } from 'vitest';
import type { RowTask } from '../../../src/engine/queue/payload.ts';
import { keyedRequest } from '../../../src/engine/worker/idempotency.ts';

const task: RowTask = { run: 'r', row: 7, operation: 'pay', subject: '1', path: '/pay', body: '{}' };
const keyed = { operation: { idempotencyKey: true }, policy: { key: 'a' } };

const keyOf = (row: number, key: string) =>
  keyedRequest({ ...task, row }, keyed.operation, { key }).headers?.['idempotency-key'];

describe('the key of a row', () => {
  test('is the same for each attempt, and another one for each row and run', () => {
    const keys = [keyOf(7, 'a'), keyOf(8, 'a'), keyOf(7, 'b')];
    expect(keyOf(7, 'a')).toBe(keys[0]);
    expect(new Set(keys).size).toBe(3);
  });

  test('is a UUID as a structured string', () => {
    expect(keyOf(7, 'a')).toMatch(/^"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}"$/);
  });

  test('comes beside the headers of the request, which stays otherwise', () => {
    const request = keyedRequest({ ...task, headers: { 'if-match': '"7"' } }, keyed.operation, keyed.policy);
    expect(request).toMatchObject({
      path: '/pay',
      body: '{}',
      headers: { 'if-match': '"7"', 'idempotency-key': keyOf(7, 'a') },
    });
  });

  test.each([
    ['an operation without keys', { ...keyed, operation: {} }],
    ['a run whose coordinator knows of none', { ...keyed, policy: {} }],
  ])('is not sent for %s', (_title, { operation, policy }) => {
    expect(keyedRequest(task, operation, policy)).toBe(task);
  });
});
