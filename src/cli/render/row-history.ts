import { count, counted, exactDuration } from '../../base/text/format.ts';
import { localTime, zoneText } from '../../base/text/local-time.ts';
import type { Attempt } from '../../domain/row-result.ts';
import { checkText, outcomeText, type SavedAnswer, unclearText } from '../../domain/terms.ts';
import { headerLines } from '../../engine/operation/request-definition.ts';
import { actualState } from '../../engine/run/record/record.ts';
import type { CheckOfRow, RowHistory, RunOfRow } from '../../engine/run/report/row-history.ts';
import {
  defaultColumns,
  documentOf,
  type Fact,
  factLines,
  indentedLine,
  table,
  wrappedLines,
} from './words.ts';

export function rowDocument({ record, row, columns, request, runs, check }: RowHistory): object {
  return {
    run: record.id,
    row: row.row,
    line: row.line,
    manifest: record.manifest.name,
    cells: Object.fromEntries(cellsOf(row, columns)),
    operation: row.operation?.name ?? null,
    request: request ?? null,
    problems: row.kind === 'invalid' ? row.problems : [],
    runs: runs.map(runDocument),
    check:
      check === undefined ? null : { checked_at: check.checkedAt, verdict: check.check, there: check.there },
  };
}

function runDocument({ record, row, result, traceId, attempts, untold, answers }: RunOfRow): object {
  const { outcome, code, message, unclear, duplicateOf } = result;
  return {
    run: record.id,
    state: actualState(record),
    row_in_run: row,
    ...documentOf({ outcome, code, message, unclear, duplicateOf }),
    trace_id: traceId,
    columns: result.columns ?? {},
    attempts: attempts.map(
      ({ at, durationMs, httpStatus, requestId, code, message, requests = 1, omitted = 0 }, index) => ({
        ...documentOf({ at, durationMs, httpStatus, requestId, code, message, requests }),
        omitted_before: omitted,
        waited_ms: waitAfter(attempts, index) ?? null,
      }),
    ),
    attempts_untold: untold,
    responses: answers.map(({ row: _, ...answer }) => ({ ...answer, cut: answer.cut === true })),
  };
}

export function rowText({ record, row, columns, request: shown, runs, check }: RowHistory): string {
  const cells = cellsOf(row, columns);
  const [title, ...request] = requestLines(row, shown);
  return [
    `Row ${count(row.row)} of run ${record.id} (line ${count(row.line)} of ${record.manifest.name})`,
    ...factLines(cells, defaultColumns - 2).map(indentedLine),
    '',
    title,
    ...textLines(request),
    ...runs.flatMap((run) => ['', ...runLines(run, record.id)]),
    ...(check === undefined ? [] : ['', ...wrappedLines(checkOfRowText(check), defaultColumns)]),
  ].join('\n');
}

/** What a check found: `Checked at …: not as wanted (title is "Old")` */
function checkOfRowText({ check, there, checkedAt }: CheckOfRow): string {
  const what = there === '' ? '' : ` (${there})`;
  return `Checked at ${localTime(checkedAt)}: ${checkText(check)}${what}`;
}

function requestLines(row: RowHistory['row'], request: RowHistory['request']): readonly string[] {
  if (row.kind !== 'callable') return [`No request: the row is ${row.kind}`];
  const { name } = row.operation;
  if (request === undefined)
    return [`Values (${name})`, ...Object.entries(row.values).map((pair) => pair.join(': '))];
  const { method = 'POST', path, body } = request;
  return [`Request (${name})`, `${method} ${path}`, ...headerLines(request), body];
}

function textLines(texts: readonly (string | undefined)[]): readonly string[] {
  return texts.flatMap((text) => (text ? wrappedLines(text, defaultColumns - 2).map(indentedLine) : []));
}

function runLines(run: RunOfRow, first: string): readonly string[] {
  const { record, result, traceId, attempts, untold, answers } = run;
  const where = record.id === first ? '' : ` in its retry ${record.id}`;
  const made = Math.max(result.attempts, attempts.length);
  const at = attempts.find((attempt) => attempt.at !== undefined)?.at;
  const zone = at === undefined ? '' : `, times in ${zoneText(new Date(at))}`;
  return [
    `${made > 0 ? counted(made, 'attempt') : 'No attempt'}${where}${zone}`,
    ...textLines([untold > 0 ? `${counted(untold, 'attempt')} without details` : '']),
    ...attemptLines(attempts).map(indentedLine),
    ...textLines([made > 0 ? `Trace id: ${traceId}` : '']),
    ...answers.flatMap(answerLines),
    '',
    ...wrappedLines(`Outcome${where}: ${resultText(run)}`, defaultColumns),
  ];
}

function answerLines({ at, status, headers, body, cut }: SavedAnswer): readonly string[] {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [
    '',
    `Answer to the attempt at ${localTime(at, 3)}: ${status}`,
    ...textLines([...fields, body, cut && '… (cut)']),
  ];
}

function resultText({ result, record }: RunOfRow): string {
  const { outcome, code, message, unclear, duplicateOf } = result;
  const name = outcomeText(outcome);
  const why = duplicateOf === undefined ? message : `same as row ${duplicateOf}`;
  return [
    `${name}, ${code}${why === '' ? '' : `: ${why}`}`,
    ...(unclear && !message.includes('may have been processed') ? [unclearText(outcome)] : []),
    ...(code === 'PENDING' ? [`the run is ${actualState(record)}`] : []),
  ].join('; ');
}

function attemptLines(attempts: readonly Attempt[]): readonly string[] {
  const rows = attempts.flatMap((attempt, index) => {
    const { at, durationMs, code, httpStatus, requestId, message, omitted, requests = 1 } = attempt;
    const what =
      code === undefined
        ? 'unknown result: its process died'
        : [httpStatus, `${code}${message === undefined ? '' : `: ${message}`}`].filter(Boolean).join(' ');
    const more = [requests === 1 ? '' : `${requests} requests`, requestId && `request id ${requestId}`]
      .filter(Boolean)
      .join(', ');
    const texts = wrappedLines(more === '' ? what : `${what} (${more})`, defaultColumns - 38);
    const wait = waitAfter(attempts, index);
    return [
      ...(omitted === undefined ? [] : [['…', '', `${counted(omitted, 'more attempt')}, not kept`]]),
      [
        at === undefined ? '' : localTime(at, 3).slice(0, 23),
        durationMs === undefined ? '' : exactDuration(durationMs),
        texts[0] ?? '',
      ],
      ...texts.slice(1).map((text) => ['', '', text]),
      ...(wait === undefined ? [] : [[`  waited ${exactDuration(wait)}`, '', '']]),
    ];
  });
  return table(rows, [1]);
}

function waitAfter(attempts: readonly Attempt[], index: number): number | undefined {
  const { at, durationMs } = attempts[index] ?? {};
  const next = attempts[index + 1];
  if (at === undefined || durationMs === undefined || next?.at === undefined) return undefined;
  if (next.omitted !== undefined) return undefined;
  // Two attempts may be timed by the clocks of two machines, so that the difference can be negative.
  return Math.max(0, Date.parse(next.at) - Date.parse(at) - durationMs);
}

function cellsOf({ cells }: RowHistory['row'], columns: RowHistory['columns']): readonly Fact[] {
  return cells.flatMap((text, index): Fact[] => (text === null ? [] : [[columns[index] ?? '', text]]));
}
