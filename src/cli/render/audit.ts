import { type Actor, thisActor } from '../../actor.ts';
import { actualState, type RunRecord } from '../../run/record/record.ts';
import type { JournalSummary } from '../../run/record/run-journal.ts';
import { nameInWords, optionInWords } from '../../settings/settings.ts';
import { localTime } from '../../text/local-time.ts';
import { count, counted, duration } from '../../text/quantities.ts';
import { plain } from './style.ts';
import { fingerprint, indented, outcomeTexts, table, unclearRows, wrapped } from './words.ts';

/** All that is known of the past of a run. */
export interface RunAudit {
  readonly record: RunRecord;
  readonly folder: string;
  /** What it has come to so far; absent when its journal can't be read. */
  readonly result?: JournalSummary;
  /** Runs that were made of its rows, the oldest first. */
  readonly retries: readonly RunRecord[];
  /** Runs that took back what it has done. */
  readonly undos: readonly RunRecord[];
}

/** One thing that happened to a run. */
export interface AuditEvent {
  /** Absent where only that it happened is known. */
  readonly at?: string;
  /** `planned`, `begun`, `paused`, `unpaused`, `resumed`, `rate 20/s`, or the state that was entered. */
  readonly event: string;
  readonly by?: Actor | undefined;
  readonly reason?: string | undefined;
  /** Of the time of work that began with it. */
  readonly atWorkMs?: number | undefined;
}

/** What happened to a run, in order. */
export function eventsOf(record: RunRecord): readonly AuditEvent[] {
  const states = record.states.map(
    ({ state, at, by, reason, atWorkMs }, index): AuditEvent => ({
      at,
      event: state === 'running' ? beginning(record.states[index - 1]?.state) : state,
      by,
      reason,
      atWorkMs,
    }),
  );
  const rates = (record.rates ?? []).map(
    ({ rate, at, by, reason }): AuditEvent => ({ at, event: `rate ${rate}`, by, reason }),
  );
  // Stable: what happened in one moment stays in order.
  const events = [...states, ...rates].toSorted((a, b) => Date.parse(a.at ?? '') - Date.parse(b.at ?? ''));
  const died = actualState(record) !== record.state;
  return died ? [...events, { event: 'interrupted', reason: 'its process died' }] : events;
}

function beginning(before: RunRecord['state'] | undefined): string {
  if (before === 'planned' || before === 'submitted') return 'begun';
  return before === 'paused' ? 'unpaused' : 'resumed';
}

/** What `cqbatch show --json` prints. */
export function auditDocument({ record, folder, result, retries, undos }: RunAudit): object {
  const { id, states, manifest, plan, approval, options, queue, retryOf, undoOf } = record;
  const [planned] = states;
  return {
    run: id,
    state: actualState(record),
    planned_at: planned?.at ?? null,
    by: planned?.by ?? null,
    reason: planned?.reason ?? null,
    folder,
    manifest: {
      name: manifest.name,
      file: manifest.file,
      sha256: manifest.sha256,
      given_sha256: manifest.givenSha256 ?? manifest.sha256,
      bytes: manifest.bytes,
    },
    base_url: options.baseUrl,
    datastore: queue ?? null,
    plan,
    approval: approval
      ? {
          file: approval.file,
          sha256: approval.sha256,
          made_at: approval.madeAt,
          approved_by: approval.by ?? null,
        }
      : null,
    options: Object.fromEntries(
      Object.entries(options)
        .filter(([name]) => name !== 'baseUrl')
        .map(([name, value]) => [nameInWords(name, '_'), value]),
    ),
    events: eventsOf(record).map(({ at, event, by, reason, atWorkMs }) => ({
      at: at ?? null,
      event,
      by: by ?? null,
      reason: reason ?? null,
      ...(atWorkMs !== undefined && { at_work_s: Math.round(atWorkMs / 1_000) }),
    })),
    outcomes: result?.outcomes ?? null,
    unclear: result?.unclear ?? null,
    codes: result?.codes.map(({ outcome, code, count: rows }) => ({ outcome, code, count: rows })) ?? null,
    at_work_s: result === undefined ? null : Math.round(result.atWorkMs / 1_000),
    canary: record.canary ?? null,
    retry_of: retryOf ?? null,
    retries: retries.map((retry) => ({ run: retry.id, state: actualState(retry) })),
    undo_of: undoOf ?? null,
    undone_by: undos.map((undo) => ({ run: undo.id, state: actualState(undo) })),
  };
}

const columns = 80;

/** The signed-off plan of a run: `by Ana Ruiz, as week-47.cqplan (3f2a 91bc 04d7 e0aa)` */
function approvalText({ by, file, sha256 }: NonNullable<RunRecord['approval']>): string {
  return `${by === undefined ? '' : `by ${by}, `}as ${file} (${fingerprint(sha256)})`;
}

/** `10 rows, 1 failed: went on` */
function canaryText({ rows, failed, wentOn }: NonNullable<RunRecord['canary']>): string {
  return `${counted(rows, 'row')}, ${count(failed)} failed: ${wentOn ? 'went on' : 'stopped'}`;
}

