import { withReleases } from '../../../base/async/scope.ts';
import type { Flags } from '../../config/load.ts';
import { openContext } from '../../context.ts';
import type { ExitCode } from '../../exit-codes.ts';

/** `cqbatch run` */
export function run(manifest: string, flags: Flags): Promise<ExitCode> {
  return withReleases(async (atEnd) => {
    const context = await openContext(flags);
    // Prepares the datastore while code is loaded and the manifest checked.
    context.datastore.prepare(atEnd);
    const { runManifest } = await import('./run-manifest.ts');
    return runManifest(context, manifest);
  });
}
