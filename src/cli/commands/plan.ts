import { Command } from 'commander';
import { withCommonOptions, withManifestOptions } from './shared.ts';

/** `cqbatch plan` */
export function planCommand(): Command {
  const command = new Command('plan')
    .description('validate every row, count, estimate and preview requests; sends nothing')
    .argument('<manifest>', 'CSV, TSV, JSON or JSON Lines file, also gzipped; - for standard input');
  return withCommonOptions(withManifestOptions(command)).action(async (manifest: string, flags) => {
    const { plan } = await import('../actions/plan.ts');
    process.exitCode = await plan(manifest, flags);
  });
}
