import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isActive } from '../../cluster/entries.ts';
import { usageError } from '../../errors.ts';
import { makeTemporaryFolder } from '../../owned-folder.ts';
import { createRun, discard } from '../../run/create-run.ts';
import { actualState } from '../../run/record.ts';
import { writeRetryManifest } from '../../run/retry-run.ts';
import { withJournalReader } from '../../run/run-journal.ts';
import { loadSettings } from '../config/load.ts';
import { chooseDatastore } from '../datastore.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { defaultClearToken } from '../option-groups.ts';
import { openState, problemsPath } from '../state-folder.ts';
import { openTerminal } from '../terminal.ts';
import { tokenSource } from '../token.ts';
import { proxyTo } from './api-client.ts';
import { type CallFlags, callOptions, calls } from './options.ts';
import { question, requireConsent, runIdOf } from './planned-run.ts';
import { start } from './run.ts';

/** `cqbatch retry`: a new run of the rows that failed. */
export async function retry(id: string | undefined, flags: CallFlags): Promise<ExitCode> {
  const terminal = openTerminal(flags);
  const store = await openState(terminal, flags);
  const settings = await loadSettings(flags);
  const datastore = await chooseDatastore(terminal, flags, settings);
  requireConsent(terminal, flags);
  if (calls(flags, settings)) await tokenSource(settings).current();

  const before = await store.load(id);
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

    const { baseUrl, allowInsecureHttp } = before.options;
    const proxy = calls(flags, settings) ? proxyTo(before.options) : undefined;
    const created = await createRun(store, {
      source,
      options: {
        baseUrl,
        ...(allowInsecureHttp && { allowInsecureHttp }),
        clearToken: defaultClearToken,
        ...callOptions(settings, before.options),
      },
      problemsPath: (name) => problemsPath(flags, name),
      runId: runIdOf(flags),
      retry: { of: before.id, histories },
    });
    if (!flags.yes && !(await terminal.confirm(question(created, proxy)))) {
      await discard(store, created.record, created.journal);
      terminal.result({ state: 'declined' }, 'Nothing was sent.');
      return exitCodes.usage;
    }
    return await start({ terminal, store, datastore, settings, flags }, created);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
