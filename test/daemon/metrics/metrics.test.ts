import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import {
  codeLabel,
  Metrics,
  operationLabel,
  otherLabel,
  statusLabel,
} from '../../../src/daemon/metrics/metrics.ts';
import { failureCodes } from '../../../src/domain/codes.ts';
import { outcomes } from '../../../src/domain/terms.ts';

describe('codes', () => {
  test('of calls are labels', () => {
    expect(failureCodes.filter((code) => codeLabel(code) === otherLabel)).toEqual([]);
  });

  test('that are ours are labels', () => {
    const ours = ['OK', 'ALREADY_APPLIED', 'INVALID_ROW', 'DUPLICATE', 'DONE_BEFORE', 'SUPERSEDED'];
    expect(ours.map(codeLabel)).toEqual(ours);
  });
});

test('a registered HTTP status and a known operation become labels', () => {
  expect([429, 499, 777, undefined].map(statusLabel)).toEqual(['429', '499', otherLabel, 'none']);
  const label = (name: string) => operationLabel(name, operations);
  const names = ['restore-evaluation', 'delete-everything', ''];
  expect(names.map(label)).toEqual(['restore-evaluation', otherLabel, 'none']);
});

test('unknown values of APIs and journals add no series', () => {
  const result = fc.record({
    operation: fc.oneof(fc.string(), fc.constantFrom('restore-evaluation', 'update-soundboard')),
    outcome: fc.constantFrom(...outcomes),
    code: fc.oneof(fc.string(), fc.constantFrom('OK', 'NOT_FOUND', 'HTTP_418', '__proto__', 'constructor')),
  });
  fc.assert(
    fc.property(fc.array(result, { maxLength: 200 }), fc.array(fc.integer()), (results, statuses) => {
      const metrics = new Metrics({ version: '0', operations, runs: true });
      metrics.rowsFinished(results);
      const observer = metrics.observeRequests();
      for (const status of statuses) {
        observer.started();
        observer.ended({ status, durationMs: 1 });
      }
      const labels = [...metrics.rows.values()].map((rows) => rows.labels);
      expect(labels.every(({ code }) => ['OK', 'NOT_FOUND', otherLabel].includes(code))).toBe(true);
      expect(new Set(labels.map(({ operation }) => operation)).size).toBeLessThanOrEqual(4);
      expect([...metrics.rows.values()].reduce((sum, { rows }) => sum + rows, 0)).toBe(results.length);
      expect([...metrics.requests.values()].reduce((sum, count) => sum + count, 0)).toBe(statuses.length);
      expect(metrics.requests.size).toBeLessThanOrEqual(66);
    }),
  );
});
