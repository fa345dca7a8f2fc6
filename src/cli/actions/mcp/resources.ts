import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReadResourceResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server';
import { usageError } from '../../../errors.ts';
import { exists, type RunStore } from '../../../index.ts';
import { onDisk } from '../../../system-error.ts';
import { printable } from '../../../text/printable.ts';
import { count } from '../../../text/quantities.ts';
import { notice } from './data.ts';

/** Files of a run that an agent can read, with their kinds. */
const readable: Readonly<Record<string, string>> = {
  'summary.json': 'application/json',
  'report.csv': 'text/csv',
  'failed.csv': 'text/csv',
  'not-attempted.csv': 'text/csv',
};

const listedRuns = 20;
const mostBytes = 100_000;

export const resourceTemplates: readonly ResourceTemplateType[] = [
  {
    uriTemplate: 'cqbatch://runs/{run}/{file}',
    name: 'report of a run',
    description: `A file of a run: ${Object.keys(readable).join(', ')}. At most its first ${count(mostBytes)} bytes.`,
  },
];

/** The reports of the newest runs. */
export async function listResources(store: RunStore): Promise<Resource[]> {
  const runs = (await store.list(() => {})).toReversed().slice(0, listedRuns);
  const found: Resource[] = [];
  for (const { id } of runs)
    for (const [file, mimeType] of Object.entries(readable))
      if (await exists(join(store.folder(id), file)))
        found.push({ uri: `cqbatch://runs/${id}/${file}`, name: `${file} of run ${id}`, mimeType });
  return found;
}

/**
 * The beginning of a report, marked as data.
 *
 * @throws a usage error `RESOURCE_UNKNOWN`, or `RUN_UNKNOWN`
 */
export async function readResource(store: RunStore, uri: string): Promise<ReadResourceResult> {
  const [, id = '', file = ''] = /^cqbatch:\/\/runs\/([^/]+)\/([^/]+)$/.exec(uri) ?? [];
  const mimeType = Object.hasOwn(readable, file) ? readable[file] : undefined;
  const path = mimeType && join(store.folder((await store.load(id)).id), file);
  if (mimeType === undefined || path === undefined || !(await exists(path)))
    throw usageError('RESOURCE_UNKNOWN', `There is no resource ${uri}.`);
  const { text, isCut } = await onDisk(path, () => beginningOf(path));
  const cut = isCut ? ` This is the beginning of the file; the tool "rows" shows the rows behind it.` : '';
  return {
    contents: [
      { uri, mimeType: 'text/plain', text: notice + cut },
      { uri, mimeType, text: printable(text) },
    ],
  };
}

async function beginningOf(path: string): Promise<{ readonly text: string; readonly isCut: boolean }> {
  await using file = await open(path);
  const { bytesRead, buffer } = await file.read(Buffer.alloc(mostBytes + 1), 0, mostBytes + 1, 0);
  const isCut = bytesRead > mostBytes;
  const bytes = buffer.subarray(0, Math.min(bytesRead, mostBytes));
  // Without the byte order mark, and without a part of a character.
  return { text: new TextDecoder().decode(bytes, { stream: isCut }), isCut };
}
