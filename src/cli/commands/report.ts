import { Command } from 'commander';
import { withCommonOptions } from './shared.ts';

/** `cqbatch report` */
export function reportCommand(): Command {
  const command = new Command('report')
    .description('write the report of a run again, also while it is going, and show where it is')
    .argument('[run]', 'id of the run; the newest one by default');
  return withCommonOptions(command).action(async (id: string | undefined, flags) => {
    const { report } = await import('../actions/report.ts');
    process.exitCode = await report(id, flags);
  });
}
