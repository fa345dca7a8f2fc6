import type { Command } from 'commander';
import { withCommonOptions, withQueueOptions } from './shared.ts';

/** `cqbatch pause` */
export function definePause(command: Command): void {
  command.argument('[run]', 'id of the run; the newest one by default');
  withCommonOptions(withQueueOptions(command)).action(async (id: string | undefined, flags) => {
    const { change } = await import('../actions/pause.ts');
    process.exitCode = await change('pause', id, flags);
  });
}
