import type { Command } from 'commander';
import { defaults } from '../config/settings.ts';
import { withCommonOptions, withQueueOptions, withWorkerOptions } from './shared.ts';

/** `cqbatch worker` */
export function defineWorker(command: Command): void {
  command
    .option('--base-url <url>', 'the API whose rows are called; never another one (CQBATCH_BASE_URL)')
    .option('--allow-insecure-http', 'allow http:// to a host that is not this machine')
    .option('--coordinate', 'also take over the runs that were submitted to the state folder')
    .option(
      '--shutdown-timeout <duration>',
      `for calls in flight after SIGTERM (CQBATCH_SHUTDOWN_TIMEOUT; default: ${defaults.shutdownTimeout / 1_000}s)`,
    )
    .option('--health-port <port>', 'serve /healthz and /readyz there (CQBATCH_HEALTH_PORT; default: no)')
    .option('--health-host <address>', 'address for that (CQBATCH_HEALTH_HOST; default: 127.0.0.1)')
    .option(
      '--log-level <level>',
      'of the structured log on standard error: silent, error, warn, info or debug',
      'info',
    );
  withCommonOptions(withQueueOptions(withWorkerOptions(command))).action(async (flags) => {
    const { worker } = await import('../actions/worker.ts');
    process.exitCode = await worker(flags);
  });
}
