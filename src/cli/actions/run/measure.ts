import { readVersion } from '../../../package.ts';
import { withReleases } from '../../../releases.ts';
import type { Context } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { exitCodeOfError } from '../../thrown.ts';

/**
 * Does what a command is for, and keeps the file of its metrics. That this can't be written changes nothing of the exit code.
 *
 * @param work is to let `context.metrics` count
 */
export function measuring(
  context: Context,
  work: (context: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { settings, store, terminal } = context;
  const { metricsFile } = settings;
  if (metricsFile === undefined) return work(context);
  return withReleases(async (atEnd) => {
    const { openMetricsFile } = await import('../../../metrics/metrics-file.ts');
    const { operations } = store;
    const options = { version: readVersion(), operations, runs: true, once: true };
    const file = await openMetricsFile(metricsFile, options, ({ message }) =>
      terminal.warn(`warning: --metrics-file is not written: ${message}`),
    );
    const { metrics } = file;
    atEnd(() => file.close());
    let code: ExitCode = exitCodes.fatal;
    try {
      code = await work({ ...context, metrics });
      return code;
    } catch (error) {
      code = exitCodeOfError(error);
      throw error;
    } finally {
      metrics.ending(code);
    }
  });
}
