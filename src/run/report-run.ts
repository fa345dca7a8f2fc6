import { findOperation } from '../../jobs/index.ts';
import type { JournalView } from '../journal/journal.ts';
import type { Unfinished } from '../report/join-results.ts';
import { type RateHistory, readRateHistory } from '../report/rate-history.ts';
import type { RunFacts } from '../report/summary.ts';
import { type WrittenReports, writeReports } from '../report/write-reports.ts';
import { actualState, goesOnByItself, type RunRecord } from './record.ts';
import { timeAtWork } from './record-keeper.ts';
import { openManifestCopy } from './run-manifest.ts';
import type { RunStore } from './store.ts';

/** Writes the report files of a run from its manifest and its journal, also while it is going on. */
export async function reportRun(
  store: RunStore,
  record: RunRecord,
  journal: JournalView,
): Promise<WrittenReports> {
  const folder = store.folder(record.id);
  const { manifest, prepare } = await openManifestCopy(store, record);
  return writeReports({
    folder,
    rows: manifest.rows(),
    columns: record.plan.columns,
    clearToken: record.options.clearToken,
    defaults: prepare.defaults,
    fieldOf: prepare.fieldOf,
    operations: record.plan.operations.map(findOperation).filter((operation) => operation !== undefined),
    operationOf: (row) => {
      const prepared = prepare(row);
      return prepared.kind === 'callable' ? prepared.operation.name : (prepared.operation ?? '');
    },
    journal,
    run: { ...factsOf(record, journal), ...rateOf(await readRateHistory(folder)) },
    unfinished: unfinishedBecause(record),
  });
}

function rateOf(history: RateHistory | undefined): Pick<RunFacts, 'rate'> {
  if (history === undefined) return {};
  const { wanted, limit_per_s, waited_s, rejected, series } = history;
  return { rate: { wanted, limit_per_s, waited_s, rejected, series } };
}

function unfinishedBecause(record: RunRecord): Unfinished {
  if (goesOnByItself(record)) return 'pending';
  return record.state === 'cancelled' || record.state === 'halted' ? record.state : 'interrupted';
}

function factsOf(record: RunRecord, journal: JournalView): RunFacts {
  const startedAt = record.states.find(({ state }) => state === 'running')?.at;
  const last = record.states.at(-1);
  const ended = startedAt !== undefined && last?.state !== 'running' && !goesOnByItself(record);
  return {
    id: record.id,
    state: actualState(record),
    manifest: { name: record.manifest.name, sha256: record.manifest.sha256 },
    ...(startedAt !== undefined && { startedAt }),
    ...(ended && last !== undefined && { finishedAt: last.at }),
    activeMs: timeAtWork(record, journal.lastFinishedAt),
  };
}
