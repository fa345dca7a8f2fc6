import { withScope } from '../../base/async/scope.ts';
import { createFile, exists } from '../../base/disk/files.ts';
import { type CqbatchError, usageError } from '../../base/errors/errors.ts';
import { onDisk } from '../../base/errors/system-error.ts';
import { nearestName } from '../../base/text/near-name.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { ChosenEntries, type ListingOperation } from '../../engine/list/chosen-entries.ts';
import { ListReader } from '../../engine/list/list-reader.ts';
import type { Operation } from '../../engine/operation/operation.ts';
import { type TableOptions, tableContent, tableFormats } from '../../engine/report/table-file.ts';
import { defaults } from '../../settings/settings.ts';
import type { Flags } from '../config.ts';
import { type CommandContext, openPlanningContext, saveMemory } from '../context.ts';
import { type ExitCode, exitCodes, Interrupted } from '../exit-codes.ts';
import { interruptible } from '../interrupt.ts';
import { writeContent } from '../output.ts';
import {
  type Export,
  exportDocument,
  exportText,
  exportWarnings,
  nothingText,
  planCommand,
  readingText,
} from '../render/export.ts';
import { listReading, showProgress } from './listing.ts';
import { runOptions } from './options.ts';

export async function exportEntries(what: string, flags: Flags): Promise<ExitCode> {
  return exportList(await openPlanningContext(flags), what);
}

export async function exportList(context: CommandContext, what: string): Promise<ExitCode> {
  const { terminal, settings, store } = context;
  const operation = operationThatLists(what, store.operations);
  const output = await outputOf(context);
  const entries = new ChosenEntries(operation, settings.where);
  const done = await readChosen(context, entries, output);
  for (const warning of exportWarnings(done)) terminal.warn(`warning: ${warning}`);
  const { file } = output;
  if (file === undefined) {
    // Standard output has the entries, so the summary goes to standard error.
    terminal.say(exportText(done));
    return exitCodes.success;
  }
  const next = planCommand(file, operation, { operations: store.operations, settings });
  const lines = [exportText(done), `Wrote ${escapeInvisible(file)}. Next: ${terminal.completed(next)}`];
  terminal.result(exportDocument(done, file), lines.join('\n'));
  return exitCodes.success;
}

/**
 * Reads the list and writes the chosen entries. There is no file unless the whole list was read.
 *
 * @throws a usage error `NOTHING_TO_EXPORT`, `Interrupted` on Ctrl-C, SIGTERM and SIGHUP, and the errors of reading and writing
 */
function readChosen(context: CommandContext, entries: ChosenEntries, output: Output): Promise<Export> {
  const { terminal, settings } = context;
  return withScope(async (defer) => {
    const interrupt = interruptible(() => {});
    defer(interrupt.release);
    const { list } = entries.operation;
    const ifMissing = 'Make the manifest from another source.';
    const options = runOptions(context);
    const reading = await listReading(context, options, interrupt.signal, defer, ifMissing);
    const reader = new ListReader(list, { ...reading, attempts: options.attempts });
    defer(showProgress(terminal, () => readingText(list, reader, entries.chosen)));
    const state = { reader, entries };
    const rows = async function* () {
      yield* entries.rows(reader.entries());
      if (entries.chosen > 0 || settings.allowEmpty) return;
      const why = `There is nothing to export. ${nothingText(state)}`;
      throw usageError('NOTHING_TO_EXPORT', `${why} If that is right, pass --allow-empty.`);
    };
    saveMemory();
    try {
      await output.write(rows(), entries.columns);
    } catch (error) {
      throw interrupt.signal.aborted ? new Interrupted('work') : error;
    }
    return state;
  });
}

interface Output {
  /** The path of the file. Absent for standard output. */
  readonly file?: string;
  readonly write: (
    rows: AsyncIterable<readonly (readonly string[])[]>,
    columns: readonly string[],
  ) => Promise<void>;
}

/** Where the entries go. @throws a usage error without a usable name, and `EXPORT_EXISTS`: a file is never replaced */
async function outputOf({ flags: { out, json }, settings }: CommandContext): Promise<Output> {
  const { delimiter, clearToken = defaults.clearToken } = settings;
  if (out === undefined)
    throw usageError('INVALID_SETTING', `The file is missing: pass --out NAME.csv, ${otherNames}`);
  if (out === '-') {
    if (json)
      throw usageError(
        'INVALID_SETTING',
        '--json and --out - exclude each other: both write to standard output.',
      );
    return {
      async write(rows, columns) {
        const options = { format: 'csv', delimiter, clearToken, forExcel: false } as const;
        for await (const text of await tableContent({ columns, rows }, options)) writeContent(String(text));
      },
    };
  }
  const format = formatOf(out);
  if (await exists(out)) throw existingFileError(out);
  return {
    file: out,
    async write(rows, columns) {
      const content = await tableContent(
        { columns, rows },
        { format, delimiter, clearToken, forExcel: true },
      );
      if (!(await onDisk(out, () => createFile(out, content)))) throw existingFileError(out);
    },
  };
}

const otherNames = 'NAME.tsv, NAME.jsonl or NAME.xlsx, or --out - for CSV on standard output.';

function formatOf(out: string): TableOptions['format'] {
  const format = tableFormats.find((each) => out.toLowerCase().endsWith(`.${each}`));
  if (format !== undefined) return format;
  throw usageError('INVALID_SETTING', `--out "${out}": write NAME.csv, ${otherNames}`);
}

function existingFileError(file: string): CqbatchError {
  return usageError(
    'EXPORT_EXISTS',
    `${escapeInvisible(file)} already exists: remove it, or choose another name.`,
  );
}

function operationThatLists(what: string, operations: readonly Operation[]): ListingOperation {
  const listing = operations.filter((each): each is ListingOperation => each.list !== undefined);
  const found = listing.find(({ list }) => list.name === what);
  if (found !== undefined) return found;
  const names = listing.map(({ list }) => list.name);
  const nearest = nearestName(what, names);
  throw usageError(
    'LIST_UNKNOWN',
    `No operation lists "${what}": ${nearest === undefined ? `write ${names.join(' or ')}` : `do you mean ${nearest}?`}`,
  );
}
