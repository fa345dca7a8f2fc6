import { poll } from '../../base/async/waiting.ts';
import { fatalError } from '../../base/errors/errors.ts';
import { priorities } from '../../domain/terms.ts';
import { resumeCommand } from '../../engine/report/next-steps.ts';
import type { RunBrief } from '../../engine/run/facts/run-facts.ts';
import { isResumable, runStates } from '../../engine/run/record/record.ts';
import { reprioritizeWaiting } from '../../engine/run/record/waiting-run.ts';
import type { NewControl } from '../../engine/run/work/control.ts';
import {
  contactOf,
  type RunContact,
  requireState,
  runningRun,
  withRun,
} from '../../engine/run/work/find-run.ts';
import { parseChoice, parseRate } from '../../settings/parsers.ts';
import type { Flags } from '../config.ts';
import { openContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { attributionOf, parsedArgument } from './options.ts';

/** How long a command waits until a run has taken a new value, which usually takes a second. */
const optionWaitMs = 20_000;

/** Changes the rate of a run in progress, also of a paused one. */
export async function setRunRate(id: string, text: string, flags: Flags): Promise<ExitCode> {
  const rate = parsedArgument('set-rate', text, parseRate);
  const context = await openContext(flags);
  const attribution = attributionOf(context);
  return withRun(context, id, runningRun, async (found) => {
    const contact = contactOf(context.store, found);
    const name = rate?.text ?? 'none';
    const wanted: NewControl = { kind: 'rate', rate, ...attribution };
    refuseUnlessActive(contact, `--rate ${name}`, 'at that rate');
    await settle(contact, wanted, (run) => run.wantedRate === name, `rate ${name}`);
    const result = rate === null ? 'is called as fast as possible' : `has the rate ${name}`;
    const { runId, foundState } = contact;
    context.terminal.result({ run: runId, state: foundState, rate: name }, `Run ${runId} ${result}.`);
    return exitCodes.success;
  });
}

/** Changes the priority of a run in progress, also of one that is paused or waits for a daemon. */
export async function setRunPriority(id: string, text: string, flags: Flags): Promise<ExitCode> {
  const priority = parsedArgument('set-priority', text, parseChoice(priorities));
  const context = await openContext(flags);
  const attribution = attributionOf(context);
  return withRun(context, id, runningRun, async (found) => {
    const contact = contactOf(context.store, found);
    const { runId, foundState } = contact;
    if (foundState === 'submitted')
      await reprioritizeWaiting(context.store, runId, { priority, ...attribution });
    else refuseUnlessActive(contact, `--priority ${priority}`, 'with that priority');
    const wanted: NewControl = { kind: 'priority', priority, ...attribution };
    await settle(contact, wanted, (run) => run.priority === priority, `priority ${priority}`);
    context.terminal.result(
      { run: runId, state: foundState, priority },
      `Run ${runId} has priority ${priority}.`,
    );
    return exitCodes.success;
  });
}

/** Writes an option, and waits until the run has taken it. @throws a fatal error `COMMAND_UNANSWERED` */
async function settle(
  { runId, writeControl, loadBrief }: RunContact,
  wanted: NewControl,
  hasTakenEffect: (run: RunBrief) => boolean,
  what: string,
): Promise<void> {
  await writeControl(wanted);
  const isDone = await poll(optionWaitMs, async () => {
    const run = await loadBrief();
    return run !== undefined && hasTakenEffect(run) ? true : undefined;
  });
  if (isDone) return;
  throw fatalError(
    'COMMAND_UNANSWERED',
    `Run ${runId} did not take the ${what} within ${optionWaitMs / 1_000} s: "cqbatch status ${runId}" shows its state.`,
  );
}

function refuseUnlessActive(contact: RunContact, flag: string, how: string): void {
  const canResume = runStates.filter(isResumable).some((each) => each === contact.foundState);
  const { runId: id, submitted } = contact;
  const advice = `"${resumeCommand({ id, submitted })} ${flag}" continues it ${how}`;
  requireState(contact, 'in progress', canResume ? advice : undefined);
}
