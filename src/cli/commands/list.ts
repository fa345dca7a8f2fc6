import type { Command } from 'commander';
import { withCommonOptions, withQueueOptions } from './shared.ts';

/** `cqbatch list` */
export function defineList(command: Command): void {
  withCommonOptions(withQueueOptions(command)).action(async (flags) => {
    const { list } = await import('../actions/list.ts');
    process.exitCode = await list(flags);
  });
}
