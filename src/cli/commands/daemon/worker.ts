import { type RepeatedTask, repeat } from '../../../base/async/repeat.ts';
import { withScope } from '../../../base/async/scope.ts';
import { onAbort, untilAborted } from '../../../base/async/waiting.ts';
import { ErrorThrottle, LastingErrors } from '../../../base/errors/error-throttle.ts';
import { usageError } from '../../../base/errors/errors.ts';
import type { Log } from '../../../base/log.ts';
import { readVersion } from '../../../base/package.ts';
import type { HealthState } from '../../../daemon/health.ts';
import { openProbes } from '../../../daemon/probes.ts';
import { parseBaseUrl } from '../../../engine/api/base-url.ts';
import { type Datastore, daemonPurpose } from '../../../engine/datastore/datastore.ts';
import { watchRefusals } from '../../../engine/datastore/refusals.ts';
import type { Operation } from '../../../engine/operation/operation.ts';
import { type ServingWorker, serveRows } from '../../../engine/worker/serve.ts';
import { defaults, type Settings } from '../../../settings/settings.ts';
import { type Flags, loadSettings } from '../../config.ts';
import {
  type CommandContext,
  chooseDatastore,
  type DatastoreChoice,
  openPlanningContext,
  operationsWith,
} from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { type Interrupt, interruptible } from '../../interrupt.ts';
import { openLog, openTerminal, type Terminal } from '../../terminal.ts';
import { apiClient, proxyTo, type ServedApi, tokenSource } from '../api-client.ts';
import { runDaemon } from './daemon.ts';

/** What calls rows of an API, and coordinates runs if it has a context. */
export interface WorkPlace {
  readonly terminal: Terminal;
  readonly flags: Flags;
  readonly settings: Settings & Pick<typeof defaults, 'concurrency' | 'timeout' | 'shutdownTimeout'>;
  readonly operations: readonly Operation[];
  readonly datastore: DatastoreChoice;
  /** The API that is called. Undefined if the process only coordinates. */
  readonly api: ServedApi | undefined;
  /** The runs to coordinate. Undefined if another process coordinates them. */
  readonly context: CommandContext | undefined;
  readonly log: Log;
}

export async function worker(flags: Flags): Promise<ExitCode> {
  const place = await openWorkPlace(flags);
  const { terminal, log } = place;
  const stop = interruptible((signal) => log.info({ signal }, 'stopping: calls in flight may finish'));
  return withScope(async (defer) => {
    defer(stop.release);
    await work(place, stop);
    if (terminal.json) terminal.result({ state: 'stopped' }, '');
    return exitCodes.success;
  });
}

/** @throws usage errors for settings with which the process can't work */
export async function openWorkPlace(flags: Flags): Promise<WorkPlace> {
  const context = flags.coordinate ? await openPlanningContext(flags) : undefined;
  const {
    terminal = openTerminal(flags),
    store,
    settings: configured = await loadSettings(flags),
  } = context ?? {};
  const operations = store?.operations ?? (await operationsWith(configured));
  const settings = { ...defaults, ...configured };
  const datastore = await chooseDatastore({ terminal, flags, settings });
  requireSharedDatastore(flags, datastore.queue, settings.concurrency);
  const log = await openLog(flags, terminal, 'info');
  const api = apiOf(flags, settings, operations, log);
  return { terminal, flags, settings, operations, datastore, api, context, log };
}

/**
 * Works until the signal aborts.
 *
 * @throws a busy error when another process has the embedded datastore; the error for which the process can't go on
 */
