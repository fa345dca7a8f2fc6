import { expect, test } from 'vitest';
import { auditDocument } from '../../../../src/cli/render/audit.ts';
import { statusDocument } from '../../../../src/cli/render/status.ts';
import { briefOfEntry, briefOfRecord, factsOfEntry } from '../../../../src/engine/run/facts/make-facts.ts';
import { runDocument, selectMembers } from '../../../../src/engine/run/facts/run-document.ts';
import type { RunFacts } from '../../../../src/engine/run/facts/run-facts.ts';
import { runEntry } from '../../../helpers/cluster-entries.ts';
import { runFacts } from '../../../helpers/run-facts.ts';
import { plannedRecord } from '../planned-record.ts';

const wait = { of: 'user', text: 'until it is unpaused', reason: 'lunch' } as const;
const local = { states: [], steps: [], isShared: false, activeMs: 61_400, unclear: 2, retryOf: 'before' };

test.each<[what: string, facts: RunFacts]>([
  ['a run of this machine that waits', runFacts({ state: 'paused', wait, local, rateGroup: 'acme' })],
  ['a run of another machine', factsOfEntry(runEntry({ waiting: 'Redis has no memory left' }), undefined)],
])('status and show agree about %s', (_what, facts) => {
  const audit = { record: plannedRecord, facts, folder: 'f', retries: [], undos: [] };
  const [status, shown] = [statusDocument(facts), auditDocument(audit)].map((each) => Object.entries(each));
  const both = shown?.filter(([name]) => status?.some(([other]) => other === name)) ?? [];
  // The manifest of `show` has its digest, too. The record of this test is that of another run.
  const same = both.filter(([name]) => !['manifest', 'retry_of'].includes(name));
  expect(same.map(([name]) => name)).toEqual([
    ...['run', 'state', 'because', 'waiting', 'base_url', 'outcomes', 'unclear', 'codes'],
  ]);
  expect(Object.fromEntries(status ?? [])).toMatchObject(Object.fromEntries(same));
});

test('a run whose journal is unreadable has null in place of counts', () => {
  const counts = ['done', 'outcomes', 'succeeded', 'failed', 'unclear', 'codes', 'duration_s'] as const;
  const document = selectMembers(runDocument(briefOfRecord(plannedRecord)), counts);
  expect(document).toEqual(Object.fromEntries(counts.map((name) => [name, null])));
});

test('a run has a rate group in its document only if it has one', () => {
  expect(runDocument(runFacts({ rateGroup: 'acme' }))).toMatchObject({ rate_group: 'acme' });
  expect(selectMembers(runDocument(runFacts()), ['run', 'rate_group'])).toEqual({ run: 'monthly' });
});

test('record and entry of a run give the same brief facts', () => {
  const { id, manifest, options, plan } = plannedRecord;
  const rate = { text: '20/s', perSecond: 20, auto: false };
  const record = { ...plannedRecord, options: { ...options, rate, priority: 'high' } } as const;
  const entry = runEntry({
    id,
    manifest: manifest.name,
    baseUrl: options.baseUrl,
    rows: plan.rows,
    state: 'planned',
    startedAt: '',
    priority: 'high',
    rate,
  });
  expect(briefOfEntry(entry)).toEqual(briefOfRecord(record));
});
