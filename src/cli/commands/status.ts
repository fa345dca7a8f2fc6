import type { Command } from 'commander';
import { withCommonOptions } from './shared.ts';

/** `cqbatch status` */
export function defineStatus(command: Command): void {
  command.argument('[run]', 'id of the run; the newest one by default');
  withCommonOptions(command).action(async (id: string | undefined, flags) => {
    const { status } = await import('../actions/status.ts');
    process.exitCode = await status(id, flags);
  });
}
