import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { DatabaseConnection } from '../../../../src/engine/datastore/embedded/connection.ts';
import { built } from '../../../helpers/built.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const { openEmbedded } = await built<typeof import('../../../../src/engine/datastore/embedded/embedded.ts')>(
  'engine/datastore/embedded/embedded',
);

test('a session whose thread ends while it closes is closed, and not lost', async () => {
  const endsWhenAsked = "require('node:worker_threads').parentPort.once('message', () => process.exit())";
  const connection = new DatabaseConnection(
    new Worker(endsWhenAsked, { eval: true }),
    await temporaryFolder(),
  );
  let isLost = false;
  void connection.lost.then(() => {
    isLost = true;
  });
  await connection.close();
  expect(isLost).toBe(false);
  await expect(connection.query('SELECT 1')).rejects.toMatchObject({ code: 'DATASTORE_LOST' });
});

test('a damaged database is refused with the reason of PostgreSQL', async () => {
  const stateDir = await temporaryFolder();
  const opened = () => openEmbedded({ stateDir, purpose: 'test' });
  await (await opened()).close();
  await truncate(join(stateDir, 'queue', 'global', 'pg_control'), 10);
  await expect(opened()).rejects.toThrow(/could not read file "global\/pg_control".*Move the folder away/);
});
