import { steadyTimeOf, timeOfDay } from '../../base/async/clock.ts';
import { readVersion } from '../../base/package.ts';
import { count, counted, duration, perSecond } from '../../base/text/format.ts';
import { noticeableRestMs, restAdvice } from '../../domain/pace.ts';
import { apiText, percentOf, usualPriority } from '../../domain/terms.ts';
import { goneAfterMs } from '../../engine/cluster/entries.ts';
import { toHundredths } from '../../engine/cluster/rate-policy.ts';
import { commandsOf } from '../../engine/report/next-steps.ts';
import { endInWords } from '../../engine/run/record/ending.ts';
import type { RunView } from '../../engine/run/record/run-view.ts';
import { styled } from './style.ts';
import { awayText } from './waits.ts';
import {
  allowedText,
  clockTime,
  documentOf,
  doubtfulRows,
  type Fact,
  factLines,
  indented,
  outcomeTexts,
  styledState,
  timeAgo,
} from './words.ts';

export function statusDocument(view: RunView): object {
  const { local, throughput, coordinator } = view;
  return {
    run: view.id,
    state: view.state,
    manifest: view.manifest,
    base_url: view.baseUrl,
    ...(view.rateGroup !== undefined && { rate_group: view.rateGroup }),
    rows: view.rows,
    done: view.done,
    outcomes: view.counts,
    unclear: local?.unclear ?? null,
    codes: local?.codes?.map(({ outcome, code, count: rows }) => ({ outcome, code, count: rows })) ?? null,
    wanted_rate: view.wantedRate,
    priority: view.priority,
    rows_per_s: throughput?.rowsPerSecond ?? null,
    waiting: view.wait?.text ?? null,
    pace: paceDocument(view.pace),
    process: coordinator === undefined ? null : processDocument(coordinator),
    workers: view.workers.map(({ host, pid, version, concurrency, active, finished, startedAt, seenAt }) =>
      documentOf({ host, pid, version, concurrency, active, finished, startedAt, seenAt }),
    ),
    states: local?.states.map(({ state, at, reason }) => ({ state, at, reason })) ?? null,
    retry_of: local?.retryOf ?? null,
  };
}

/** A second line says why the API answers no call, or how the user can end a long wait. */
export function statusLines(view: RunView): readonly string[] {
  return [statusLine(view), awayText(view.pace), adviceOf(view)].filter((line) => line !== undefined);
}

function adviceOf({ id, pace }: RunView, now = Date.now()): string | undefined {
  return pace && restAdvice(pace, id, steadyTimeOf(now));
}

function statusLine(view: RunView): string {
  const { throughput, workers, done, rows, wait } = view;
  return [
    `Run ${view.id} ${styledState(view.state, endInWords(view))}`,
    `${count(done)}/${count(rows)} (${percentOf(done, rows)} %)`,
    outcomeTexts(view.counts).join(', '),
    throughput?.of === 'now' ? perSecond(throughput.rowsPerSecond) : '',
    view.pace?.away === undefined ? paceText(view.pace, Date.now()) : '',
    workers.length > 0 ? counted(workers.length, 'worker') : '',
    wait?.of === 'datastore' ? styled('yellow', `waiting: ${wait.text}`) : '',
    wait?.of === 'worker' || wait?.of === 'daemon' || wait?.of === 'run'
      ? styled('yellow', `waiting ${wait.text}`)
      : '',
  ]
    .filter(Boolean)
    .join('  ');
}

