import { reportRun } from '../../run/report-run.ts';
import { withJournalReader } from '../../run/run-journal.ts';
import type { CommonFlags } from '../config/load.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { openState } from '../state-folder.ts';
import { openTerminal } from '../terminal.ts';
import { reportDocument, reportText } from './next-commands.ts';

/** `cqbatch report`: writes the report anew, from what the journal holds now. */
export async function report(id: string | undefined, flags: CommonFlags): Promise<ExitCode> {
  const terminal = openTerminal(flags);
  const store = await openState(terminal, flags);
  const record = await store.load(id);
  const reports = await withJournalReader(store, record, (journal) => reportRun(store, record, journal));
  terminal.result(reportDocument(record, reports), reportText(record, reports));
  return exitCodes.success;
}
