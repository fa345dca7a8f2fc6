import { isActive } from '../../cluster/entries.ts';
import type { RatePolicy } from '../../cluster/rate-policy.ts';
import { fatalError, usageError } from '../../errors.ts';
import { writeRate } from '../../run/rate-command.ts';
import { isResumable, runStates } from '../../run/record.ts';
import { firstSeen } from '../../waiting.ts';
import type { Flags } from '../config/load.ts';
import { parseRate } from '../config/parsers.ts';
import { openContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { factsOf, findRun, runningRun, withCluster } from './find-run.ts';
import { attributionOf } from './options.ts';

const resumable: readonly string[] = runStates.filter(isResumable);

/** A run that is going takes another rate within a second. */
const patienceMs = 20_000;

/** `cqbatch set-rate`: changes the rate of a run that is going, also while it is paused. */
export async function setRate(id: string, text: string, flags: Flags): Promise<ExitCode> {
  const attribution = attributionOf(flags);
  const rate = wanted(text);
  const { terminal, store, datastore } = await openContext(flags);
  const found = await findRun(store, datastore, id, runningRun);
  const { runId, state } = factsOf(found);
  refuseUnlessGoing(runId, state, text.trim());

  const command = { rate, at: new Date().toISOString(), ...attribution };
  const taken = (look: () => Promise<RatePolicy | undefined>): Promise<true | undefined> =>
    firstSeen(patienceMs, async () => ((await look())?.text === rate?.text ? true : undefined));
  let isTaken: true | undefined;
  if ('record' in found) {
    await writeRate(store.folder(runId), command);
    isTaken = await taken(async () => (await store.load(runId)).options.rate);
  } else {
    isTaken = await withCluster(datastore, `set-rate ${runId}`, async (cluster) => {
      await cluster.setRate(runId, command);
      return taken(async () => (await cluster.run(runId))?.rate);
    });
  }
  const name = rate?.text ?? 'none';
  if (!isTaken) {
    throw fatalError(
      'COMMAND_UNANSWERED',
      `Nobody who works on run ${runId} has taken the rate ${name} over within ${patienceMs / 1_000} s: "cqbatch status ${runId}" tells how it is.`,
    );
  }
  const said = rate === null ? 'is called as fast as can be' : `has the rate ${name}`;
  terminal.result({ run: runId, state, rate: name }, `Run ${runId} ${said}.`);
  return exitCodes.success;
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
