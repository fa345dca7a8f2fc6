import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect } from 'vitest';
import { operations } from '../../jobs/index.ts';
import { type RunProof, verifyRun } from '../../src/run/proof/verify-run.ts';
import { publicKeyPath } from '../../src/signature/machine-key.ts';
import { parsePublicKey } from '../../src/signature/public-key.ts';

/** What the folder of a run proves, with the key of its state folder. */
export async function proofOf(runFolder: string): Promise<RunProof> {
  const key = await readFile(publicKeyPath(dirname(dirname(runFolder))), 'utf8');
  return verifyRun({ folder: runFolder, keys: [parsePublicKey(key)], approvers: [], operations });
}

export async function expectProof(runFolder: string): Promise<void> {
  expect(await proofOf(runFolder)).toMatchObject({ proved: true, unchecked: [] });
}
