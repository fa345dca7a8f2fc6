import { expect } from 'vitest';
import { type Verification, verifyRun } from '../../src/engine/run/verify/verify-run.ts';

export function verificationOf(runFolder: string): Promise<Verification> {
  return verifyRun({ folder: runFolder, against: [] });
}

export async function expectVerified(runFolder: string): Promise<void> {
  expect(await verificationOf(runFolder)).toMatchObject({ agrees: true });
}
