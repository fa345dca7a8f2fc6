import { count, counted } from '../../../../base/text/format.ts';
import { localTime } from '../../../../base/text/local-time.ts';
import { apiText } from '../../../../domain/terms.ts';
import { isShared, type Snapshot, type WorkerData } from '../../../server/page-data.ts';
import { type Child, element } from '../../dom.ts';
import { commandNote, stateText } from '../run-parts.ts';
import { stackedTable } from './stacked-table.ts';

/** The table of workers. Empty if there are none and no run needs one. `runs` are those in progress that the workers may call. */
export function workersOf(of: Pick<Snapshot, 'workers' | 'datastore' | 'runs'>): Child {
  const { workers, datastore, runs } = of;
  const isNeeded = runs.some((run) => isShared(run) && run.state !== 'paused');
  const isMissing = isNeeded && workers.every(({ lostAt }) => lostAt !== undefined);
  if (datastore === undefined || (workers.length === 0 && !isNeeded)) return false;
  const missing = datastore.away
    ? element('p', { class: 'empty' }, 'Unknown until Redis is back.')
    : commandNote('No worker is running for the APIs of these runs. Start one: ', 'cqbatch worker');
  const table = stackedTable(
    'Workers',
    ['Worker', 'API', 'Calls in flight', 'Rows finished', 'Version'],
    workers.map((worker) => [
      `${worker.pid} on ${worker.host}`,
      apiText(worker),
      callsOf(worker),
      count(worker.finished),
      worker.version,
    ]),
  );
  return [element('h2', 'Workers'), isMissing && missing, workers.length > 0 && table];
}

/** `3 of 20`; of a worker that fell silent `lost at 20:19:04 UTC, 3 calls unclear`. */
function callsOf({ lostAt, active, concurrency }: WorkerData): Child {
  if (lostAt === undefined) return `${count(active)} of ${count(concurrency)}`;
  const calls = active === 0 ? ', no call in flight' : `, ${counted(active, 'call')} unclear`;
  const time = localTime(lostAt).slice('2026-01-01 '.length);
  return stateText({ text: `lost at ${time}${calls}`, kind: 'failed' });
}
