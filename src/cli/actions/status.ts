import { type Outcome, outcomes } from '../../domain.ts';
import { actualState, isResumable, type RunRecord } from '../../run/record.ts';
import { openRunStore } from '../../run/store.ts';
import { type CommonFlags, stateDirOf } from '../config/load.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { count, indented, perSecond, table } from '../render/words.ts';
import { openTerminal } from '../terminal.ts';
import { withJournalReader } from './look.ts';

/** `cqbatch status`: where a run stands, from its folder alone. */
export async function status(id: string | undefined, flags: CommonFlags): Promise<ExitCode> {
  const terminal = openTerminal(flags);
  const store = openRunStore(stateDirOf(flags));
  const record = await store.load(id);
  const { counts, unclear, codes } = await withJournalReader(store, record, (journal) => ({
    counts: journal.outcomeCounts,
    unclear: journal.unclearCount,
    codes: journal.codeCounts,
  }));
  const done = outcomes.reduce((sum, outcome) => sum + counts[outcome], 0);
  terminal.result(
    {
      run: record.id,
      state: actualState(record),
      manifest: record.manifest.name,
      base_url: record.options.baseUrl,
      rows: record.plan.rows,
      done,
      outcomes: counts,
      unclear,
      codes: codes.map(({ outcome, code, count: rows }) => ({ outcome, code, count: rows })),
      rate_per_s: rateSoFar(record, counts) ?? null,
      process:
        actualState(record) === 'running' ? { pid: record.process?.pid, host: record.process?.host } : null,
      states: record.states,
      retry_of: record.retryOf ?? null,
    },
    statusText(record, counts, done),
  );
  return exitCodes.success;
}

function statusText(record: RunRecord, counts: Readonly<Record<Outcome, number>>, done: number): string {
  const state = actualState(record);
  const { rows } = record.plan;
  const rate = rateSoFar(record, counts);
  const reason = record.states.at(-1)?.reason;
  const facts = [
    ['manifest', record.manifest.name],
    ['API', record.options.baseUrl],
    ['done', `${count(done)} of ${count(rows)} rows (${Math.floor((done / Math.max(rows, 1)) * 100)} %)`],
    ...outcomes
      .filter((outcome) => counts[outcome] > 0)
      .map((outcome) => ['', `${count(counts[outcome])} ${outcome.replace('_', ' ')}`]),
    ...(rate === undefined ? [] : [['rate', `${perSecond(rate)} on average`]]),
    ...(state === 'running' ? [['process', `${record.process?.pid} on ${record.process?.host}`]] : []),
    ...(reason === undefined ? [] : [['reason', reason]]),
    ...(isResumable(state) ? [['next', `cqbatch resume ${record.id}`]] : []),
  ];
  return `Run ${record.id} ${state}\n${indented(table(facts))}`;
}

/** Rows called per second of the latest time that the run was at work; that of a resumed run counts from then on. */
function rateSoFar({ states }: RunRecord, counts: Readonly<Record<Outcome, number>>): number | undefined {
  const runningTimes = states.filter(({ state }) => state === 'running');
  const [first] = runningTimes;
  if (first === undefined || runningTimes.length > 1) return undefined;
  const end = states.at(-1)?.state === 'running' ? Date.now() : Date.parse(states.at(-1)?.at ?? first.at);
  const seconds = (end - Date.parse(first.at)) / 1_000;
  return seconds > 0 ? (counts.succeeded + counts.failed) / seconds : undefined;
}
