import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { grantsPartial, lookUpTarget, rememberTarget } from '../../../../src/engine/run/record/targets.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { plannedRecord } from '../planned-record.ts';

const api = 'https://api.example.com';
const unknown = { isNew: true, allowsPartial: false };

test('an API is new until it is used, and accepts partial edits once they were seen to be harmless', async () => {
  const folder = await temporaryFolder();
  expect(await lookUpTarget(folder, api)).toEqual(unknown);
  await rememberTarget(folder, api, 'used');
  expect(await lookUpTarget(folder, api)).toEqual({ isNew: false, allowsPartial: false });
  await rememberTarget(folder, api, 'partial');
  await rememberTarget(folder, api, 'used');
  expect(await lookUpTarget(folder, api)).toEqual({ isNew: false, allowsPartial: true });
});

test('only a completed run of a manifest that the user gave shows that fields may be left out', () => {
  const plan = { ...plannedRecord.plan, partial: 3 };
  expect(grantsPartial({ plan })).toBe(true);
  expect(grantsPartial({ plan, undoOf: 'r' })).toBe(false);
  expect(grantsPartial({ plan, retryOf: 'r' })).toBe(false);
  expect(grantsPartial(plannedRecord)).toBe(false);
});

test('each API is remembered separately', async () => {
  const folder = await temporaryFolder();
  await rememberTarget(folder, api, 'partial');
  await rememberTarget(folder, 'https://other.example.com', 'used');
  expect(await lookUpTarget(folder, api)).toEqual({ isNew: false, allowsPartial: true });
  expect(await lookUpTarget(folder, 'https://other.example.com')).toEqual({
    isNew: false,
    allowsPartial: false,
  });
});

test('a damaged file is treated as missing', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'targets.json'), '{"version":1,"targets":[{}');
  expect(await lookUpTarget(folder, api)).toEqual(unknown);
  await rememberTarget(folder, api, 'used');
  expect(await lookUpTarget(folder, api)).toEqual({ isNew: false, allowsPartial: false });
});
