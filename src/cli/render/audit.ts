import { count, counted, duration } from '../../base/text/format.ts';
import { localTime } from '../../base/text/local-time.ts';
import { type Actor, thisActor } from '../../domain/actor.ts';
import { actorText } from '../../domain/terms.ts';
import { runDocument, selectMembers } from '../../engine/run/facts/run-document.ts';
import type { RunBrief, RunFacts } from '../../engine/run/facts/run-facts.ts';
import { waitInOneText } from '../../engine/run/facts/run-wait.ts';
import { endInWords } from '../../engine/run/record/ending.ts';
import { actualState, endOf, type RunRecord } from '../../engine/run/record/record.ts';
import { optionTexts } from './options.ts';
import {
  documentOf,
  doubtfulRows,
  type Fact,
  factLines,
  indentedText,
  outcomeTexts,
  styledRunState,
  styledState,
  table,
} from './words.ts';

export interface RunAudit {
  readonly record: RunRecord;
  readonly folder: string;
  /** What is known of the run; only its brief facts when its journal can't be read. */
  readonly facts: RunFacts | RunBrief;
  /** The retries of the run, the oldest first. */
  readonly retries: readonly RunRecord[];
  readonly undos: readonly RunRecord[];
}

/** An event is `planned`, `begun`, `paused`, `unpaused`, `resumed`, `rate 20/s`, `priority high`, or the state that the run entered. */
type AuditEvent = { readonly event: string } & Partial<Omit<RunRecord['states'][number], 'state'>>;

export function eventsOf(record: RunRecord): readonly AuditEvent[] {
  const states = record.states.map(({ state, ...more }, index): AuditEvent => {
    const event = state === 'running' ? startEvent(record.states[index - 1]?.state) : state;
    return { ...more, event };
  });
  const rates = (record.rates ?? []).map(
    ({ rate, ...more }): AuditEvent => ({ ...more, event: `rate ${rate}` }),
  );
  const priorities = (record.priorities ?? []).map(
    ({ priority, ...more }): AuditEvent => ({ ...more, event: `priority ${priority}` }),
  );
  // The sort is stable: events of the same moment keep their order.
  const events = [...states, ...rates, ...priorities].toSorted(
    (a, b) => Date.parse(a.at ?? '') - Date.parse(b.at ?? ''),
  );
  const died = actualState(record) !== record.state;
  return died ? [...events, { event: 'interrupted', reason: 'its process died' }] : events;
}

function startEvent(previous: RunRecord['state'] | undefined): string {
  if (previous === 'planned' || previous === 'submitted') return 'begun';
  return previous === 'paused' ? 'unpaused' : 'resumed';
}

export function auditDocument({ record, folder, facts, retries, undos }: RunAudit): object {
  const { states, manifest, plan, planFile, options, queue, undoOf } = record;
  const [planned] = states;
  const { baseUrl: _, rate, canary, ...otherOptions } = options;
  const document = runDocument(facts);
  return {
    ...selectMembers(document, ['run', 'state', 'because', 'waiting']),
    planned_at: planned?.at ?? null,
    by: planned?.by ?? null,
    reason: planned?.reason ?? null,
    folder,
    manifest: {
      name: manifest.name,
      sha256: manifest.sha256,
      bytes: manifest.bytes,
    },
    base_url: document.base_url,
    datastore: queue ?? null,
    plan: documentOf(plan),
    plan_file: planFile ? documentOf(planFile) : null,
    options: {
      ...documentOf(otherOptions),
      ...(rate && { rate: rate.text }),
      ...(canary && { canary: documentOf(canary) }),
    },
    events: eventsOf(record).map(({ at, event, by, reason, atWorkMs }) => ({
      ...documentOf({ at, event, by, reason }),
      ...(atWorkMs !== undefined && { duration_s: Math.round(atWorkMs / 1_000) }),
    })),
    ...selectMembers(document, ['outcomes', 'unclear', 'codes', 'duration_s']),
    canary: record.canary ? documentOf(record.canary) : null,
    retry_of: record.retryOf ?? null,
    retries: retries.map((retry) => ({ run: retry.id, state: actualState(retry) })),
    undo_of: undoOf ?? null,
    undone_by: undos.map((undo) => ({ run: undo.id, state: actualState(undo) })),
  };
}

