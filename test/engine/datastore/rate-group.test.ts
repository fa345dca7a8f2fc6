import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { apiText } from '../../../src/domain/terms.ts';
import { keyOfApi } from '../../../src/engine/datastore/rate-group.ts';

const baseUrl = 'https://api.example.com';

test('without a rate group, an API has the key of versions that know no groups', () => {
  expect(keyOfApi({ baseUrl })).toBe(createHash('sha256').update(baseUrl).digest('hex').slice(0, 12));
});

test('APIs and rate groups have different keys and texts', () => {
  const apis = [
    { baseUrl },
    { baseUrl: `${baseUrl}/acme` },
    { baseUrl, rateGroup: 'acme' },
    { baseUrl, rateGroup: 'Acme' },
    { baseUrl: 'https://other.example.com', rateGroup: 'acme' },
  ];
  expect(new Set(apis.map(keyOfApi)).size).toBe(apis.length);
  expect(apis.slice(0, 3).map(apiText)).toEqual([baseUrl, `${baseUrl}/acme`, `${baseUrl} (rate group acme)`]);
  expect(new Set(apis.map(apiText)).size).toBe(apis.length);
});
