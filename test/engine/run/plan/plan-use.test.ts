import { expect, test } from 'vitest';
import { claimPlan, refuseUsedPlan } from '../../../../src/engine/run/plan/plan-use.ts';
import type { RunRecord } from '../../../../src/engine/run/record/record.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { plannedRecord } from '../planned-record.ts';

const sha256 = 'a'.repeat(64);

/** A state folder, and a plan file that some of its runs may carry out. */
async function place() {
  const store = openRunStore(await temporaryFolder(), []);
  const begin = async (id: string, key = `key of ${id}`): Promise<RunRecord> => {
    await store.create(id);
    const planFile = { name: 'week.cqplan', sha256: 'b'.repeat(64), madeAt: '2026-11-20T10:00:00.000Z' };
    const record = { ...plannedRecord, id, key, rows: { sha256, bytes: 1 }, planFile };
    await store.save(record);
    return record;
  };
  const refusal = (runId?: string) =>
    refuseUsedPlan(store, { file: 'copy.cqplan', planned: { digest: { sha256 } } } as never, runId);
  return { store, begin, refusal };
}

const usedBy = (run: string) => ({
  kind: 'usage',
  code: 'PLAN_USED',
  message: expect.stringContaining(`run ${run},`),
});

test('a plan may be run until a run has it, and is then refused with the name of that run', async () => {
  const { begin, refusal } = await place();
  await refusal();
  await begin('monday');
  await expect(refusal('tuesday')).rejects.toMatchObject(usedBy('monday'));
  await expect(refusal()).rejects.toMatchObject(usedBy('monday'));
  // An existing run under that name is continued, or refused as existing.
  await refusal('monday');
});

test('of two runs that began with one plan at the same time, the first to start keeps it', async () => {
  const { store, begin } = await place();
  const [one, other] = [await begin('one'), await begin('other')];
  await claimPlan(store, one);
  await claimPlan(store, one);
  await expect(claimPlan(store, other)).rejects.toMatchObject(usedBy('one'));
});

test('a plan whose run was pruned is not run again, not even under the same name', async () => {
  const { store, begin, refusal } = await place();
  await claimPlan(store, await begin('monday'));
  await store.discard('monday');
  for (const id of ['monday', 'tuesday']) await expect(refusal(id)).rejects.toMatchObject(usedBy('monday'));
  await expect(claimPlan(store, await begin('monday', 'another key'))).rejects.toMatchObject(
    usedBy('monday'),
  );
});

test('a run without a plan file claims nothing', async () => {
  const { store, begin, refusal } = await place();
  const { planFile: _, ...record } = await begin('monday');
  await store.save(record);
  await claimPlan(store, record);
  await refusal('tuesday');
});
