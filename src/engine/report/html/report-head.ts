import { count, counted, exactDuration, perSecond } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { shortened } from '../../../base/text/printable.ts';
import { type Outcome, outcomeText, percentOf } from '../../../domain/terms.ts';
import { factList, type Markup, markup } from './markup.ts';
import type { PageData } from './page-data.ts';
import { outcomesInNeed, rowsInNeed, rowsLeft, verdictOf } from './verdict.ts';

/** Rows that the page can show together: all, those of an outcome, those that need the reader, and unclear ones. */
export type RowGroup = Outcome | 'all' | 'attention' | 'unclear';

/** Further cards are folded. */
const cardsShown = 6;
/** The most characters of an example message; the row has the full text. */
const longestExample = 300;

/** The verdict on a run, and the facts of the run. */
export function reportHead(data: PageData): Markup {
  const { tone, text } = verdictOf(data);
  return markup(
    'header',
    { class: 'head' },
    markup('p', { class: 'brand' }, 'cqbatch'),
    markup('h1', { class: `verdict ${tone}` }, text),
    facts(data),
    leftOut(data),
  );
}

/**
 * The figures of a run, what to do next, and the results by code. Links say which rows they show: `data-show` has a
 * `RowGroup`, and `data-code` a code.
 */
export function reportSummary(data: PageData): Markup {
  return [figures(data), nextSteps(data), resultsByCode(data)];
}

/** The facts of the run: run, manifest, API, times, user and reason. */
function facts({ run, summary }: PageData): Markup {
  const { manifest, started_at, finished_at, retries, retry_of } = summary;
  const entries = [
    ['Run', `${run.id} (${run.state})`],
    ['Manifest', manifest.name],
    ['API', run.baseUrl],
    ['Started', started_at === null ? '' : localTime(started_at)],
    ['Ended', finished_at === null ? '' : localTime(finished_at)],
    ['By', run.by],
    ['Reason', run.purpose],
    ['Retries', retries.join(', ')],
    ['Retry of', retry_of ?? ''],
    ['Written', localTime(run.writtenAt)],
  ] as const;
  return [
    factList(entries),
    run.reason !== undefined && markup('p', { class: 'note' }, `Why the run is ${run.state}: ${run.reason}`),
  ];
}

function leftOut({ summary: { manifest, outcomes: counts } }: PageData): Markup {
  const { left_out = 0 } = manifest;
  const { duplicate, skipped } = counts;
  const parts = [
    duplicate > 0 && counted(duplicate, 'row', ['is a duplicate', 'are duplicates']),
    skipped > 0 && counted(skipped, 'row', ['was skipped', 'were skipped']),
    left_out > 0 && `${counted(left_out, 'row', ['was', 'were'])} left out by --where`,
  ].filter((text) => text !== false);
  return parts.length > 0 && markup('p', { class: 'quiet' }, `Besides: ${parts.join(', ')}.`);
}

/** The figures of the run, each a link to its rows. */
function figures(data: PageData): Markup {
  const { outcomes: counts, unclear, duration_s, rows_per_s, manifest } = data.summary;
  const uncalled = rowsLeft(data);
  const kinds = outcomesInNeed
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => `${count(counts[outcome])} ${outcomeText(outcome)}`);
  return markup(
    'ul',
    { class: 'figures' },
    figure(
      'succeeded',
      count(counts.succeeded),
      'succeeded',
      `${shareOf(counts.succeeded, manifest.rows)} of ${counted(manifest.rows, 'row')}`,
    ),
    figure('attention', count(rowsInNeed(counts)), 'need you', kinds.join(', ')),
    uncalled > 0 && figure('not_attempted', count(uncalled), outcomeText('not_attempted'), ''),
    figure('unclear', count(unclear), 'unclear', unclear === 0 ? '' : 'the change may have been made'),
    markup(
      'li',
      { class: 'duration' },
      markup('b', {}, exactDuration(duration_s * 1_000)),
      markup('span', {}, 'duration'),
      markup('small', {}, rows_per_s === null ? '' : `${perSecond(rows_per_s)} on average`),
    ),
  );
}

/** `87 %`, `<1 %` */
function shareOf(rows: number, all: number): string {
  const percent = percentOf(rows, all);
  return rows > 0 && percent === 0 ? '<1 %' : `${percent} %`;
}

function figure(show: RowGroup, value: string, name: string, detail: string): Markup {
  const parts = [markup('b', {}, value), markup('span', {}, name), markup('small', {}, detail)];
  if (value === '0') return markup('li', {}, ...parts);
  return markup(
    'li',
    { class: show },
    markup('a', { href: '#rows', id: `show ${show}`, 'data-show': show }, ...parts),
  );
}

