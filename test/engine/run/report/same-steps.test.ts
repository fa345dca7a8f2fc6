import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { escapeInvisible } from '../../../../src/base/text/printable.ts';
import { stepLines } from '../../../../src/cli/render/summary.ts';
import type { RowResult } from '../../../../src/domain/row-result.ts';
import { commandsOf } from '../../../../src/engine/report/next-steps.ts';
import { factsOfRecord } from '../../../../src/engine/run/facts/make-facts.ts';
import type { RunRecord, RunState } from '../../../../src/engine/run/record/record.ts';
import { withJournalReader } from '../../../../src/engine/run/record/run-journal.ts';
import { pageOfRun, rewriteReport } from '../../../../src/engine/run/report/report-run.ts';
import { type Cells, endedRetry, endedRun } from '../plan/ended-run.ts';

const failed = (code: string, message = '', more: Partial<RowResult> = {}): Partial<RowResult> => ({
  outcome: 'failed',
  code,
  message,
  ...more,
});

const rows: readonly Cells[] = [1, 2, 3, 4, 5].map((id) => ({ evaluation_id: id, user_id: 'u' }));

const others = {
  1: failed('FAILED_PRECONDITION', 'evaluation 1 is not deleted'),
  2: failed('NOT_FOUND', 'no <b>evaluation</b> 2 \u001b[2J'),
  3: failed('UNAVAILABLE', '', { unclear: true }),
};

const rowToSee = { row: 1, failure: { code: 'FAILED_PRECONDITION', message: 'evaluation 1 is not deleted' } };

function because(record: RunRecord, more: Partial<RunRecord['states'][number]>): RunRecord {
  const [last, ...before] = record.states.toReversed();
  return last === undefined ? record : { ...record, states: [...before.toReversed(), { ...last, ...more }] };
}

test.each<readonly [RunState, Record<number, Partial<RowResult> | null>, readonly string[]]>([
  ['completed', others, ['check r', 'retry r --transient', 'run FILE']],
  [
    'halted',
    { ...others, 5: null },
    ['show r --row 1', 'check r', 'resume r', 'retry r --transient', 'run FILE'],
  ],
  ['cancelled', { 5: null }, ['undo r']],
])(
  'terminal, JSON, report and dashboard show the same steps after a run that is %s',
  async (state, results, commands) => {
    const ended = await endedRun(rows, { state, others: results });
    const { store } = ended;
    const record = state === 'halted' ? because(ended.record, { because: 'guard', rowToSee }) : ended.record;
    const { steps, paths } = await rewriteReport(store, record);
    const named = commands.map((words) =>
      `cqbatch ${words}`.replace(/\br\b(?=$| --)/, record.id).replace('FILE', paths.correct ?? ''),
    );
    expect(commandsOf(steps)).toEqual(named);

    const page = await readFile(paths.html ?? '', 'utf8');
    const [, json = ''] = /id="content">(.*?)<\/script>/s.exec(page) ?? [];
    expect(JSON.parse(json).data.steps).toEqual(steps);
    const head = page.slice(0, page.indexOf('id="content"'));
    const titles = [...head.matchAll(/<h3>(.*?)<\/h3>/g)].map(([, title]) => title);
    expect(titles).toEqual(steps.map(({ title }) => title));

    const dashboard = await withJournalReader(store, record, (journal) => pageOfRun(store, record, journal));
    expect(dashboard.data.steps).toEqual(steps);
    const { local } = await factsOfRecord(store, record, undefined);
    const known = steps.map(({ title, first, command }) => [title, first, command]);
    expect(local?.steps.map(({ title, first, command }) => [title, first, command])).toEqual(
      state === 'halted' ? known : [],
    );

    const told = stepLines(steps).join('\n');
    for (const { title, command = '' } of steps) {
      expect(told).toContain(escapeInvisible(title));
      expect(told).toContain(command);
    }
  },
);

test('a message of the API is shown as text', async () => {
  const { store, record } = await endedRun(rows, { state: 'halted', others });
  const told = { row: 2, failure: { code: 'NOT_FOUND', message: others[2].message ?? '' } };
  const { steps, paths } = await rewriteReport(store, because(record, { because: 'guard', rowToSee: told }));
  expect(stepLines(steps)[0]).toContain('Next: Look at row 2: no <b>evaluation</b> 2 \\u001b[2J');
  expect(await readFile(paths.html ?? '', 'utf8')).toContain('<h3>Look at row 2: no &#60;b&#62;evaluation');
});

test('a hint says that an earlier run may have done what is refused as done', async () => {
  const { store, record } = await endedRun(rows, { state: 'halted', others });
  const { steps } = await rewriteReport(store, because(record, { because: 'guard', rowToSee }));
  expect(steps[0]?.text).toContain('An earlier run may have done these rows');
});

test('retries change what is left to do', async () => {
  const { store, record } = await endedRun(rows, { others: { 3: failed('UNAVAILABLE') } });
  const retry = await endedRetry(store, record, { others: { 1: failed('UNAVAILABLE') } });
  expect(commandsOf((await rewriteReport(store, retry)).steps)).toEqual([
    `cqbatch retry ${retry.id} --transient`,
    `cqbatch report ${retry.id} --with-retries`,
  ]);
});

test('commands on the page are those of the run, with what leads to its state folder', async () => {
  const ended = await endedRun(rows, { state: 'halted', others: { ...others, 5: null } });
  const completed = (text: string): string => text.replaceAll(/cqbatch (\w+)/g, 'cqbatch $1 --state-dir s');
  const store = { ...ended.store, completed };
  const record = { ...ended.record, submitted: true };
  const { steps, paths } = await rewriteReport(store, record);
  const { id } = record;
  expect(commandsOf(steps)).toEqual([
    `cqbatch check --state-dir s ${id}`,
    `cqbatch resume --state-dir s ${id} --submit`,
    `cqbatch retry --state-dir s ${id} --transient`,
    `cqbatch submit --state-dir s ${paths.correct}`,
  ]);
  const page = await readFile(paths.html ?? '', 'utf8');
  const [, json = ''] = /id="content">(.*?)<\/script>/s.exec(page) ?? [];
  const { UNAVAILABLE, HALTED } = JSON.parse(json).data.advice;
  expect(UNAVAILABLE.remedy).toContain(`"cqbatch retry --state-dir s ${id} --transient"`);
  expect(HALTED.remedy).toContain(`"cqbatch resume --state-dir s ${id} --submit"`);
});
