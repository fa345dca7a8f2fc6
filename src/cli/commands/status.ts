import type { Command } from 'commander';
import { withCommonOptions, withQueueOptions } from './shared.ts';

/** `cqbatch status` */
export function defineStatus(command: Command): void {
  command
    .argument('[run]', 'id of the run; the newest one by default')
    .option('--watch', 'follow it to its end; the exit code is then that of the run');
  withCommonOptions(withQueueOptions(command)).action(async (id: string | undefined, flags) => {
    const { status } = await import('../actions/status.ts');
    process.exitCode = await status(id, flags);
  });
}
