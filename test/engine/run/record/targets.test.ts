import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  grantsPartial,
  lookUpTarget,
  rememberFates,
  rememberTarget,
} from '../../../../src/engine/run/record/targets.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { plannedRecord } from '../planned-record.ts';

const api = 'https://api.example.com';
const unknown = { isNew: true, allowsPartial: false, updates: {} };
const used = { ...unknown, isNew: false };

test('an API is new until it is used, and accepts partial edits once they were seen to be harmless', async () => {
  const folder = await temporaryFolder();
  expect(await lookUpTarget(folder, api)).toEqual(unknown);
  await rememberTarget(folder, api, 'used');
  expect(await lookUpTarget(folder, api)).toEqual(used);
  await rememberTarget(folder, api, 'partial');
  await rememberTarget(folder, api, 'used');
  expect(await lookUpTarget(folder, api)).toEqual({ ...used, allowsPartial: true });
});

test('only a completed run of a manifest that the user gave shows that fields may be left out', () => {
  const plan = { ...plannedRecord.plan, partial: 3 };
  expect(grantsPartial({ plan })).toBe(true);
  expect(grantsPartial({ plan, undoOf: 'r' })).toBe(false);
  expect(grantsPartial({ plan, retryOf: 'r' })).toBe(false);
  expect(grantsPartial(plannedRecord)).toBe(false);
});

test('what users saw of an operation is remembered until they say otherwise, and makes no API used', async () => {
  const folder = await temporaryFolder();
  await rememberFates(folder, api, ['edit'], { leftOut: 'reset' });
  expect(await lookUpTarget(folder, api)).toEqual({ ...unknown, updates: { edit: { leftOut: 'reset' } } });
  await rememberTarget(folder, api, 'used');
  await rememberFates(folder, api, ['edit', 'archive'], { cleared: 'kept' });
  await rememberFates(folder, api, ['edit'], { leftOut: 'kept' });
  const updates = { edit: { leftOut: 'kept', cleared: 'kept' }, archive: { cleared: 'kept' } };
  expect(await lookUpTarget(folder, api)).toEqual({ ...used, updates });
  expect(await lookUpTarget(folder, 'https://other.example.com')).toEqual(unknown);
});

test('a damaged file is treated as missing', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'targets.json'), '{"version":1,"targets":[{}');
  expect(await lookUpTarget(folder, api)).toEqual(unknown);
  await rememberTarget(folder, api, 'used');
  expect(await lookUpTarget(folder, api)).toEqual(used);
});
