import { isIP } from 'node:net';
import { type Defer, withScope } from '../../../base/async/scope.ts';
import { untilAborted } from '../../../base/async/waiting.ts';
import { openScheduleStore } from '../../../daemon/schedule/store.ts';
import { isLoopback } from '../../../engine/api/base-url.ts';
import { openCluster } from '../../../engine/cluster/cluster.ts';
import type { SharedPlace } from '../../../pages/server/overview.ts';
import { type StartCommands, startDashboard } from '../../../pages/server/server.ts';
import { parseInteger, parsePublicUrl, parseRate } from '../../../settings/parsers.ts';
import type { Flags } from '../../config.ts';
import { openContext } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { type Interrupt, interruptible } from '../../interrupt.ts';
import { parsedArgument } from '../options.ts';

const loopback = '127.0.0.1';
const defaultPort = '8788';

export async function dashboard(flags: Flags): Promise<ExitCode> {
  const port = parsedArgument('--port', flags.port ?? defaultPort, parseInteger(0, 65_535));
  const { terminal, store, datastore, settings } = await openContext(flags);
  const host = flags.host ?? loopback;
  const publicUrl =
    flags.publicUrl === undefined
      ? undefined
      : parsedArgument('--public-url', flags.publicUrl, parsePublicUrl);
  return withScope(async (defer) => {
    const stop = interruptible(() => {});
    defer(stop.release);
    let shared: SharedPlace | undefined;
    if (datastore.queue !== undefined) {
      const opened = await datastore.open('dashboard', defer);
      shared = { name: datastore.queue, cluster: openCluster(opened), trouble: () => opened.trouble };
    }
    const served = await startDashboard({
      host,
      publicUrl,
      port,
      store,
      shared,
      control: flags.control
        ? {
            parseRate: (text) => parsedArgument('Rate', text, parseRate),
            requireReason: settings.requireReason === true,
          }
        : undefined,
      start: flags.control && flags.start ? await openStart(flags, stop, defer) : undefined,
    });
    defer(() => served.close());
    const { url, controlUrl } = served;
    terminal.result(
      { url, control_url: controlUrl ?? null, port: served.port, pid: process.pid },
      controlUrl ?? url,
    );
    if (!isLoopback(isIP(host) === 6 ? `[${host}]` : host))
      terminal.warn(
        `warning: anyone who can reach port ${served.port} of this machine can read what is shown: names of runs, manifests, schedules ` +
          'and machines, counts, codes, and reports with their rows. Nothing is encrypted. From other machines, use the IP address of this one.',
      );
    if (!terminal.json) terminal.say(hintOf(flags, controlUrl));
    await untilAborted(stop.signal);
    return exitCodes.success;
  });
}

/** Opens what starts and carries out runs. @throws usage errors of the daemon: without a token, for example */
async function openStart(flags: Flags, { signal }: Interrupt, defer: Defer): Promise<StartCommands> {
  const [{ openWorkPlace }, { openPageCommands }, { startOwnDaemon }] = await Promise.all([
    import('../daemon/worker.ts'),
    import('./page-commands.ts'),
    import('./own-daemon.ts'),
  ]);
  const place = await openWorkPlace({ ...flags, coordinate: true, logLevel: 'warn' });
  if (place.context === undefined) throw new TypeError('A daemon has runs to coordinate.');
  const { store } = place.context;
  const daemon = startOwnDaemon(place, openScheduleStore(store.stateDir), signal);
  defer(() => daemon.end);
  return { commands: openPageCommands(flags, store), trouble: () => daemon.trouble };
}

function hintOf({ start }: Flags, controlUrl: string | undefined): string {
  if (controlUrl === undefined)
    return 'It is read-only: with --control, you can pause and cancel runs there. Ctrl-C stops the dashboard; runs continue.';
  const control =
    'This address works once: the browser that opens it first can pause, unpause and cancel runs and set their rate and priority';
  return start
    ? `${control}, and plan, start, resume, retry and undo runs. Ctrl-C stops the dashboard and the runs that it carries out; they continue when it starts again.`
    : `${control}. Ctrl-C stops the dashboard; runs continue.`;
}
