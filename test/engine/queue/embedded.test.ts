import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built } from '../../helpers/built.ts';
import { describeQueueOn } from './conformance.ts';

const { openEmbedded } = await built<typeof import('../../../src/engine/datastore/embedded/embedded.ts')>(
  'engine/datastore/embedded/embedded',
);

const open = async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'cqbatch-conformance-'));
  return openEmbedded({ stateDir, purpose: 'conformance tests' });
};

describeQueueOn('the embedded datastore', open);
