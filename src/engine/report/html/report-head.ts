import { count, counted, duration, exactDuration, rateText } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { outcomes, outcomeText } from '../../../domain/terms.ts';
import { checkOf } from './check.ts';
import { factList, type Markup, markup } from './markup.ts';
import { stepList, stepsText } from './next-steps.ts';
import type { PageData } from './page-data.ts';
import { resultsByCode } from './results-by-code.ts';
import { countOf, groupLink } from './row-groups.ts';
import { verdictOf } from './verdict.ts';

/** The head of a report. @param timeOf shows a time, ISO 8601 UTC */
export function reportHead(data: PageData, timeOf: (time: string) => Markup = localTime): Markup {
  const { tone, text } = verdictOf(data);
  return markup(
    'header',
    { class: 'head' },
    markup('p', { class: 'brand' }, 'cqbatch'),
    markup('h1', { class: `verdict ${tone}` }, text),
    facts(data, timeOf),
  );
}

/** Links say which rows they show: `data-show` has a `RowGroup`, `data-code` a code, `data-message` a message of the code. */
export function reportSummary(data: PageData): Markup {
  const copied = { type: 'button', id: 'copy', 'data-copy': summaryToCopy(data) };
  const sums = markup('div', { class: 'sums' }, ledgerMarkup(data), markup('button', copied, 'Copy summary'));
  return [sums, stepList(data), checkOf(data), resultsByCode(data)];
}

function facts({ run, summary }: PageData, timeOf: (time: string) => Markup): Markup {
  const { manifest, started_at, finished_at, retries, retry_of, duration_s, rows_per_s } = summary;
  const entries = [
    ['Run', `${run.id} (${run.state})`],
    ['Manifest', manifest.name],
    ['API', run.baseUrl],
    ['Started', started_at !== null && timeOf(started_at)],
    ['Ended', finished_at !== null && timeOf(finished_at)],
    ['Duration', [duration(duration_s), ...stopTexts(run)].join(', ')],
    ['Rate', !rows_per_s ? '' : `${rateText(rows_per_s, 'rows')} on average`],
    ['By', run.by],
    ['Reason', run.purpose],
    ['Retries', retries.join(', ')],
    ['Retry of', retry_of ?? ''],
    ['Written', run.writtenAt !== '' && timeOf(run.writtenAt)],
  ] as const;
  return [
    factList(entries),
    run.reason !== undefined && markup('p', { class: 'note' }, `Why: ${run.reason}`),
  ];
}

/** How long the run was stopped, which its duration leaves out: `48 s paused`. */
function stopTexts({ stops }: PageData['run']): readonly string[] {
  const times = new Map<string, number>();
  for (const { from, to, state } of stops)
    times.set(state, (times.get(state) ?? 0) + Date.parse(to) - Date.parse(from));
  return [...times].map(([state, ms]) => `${exactDuration(ms)} ${state}`);
}

/** The counts of the outcomes, which add up to all rows. */
function ledgerMarkup(data: PageData): Markup {
  const { rows, left_out = 0 } = data.summary.manifest;
  const parts = ledgerParts(data).map(({ outcome, number, name, unclear }) => {
    const part = unclear !== undefined && [' (', groupLink(`${outcome} unclear`, unclear), ')'];
    return markup('li', { class: outcome }, groupLink(outcome, markup('b', {}, number), ` ${name}`), part);
  });
  const [number = '', name] = counted(rows, 'row').split(' ');
  const leftOut = left_out > 0 && `, ${count(left_out)} more left out by --where`;
  const all = markup('li', {}, '= ', groupLink('all', markup('b', {}, number), ` ${name}`), leftOut);
  return markup('ul', { class: 'ledger', 'aria-label': 'Rows by outcome' }, ...parts, all);
}

/** The counts of a run and its next steps as plain text, which a reader copies into a message. */
export function summaryToCopy(data: PageData): string {
  const { run, summary } = data;
  const parts = ledgerParts(data).map(({ number, name, unclear }) =>
    [number, name, unclear && `(${unclear})`].filter(Boolean).join(' '),
  );
  return [
    verdictOf(data).text,
    `${parts.join(', ')} = ${counted(summary.manifest.rows, 'row')}`,
    ...stepsText(data),
    `Run ${run.id} of ${summary.manifest.name}, ${run.baseUrl}`,
  ].join('\n');
}

function ledgerParts(data: PageData) {
  return outcomes
    .filter((outcome) => data.summary.outcomes[outcome] > 0)
    .map((outcome) => {
      const rows = countOf(`${outcome} unclear`, data);
      const unclear = rows > 0 ? `${count(rows)} unclear` : undefined;
      return { outcome, number: count(data.summary.outcomes[outcome]), name: outcomeText(outcome), unclear };
    });
}
