import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { built } from '../helpers/built.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { type Home, newHome } from './home.ts';
import { kindSandbox } from './redis/machine.ts';

type Embedded = typeof import('../../src/engine/datastore/embedded/embedded.ts');
type Rows = typeof import('../../src/engine/queue/row-queue.ts');
const { openEmbedded } = await built<Embedded>('engine/datastore/embedded/embedded');
const { openRowQueue } = await built<Rows>('engine/queue/row-queue');

/** The blocks of data on the page, in order. A line that begins with blanks continues the line before. */
async function blocksOfPage(): Promise<readonly string[]> {
  const page = await readFile('docs/architecture.md', 'utf8');
  const [, sections = ''] = /^## One row as data\n(.*?)^## One result/ms.exec(page) ?? [];
  const blocks = sections.matchAll(/^```(?:json|csv)\n(.*?)\n```$/gms);
  return [...blocks].map(([, block = '']) => block.replaceAll(/\n +/g, ''));
}

/** A text without what differs from one run to the next. */
function comparable(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
    .replaceAll(/"to":"[0-9a-f]{16}"/g, '"to":"EPOCH"')
    .replaceAll(/"ms":\d+/g, '"ms":0');
}

/** Matches the texts that a block shows; `…` stands for a part of a line. */
function pattern(block: string): RegExp {
  const parts = comparable(block).split('…');
  return new RegExp(`^${parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*')}$`);
}

/** What a killed run has left in the embedded datastore: the rows of its batch, and the entries of the ledger. Reads a copy. */
async function leftInDatastore({ stateDir, sandbox }: Home) {
  const copy = await temporaryFolder();
  for (const name of ['queue', 'queue.epoch.json'])
    await cp(join(stateDir, name), join(copy, name), { recursive: true });
  const datastore = await openEmbedded({ stateDir: copy, purpose: 'look' });
  const queue = openRowQueue(datastore, { baseUrl: sandbox.url });
  try {
    const [id = ''] = await queue.listedIds();
    return { batch: (await queue.job(id))?.data.text ?? '', ledger: await queue.readLedger(id, 0) };
  } finally {
    await queue.close();
    await datastore.close();
  }
}

test('the page on the architecture shows a row as it is, from its manifest to its report, and after a kill', async () => {
  const manifest = ['evaluation_id,user_id,ticket', '101,u-17,T-1', '102,u-17,T-2', '103,u-17,T-3'];
  const home = await newHome(`${manifest.join('\n')}\n`, kindSandbox, {});
  const { sandbox } = home;
  const linesOf = async (name: string): Promise<readonly string[]> => {
    const text = await readFile(join(home.folder('week-47'), name), 'utf8');
    return text.replace('\ufeff', '').trimEnd().split(/\r?\n/);
  };

  // One row at a time. The rate leaves ten seconds between two intents, so that no entry of the ledger has a result and an intent.
  const slowly = ['--rate', '6/m', '--concurrency', '1'];
  const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'week-47', ...slowly);
  await sandbox.requested(1);
  sandbox.configure({ fault: 'timeout-after-commit=100%' });
  await sandbox.requested(2);
  await expect.poll(() => linesOf('journal.jsonl')).toHaveLength(4);
  run.kill('SIGKILL');
  await run.end;
  const [, fed = '', added = '', first = ''] = await linesOf('journal.jsonl');
  const { batch, ledger } = await leftInDatastore(home);
  const [firstRequest] = await sandbox.log();

  sandbox.configure({ fault: 'none' });
  expect(await home.run('resume', '--rate', 'none')).toMatchObject({ code: 0 });
  const [head = '', ...report] = await linesOf('report.csv');

  const shown = [
    manifest.join('\n'),
    (await linesOf('rows.jsonl'))[1] ?? '',
    fed,
    batch,
    added,
    ledger[0] ?? '',
    firstRequest?.body ?? '',
    ledger[1] ?? '',
    first,
    [head, report[0]].join('\n'),
    ledger[2] ?? '',
    (await linesOf('journal.jsonl')).slice(4).join('\n'),
    report.slice(1).join('\n'),
  ];
  const blocks = await blocksOfPage();
  expect(blocks).toHaveLength(shown.length);
  for (const [index, block] of blocks.entries())
    expect(comparable(shown[index] ?? '')).toMatch(pattern(block));
});
