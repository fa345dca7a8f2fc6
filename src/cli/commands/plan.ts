import type { Command } from 'commander';
import { withCommonOptions, withManifestOptions } from './shared.ts';

/** `cqbatch plan` */
export function definePlan(command: Command): void {
  command.argument('<manifest>', 'CSV, TSV, JSON or JSON Lines file, also gzipped; - for standard input');
  withCommonOptions(withManifestOptions(command)).action(async (manifest: string, flags) => {
    const { plan } = await import('../actions/plan.ts');
    process.exitCode = await plan(manifest, flags);
  });
}
