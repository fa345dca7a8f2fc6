import { expect, test } from 'vitest';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { openDraftStore } from '../../../../src/pages/server/start/draft-store.ts';
import { settledIfStarted } from '../../../../src/pages/server/start/started-draft.ts';
import { plannedRecord } from '../../../engine/run/planned-record.ts';
import { planned, startedDashboard } from './started-dashboard.ts';

const run = `rows-${planned.plan_sha256?.slice(0, 8)}`;

/** A dashboard with a planned draft, whose plan can be submitted without the draft noting it. */
async function place() {
  const dashboard = await startedDashboard();
  const { stateDir, upload, post, enter } = dashboard;
  const session = await enter();
  const { id } = (await upload('rows.csv', 'evaluation_id\n1\n', session)).json();
  const ask = async (what: 'plan' | 'start' | 'discard', body: object = {}) =>
    post(`/drafts/${id}/${what}`, body, session);
  await ask('plan');
  const store = openRunStore(stateDir, []);
  const drafts = openDraftStore(stateDir);
  const submitUnnoted = async (sha256 = planned.plan_sha256 ?? '') => {
    await store.create(run);
    const planFile = { name: 'rows.cqplan', sha256, madeAt: '2026-11-20T10:00:00.000Z' };
    await store.save({ ...plannedRecord, id: run, planFile });
  };
  return { ...dashboard, id, ask, store, drafts, submitUnnoted };
}

test('a plan that was submitted before the dashboard was killed is not made again, which would call its rows twice', async () => {
  const { ask, submitUnnoted, asked } = await place();
  await submitUnnoted();
  asked.length = 0;
  expect((await ask('plan', { skipInvalid: true })).json()).toMatchObject({ run });
  expect((await ask('start', {})).json()).toMatchObject({ run });
  expect(asked).toEqual([]);
});

test('a dashboard that starts notes the runs that an earlier one submitted', async () => {
  const { id, drafts, store, submitUnnoted } = await place();
  await submitUnnoted();
  await startedDashboard({ stateDir: store.stateDir });
  expect(await drafts.load(id)).toMatchObject({ run });
});

test('a draft is not that of a run whose id is the same by chance', async () => {
  const { id, drafts, store, submitUnnoted } = await place();
  await submitUnnoted(planned.plan_sha256?.replace(/.$/, 'b'));
  const draft = await drafts.load(id);
  expect(await settledIfStarted(draft, drafts, store)).toEqual(draft);
});

test('a draft that another process starts just now is neither planned nor started', async () => {
  const { ask, store, asked } = await place();
  await store.create(run);
  asked.length = 0;
  for (const what of ['plan', 'start'] as const) {
    const answer = await ask(what);
    expect([answer.statusCode, answer.json().message]).toEqual([503, expect.stringContaining(`Run ${run}`)]);
  }
  expect(asked).toEqual([]);
});

test('a draft is planned, started and removed by one dashboard at a time', async () => {
  const { id, ask, drafts, asked } = await place();
  asked.length = 0;
  await drafts.alone(id, async () => {
    for (const what of ['plan', 'start', 'discard'] as const) {
      const answer = await ask(what);
      expect([answer.statusCode, answer.json().message], what).toEqual([
        503,
        expect.stringContaining('This draft is in use by'),
      ]);
    }
  });
  expect(asked).toEqual([]);
  expect((await ask('discard')).statusCode).toBe(200);
  await expect(drafts.load(id)).rejects.toThrow('gone');
});
