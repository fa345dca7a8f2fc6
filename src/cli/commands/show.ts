import { usageError } from '../../base/errors/errors.ts';
import { briefOfRecord, factsOfRecord } from '../../engine/run/facts/make-facts.ts';
import { retriesAfter, retriesAmong, undosOf } from '../../engine/run/plan/retries.ts';
import type { RunRecord } from '../../engine/run/record/record.ts';
import { rowHistory } from '../../engine/run/report/row-history.ts';
import { anyRun, findRecord } from '../../engine/run/work/find-run.ts';
import type { Flags } from '../config.ts';
import { type CommandContext, openCommandContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { auditDocument, auditText, type RunAudit } from '../render/audit.ts';
import { rowDocument, rowText } from '../render/row-history.ts';

export async function show(id: string | undefined, flags: Flags): Promise<ExitCode> {
  return showRun(await openCommandContext(flags), id);
}

export async function showRun(context: CommandContext, id: string | undefined): Promise<ExitCode> {
  const { terminal, store, flags } = context;
  const row = rowOf(flags);
  const record = await findRecord(store, id, anyRun);
  if (row !== undefined) {
    const story = await rowHistory(store, record, row);
    terminal.result(rowDocument(story), rowText(story));
    return exitCodes.success;
  }
  const audit = await auditOf(context, record);
  terminal.result(auditDocument(audit), auditText(audit));
  return exitCodes.success;
}

async function auditOf({ terminal, store }: CommandContext, record: RunRecord): Promise<RunAudit> {
  // The history is useful even if the journal can't be read.
  const facts = await factsOfRecord(store, record, undefined).catch(({ message }: Error) => {
    terminal.warn(`warning: ${message}`);
    return briefOfRecord(record);
  });
  const runs = await store.list();
  return {
    record,
    folder: store.folder(record.id),
    facts,
    retries: retriesAfter(retriesAmong(runs, record), record),
    undos: undosOf(runs, record),
  };
}

function rowOf({ row }: Flags): number | undefined {
  if (row === undefined) return undefined;
  const number = /^[1-9]\d{0,14}$/.test(row) ? Number(row) : undefined;
  if (number !== undefined) return number;
  throw usageError(
    'INVALID_SETTING',
    `--row "${row}": write the number of a row, from 1 (column _row of the report).`,
  );
}
