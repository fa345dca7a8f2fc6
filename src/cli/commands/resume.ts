import type { Command } from 'commander';
import { withCallOptions, withCommonOptions } from './shared.ts';

/** `cqbatch resume` */
export function defineResume(command: Command): void {
  command
    .argument('[run]', 'id of the run; the newest one by default')
    .option('--base-url <url>', 'another API, for a run of which none has answered (CQBATCH_BASE_URL)')
    .option('--allow-insecure-http', 'allow http:// to a host that is not this machine')
    .option('--rate <rate>', 'most calls from now on: 50/s, 600/m, or "none" (default: as before)');
  withCommonOptions(withCallOptions(command)).action(async (id: string | undefined, flags) => {
    const { resume } = await import('../actions/resume.ts');
    process.exitCode = await resume(id, flags);
  });
}