/** The past of a run, for people. */
export function auditText(audit: RunAudit): string {
  const { record, folder, result, retries, undos } = audit;
  const { id, manifest, options, queue, retryOf, undoOf, plan, approval, canary } = record;
  const facts: readonly (readonly [name: string, text: string])[] = [
    ['manifest', `${manifest.name} (${counted(manifest.bytes, 'byte')})`],
    ['SHA-256', manifest.givenSha256 ?? manifest.sha256],
    ['API', options.baseUrl],
    ['plan', planText(plan)],
    ...(approval === undefined ? [] : [['approved', approvalText(approval)] as const]),
    ['options', optionTexts(options).join(', ')],
    ...(queue === undefined ? [] : [['datastore', queue] as const]),
    ...(canary === undefined ? [] : [['canary', canaryText(canary)] as const]),
    ...(result === undefined ? [] : resultFacts(result, plan.rows)),
    ...(retryOf === undefined ? [] : [['retry of', retryOf] as const]),
    ...(undoOf === undefined ? [] : [['undo of', undoOf] as const]),
    ...runFacts('retried by', retries),
    ...runFacts('undone by', undos),
    ['folder', folder],
  ];
  return `Run ${id} ${actualState(record)}\n${indented(factLines(facts))}\n\n${indented(timeline(eventsOf(record)))}`;
}

/** Names and texts below each other, each text broken into lines that fit. */
export function factLines(facts: readonly (readonly [name: string, text: string])[]): readonly string[] {
  const width = Math.max(...facts.map(([name]) => name.length)) + 2;
  return table(
    facts.flatMap(([name, text]) =>
      wrapped(text, columns - width - 2).map((line, index) => [index === 0 ? name : '', line]),
    ),
  );
}

function runFacts(
  name: string,
  runs: readonly RunRecord[],
): readonly (readonly [name: string, text: string])[] {
  return runs.map((run, index) => [index === 0 ? name : '', `${run.id}, ${actualState(run)}`]);
}

function resultFacts(
  { outcomes, unclear, atWorkMs }: NonNullable<RunAudit['result']>,
  rows: number,
): readonly (readonly [name: string, text: string])[] {
  const texts = outcomeTexts(outcomes).map(plain);
  const took = atWorkMs > 0 ? ` after ${duration(atWorkMs / 1_000)} of work` : '';
  return [
    ['result', `${texts.length === 0 ? 'nothing yet' : texts.join(', ')} of ${counted(rows, 'row')}${took}`],
    ...(unclear === 0 ? [] : [['', unclearRows(unclear)] as const]),
  ];
}

function planText({ rows, callable, invalid, duplicates, leftOut, operations }: RunRecord['plan']): string {
  const others = [
    ...(leftOut === undefined ? [] : [`${count(leftOut)} left out by --where`]),
    ...(invalid > 0 ? [`${count(invalid)} invalid`] : []),
    ...(duplicates > 0 ? [`${counted(duplicates, 'duplicate')}`] : []),
  ];
  return [
    `${counted(rows, 'row')}`,
    `${counted(callable, 'call')} of ${operations.join(', ')}`,
    ...others,
  ].join(', ');
}

/** `rate auto..20/s`, `attempts 5`, `timeout 60 s`: what applies to the run, as its flags say it. */
export function optionTexts({ baseUrl: _, ...options }: Partial<RunRecord['options']>): readonly string[] {
  return Object.entries(options).map(([name, value]) => {
    const flag = optionInWords(name);
    return value === true ? flag : `${flag}${valueText(name, value)}`;
  });
}

function valueText(
  name: string,
  value: Exclude<RunRecord['options'][keyof RunRecord['options']], undefined>,
): string {
  if (name.endsWith('Ms')) return ` ${briefDuration(Number(value))}`;
  if (Array.isArray(value)) return ` ${value.join(' ')}`;
  if (typeof value !== 'object') return ` ${value}`;
  if ('percent' in value) return ` ${value.percent}%`;
  if ('auto' in value) return ` ${value.text}`;
  if ('rows' in value) return `${value.random ? '-random' : ''} ${value.rows}`;
  return ` ${JSON.stringify(value)}`;
}

function briefDuration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds} ms` : duration(milliseconds / 1_000);
}

/** What happened when, by whom and why. */
function timeline(events: readonly AuditEvent[]): readonly string[] {
  const known = events.map(({ at, event, by, reason }) => ({
    when: at === undefined ? '' : localTime(at),
    event,
    // Of who runs this, nobody needs the version.
    lines: [
      ...(by === undefined ? [] : [`by ${by.user} on ${by.host}${versionText(by)}`]),
      ...(reason === undefined ? [] : [reason]),
    ],
  }));
  const widest = (texts: readonly string[]): number => Math.max(...texts.map(({ length }) => length));
  const width = 2 + widest(known.map(({ when }) => when)) + 2 + widest(known.map(({ event }) => event)) + 2;
  return table(
    known.flatMap(({ when, event, lines }) => {
      const texts = lines.flatMap((line) => wrapped(line, columns - width));
      return [[when, event, texts[0] ?? ''], ...texts.slice(1).map((text) => ['', '', text])];
    }),
  );
}

/** Nothing for the version that shows it. */
function versionText({ version }: Actor): string {
  return version === undefined || version === thisActor().version ? '' : ` with cqbatch ${version}`;
}
