import { expect } from 'vitest';
import { type RunProof, verifyRun } from '../../src/engine/run/proof/verify-run.ts';

/** What the files of a run show. */
export function proofOf(runFolder: string): Promise<RunProof> {
  return verifyRun({ folder: runFolder, against: [] });
}

export async function expectProof(runFolder: string): Promise<void> {
  expect(await proofOf(runFolder)).toMatchObject({ proved: true, unchecked: [] });
}
