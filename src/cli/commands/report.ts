import type { Command } from 'commander';
import { withCommonOptions } from './shared.ts';

/** `cqbatch report` */
export function defineReport(command: Command): void {
  command.argument('[run]', 'id of the run; the newest one by default');
  withCommonOptions(command).action(async (id: string | undefined, flags) => {
    const { report } = await import('../actions/report.ts');
    process.exitCode = await report(id, flags);
  });
}
