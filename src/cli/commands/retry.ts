import { Command } from 'commander';
import { withCallOptions, withCommonOptions } from './shared.ts';

/** `cqbatch retry` */
export function retryCommand(): Command {
  const command = new Command('retry')
    .description('start a new run of the rows that failed in a run')
    .argument('[run]', 'id of the run; the newest one by default')
    .option('-y, --yes', 'do not ask; needed where there is no terminal to ask on')
    .option('--rate <rate>', 'most calls: 50/s, 600/m, or "none" (default: as in that run)');
  return withCommonOptions(withCallOptions(command)).action(async (id: string | undefined, flags) => {
    const { retry } = await import('../actions/retry.ts');
    process.exitCode = await retry(id, flags);
  });
}
