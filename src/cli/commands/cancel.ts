import { Command } from 'commander';
import { withCommonOptions } from './shared.ts';

/** `cqbatch cancel` */
export function cancelCommand(): Command {
  const command = new Command('cancel')
    .description('give a run up for good, also one that is going; rows that were not called stay so')
    .argument('[run]', 'id of the run; the newest one by default');
  return withCommonOptions(command).action(async (id: string | undefined, flags) => {
    const { cancel } = await import('../actions/cancel.ts');
    process.exitCode = await cancel(id, flags);
  });
}