export function statusText(view: RunView, now = Date.now(), ownVersion = readVersion()): string {
  const { throughput, coordinator, local, done, rows } = view;
  const processes = [...view.workers, ...(coordinator === undefined ? [] : [coordinator])];
  const isMixed = processes.some(({ version = ownVersion }) => version !== ownVersion);
  const versionText = (version?: string) => (isMixed && version !== undefined ? `, version ${version}` : '');
  const facts: readonly Fact[] = [
    ['manifest', view.manifest],
    ['API', apiText(view)],
    ['started', view.startedAt && timeAgo(new Date(view.startedAt), new Date(now))],
    ['finished', `${count(done)} of ${counted(rows, 'row')} (${percentOf(done, rows)} %)`],
    ['', [...outcomeTexts(view.counts), ...doubtfulRows(local?.unclear ?? 0, local?.codes ?? [])]],
    ['waiting for a retry', local?.held ? counted(local.held, 'row') : undefined],
    [
      'rate',
      throughput && `${perSecond(throughput.rowsPerSecond)}${throughput.of === 'now' ? '' : ' on average'}`,
    ],
    [
      'allowed rate',
      view.pace?.away === undefined
        ? [paceText(view.pace, now), adviceOf(view, now)].filter((text) => text !== undefined)
        : undefined,
    ],
    ['waiting', awayText(view.pace, now)],
    ['waiting', view.wait?.of === 'api' || view.wait?.of === 'user' ? undefined : view.wait?.text],
    ['requested rate', view.wantedRate === 'auto' ? undefined : view.wantedRate],
    ['priority', view.priority === usualPriority ? undefined : view.priority],
    [
      'process',
      coordinator &&
        `${coordinator.pid} on ${coordinator.host}${versionText(coordinator.version)}${lastSeenText(coordinator.seenAt, now)}`,
    ],
    [
      'workers',
      view.workers.map(
        ({ pid, host, version, active, concurrency, outage }) =>
          `${pid} on ${host}${versionText(version)}, ${active} of ${concurrency} calls in flight${outage === undefined ? '' : `, waiting: ${outage.reason}`}`,
      ),
    ],
    ['reason', reasonOf(local?.states ?? [])],
    ['next', commandsOf(local?.steps ?? [])[0]],
  ];
  return `Run ${view.id} ${styledState(view.state, endInWords(view))}\n${indented(factLines(facts))}`;
}

function reasonOf(states: NonNullable<RunView['local']>['states']): string | undefined {
  const [previous, latest] = states.length > 1 ? states.slice(-2) : [undefined, states[0]];
  return previous?.state === 'paused' && latest?.state === 'running' ? undefined : latest?.reason;
}

function processDocument({ pid, host, version }: NonNullable<RunView['coordinator']>): object {
  return { pid, host, ...(version !== undefined && { version }) };
}

function paceDocument(pace: RunView['pace']): object | null {
  if (pace === undefined) return null;
  return {
    allowed_per_s: pace.rate === undefined ? null : toHundredths(pace.rate),
    limit_per_s: pace.limit === undefined ? null : toHundredths(pace.limit),
    concurrency: pace.concurrency,
    reason: pace.reason,
    wait_until: pace.restUntil === undefined ? null : timeOfDay(pace.restUntil).toISOString(),
    wait_by: (pace.restUntil === undefined ? undefined : pace.restBy) ?? null,
    away:
      pace.away === undefined
        ? null
        : {
            reason: pace.away.why,
            since: timeOfDay(pace.away.since).toISOString(),
            gives_up_at:
              pace.away.givesUpAt === undefined ? null : timeOfDay(pace.away.givesUpAt).toISOString(),
          },
  };
}

function paceText(pace: RunView['pace'], now: number): string | undefined {
  if (pace === undefined) return undefined;
  const waitMs = (pace.restUntil ?? 0) - steadyTimeOf(now);
  const text =
    waitMs >= noticeableRestMs
      ? `waiting ${duration(waitMs / 1_000)}, until ${clockTime(new Date(now + waitMs), new Date(now))}`
      : allowedText(pace.rate, pace.limit);
  return `${text} (${pace.reason})`;
}

function lastSeenText(seenAt: string | undefined, now: number): string {
  if (seenAt === undefined || now - Date.parse(seenAt) < goneAfterMs) return '';
  return `, last seen ${duration((now - Date.parse(seenAt)) / 1_000)} ago`;
}
