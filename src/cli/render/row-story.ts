import { type Attempt, type SavedAnswer, unclearText } from '../../domain.ts';
import { actualState } from '../../run/record/record.ts';
import type { RowChapter, RowStory } from '../../run/report/row-story.ts';
import { stringifyJson } from '../../text/json.ts';
import { localTime, zoneText } from '../../text/local-time.ts';
import { count, counted, duration } from '../../text/quantities.ts';
import { factLines } from './audit.ts';
import { indented, table, wrapped } from './words.ts';

/** What `cqbatch show --row --json` prints. */
export function rowDocument({ record, row, prepared, chapters }: RowStory): object {
  return {
    run: record.id,
    row: row.row,
    line: row.line,
    manifest: record.manifest.name,
    cells: Object.fromEntries(Object.entries(row.cells).map(([name, value]) => [name, textOf(value)])),
    operation: prepared.operation?.name ?? null,
    request: prepared.kind === 'callable' ? prepared.request : null,
    problems: prepared.kind === 'invalid' ? prepared.problems : [],
    runs: chapters.map(chapterDocument),
  };
}

function chapterDocument({ record, row, result, attempts, untold, answers }: RowChapter): object {
  return {
    run: record.id,
    state: actualState(record),
    row_in_run: row,
    outcome: result.outcome,
    code: result.code,
    message: result.message,
    unclear: result.unclear,
    duplicate_of: result.duplicateOf ?? null,
    columns: result.columns ?? {},
    attempts: attempts.map((attempt, index) => ({
      at: attempt.at ?? null,
      duration_ms: attempt.durationMs ?? null,
      http_status: attempt.httpStatus ?? null,
      code: attempt.code ?? null,
      message: attempt.message ?? null,
      requests: attempt.requests ?? 1,
      omitted_before: attempt.omitted ?? 0,
      waited_ms: waitAfter(attempts, index) ?? null,
    })),
    attempts_untold: untold,
    responses: answers.map(({ row: _, ...answer }) => ({ ...answer, cut: answer.cut === true })),
  };
}

const columns = 80;

/** The story of a row, for people. */
export function rowText(story: RowStory): string {
  const { record, row, prepared, chapters } = story;
  const cells = Object.entries(row.cells).map(([name, value]) => [name, textOf(value)] as const);
  return [
    `Row ${count(row.row)} of run ${record.id} (line ${count(row.line)} of ${record.manifest.name})`,
    ...(cells.length === 0 ? [] : [indented(factLines(cells))]),
    '',
    ...(prepared.kind === 'callable'
      ? [
          `Request of ${prepared.operation.name}`,
          indented(wrapped(`${prepared.request.method ?? 'POST'} ${prepared.request.path}`, columns - 2)),
          ...(prepared.request.body === '' ? [] : [indented(wrapped(prepared.request.body, columns - 2))]),
        ]
      : ['No request, because the row is invalid']),
    ...chapters.flatMap((chapter) => ['', ...chapterLines(chapter, record.id)]),
  ].join('\n');
}

function chapterLines(chapter: RowChapter, first: string): readonly string[] {
  const { record, result, attempts, untold, answers } = chapter;
  const where = record.id === first ? '' : ` in its retry ${record.id}`;
  const made = Math.max(result.attempts, attempts.length);
  const at = attempts.find((attempt) => attempt.at !== undefined)?.at;
  const zone = at === undefined ? '' : `, times in ${zoneText(new Date(at))}`;
  return [
    `${made > 0 ? counted(made, 'attempt') : 'No attempt'}${where}${zone}`,
    ...(untold > 0 ? [`  ${counted(untold, 'attempt')} of which nothing is written down`] : []),
    ...attemptLines(attempts).map((line) => `  ${line}`),
    ...answers.flatMap(answerLines),
    '',
    ...wrapped(`Outcome${where}: ${outcomeText(chapter)}`, columns),
  ];
}

function answerLines({ at, status, headers, body, cut }: SavedAnswer): readonly string[] {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [
    '',
    `Answer to the attempt of ${localTime(at, 3)}: ${status}`,
    ...[...fields, ...(body === '' ? [] : [body]), ...(cut ? ['… (cut)'] : [])]
      .flatMap((text) => wrapped(text, columns - 2))
      .map((line) => `  ${line}`),
  ];
}

function outcomeText({ result, record }: RowChapter): string {
  const { outcome, code, message, unclear, duplicateOf } = result;
  const name = outcome.replace('_', ' ');
  const why = duplicateOf === undefined ? message : `same as row ${duplicateOf}`;
  return [
    `${name}, ${code}${why === '' ? '' : `: ${why}`}`,
    ...(unclear && !message.includes('may have been processed') ? [unclearText(outcome)] : []),
    ...(code === 'PENDING' ? [`the run is ${actualState(record)}`] : []),
  ].join('; ');
}

/** When, how long, what came of it; below it how long the row waited then. */
function attemptLines(attempts: readonly Attempt[]): readonly string[] {
  const rows = attempts.flatMap((attempt, index) => {
    const { at, durationMs, code, httpStatus, message, omitted, requests = 1 } = attempt;
    const what =
      code === undefined
        ? 'nothing is known of it: its process died'
        : [httpStatus, `${code}${message === undefined ? '' : `: ${message}`}`].filter(Boolean).join(' ');
    const texts = wrapped(requests === 1 ? what : `${what} (${requests} requests)`, columns - 38);
    const wait = waitAfter(attempts, index);
    return [
      ...(omitted === undefined ? [] : [['…', '', `${counted(omitted, 'more attempt')}, not kept`]]),
      [
        at === undefined ? '' : localTime(at, 3).slice(0, 23),
        durationMs === undefined ? '' : briefly(durationMs),
        texts[0] ?? '',
      ],
      ...texts.slice(1).map((text) => ['', '', text]),
      ...(wait === undefined ? [] : [[`  waited ${briefly(wait)}`, '', '']]),
    ];
  });
  return table(rows, [1]);
}

/** How long it was from the end of an attempt to the next one, milliseconds; undefined when that is not known. */
function waitAfter(attempts: readonly Attempt[], index: number): number | undefined {
  const { at, durationMs } = attempts[index] ?? {};
  const next = attempts[index + 1];
  if (at === undefined || durationMs === undefined || next?.at === undefined) return undefined;
  if (next.omitted !== undefined) return undefined;
  // Clocks of two machines need not agree.
  return Math.max(0, Date.parse(next.at) - Date.parse(at) - durationMs);
}

function briefly(milliseconds: number): string {
  return milliseconds < 10_000 ? `${Math.round(milliseconds)} ms` : duration(milliseconds / 1_000);
}

/** A cell as it stands in the manifest. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}
