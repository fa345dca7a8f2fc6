import { count, counted, duration, rateText } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { factList, type Markup, markup, withWholeOptions } from '../html/markup.ts';
import { callCount, deedsText, planGroups } from './plan-groups.ts';
import type { PlanPageData } from './plan-page-data.ts';
import { lastingText, undoableText } from './undo-texts.ts';

/** The verdict on a plan, in words: `40 calls will restore 20 evaluations and update 20 soundboards.` */
export function planVerdict({ refusals, operations }: Pick<PlanPageData, 'refusals' | 'operations'>): string {
  const calls = callCount(operations);
  if (calls === '0 calls')
    return refusals.length > 0 ? 'Not ready: nothing to call.' : 'Nothing will be called.';
  const deeds = deedsText(operations);
  return refusals.length > 0
    ? `Not ready: nothing is sent. As it is, ${calls} would ${deeds}.`
    : `${calls} will ${deeds}.`;
}

/** The head of a plan's page: what will happen, where, for how long, what is wrong, and what can be undone. */
export function planHead(data: PlanPageData): Markup {
  const isReady = data.refusals.length === 0;
  return markup(
    'header',
    { class: 'head' },
    markup('p', { class: 'brand' }, `Plan of ${data.source.name}`),
    markup('h1', { class: `verdict ${isReady ? 'working' : 'bad'}` }, planVerdict(data)),
    data.refusals.map((text) => markup('p', { class: 'note refusal' }, withWholeOptions(text))),
    targetFacts(data),
    markup('div', { class: 'points' }, factList(pointsOf(data))),
    warnings(data),
    chips(data),
  );
}

function targetFacts({ target: api, operations }: PlanPageData): Markup {
  if (api === undefined)
    return markup(
      'p',
      { class: 'target unknown' },
      `${callCount(operations)}, and no address: pass --base-url, or set CQBATCH_BASE_URL.`,
    );
  const { baseUrl, rateGroup, isNew, proxy } = api;
  const more = [
    rateGroup !== undefined && `rate group ${rateGroup}`,
    proxy !== undefined && `through the proxy ${proxy}`,
    isNew && 'first run against this address from this state folder',
  ].filter((text) => text !== false);
  return markup(
    'p',
    { class: isNew ? 'target new' : 'target' },
    `${callCount(operations)} to `,
    markup('b', {}, baseUrl),
    ...more.map((text) => ` · ${text}`),
  );
}

function pointsOf(data: PlanPageData): readonly (readonly [name: string, text: string])[] {
  const { earlier, leftOut, compared = [] } = data;
  const lists = compared.map(({ list, listed }) => `${count(listed)} ${list} that are listed`);
  return [
    ['Takes', timeText(data)],
    ['Can be undone', undoableText(data)],
    ['Can’t be undone', lastingText(data)],
    ['Compared with', lists.join(', ')],
    ['Left out by --where', leftOut === 0 ? '' : counted(leftOut, 'row')],
    ['Ran before', earlier === undefined ? '' : `as ${earlier.id} (${earlier.state})`],
  ];
}

function timeText({ rate, operations }: PlanPageData): string {
  const calls = operations.reduce((sum, operation) => sum + operation.calls, 0);
  if (calls === 0) return '';
  if (rate === undefined) return 'as long as the API’s limits make it';
  const time = `about ${duration(Math.ceil(calls / rate.perSecond))} at ${rateText(rate.perSecond, 'calls')}`;
  return rate.isWanted ? time : `${time}, if the API permits as much as last time`;
}

/** Links to groups of rows: the attribute `data-show` has a `PlanGroup`. */
function chips(data: PlanPageData): Markup {
  const items = planGroups(data).map(({ group, rows, name, tone }) => {
    const [number = ''] = counted(rows, 'row').split(' ');
    const link = { href: '#rows', id: `show ${group}`, 'data-show': group };
    return markup('li', { class: tone }, markup('a', link, markup('b', {}, number), ` ${name}`));
  });
  return markup('ul', { class: 'ledger', 'aria-label': 'Show rows' }, ...items);
}

function warnings({ warnings: texts }: PlanPageData): Markup {
  if (texts.length === 0) return undefined;
  return markup(
    'ul',
    { class: 'note warnings', 'aria-label': 'Warnings' },
    ...texts.map((text) => markup('li', {}, `Warning: ${text}`)),
  );
}

/**
 * The end of a plan's page: what was planned, and how to run exactly this.
 *
 * @param timeOf shows a time, ISO 8601 UTC
 */
export function planEnd(
  { source, end, refusals, madeAt, madeBy, keptColumns }: PlanPageData,
  timeOf: (time: string) => Markup = localTime,
): Markup {
  const { sha256, of, command, note } = end;
  return markup(
    'section',
    { 'aria-label': 'This plan' },
    markup('h2', {}, 'This plan'),
    command !== undefined &&
      markup(
        'p',
        { class: 'do' },
        refusals.length > 0 && 'Correct it, then plan again: ',
        textWithCopyButton(command, 'command'),
      ),
    note !== undefined && markup('p', { class: 'quiet' }, withWholeOptions(note)),
    markup('p', { class: 'do' }, `SHA-256 of ${of}`, textWithCopyButton(sha256, 'SHA-256')),
    factList([
      [
        'Manifest',
        [source.name, source.format.toUpperCase(), source.sheet && `sheet ${source.sheet}`]
          .filter(Boolean)
          .join(', '),
      ],
      ['Only kept for the report', keptColumns.join(', ')],
      ['Made', [timeOf(madeAt), madeBy && ` by ${madeBy}`]],
    ]),
  );
}

function textWithCopyButton(text: string, what: string): Markup {
  const spoken = markup('span', { class: 'spoken' }, ` ${what}`);
  const copy = markup('button', { type: 'button', id: `copy ${what}`, 'data-copy': text }, 'Copy', spoken);
  return markup('span', { class: 'command' }, markup('code', {}, text), copy);
}
