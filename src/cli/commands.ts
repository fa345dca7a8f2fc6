import type { Command } from 'commander';
import {
  withCallOptions,
  withCommonOptions,
  withManifestOptions,
  withPolicyOptions,
  withQueueOptions,
  withRunOptions,
  withServiceOptions,
  withSetting,
  withTarget,
  withWorkerOptions,
} from './option-groups.ts';

/** Makes a command of this name. */
export type Define = (name: string, description: string) => Command;

const manifest = [
  '<manifest>',
  'CSV, TSV, JSON or JSON Lines file, also gzipped; - for standard input',
] as const;
const newestRun = ['[run]', 'id of the run; the newest one by default'] as const;
const skipInvalid = ['--skip-invalid', 'leave invalid rows out instead of sending nothing'] as const;

/** The commands, but for the sandbox. What one works with is loaded when it runs: `cqbatch --help` has to be quick. */
export function defineCommands(define: Define): void {
  const plan = define('plan', 'validate every row, count, estimate and preview requests; sends nothing');
  withCommonOptions(withManifestOptions(plan.argument(...manifest))).action(async (source: string, flags) => {
    process.exitCode = await (await import('./actions/plan.ts')).plan(source, flags);
  });

  const run = define('run', 'plan, ask, call the API for every row, and write the report')
    .argument(...manifest)
    .option(...skipInvalid);
  withCommonOptions(withCallOptions(withManifestOptions(withRunOptions(run)))).action(
    async (source: string, flags) => {
      process.exitCode = await (await import('./actions/run.ts')).run(source, flags);
    },
  );

  const resume = define('resume', 'go on where a run stopped; rows that have a result are not called again');
  withTarget(
    resume.argument(...newestRun),
    'another API, for a run of which none has answered (CQBATCH_BASE_URL)',
  );
  withSetting(resume, 'rate', 'most calls from now on: 50/s, 600/m, or "none" (default: as before)');
  withCommonOptions(withCallOptions(resume)).action(async (id: string | undefined, flags) => {
    process.exitCode = await (await import('./actions/resume.ts')).resume(id, flags);
  });

  const retry = define('retry', 'start a new run of the rows that failed in a run').argument(...newestRun);
  withSetting(retry, 'rate', 'most calls: 50/s, 600/m, or "none" (default: as in that run)');
  withCommonOptions(withCallOptions(withRunOptions(retry))).action(async (id: string | undefined, flags) => {
    process.exitCode = await (await import('./actions/retry.ts')).retry(id, flags);
  });

  const status = define('status', 'where a run stands, also while it is going')
    .argument(...newestRun)
    .option('--watch', 'follow it to its end; the exit code is then that of the run');
  withCommonOptions(withQueueOptions(status)).action(async (id: string | undefined, flags) => {
    process.exitCode = await (await import('./actions/status.ts')).status(id, flags);
  });

  const list = define('list', 'the runs of this state folder and of the shared datastore, newest first');
  withCommonOptions(withQueueOptions(list)).action(async (flags) => {
    process.exitCode = await (await import('./actions/list.ts')).list(flags);
  });

  const cancel = define(
    'cancel',
    'give a run up for good, also one that is going; rows that were not called stay so',
  ).argument(...newestRun);
  withCommonOptions(withQueueOptions(cancel)).action(async (id: string | undefined, flags) => {
    process.exitCode = await (await import('./actions/cancel.ts')).cancel(id, flags);
  });

  const pause = define('pause', 'let a run rest: no more rows are called until it is unpaused');
  const unpause = define('unpause', 'let a paused run go on');
  for (const command of [pause, unpause]) {
    withCommonOptions(withQueueOptions(command.argument(...newestRun))).action(
      async (id: string | undefined, flags) => {
        const { change } = await import('./actions/pause.ts');
        process.exitCode = await change(command === pause ? 'pause' : 'unpause', id, flags);
      },
    );
  }

  const report = define(
    'report',
    'write the report of a run again, also while it is going, and show where it is',
  );
  withCommonOptions(report.argument(...newestRun)).action(async (id: string | undefined, flags) => {
    process.exitCode = await (await import('./actions/report.ts')).report(id, flags);
  });

  const worker = define('worker', 'call the API for the runs of a shared datastore, until it is stopped');
  withTarget(worker, 'the API whose rows are called; never another one (CQBATCH_BASE_URL)').option(
    '--coordinate',
    'also take over the runs that were submitted to the state folder',
  );
  withServiceOptions(worker).option(
    '--log-level <level>',
    'of the structured log on standard error: silent, error, warn, info or debug',
    'info',
  );
  withCommonOptions(withQueueOptions(withWorkerOptions(worker))).action(async (flags) => {
    process.exitCode = await (await import('./actions/worker.ts')).worker(flags);
  });

  const submit = define('submit', 'plan, ask, and hand the run to a "cqbatch worker --coordinate"')
    .argument(...manifest)
    .option(...skipInvalid);
  withCommonOptions(withPolicyOptions(withManifestOptions(withRunOptions(submit)))).action(
    async (source: string, flags) => {
      process.exitCode = await (await import('./actions/submit.ts')).submit(source, flags);
    },
  );
}
