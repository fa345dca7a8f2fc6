import type { Actor } from '../../actor.ts';
import type { RunSummary } from '../../report/summary.ts';
import { actualState, type RunRecord } from '../../run/record/record.ts';
import { counted, duration } from '../../text/quantities.ts';
import { plain } from './style.ts';
import { outcomeTexts } from './words.ts';

/** A run that was taken to its end. */
export interface EndedRun {
  readonly record: RunRecord;
  readonly summary: RunSummary;
  /** Commands that one would type now. */
  readonly next: readonly string[];
}

/** How a command ended. */
export interface Ended {
  /** The run that it took to its end, if it came to that. */
  readonly run: EndedRun | undefined;
  readonly exitCode: number;
  readonly error: (Error & { readonly code?: unknown }) | undefined;
  readonly by: Actor;
}

/** Codes with their rows that are told. */
const toldCodes = 5;

/** What is posted to `--notify-url`: `text` for people (Slack shows it), all else for programs. */
export interface News {
  readonly text: string;
  readonly exit_code: number;
  readonly user: string;
  readonly host: string;
  readonly run: object | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export function newsOf(ended: Ended): News {
  const { run, exitCode, error } = ended;
  const { user, host } = ended.by;
  return {
    text: forChat(textOf(ended)),
    exit_code: exitCode,
    user,
    host,
    run: run === undefined ? null : runDocument(run),
    error: error === undefined ? null : { code: String(error.code ?? 'UNEXPECTED'), message: error.message },
  };
}

/** Where Teams takes messages: its Workflows, by either address that they may have, and the connectors before them. */
const teams = /\.(?:logic\.azure\.com|api\.powerplatform\.com|webhook\.office\.com)(?::\d+)?$/i;

/** The body that is posted to a host. Teams takes nothing but a message that holds an Adaptive Card. */
export function bodyFor(host: string, ended: Ended): string {
  return JSON.stringify(teams.test(host) ? cardMessage(textOf(ended)) : newsOf(ended));
}

/** Its runs of text are no Markdown: nothing in a manifest becomes a link. */
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

function runDocument({ record, summary, next }: EndedRun): object {
  const { id, manifest, options, states } = record;
  return {
    id,
    state: actualState(record),
    reason: states.at(-1)?.reason ?? null,
    manifest: manifest.name,
    base_url: options.baseUrl,
    rows: summary.manifest.rows,
    outcomes: summary.outcomes,
    codes: summary.codes.filter(({ outcome }) => outcome === 'failed').slice(0, toldCodes),
    unclear: summary.unclear,
    started_at: summary.started_at,
    finished_at: summary.finished_at,
    duration_s: summary.duration_s,
    next,
  };
}

function textOf({ run, exitCode, error, by: { host } }: Ended): string {
  const text = run === undefined ? withoutRun(host, exitCode, error) : textOfRun(host, run);
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}

function textOfRun(host: string, { record, summary, next }: EndedRun): string {
  const { id, manifest, options, states } = record;
  const rows = `${counted(summary.manifest.rows, 'row')}, ${outcomeTexts(summary.outcomes).map(plain).join(', ')}`;
  const [worst] = summary.codes.filter(({ outcome }) => outcome === 'failed');
  const reason = states.at(-1)?.reason;
  return [
    `cqbatch on ${host}: run ${id} of ${manifest.name} ${actualState(record)} after ${duration(summary.duration_s)}: ${rows} (${options.baseUrl})`,
    ...(reason === undefined ? [] : [reason]),
    ...(worst === undefined ? [] : [`${worst.code}: ${worst.message} (row ${worst.row})`]),
    ...next.map((command) => `Next: ${command}`),
  ].join('\n');
}

function withoutRun(host: string, exitCode: number, error: Ended['error']): string {
  const why = error === undefined ? `exit code ${exitCode}` : error.message;
  return `cqbatch on ${host}: nothing was run: ${why}`;
}

const longestText = 3_000;

/** Chats take these signs for links and mentions. */
function forChat(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
