import type { Logger } from 'pino';
import { parseBaseUrl } from '../../api/base-url.ts';
import type { Datastore } from '../../datastore/datastore.ts';
import { usageError } from '../../errors.ts';
import { readVersion } from '../../package.ts';
import { coordinateRuns } from '../../run/coordinate.ts';
import { aborted } from '../../waiting.ts';
import { type HealthState, startHealthServer } from '../../worker/health.ts';
import { type ServeEnd, type Serving, serveRows } from '../../worker/serve.ts';
import { type CommonFlags, loadSettings } from '../config/load.ts';
import { defaults, type RawSettings, type Settings } from '../config/settings.ts';
import { chooseDatastore, type DatastoreChoice } from '../datastore.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Interrupt, interruptible } from '../interrupt.ts';
import { openLog } from '../log.ts';
import { openState } from '../state-folder.ts';
import { openTerminal } from '../terminal.ts';
import { tokenSource } from '../token.ts';
import { apiClient, proxyTo } from './api-client.ts';
import { maxOutageOf } from './options.ts';

export interface WorkerFlags extends CommonFlags, RawSettings {
  readonly coordinate?: boolean;
  readonly allowInsecureHttp?: boolean;
  readonly logLevel: string;
}

/** What a worker is to do. */
interface Duties {
  readonly settings: Settings;
  readonly flags: WorkerFlags;
  readonly choice: DatastoreChoice & { readonly queue: string };
  /** The API whose rows it calls; absent when it only coordinates. */
  readonly baseUrl?: string;
}

/** `cqbatch worker`: calls the API for the runs of a shared datastore, coordinates submitted runs, or both. */
export async function worker(flags: WorkerFlags): Promise<ExitCode> {
  const terminal = openTerminal(flags);
  const store = flags.coordinate ? await openState(terminal, flags) : undefined;
  const settings = await loadSettings(flags);
  const duties = dutiesOf(settings, flags, await chooseDatastore(terminal, flags, settings));
  const log = openLog(flags.logLevel);
  const stop = interruptible((signal) => log.info({ signal }, 'stopping: calls in flight may finish'));

  const datastore = await duties.choice.open('worker');
  let serving: Serving | undefined;
  const health =
    settings.healthPort === undefined
      ? undefined
      : await startHealthServer({
          host: settings.healthHost ?? defaults.healthHost,
          port: settings.healthPort,
          state: () => healthOf(datastore, stop, serving),
        }).catch(async (error) => {
          await datastore.close();
          throw error;
        });
  try {
    const watched = watchTrouble(datastore, log);
    const client = duties.baseUrl === undefined ? undefined : apiClientOf(duties, duties.baseUrl);
    if (client !== undefined && duties.baseUrl !== undefined) {
      serving = serveRows({
        datastore,
        baseUrl: duties.baseUrl,
        client,
        maxOutageMs: maxOutageOf(settings, defaults.maxOutage),
        concurrency: concurrencyOf(settings),
        version: readVersion(),
        log,
        shutdownMs: settings.shutdownTimeout ?? defaults.shutdownTimeout,
        stop: stop.signal,
      });
      // One that can't go on calling must not go on coordinating either: a supervisor starts it anew.
      void serving.end.then(() => stop.abort());
    }
    const facts = { coordinates: flags.coordinate === true, health_port: health?.port };
    const api = { base_url: duties.baseUrl, proxy: proxyOf(duties) };
    log.info({ queue: datastore.description, ...api, ...facts }, 'worker started');
    const { choice } = duties;
    const [end] = await Promise.all([
      serving?.end ?? aborted(stop.signal).then((): ServeEnd => ({ because: 'stopped' })),
      store &&
        coordinateRuns({
          store,
          datastore,
          queue: choice.queue,
          version: readVersion(),
          log,
          stop: stop.signal,
        }),
    ]);
    clearInterval(watched);
    await client?.close();
    const code = conclude(end, log);
    if (terminal.json) terminal.result({ state: 'stopped' }, '');
    return code;
  } finally {
    await health?.close();
    await datastore.close();
    stop.release();
  }
}

/** @throws a usage error when it could do nothing, or not without more being said. */
function dutiesOf(settings: Settings, flags: WorkerFlags, choice: DatastoreChoice): Duties {
  const { queue } = choice;
  if (queue === undefined) {
    throw usageError(
      'QUEUE_MISSING',
      'A worker needs a datastore that it shares with others: set CQBATCH_QUEUE or pass --queue redis://….',
    );
  }
  const shared = { settings, flags, choice: { ...choice, queue } };
  if (concurrencyOf(settings) === 0) {
    if (flags.coordinate) return shared;
    throw usageError('INVALID_SETTING', '--concurrency 0 makes sense only together with --coordinate.');
  }
  if (settings.baseUrl === undefined) {
    throw usageError(
      'BASE_URL_MISSING',
      'Which API is the token for? Set CQBATCH_BASE_URL or pass --base-url https://…; rows of other APIs are left alone.',
    );
  }
  return {
    ...shared,
    baseUrl: parseBaseUrl(settings.baseUrl, { allowInsecureHttp: flags.allowInsecureHttp }),
  };
}

function concurrencyOf({ concurrency }: Settings): number | 'auto' {
  return concurrency ?? defaults.concurrency;
}

function apiClientOf({ settings, flags }: Duties, baseUrl: string) {
  const options = {
    baseUrl,
    ...(flags.allowInsecureHttp && { allowInsecureHttp: true }),
    concurrency: concurrencyOf(settings),
    timeoutMs: settings.timeout ?? defaults.timeout,
  };
  return apiClient(options, tokenSource(settings));
}

function proxyOf({ flags, baseUrl }: Duties): string | undefined {
  return baseUrl === undefined ? undefined : proxyTo({ baseUrl, allowInsecureHttp: flags.allowInsecureHttp });
}

function healthOf(datastore: Datastore, stop: Interrupt, serving: Serving | undefined): HealthState {
  const { trouble } = datastore;
  const reason = stop.signal.aborted || serving?.ending ? 'stopping' : trouble;
  return {
    healthy: true,
    ready: reason === undefined,
    ...(reason !== undefined && { reason }),
    facts: { active: serving?.active ?? 0 },
  };
}

/** Says once when the datastore goes away, and once when it is back. */
function watchTrouble(datastore: Datastore, log: Logger): NodeJS.Timeout {
  let before: string | undefined;
  return setInterval(() => {
    const { trouble } = datastore;
    if (trouble !== undefined && before === undefined) log.warn({ trouble }, 'waiting for the datastore');
    if (trouble === undefined && before !== undefined) log.info('the datastore is back');
    before = trouble;
  }, 500).unref();
}

/** @throws a fatal error when the worker could not go on. */
function conclude(end: ServeEnd, log: Logger): ExitCode {
  if (end.because === 'stopped') {
    log.info('worker stopped');
    return exitCodes.success;
  }
  throw end.reason;
}
