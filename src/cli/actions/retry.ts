import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isActive } from '../../cluster/entries.ts';
import { usageError } from '../../errors.ts';
import { makeTemporaryFolder } from '../../owned-folder.ts';
import { createRun } from '../../run/create-run.ts';
import { actualState } from '../../run/record.ts';
import { writeRetryManifest } from '../../run/retry-run.ts';
import { outcomeCountsOf, withJournalReader } from '../../run/run-journal.ts';
import type { RunStore } from '../../run/store.ts';
import { defaultClearToken, type Flags } from '../config/load.ts';
import { openContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { proxyTo, tokenSource } from './api-client.ts';
import { execute } from './execute.ts';
import { type FittingRun, findRecord } from './find-run.ts';
import { callOptions, calls } from './options.ts';
import { isAgreed, requireConsent, runIdOf } from './planned-run.ts';

function failedRun(store: RunStore): FittingRun {
  return {
    what: 'has rows that failed',
    fits: async (record) =>
      !isActive(actualState(record)) && (await outcomeCountsOf(store, record)).failed > 0,
    fitsElsewhere: () => false,
  };
}

/** `cqbatch retry`: a new run of the rows that failed. */
export async function retry(id: string | undefined, flags: Flags): Promise<ExitCode> {
  const context = await openContext(flags);
  const { store, settings } = context;
  requireConsent(context);
  const callsHere = calls(context);
  if (callsHere) await tokenSource(settings).current();

  const before = await findRecord(store, id, failedRun(store));
  if (isActive(actualState(before))) {
    throw usageError(
      'RUN_RUNNING',
      `Run ${before.id} is still running: wait for its end, then retry what failed.`,
    );
  }
  const folder = await makeTemporaryFolder(store.stateDir, 'retry');
  try {
    const source = join(folder, `failed-rows-of-${before.id}.jsonl`);
    const { rows, histories } = await withJournalReader(store, before, (journal) =>
      writeRetryManifest(store, before, journal, source),
    );
    if (rows === 0)
      throw usageError(
        'NOTHING_TO_RETRY',
        `No row of run ${before.id} has failed: there is nothing to retry.`,
      );

    const { baseUrl, allowInsecureHttp, map } = before.options;
    const proxy = callsHere ? proxyTo(before.options) : undefined;
    const created = await createRun(store, {
      source,
      options: {
        baseUrl,
        ...(allowInsecureHttp && { allowInsecureHttp }),
        clearToken: defaultClearToken,
        ...(map !== undefined && { map }),
        ...callOptions(settings, before.options),
      },
      runId: runIdOf(flags),
      retry: { of: before.id, histories },
    });
    if (!(await isAgreed(context, created, proxy))) return exitCodes.usage;
    return await execute(context, created.record, created.journal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
