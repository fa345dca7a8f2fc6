import type { Command } from 'commander';
import { withCallOptions, withCommonOptions, withRunOptions } from './shared.ts';

/** `cqbatch retry` */
export function defineRetry(command: Command): void {
  command
    .argument('[run]', 'id of the run; the newest one by default')
    .option('--rate <rate>', 'most calls: 50/s, 600/m, or "none" (default: as in that run)');
  withCommonOptions(withCallOptions(withRunOptions(command))).action(
    async (id: string | undefined, flags) => {
      const { retry } = await import('../actions/retry.ts');
      process.exitCode = await retry(id, flags);
    },
  );
}
