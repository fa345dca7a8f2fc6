import type { Command } from 'commander';
import { withCallOptions, withCommonOptions, withManifestOptions, withRunOptions } from './shared.ts';

/** `cqbatch run` */
export function defineRun(command: Command): void {
  command
    .argument('<manifest>', 'CSV, TSV, JSON or JSON Lines file, also gzipped; - for standard input')
    .option('--skip-invalid', 'leave invalid rows out instead of sending nothing');
  withCommonOptions(withCallOptions(withManifestOptions(withRunOptions(command)))).action(
    async (manifest: string, flags) => {
      const { run } = await import('../actions/run.ts');
      process.exitCode = await run(manifest, flags);
    },
  );
}
