import { isActive } from '../../../cluster/entries.ts';
import type { RatePolicy } from '../../../cluster/rate-policy.ts';
import { fatalError, usageError } from '../../../errors.ts';
import { isResumable, runStates } from '../../../run/record/record.ts';
import { parseRate } from '../../../settings/parsers.ts';
import { firstSeen } from '../../../waiting.ts';
import type { Flags } from '../../config/load.ts';
import { openContext } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { contactOf, factsOf, runningRun, withRun } from '../look/find-run.ts';
import { attributionOf } from '../options.ts';

const resumable: readonly string[] = runStates.filter(isResumable);

/** A run that is going takes another rate within a second. */
const patienceMs = 20_000;

/** `cqbatch set-rate`: changes the rate of a run that is going, also while it is paused. */
export async function setRunRate(id: string, text: string, flags: Flags): Promise<ExitCode> {
  const attribution = attributionOf(flags);
  const rate = wanted(text);
  const { terminal, store, datastore } = await openContext(flags);
  return withRun(store, datastore, id, runningRun, async (found) => {
    const { runId, state } = factsOf(found);
    refuseUnlessGoing(runId, state, text.trim());
    const contact = contactOf(store, found);
    await contact.tell({ kind: 'rate', rate, ...attribution });
    const isTaken = await firstSeen(patienceMs, async () =>
      (await contact.look())?.rate?.text === rate?.text ? true : undefined,
    );
    const name = rate?.text ?? 'none';
    if (!isTaken) {
      throw fatalError(
        'COMMAND_UNANSWERED',
        `Run ${runId} has not taken the rate ${name} within ${patienceMs / 1_000} s: "cqbatch status ${runId}" shows its state.`,
      );
    }
    const said = rate === null ? 'is called as fast as can be' : `has the rate ${name}`;
    terminal.result({ run: runId, state, rate: name }, `Run ${runId} ${said}.`);
    return exitCodes.success;
  });
}

function wanted(text: string): RatePolicy | null {
  try {
    return parseRate(text);
  } catch (error) {
    throw usageError('INVALID_SETTING', `set-rate "${text}": ${(error as Error).message}.`);
  }
}

/** @throws a usage error when nobody works on the run. */
function refuseUnlessGoing(runId: string, state: string, rate: string): void {
  if (isActive(state)) return;
  const instead = resumable.includes(state)
    ? `: "cqbatch resume ${runId} --rate ${rate}" goes on with it at that rate`
    : '';
  throw usageError('RUN_STATE', `Run ${runId} is ${state}, not going${instead}.`);
}
