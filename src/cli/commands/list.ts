import { Command } from 'commander';
import { withCommonOptions } from './shared.ts';

/** `cqbatch list` */
export function listCommand(): Command {
  const command = new Command('list').description('the runs of this state folder, newest first');
  return withCommonOptions(command).action(async (flags) => {
    const { list } = await import('../actions/list.ts');
    process.exitCode = await list(flags);
  });
}
