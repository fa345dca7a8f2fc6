import { Command } from 'commander';
import { withCommonOptions } from './shared.ts';

/** `cqbatch status` */
export function statusCommand(): Command {
  const command = new Command('status')
    .description('where a run stands, also while it is going')
    .argument('[run]', 'id of the run; the newest one by default');
  return withCommonOptions(command).action(async (id: string | undefined, flags) => {
    const { status } = await import('../actions/status.ts');
    process.exitCode = await status(id, flags);
  });
}
