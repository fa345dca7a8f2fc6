import { Command } from 'commander';
import { withCallOptions, withCommonOptions } from './shared.ts';

/** `cqbatch resume` */
export function resumeCommand(): Command {
  const command = new Command('resume')
    .description('go on where a run stopped; rows that have a result are not called again')
    .argument('[run]', 'id of the run; the newest one by default')
    .option('--rate <rate>', 'most calls from now on: 50/s, 600/m, or "none" (default: as before)');
  return withCommonOptions(withCallOptions(command)).action(async (id: string | undefined, flags) => {
    const { resume } = await import('../actions/resume.ts');
    process.exitCode = await resume(id, flags);
  });
}