export function auditText({ record, folder, facts: run, retries, undos }: RunAudit): string {
  const { id, manifest, options, queue, retryOf, undoOf, plan, planFile, canary } = record;
  const { flags, settings } = optionTexts(options);
  const facts: readonly Fact[] = [
    ['manifest', `${manifest.name} (${counted(manifest.bytes, 'byte')})`],
    ['SHA-256', manifest.sha256],
    ['API', options.baseUrl],
    ['plan', planText(plan)],
    ['plan file', planFile && `${planFile.name} (SHA-256 ${planFile.sha256})`],
    ['options', flags.join(' ')],
    ['settings', settings.join(', ') || undefined],
    ['datastore', queue],
    ['canary', canary && canaryText(record.state, canary)],
    ['result', 'counts' in run ? resultTexts(run) : undefined],
    ['waiting', 'wait' in run && run.wait !== undefined ? waitInOneText(run.wait) : undefined],
    ['retry of', retryOf],
    ['undo of', undoOf],
    ['retried by', retries.map(runText)],
    ['undone by', undos.map(runText)],
    ['folder', folder],
  ];
  return `Run ${id} ${stateText(record)}\n${indentedText(factLines(facts))}\n\n${indentedText(timelineLines(eventsOf(record)))}`;
}

/** The result of a canary: `10 rows, 1 failed: continued` */
function canaryText(
  state: RunRecord['state'],
  { rows, failed, wentOn }: NonNullable<RunRecord['canary']>,
): string {
  const decision = wentOn ? 'continued' : state === 'paused' ? 'paused' : 'stopped';
  return `${counted(rows, 'row')}, ${count(failed)} failed: ${decision}`;
}

function resultTexts({ rows, counts, local }: RunFacts): readonly string[] {
  const { activeMs = 0, unclear = 0, codes = [] } = local ?? {};
  const results = outcomeTexts(counts).join(', ') || 'nothing yet';
  const time = activeMs > 0 ? ` after ${duration(activeMs / 1_000)}` : '';
  return [`${results} of ${counted(rows, 'row')}${time}`, ...doubtfulRows(unclear, codes)];
}

function runText(record: RunRecord): string {
  return `${record.id}, ${stateText(record)}`;
}

function stateText(record: RunRecord): string {
  return styledRunState({ ...endOf(record), state: actualState(record), local: record });
}

function planText(plan: RunRecord['plan']): string {
  const { rows, callable, invalid, duplicates, superseded, doneBefore, asWanted, leftOut, operations } = plan;
  return [
    counted(rows, 'row'),
    `${counted(callable, 'call')} of ${operations.join(', ')}`,
    leftOut !== undefined && `${count(leftOut)} left out by --where`,
    invalid > 0 && `${count(invalid)} invalid`,
    duplicates > 0 && counted(duplicates, 'duplicate'),
    superseded > 0 && `${count(superseded)} superseded`,
    doneBefore > 0 && `${count(doneBefore)} done before`,
    asWanted > 0 && `${count(asWanted)} as wanted`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** Whether an event comes before the start of every run. Such an event has no color, because it says nothing about the run's end. */
function isBeforeStart(event: string): boolean {
  return event === 'planned' || event === 'submitted';
}

function timelineLines(events: readonly AuditEvent[]): readonly string[] {
  const names = table(
    events.map(({ at, event, because }) => [
      at === undefined ? '' : localTime(at),
      event === 'begun'
        ? 'started'
        : isBeforeStart(event)
          ? event
          : styledState(event, endInWords({ state: event, because })),
    ]),
  );
  const facts = events.map(({ by, reason }, index): Fact => {
    const texts = [by && `by ${actorText(by)}${versionText(by)}`, reason];
    const shown = texts.filter((text) => text !== undefined);
    return [names[index] ?? '', shown.join(': ')];
  });
  return factLines(facts);
}

/** Which version of the program acted. Empty for the running version. */
function versionText({ version }: Actor): string {
  return version === undefined || version === thisActor().version ? '' : ` with cqbatch ${version}`;
}
