import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sumOf } from '../../../src/manifest/check/row-counts.ts';
import { readApprovedPlan, writeApprovedPlan } from '../../../src/run/plan/approved-plan.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { leastOptions } from '../planned-record.ts';

async function written() {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'plans'));
  const source = join(folder, 'rows.csv');
  await writeFile(source, 'evaluation_id,user_id\n1,u\n');
  const file = join(folder, 'plans', 'week.cqplan');
  const plan = await writeApprovedPlan(file, {
    source,
    options: { ...leastOptions, operation: 'of "the boss"\u2028' },
    counts: { ...sumOf([]), rows: 1, callable: 1 },
    skip_invalid: false,
    allow_partial: true,
  });
  return { folder, source, file, plan };
}

test('a plan is read back as it was written', async () => {
  const { file, plan, source } = await written();
  expect(await readApprovedPlan(file)).toEqual(plan);
  expect(plan).toMatchObject({ source, options: { operation: 'of "the boss"\u2028' }, allow_partial: true });
  expect(plan.manifest).toMatchObject({ path: '../rows.csv', bytes: 26 });
});

test('a plan is readable text, in this order', async () => {
  const { file } = await written();
  expect(await readFile(file, 'utf8')).toContain('\\"the boss\\"\\u2028');
});

test('a plan with any changed character is refused, except blanks between its words', async () => {
  const { file } = await written();
  const text = await readFile(file, 'utf8');
  await fc.assert(
    fc.asyncProperty(
      fc.nat(text.length - 1),
      fc.constantFrom('0', '7', 'x', '"', ' ', '}', ''),
      async (at, put) => {
        const changed = text.slice(0, at) + put + text.slice(at + 1);
        let isSame = false;
        try {
          isSame = JSON.stringify(JSON.parse(changed)) === JSON.stringify(JSON.parse(text));
        } catch {}
        await writeFile(file, changed);
        const reading = readApprovedPlan(file);
        if (isSame) await expect(reading).resolves.toBeDefined();
        else await expect(reading).rejects.toMatchObject({ kind: 'usage' });
      },
    ),
    { numRuns: 100 },
  );
});

test('a manifest that differs in one byte is refused', async () => {
  const { file, source } = await written();
  await writeFile(source, 'evaluation_id,user_id\n2,u\n');
  await expect(readApprovedPlan(file)).rejects.toMatchObject({ code: 'MANIFEST_CHANGED' });
});

test('the manifest is also found beside the plan, and named when it is missing', async () => {
  const { folder, file, source } = await written();
  const beside = join(folder, 'plans', 'rows.csv');
  await rename(source, beside);
  expect(await readApprovedPlan(file)).toMatchObject({ source: beside });
  await rename(beside, join(folder, 'elsewhere.csv'));
  await expect(readApprovedPlan(file)).rejects.toMatchObject({
    code: 'MANIFEST_NOT_FOUND',
    message: expect.stringContaining('put rows.csv into the same folder'),
  });
});

test('a plan is never replaced', async () => {
  const { file, source, plan } = await written();
  const again = writeApprovedPlan(file, {
    ...plan,
    source,
    counts: { ...plan.counts, conflicts: 0, doneBefore: 0 },
  });
  await expect(again).rejects.toMatchObject({ code: 'PLAN_EXISTS' });
  expect(await readApprovedPlan(file)).toEqual(plan);
});

test.each(['', '[]', '{}', 'null', '{"sha256":"x"}', '{"sha256":"x","cqplan":2}'])(
  'text that is not a plan is refused: %s',
  async (text) => {
    const file = join(await temporaryFolder(), 'week.cqplan');
    await writeFile(file, text);
    await expect(readApprovedPlan(file)).rejects.toMatchObject({ code: 'PLAN_UNREADABLE' });
  },
);

test('a missing plan is a usage error, like a missing manifest', async () => {
  const file = join(await temporaryFolder(), 'x.cqplan');
  await expect(readApprovedPlan(file)).rejects.toMatchObject({ kind: 'usage', code: 'PLAN_NOT_FOUND' });
});
