import { type Defer, withScope } from '../../../base/async/scope.ts';
import { systemError } from '../../../base/errors/system-error.ts';
import { readVersion } from '../../../base/package.ts';
import { counted } from '../../../base/text/format.ts';
import { withActor } from '../../../domain/actor.ts';
import type { Datastore } from '../../../engine/datastore/datastore.ts';
import type { Journal } from '../../../engine/journal/journal.ts';
import { resumeCommand } from '../../../engine/report/next-steps.ts';
import { progressOfWork } from '../../../engine/run/facts/make-facts.ts';
import { discard } from '../../../engine/run/plan/create-run.ts';
import type { RunRecord } from '../../../engine/run/record/record.ts';
import type { CanaryResults } from '../../../engine/run/work/canary.ts';
import type { ExecutedRun, FailedRun, RunEvent } from '../../../engine/run/work/run-in-progress.ts';
import { budgetOf } from '../../../settings/run-options.ts';
import { type Context, saveMemory } from '../../context.ts';
import { type ExitCode, exitCodeOf, Interrupted } from '../../exit-codes.ts';
import { interruptible, sayStopping } from '../../interrupt.ts';
import { screen } from '../../output.ts';
import { canaryText, progressLines } from '../../render/progress.ts';
import { failureText } from '../../render/summary.ts';
import { reasonText } from '../../render/words.ts';
import { openLog, type Terminal } from '../../terminal.ts';
import { apiClient, estimatedLimits, proxyTo, tokenSource, wayTo } from '../api-client.ts';
import { entryLists } from '../listing.ts';
import { attributionOf, callsHere } from '../options.ts';
import { printReport } from '../report.ts';

/** How often progress is drawn on a screen. Where no screen can be redrawn, it is printed as lines instead. */
const drawEveryMs = 100;
const printEveryMs = 5_000;

/** Executes a run to its end. @param journal the open journal of a new run; undefined when a run continues */
export async function execute(context: Context, record: RunRecord, journal?: Journal): Promise<ExitCode> {
  const executed = await withScope((defer) => untilEnd(context, record, journal, defer));
  const { record: ended, reports } = executed;
  if (reports !== undefined) {
    const { summary, steps } = reports;
    context.onEnded?.({ record: ended, summary, steps });
  }
  return conclude(context.terminal, executed);
}

async function untilEnd(
  context: Context,
  record: RunRecord,
  journal: Journal | undefined,
  defer: Defer,
): Promise<ExecutedRun> {
  const { terminal, store, settings, metrics } = context;
  const { options } = record;
  const log = await openLog(context.flags, terminal);
  // The reason for a new run is already recorded with the state `planned`. The reason for a resume is recorded here.
  const attribution = journal === undefined ? attributionOf(context) : withActor();
  const isCaller = callsHere(context);
  const token = isCaller ? tokenSource(context, options) : undefined;
  const interrupt = interruptible(sayStopping(terminal));
  defer(() => interrupt.release());
  const asks = terminal.canAsk && context.flags.yes !== true && options.canary?.pause !== true;
  const reporter = openReporter(terminal, record, isCaller ? proxyTo(options) : undefined);
  defer(() => reporter.end());
  let datastore: Datastore | undefined;
  let hasStarted = false;
  let failed: FailedRun | undefined;
  const onEvent = (event: RunEvent): void => {
    if (event.type === 'started') {
      hasStarted = true;
      reporter.start(event);
      context.onStarted?.(record, interrupt.abort);
      metrics?.followRun(options, () => event.progress.pace);
    } else if (event.type === 'called') {
      reporter.end();
      terminal.draw('Writing the report …');
    } else if (event.type === 'ended') {
      // The database ends while the report is written.
      void datastore?.endDatabase?.();
    } else if (event.type === 'failed') failed = event;
  };
  try {
    const opening = context.datastore.open(`run ${record.id}`, defer);
    const calling = token && apiClient(options, token, metrics?.observeRequests());
    defer(async () => (await calling)?.close());
    const loading = import('../../../engine/run/work/execute-run.ts');
    const [opened, client, { executeRun }] = await Promise.all([opening, calling, loading]);
    datastore = opened;
    saveMemory();
    return await executeRun({
      store,
      record,
      datastore,
      queue: context.datastore.queue,
      journal,
      client,
      openLists: (signal, opened) => entryLists(context, options, signal, opened),
      estimates: token && (await estimatedLimits(store, options, token)),
      version: readVersion(),
      attribution,
      budget: budgetOf(settings),
      log,
      observer: metrics,
      interrupt: interrupt.signal,
      confirmAfterCanary: (canary, signal) =>
        confirmAfterCanary({ terminal, asks }, reporter, canary, signal, interrupt.abort),
      onEvent,
    });
  } catch (error) {
    reporter.end();
    if (failed !== undefined) terminal.warn(failureText(record, failed));
    else if (!hasStarted && journal !== undefined) await discard(store, record.id, journal);
    if (journal !== undefined || failed !== undefined) throw error;
    throw systemError(error)?.withNextStep(resumeCommand(record)) ?? error;
  }
}

