import type { Command } from 'commander';
import { withCommonOptions, withQueueOptions } from './shared.ts';

/** `cqbatch cancel` */
export function defineCancel(command: Command): void {
  command.argument('[run]', 'id of the run; the newest one by default');
  withCommonOptions(withQueueOptions(command)).action(async (id: string | undefined, flags) => {
    const { cancel } = await import('../actions/cancel.ts');
    process.exitCode = await cancel(id, flags);
  });
}
