import { count, counted, duration } from '../../base/text/format.ts';
import { shortened } from '../../base/text/printable.ts';
import type { ManifestEnding } from '../../daemon/inbox/claimed-manifest.ts';
import type { FinalFolder } from '../../daemon/inbox/records.ts';
import type { Actor } from '../../domain/actor.ts';
import type { NextStep } from '../../engine/report/next-step.ts';
import { commandsOf } from '../../engine/report/next-steps.ts';
import type { RunSummary } from '../../engine/report/summary.ts';
import { briefOfRecord } from '../../engine/run/facts/make-facts.ts';
import { runDocument, selectMembers } from '../../engine/run/facts/run-document.ts';
import { resultOf } from '../../engine/run/record/ending.ts';
import { type RunRecord, stateInWords } from '../../engine/run/record/record.ts';
import { withoutMarks } from './style.ts';
import { stepLines } from './summary.ts';
import { exampleText, indentedText, resultTexts } from './words.ts';

export interface EndedRun {
  readonly record: RunRecord;
  readonly summary: RunSummary;
  readonly steps: readonly NextStep[];
  readonly endedBefore?: true;
}

export interface EndedCommand {
  readonly run: EndedRun | undefined;
  /** The run of the command. Undefined when the command neither created nor found one. */
  readonly runId: string | undefined;
  /** What became of the manifests of an inbox. */
  readonly inboxText?: string | undefined;
  readonly exitCode: number;
  readonly error: { readonly message: string; readonly code?: unknown } | undefined;
  readonly actor: Actor;
}

const postedCodes = 5;
const listedCodes = 10;

/** The JSON for `--notify-url`: `text` for people (Slack shows it), the rest for programs. */
export function notificationOf(ended: EndedCommand) {
  const { run, exitCode, error, actor } = ended;
  return {
    text: escapedForChat(textOf(ended)),
    exit_code: exitCode,
    user: actor.user,
    host: actor.host,
    run: run === undefined ? null : endedRunDocument(run),
    error: error === undefined ? null : { code: String(error.code ?? 'UNEXPECTED'), message: error.message },
  };
}

/** The hosts of Teams: two for its Workflows, and one for the older connectors. */
const teamsHost = /\.(?:logic\.azure\.com|api\.powerplatform\.com|webhook\.office\.com)(?::\d+)?$/i;

/** The body of a notification. Teams accepts only a message with an Adaptive Card. */
export function bodyFor(host: string, ended: EndedCommand): string {
  return JSON.stringify(teamsHost.test(host) ? cardMessage(textOf(ended)) : notificationOf(ended));
}

/** A message for Teams. It has no Markdown, because text from a manifest must not become a link. */
function cardMessage(text: string): object {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.2',
    body: text
      .split('\n')
      .map((line) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: line }] })),
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] };
}

function endedRunDocument({ record, summary, steps }: EndedRun): object {
  const { run: id, ...members } = selectMembers(runDocument(briefOfRecord(record)), [
    'run',
    'state',
    'because',
    'manifest',
    'base_url',
  ]);
  return {
    id,
    ...members,
    reason: reasonOf(record) ?? null,
    rows: summary.manifest.rows,
    outcomes: summary.outcomes,
    codes: failuresIn(summary).slice(0, postedCodes),
    unclear: summary.unclear,
    started_at: summary.started_at,
    finished_at: summary.finished_at,
    duration_s: summary.duration_s,
    digests: summary.digests,
    next: commandsOf(steps),
  };
}

const longestText = 3_000;

function textOf({ run, runId, inboxText, exitCode, error, actor: { host } }: EndedCommand): string {
  const subject = runId === undefined ? 'no run was created' : `run ${runId}`;
  const what = error?.message ?? (exitCode === 0 ? 'there was nothing to do' : `exit code ${exitCode}`);
  const end = run === undefined ? (inboxText ?? `${subject}: ${what}`) : textOfRun(run);
  return shortened(`cqbatch on ${host}: ${end}`, longestText);
}

function textOfRun({ record, summary, steps, endedBefore }: EndedRun): string {
  const { id, manifest, options } = record;
  const [worst] = failuresIn(summary);
  const reason = reasonOf(record);
  const end = endedBefore
    ? `had already ended (${stateInWords(record)}), so nothing was sent`
    : `${stateInWords(record)} after ${duration(summary.duration_s)}`;
  return [
    `run ${id} of ${manifest.name} ${end}: ${rowTexts(summary)} (${options.baseUrl})`,
    reason,
    worst && !reason?.includes(worst.code) && `${count(worst.count)} ${worst.code}, ${exampleText(worst)}`,
    ...stepLines(steps).map(withoutMarks),
  ]
    .filter((line) => line !== undefined && line !== false)
    .join('\n');
}

function escapedForChat(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function finalFolderOf({ record, summary: { outcomes } }: EndedRun): FinalFolder {
  const { succeeded, duplicate, skipped } = outcomes;
  if (resultOf(record, outcomes) === 'succeeded') return 'done';
  return succeeded + duplicate + skipped > 0 ? 'partial' : 'failed';
}

/** The text beside a finished manifest, for people who see only its folder. */
export function endingText(
  { record, summary, steps }: EndedRun,
  files: ManifestEnding['files'] = {},
): string {
  const { id, manifest, options } = record;
  const codes = summary.codes
    .filter(({ outcome }) => outcome === 'failed' || outcome === 'invalid')
    .slice(0, listedCodes)
    .map((tally) => `${tally.code}: ${counted(tally.count, 'row')}, ${exampleText(tally)}`);
  const suffixes = Object.keys(files);
  return [
    `${manifest.name} ran as ${id} against ${options.baseUrl}: ${stateInWords(record)}, ${rowTexts(summary)}.`,
    reasonOf(record),
    codes.length > 0 && `\nResults by code:\n${indentedText(codes)}`,
    suffixes.length > 0 &&
      `\nThe rows that were not done are in these files. Correct them and put them into the inbox: *${suffixes.join(', *')}`,
    steps.length > 0 && `\n${withoutMarks(stepLines(steps).join('\n'))}`,
  ]
    .filter((part) => part !== undefined && part !== false)
    .join('\n');
}

function rowTexts(summary: RunSummary): string {
  return withoutMarks([counted(summary.manifest.rows, 'row'), ...resultTexts(summary)].join(', '));
}

function failuresIn({ codes }: RunSummary): RunSummary['codes'] {
  return codes.filter(({ outcome }) => outcome === 'failed');
}

function reasonOf({ states }: RunRecord): string | undefined {
  return states.at(-1)?.reason;
}

export function inboxText(
  folders: readonly (FinalFolder | 'unfinished')[],
  growing: number,
  unusable: number,
): string {
  const written = growing === 0 ? '' : `; ${counted(growing, 'file', ['is', 'are'])} still being written`;
  const rest = unusable === 0 ? written : `${written}; ${counted(unusable, 'file')} can't be used`;
  if (folders.length === 0) return `No manifest is waiting${rest}.`;
  const kinds = (['done', 'partial', 'failed', 'unfinished'] as const)
    .map((folder) => ({ folder, number: folders.filter((each) => each === folder).length }))
    .filter(({ number }) => number > 0)
    .map(({ folder, number }) => `${number} ${folder}`);
  return `${counted(folders.length, 'manifest')}: ${kinds.join(', ')}${rest}.`;
}
