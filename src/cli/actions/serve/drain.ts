import { hostname } from 'node:os';
import { fatalError } from '../../../errors.ts';
import { type Datastore, openCluster, type Settings, tokenFolder } from '../../../index.ts';
import { withReleases } from '../../../releases.ts';
import { counted } from '../../../text/quantities.ts';
import { after } from '../../../waiting.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import type { Terminal } from '../../terminal.ts';
import type { CallSettings } from '../api-client.ts';

const lookMs = 200;
/** Beyond `--shutdown-timeout`: until a worker hears of it, and until it has left. */
const marginMs = 10_000;

/**
 * `cqbatch worker --drain`: ends the workers of this machine that serve the same API and rate group, as SIGTERM does.
 *
 * @throws a fatal error `WORKERS_REMAIN` when one has not ended in time, or is of a version that can't be told
 */
export function drainWorkers(
  terminal: Terminal,
  open: (purpose: string) => Promise<Datastore>,
  settings: Pick<Settings, 'rateGroup' | 'tokenDir'> & { readonly shutdownTimeout: number },
  { baseUrl }: CallSettings,
): Promise<ExitCode> {
  return withReleases(async (atEnd) => {
    const datastore = await open('worker --drain');
    atEnd(() => datastore.close());
    const cluster = openCluster(datastore);
    const groups = await groupsOf(settings);
    const host = hostname();
    const here = async () => {
      const all = await Promise.all(groups.map((rateGroup) => cluster.workers({ baseUrl, rateGroup })));
      return all.flat().filter((worker) => worker.host === host);
    };
    const found = await here();
    const told = new Map(found.flatMap(({ id, pid, drains }) => (drains ? [[id, pid]] : [])));
    for (const id of told.keys()) await cluster.drain(id);
    const until = performance.now() + settings.shutdownTimeout + marginMs;
    const left = async () => (await here()).filter(({ id }) => told.has(id));
    while ((await left()).length > 0) {
      if (performance.now() > until) {
        const pids = [...new Set((await left()).map(({ pid }) => pid))].join(', ');
        throw fatalError(
          'WORKERS_REMAIN',
          `Workers of ${host} have not ended: ${pids}. End them with SIGTERM, or wait longer: --shutdown-timeout.`,
        );
      }
      await after(lookMs);
    }
    const deaf = found.filter(({ drains }) => !drains);
    if (deaf.length > 0) {
      const which = deaf.map(({ pid, version }) => `${pid} (version ${version})`).join(', ');
      throw fatalError(
        'WORKERS_REMAIN',
        `Workers of earlier versions on ${host} can't be told to end: ${which}. End them with SIGTERM.`,
      );
    }
    const workers = new Set(told.values()).size;
    terminal.result({ state: 'drained', host, workers }, `${counted(workers, 'worker')} of ${host} ended.`);
    return exitCodes.success;
  });
}

async function groupsOf({
  rateGroup,
  tokenDir,
}: Pick<Settings, 'rateGroup' | 'tokenDir'>): Promise<readonly (string | undefined)[]> {
  if (rateGroup !== undefined || tokenDir === undefined) return [rateGroup];
  return [undefined, ...(await tokenFolder(tokenDir).groups()).keys()];
}
