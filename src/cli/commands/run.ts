import type { Command } from 'commander';
import { withCallOptions, withCommonOptions, withManifestOptions } from './shared.ts';

/** `cqbatch run` */
export function defineRun(command: Command): void {
  command
    .argument('<manifest>', 'CSV, TSV, JSON or JSON Lines file, also gzipped; - for standard input')
    .option('-y, --yes', 'do not ask; needed where there is no terminal to ask on')
    .option('--skip-invalid', 'leave invalid rows out instead of sending nothing');
  withCommonOptions(withCallOptions(withManifestOptions(command))).action(async (manifest: string, flags) => {
    const { run } = await import('../actions/run.ts');
    process.exitCode = await run(manifest, flags);
  });
}