/** Shows the canary's results, and asks whether to continue. Undefined if it does not ask. */
async function confirmAfterCanary(
  { terminal, asks }: { readonly terminal: Terminal; readonly asks: boolean },
  reporter: ReturnType<typeof openReporter>,
  canary: CanaryResults,
  signal: AbortSignal,
  stop: () => void,
): Promise<boolean | undefined> {
  reporter.hide(true);
  try {
    if (asks) terminal.warn(canaryText(canary));
    else terminal.say(canaryText(canary));
    if (!asks) return undefined;
    return await terminal.confirm(`Continue with the other ${counted(canary.rowsLeft, 'row')}?`, signal);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    stop();
    return false;
  } finally {
    reporter.hide(false);
  }
}

function conclude(terminal: Terminal, { record, end, reports }: ExecutedRun): ExitCode {
  if (reports === undefined) throw new Error('Only a daemon hands runs over.');
  const { paths, summary, alteredRows } = reports;
  const { reason } = end;
  const headed = reasonText(end, reason);
  if (headed !== undefined) terminal.warn(headed);
  if (alteredRows > 0) {
    terminal.warn(
      `${counted(alteredRows, 'row', ['has', 'have'])} text that CSV can't hold: run these rows again with "cqbatch retry ${record.id}", not with ` +
        'failed.csv or correct.csv.',
    );
  }
  try {
    printReport(terminal, record, reports);
  } catch (error) {
    // If the report can't be printed, say that the run has ended: the run must not look failed.
    terminal.warn(`Run ${record.id} is ${record.state}; its report is ${paths.report}`);
    throw systemError(error)?.withNextStep(`cqbatch report ${record.id}`) ?? error;
  }
  return exitCodeOf(end, summary.outcomes);
}

function openReporter(terminal: Terminal, record: RunRecord, proxy: string | undefined) {
  let timer: NodeJS.Timeout | undefined;
  let isHidden = false;
  return {
    start({ progress, trouble }: Extract<RunEvent, { readonly type: 'started' }>): void {
      terminal.say(`Run ${record.id} on ${wayTo(record.options, proxy)}`);
      const { live } = terminal;
      const draw = (): void => {
        if (isHidden) return;
        const columns = live ? screen.columns : undefined;
        const lines = progressLines(progressOfWork(record, progress.snapshot(), trouble()), columns);
        if (live) terminal.drawLines(lines);
        else terminal.say(lines.join('\n'));
      };
      timer = setInterval(draw, live ? drawEveryMs : printEveryMs);
    },
    /** Hides progress while a question is on the screen. */
    hide(hidden: boolean): void {
      isHidden = hidden;
      terminal.draw('');
    },
    end(): void {
      clearInterval(timer);
      terminal.draw('');
    },
  };
}
