import type { Command } from 'commander';
import { withCommonOptions, withManifestOptions, withPolicyOptions, withRunOptions } from './shared.ts';

/** `cqbatch submit` */
export function defineSubmit(command: Command): void {
  command
    .argument('<manifest>', 'CSV, TSV, JSON or JSON Lines file, also gzipped; - for standard input')
    .option('--skip-invalid', 'leave invalid rows out instead of sending nothing');
  withCommonOptions(withPolicyOptions(withManifestOptions(withRunOptions(command)))).action(
    async (manifest: string, flags) => {
      const { submit } = await import('../actions/submit.ts');
      process.exitCode = await submit(manifest, flags);
    },
  );
}
