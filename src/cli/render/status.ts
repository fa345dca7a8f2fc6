import { readVersion } from '../../base/package.ts';
import { duration } from '../../base/text/format.ts';
import { timeAgo } from '../../base/text/local-time.ts';
import { apiText, usualPriority } from '../../domain/terms.ts';
import { goneAfterMs } from '../../engine/cluster/entries.ts';
import { commandsOf } from '../../engine/report/next-steps.ts';
import { progressPhrases } from '../../engine/run/facts/progress-words.ts';
import { runDocument, selectMembers } from '../../engine/run/facts/run-document.ts';
import type { RunFacts } from '../../engine/run/facts/run-facts.ts';
import { phraseLines, styledParts } from './progress.ts';
import { doubtfulRows, type Fact, factLines, indentedText, styledRunState } from './words.ts';

export function statusDocument(run: RunFacts): object {
  return selectMembers(runDocument(run), [
    'run',
    'state',
    'because',
    'manifest',
    'base_url',
    'rate_group',
    'rows',
    'done',
    'outcomes',
    'unclear',
    'codes',
    'wanted_rate',
    'priority',
    'rows_per_s',
    'waiting',
    'pace',
    'process',
    'workers',
    'states',
    'retry_of',
  ]);
}

/** The run as its own terminal shows it: a line for the run, then one for each note. */
export function statusLines(run: RunFacts, now = Date.now()): readonly string[] {
  const [line, ...notes] = phraseLines(run, now);
  return [`Run ${run.id} ${styledRunState(run)}  ${line}`, ...notes];
}

export function statusText(run: RunFacts, now = Date.now(), ownVersion = readVersion()): string {
  const { coordinator, local, workers } = run;
  const processes = [...workers, ...(coordinator === undefined ? [] : [coordinator])];
  const isMixed = processes.some(({ version = ownVersion }) => version !== ownVersion);
  const versionText = (version?: string) => (isMixed && version !== undefined ? `, version ${version}` : '');
  const phrases = progressPhrases(run, now).filter(({ name }) => name !== 'served by');
  const facts: readonly Fact[] = [
    ['manifest', run.manifest],
    ['API', apiText(run)],
    ['started', run.startedAt && timeAgo(new Date(run.startedAt), new Date(now))],
    ...phrases.map((phrase): Fact => [phrase.name, styledParts(phrase)]),
    ['unclear', doubtfulRows(local?.unclear ?? 0, [])],
    ['pending', doubtfulRows(0, local?.codes ?? [])],
    ['requested rate', run.wantedRate === 'auto' ? undefined : run.wantedRate],
    ['priority', run.priority === usualPriority ? undefined : run.priority],
    [
      'process',
      coordinator &&
        `${coordinator.pid} on ${coordinator.host}${versionText(coordinator.version)}${lastSeenText(coordinator.seenAt, now)}`,
    ],
    [
      'workers',
      workers.map(
        ({ pid, host, version, active, concurrency, outage }) =>
          `${pid} on ${host}${versionText(version)}, ${active} of ${concurrency} calls in flight${outage === undefined ? '' : `, waiting: ${outage.reason}`}`,
      ),
    ],
    ['reason', reasonOfState(local?.states ?? [])],
    ['next', commandsOf(local?.steps ?? [])[0]],
  ];
  return `Run ${run.id} ${styledRunState(run)}\n${indentedText(factLines(facts))}`;
}

/** Why the run is in its state. A run that was unpaused has no reason to show. */
function reasonOfState(states: NonNullable<RunFacts['local']>['states']): string | undefined {
  const [previous, latest] = states.length > 1 ? states.slice(-2) : [undefined, states[0]];
  return previous?.state === 'paused' && latest?.state === 'running' ? undefined : latest?.reason;
}

function lastSeenText(seenAt: string | undefined, now: number): string {
  if (seenAt === undefined || now - Date.parse(seenAt) < goneAfterMs) return '';
  return `, last seen ${duration((now - Date.parse(seenAt)) / 1_000)} ago`;
}