export function work(place: WorkPlace, stop: Pick<Interrupt, 'signal' | 'abort'>): Promise<void> {
  const { flags, settings, operations, api, context, log } = place;
  const { queue, open } = place.datastore;
  const common = { version: readVersion(), log, stop: stop.signal };
  return withScope(async (defer) => {
    const datastore = await open(queue === undefined ? daemonPurpose : 'worker', defer);
    let serving: ServingWorker | undefined;
    const lastingErrors = new LastingErrors();
    const state = (): HealthState => healthOf(datastore, lastingErrors, stop.signal, serving);
    const onError = ({ message }: Error): void => log.warn({ err: message }, 'metrics file not written');
    const probes = { settings, operations, store: context?.store, state, onError };
    const { metrics, port } = await openProbes(probes, defer);
    if (metrics !== undefined) {
      metrics.rateGroup = settings.rateGroup;
      metrics.paceOfWorker = () => serving?.pace;
    }
    defer(watchTrouble(datastore, log).stop);
    if (datastore.exclusive) defer(onAbort(datastore.lost, stop.abort));
    let refused: Error | undefined;
    const giveUp = (reason: Error): void => {
      refused ??= reason;
      stop.abort();
    };
    defer(watchRefusals(datastore, settings.maxOutage ?? undefined, giveUp).stop);
    if (api !== undefined && !datastore.exclusive) {
      const { baseUrl, rateGroup, concurrency, token } = api;
      serving = serveRows({
        ...common,
        datastore,
        operations,
        api: { baseUrl, rateGroup },
        client: await apiClient(api, token, metrics?.observeRequests()),
        maxOutageMs: settings.maxOutage ?? undefined,
        concurrency,
        lastingErrors,
        shutdownMs: settings.shutdownTimeout,
      });
      // When the worker ends by itself, end the process: a supervisor restarts it.
      void serving.end.then(stop.abort);
    }
    const target = { base_url: api?.baseUrl, rate_group: api?.rateGroup, proxy: api && proxyTo(api) };
    const facts = { coordinates: flags.coordinate === true, health_port: port };
    log.info({ queue: datastore.description, ...target, ...facts }, 'worker started');
    const ownApi = datastore.exclusive ? api : undefined;
    const daemon = { ...common, datastore, queue, api: ownApi, metrics, lastingErrors };
    const [stuck] = await Promise.all([
      serving?.end ?? untilAborted(stop.signal),
      context && runDaemon(context, daemon, defer),
    ]);
    if (stuck !== undefined || refused !== undefined) throw stuck ?? refused;
    if (datastore.exclusive) datastore.lost.throwIfAborted();
    log.info({}, 'worker stopped');
  });
}

function requireSharedDatastore(
  { coordinate }: Flags,
  queue: string | undefined,
  concurrency: number | 'auto',
): void {
  if (queue !== undefined) return;
  if (!coordinate) {
    throw usageError(
      'QUEUE_MISSING',
      'A worker needs a shared datastore: set CQBATCH_QUEUE or pass --queue redis://…. Or pass --coordinate: ' +
        'then it carries out the runs that are submitted to this state folder.',
    );
  }
  if (concurrency === 0) {
    throw usageError(
      'QUEUE_MISSING',
      "Other workers can't use the embedded datastore: leave out --concurrency 0, or use a shared datastore (--queue redis://…).",
    );
  }
}

/** The API that the worker calls. Undefined when the worker only coordinates. */
function apiOf(
  { coordinate, allowInsecureHttp }: Flags,
  settings: Settings & Pick<typeof defaults, 'concurrency' | 'timeout'>,
  operations: readonly Operation[],
  log: Log,
): ServedApi | undefined {
  const { baseUrl, rateGroup, concurrency, timeout: timeoutMs } = settings;
  if (concurrency === 0) {
    if (coordinate) return undefined;
    throw usageError('INVALID_SETTING', '--concurrency 0 only works with --coordinate.');
  }
  if (baseUrl === undefined) {
    throw usageError(
      'BASE_URL_MISSING',
      'The address of the API is missing: set CQBATCH_BASE_URL or pass --base-url https://…; the worker ignores rows of other APIs.',
    );
  }
  return {
    baseUrl: parseBaseUrl(baseUrl, { allowInsecureHttp }),
    rateGroup,
    allowInsecureHttp,
    concurrency,
    timeoutMs,
    token: tokenSource({
      settings,
      store: { operations },
      terminal: { warn: (text) => log.warn({}, text.replace(/^warning: /, '')) },
    }),
  };
}

const unhealthyAfterMs = 5 * 60_000;

/** A worker waits for an absent datastore. A long refusal makes the worker unhealthy, so that a supervisor restarts it. */
export function healthOf(
  { trouble, refusal }: Pick<Datastore, 'trouble' | 'refusal'>,
  lastingErrors: Pick<LastingErrors, 'lastingError' | 'text'>,
  stop: AbortSignal,
  serving: Pick<ServingWorker, 'idleBecause' | 'active'> | undefined,
): HealthState {
  const reason = stop.aborted ? 'stopping' : (serving?.idleBecause ?? trouble ?? lastingErrors.text);
  const { forMs } = refusal ??
    (trouble === undefined ? lastingErrors.lastingError : undefined) ?? { forMs: 0 };
  return {
    healthy: stop.aborted || forMs < unhealthyAfterMs,
    ready: reason === undefined,
    reason,
    facts: { active: serving?.active ?? 0 },
  };
}

function watchTrouble(datastore: Datastore, log: Log): RepeatedTask {
  const throttle = new ErrorThrottle();
  let lastTrouble: string | undefined;
  const look = (): void => {
    const { trouble } = datastore;
    if (trouble !== undefined && throttle.isNews(new Error(trouble)))
      log.warn({ trouble }, 'waiting for the datastore');
    if (trouble === undefined && lastTrouble !== undefined) log.info({}, 'the datastore is back');
    lastTrouble = trouble;
  };
  return repeat(look, { everyMs: 500 });
}
