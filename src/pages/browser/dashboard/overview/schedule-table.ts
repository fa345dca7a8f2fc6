import type { RunData, ScheduleData } from '../../../server/page-data.ts';
import { occasionParts } from '../../../server/schedule-data.ts';
import { type Child, element } from '../../dom.ts';
import { stateText, timeElement } from '../run-parts.ts';
import { stackedTable } from './stacked-table.ts';

type Occasion = NonNullable<ScheduleData['last']>;

/** @param runOf a run of the page, by its id */
export function scheduleTable(
  schedules: readonly ScheduleData[],
  runOf: (id: string) => RunData | undefined,
): HTMLElement {
  return stackedTable(
    'Schedules',
    ['Schedule', 'Next', 'When', 'Last', 'Source'],
    schedules.map(({ name, cron, tz, paused, next, last, lastWithRuns, refused, source }) => [
      name,
      paused ? stateText({ text: 'paused', kind: 'paused' }) : timeList(next),
      `${cron} (${tz})`,
      last === undefined
        ? 'not due yet'
        : [
            occasion(last, runOf),
            lastWithRuns !== undefined && occasion(lastWithRuns, runOf),
            earlierRefusals(refused, [last, lastWithRuns]),
          ],
      'manifest' in source ? source.manifest : `inbox ${source.inbox}`,
    ]),
  );
}

function timeList(times: readonly string[]): Child {
  if (times.length === 0) return 'never';
  return element(
    'ul',
    { class: 'times' },
    times.map((time) => element('li', timeElement(time))),
  );
}

/** What came of an occasion: `20:18 often-… 3 failed, bad.csv refused`. */
function occasion(entry: Occasion, runOf: (id: string) => RunData | undefined): HTMLElement {
  const due = ('until' in entry && entry.until) || entry.due;
  const parts = occasionParts(entry, runOf).map(({ text, kind, run }): Child => {
    const link = run !== undefined && [' ', element('a', { href: `#run=${run}` }, run)];
    return [link, ' ', kind === undefined ? text : stateText({ text, kind })];
  });
  return element('p', timeElement(due), parts);
}

/** The files that no person has dismissed, and that are not among those of the shown occasions. */
function earlierRefusals(
  refused: ScheduleData['refused'],
  shown: readonly (Occasion | undefined)[],
): readonly Child[] {
  const isShown = ({ name, at }: (typeof refused)[number]): boolean =>
    shown.some((entry) => entry?.result === 'began' && entry.at === at && entry.refused?.includes(name));
  return refused
    .filter((file) => !isShown(file))
    .map(({ name, at }) =>
      element('p', timeElement(at), ' ', stateText({ text: `${name} refused`, kind: 'failed' })),
    );
}
