import { count, counted } from '../../base/text/format.ts';
import { clockTime } from '../../base/text/local-time.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import type { CheckVerdict } from '../../domain/terms.ts';
import type { EntryReader } from '../../engine/list/entry-reader.ts';
import { changedListText } from '../../engine/list/list-failure.ts';
import { listedWords, type OperationList } from '../../engine/operation/list-definition.ts';
import { checkCounts } from '../../engine/report/html/check.ts';
import { resumeCommand } from '../../engine/report/next-steps.ts';
import type { CheckOfRun } from '../../engine/run/check/check-run.ts';
import { isAsReported } from '../../engine/run/check/check-tally.ts';
import type { RetriedRun } from '../../engine/run/plan/retries.ts';
import { actualState, isResumable } from '../../engine/run/record/record.ts';
import { withWait } from './export.ts';
import { type Style, styled } from './style.ts';

/** The progress of a check: `evaluations: 12 read one by one` */
export function lookingText(list: OperationList, reader: EntryReader): string {
  return withWait(`${listedWords(list)}: ${count(reader.read)} read one by one`, reader);
}

const mostShown = 5;

const styleOf: Readonly<Record<CheckVerdict, Style>> = {
  as_wanted: 'green',
  not_as_wanted: 'red',
  gone: 'red',
  overtaken: 'yellow',
};

function styledVerdict(verdict: CheckVerdict, text: string): string {
  return styled(styleOf[verdict], text);
}

/** A command that calls unclear rows that were not done, and how many. */
interface NextCommand {
  readonly command: string;
  readonly calls: number;
}

export function checkReportText(
  { firstRun }: RetriedRun,
  { check, path }: CheckOfRun,
  next: readonly NextCommand[],
): string {
  const { checked_at, counts } = check;
  const odd = counts.not_as_wanted + counts.gone;
  const shown = check.first.slice(0, mostShown);
  return [
    `Run ${firstRun.id} of ${escapeInvisible(firstRun.manifest.name)}, checked at ${clockTime(new Date(checked_at))}: ${checkCounts(check, styledVerdict)}.`,
    ...shown.map(
      ({ row, entry, check: verdict, there }) =>
        `  row ${count(row)}, ${escapeInvisible(entry)}: ${styledVerdict(verdict, verdict === 'gone' ? 'gone' : escapeInvisible(there))}`,
    ),
    ...(odd > shown.length ? [`  and ${count(odd - shown.length)} more`] : []),
    ...unclearLines(check, next),
    `Wrote ${escapeInvisible(path)}. The entries may have changed since they were read.`,
  ].join('\n');
}

/** How unclear rows ended: `57 of 60 unclear rows were done, 3 were not: cqbatch retry jsur --unclear calls these 3.` */
function unclearLines({ unclear }: CheckOfRun['check'], next: readonly NextCommand[]): readonly string[] {
  const { rows, done, not_done } = unclear;
  if (rows === 0) return [];
  const overtaken = rows - done - not_done;
  const answers = [
    `${count(done)} of ${counted(rows, 'unclear row')} ${done === 1 ? 'was' : 'were'} done`,
    `${count(not_done)} ${not_done === 1 ? 'was' : 'were'} not`,
    ...(overtaken === 0 ? [] : [`${count(overtaken)} ${overtaken === 1 ? 'was' : 'were'} overtaken`]),
  ];
  const commands = next.map(
    ({ command, calls }) =>
      `${command} calls ${calls === not_done ? (calls === 1 ? 'this one' : `these ${count(calls)}`) : `${count(calls)} of these`}`,
  );
  return [`${answers.join(', ')}${commands.length === 0 ? '' : ': '}${commands.join('; ')}.`];
}

/** The commands that call unclear rows that were not done. A resume calls rows without a result, a retry those that failed. */
export function nextCommands(
  { firstRun, retries }: RetriedRun,
  { unclear: { not_done, unfinished } }: CheckOfRun['check'],
): readonly NextCommand[] {
  const stopped = [firstRun, ...retries].find((record) => isResumable(actualState(record))) ?? firstRun;
  return [
    { command: `cqbatch retry ${firstRun.id} --unclear`, calls: not_done - unfinished },
    { command: resumeCommand(stopped), calls: unfinished },
  ].filter(({ calls }) => calls > 0);
}

export function checkWarnings(lists: CheckOfRun['lists']): readonly string[] {
  return lists
    .filter(({ counts }) => counts.repeats > 0)
    .map(
      ({ list, counts }) => `${changedListText(list, counts.repeats)}: check again when it does not change`,
    );
}

export function checkDocument(
  retried: RetriedRun,
  { check, path }: CheckOfRun,
  next: readonly NextCommand[],
): object {
  const { checked_at, counts, unclear, first, succeeded_not_as_wanted } = check;
  return {
    run: retried.firstRun.id,
    retries: retried.retries.map(({ id }) => id),
    checked_at,
    as_reported: isAsReported(check),
    ...counts,
    succeeded_not_as_wanted,
    unclear,
    first: first.map(({ check: verdict, ...row }) => ({ ...row, verdict })),
    file: path,
    next: next.map(({ command }) => command),
  };
}