/** A card for each thing that the reader has to do. */
function nextSteps(data: PageData): Markup {
  const cards = [resumeCard(data), unclearCard(data), ...codeCards(data)].filter(
    (card) => card !== undefined,
  );
  if (cards.length === 0) return undefined;
  const more = cards.slice(cardsShown);
  return markup(
    'section',
    { 'aria-label': 'What to do next' },
    markup('h2', {}, data.run.phase === 'in progress' ? 'Failures so far' : 'What to do next'),
    markup('ul', { class: 'cards' }, ...cards.slice(0, cardsShown)),
    more.length > 0 &&
      markup(
        'details',
        { id: 'more-cards' },
        markup('summary', {}, counted(more.length, 'more code')),
        markup('ul', { class: 'cards' }, ...more),
      ),
  );
}

interface Card {
  readonly chip: Markup;
  readonly texts: readonly (string | undefined)[];
  readonly example?: string | undefined;
  readonly command?: string | undefined;
  readonly link?: Markup;
}

function cardOf({ chip, texts, example, command, link }: Card): Markup {
  return markup(
    'li',
    {},
    markup('h3', {}, chip),
    markup('p', {}, texts.filter(Boolean).join(' ')),
    example !== undefined && markup('p', { class: 'quiet' }, example),
    markup('p', { class: 'do' }, command !== undefined && commandOf(command), link),
  );
}

/** A command, and a button that copies it. Screen readers say which one. */
function commandOf(command: string): Markup {
  const which = markup('span', { class: 'spoken' }, ` ${command}`);
  const copy = markup('button', { type: 'button', 'data-copy': command }, 'Copy', which);
  return markup('span', { class: 'command' }, markup('code', {}, command), copy);
}

function resumeCard({ run, summary: { outcomes: counts } }: PageData): Markup {
  const rows = counts.not_attempted;
  if (run.phase !== 'stopped') return undefined;
  return cardOf({
    chip: `Continue the run: ${counted(rows, 'row', ['is', 'are'])} left`,
    texts: [
      'Mend what stopped the run, then continue it where it stopped. Rows that are done are not called again.',
    ],
    command: run.resume,
    link: rows > 0 && markup('a', { href: '#rows', 'data-show': 'not_attempted' }, 'Show the rows'),
  });
}

/** A card for each code of rows that need the reader or were not called, most frequent first. */
function codeCards({ run, summary, advice }: PageData): readonly Markup[] {
  return summary.codes
    .filter(
      ({ outcome }) =>
        outcomesInNeed.includes(outcome) ||
        // In a stopped run, `resumeCard` is about these rows.
        (run.phase === 'ended' && outcome === 'not_attempted'),
    )
    .toSorted((a, b) => b.count - a.count)
    .map(({ outcome, code, count: rows, message, row }) => {
      const { meaning, remedy, mayPass } = advice[code] ?? {};
      const canRetry = run.phase === 'ended' && outcome !== 'invalid' && mayPass;
      return cardOf({
        chip: [chipOf(outcome, `${count(rows)} ${outcomeText(outcome)}`), ` ${code}`],
        texts: [meaning, remedy],
        example: message === '' ? undefined : `For example row ${row}: ${shortened(message, longestExample)}`,
        command: canRetry ? `cqbatch retry ${run.id} --code ${code}` : undefined,
        link: markup(
          'a',
          { href: '#rows', id: `code ${outcome} ${code}`, 'data-code': code },
          `Show the ${counted(rows, 'row')}`,
        ),
      });
    });
}

function unclearCard({ run, summary: { unclear, unclear_failed: failed } }: PageData): Markup {
  if (unclear === 0) return undefined;
  return cardOf({
    chip: chipOf('unclear', `${count(unclear)} unclear`),
    texts: [
      'The API may have processed an attempt, but no usable answer arrived. If such a row succeeded, the change may have been',
      'made twice. If it failed, the change may have been made. Check these entries in the service before you retry the rows',
      'that failed.',
    ],
    command: run.phase === 'ended' && failed > 0 ? `cqbatch retry ${run.id} --unclear` : undefined,
    link: markup('a', { href: '#rows', 'data-show': 'unclear' }, `Show the ${counted(unclear, 'row')}`),
  });
}

function resultsByCode({ summary: { codes, manifest }, advice }: PageData): Markup {
  if (codes.length === 0) return undefined;
  const cell = (content: Markup, attributes = {}): Markup => markup('td', attributes, content);
  const lines = codes.map(({ outcome, code, count: rows }) =>
    markup(
      'tr',
      {},
      cell(chipOf(outcome, outcomeText(outcome))),
      cell(markup('a', { href: '#rows', 'data-code': code }, code)),
      cell(count(rows), { class: 'number' }),
      cell(shareOf(rows, manifest.rows), { class: 'number' }),
      cell(advice[code]?.meaning),
    ),
  );
  const titles = ['Outcome', 'Code', 'Rows', 'Share', 'Meaning'].map((title) =>
    markup('th', { scope: 'col' }, title),
  );
  return markup(
    'details',
    { id: 'by-code' },
    markup('summary', {}, 'Results by code'),
    markup(
      'div',
      { class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Results by code' },
      markup('table', {}, markup('thead', {}, markup('tr', {}, ...titles)), markup('tbody', {}, ...lines)),
    ),
  );
}

function chipOf(outcome: string, text: string): Markup {
  return markup('span', { class: `outcome ${outcome}` }, text);
}
