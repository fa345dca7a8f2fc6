import { join } from 'node:path';
import { operations } from '../../../../jobs/index.ts';
import { hashFile } from '../../../../src/base/disk/hash-file.ts';
import { type PlanFile, writePlanFile } from '../../../../src/engine/run/plan/file/plan-file.ts';
import type { RowOptions } from '../../../../src/engine/run/plan/open-manifest.ts';
import { type PlannedRows, planManifest } from '../../../../src/engine/run/plan/planned-rows.ts';
import type { RunOptions } from '../../../../src/engine/run/record/record.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { leastOptions } from '../planned-record.ts';

/** Of a run that a plan may have: its address is in its usual form. */
export const planOptions: RunOptions = { ...leastOptions, baseUrl: 'https://api.example.com' };

/** Writes the plan of a manifest, as `cqbatch plan --out` does. */
export async function writePlan(
  file: string,
  manifest: string,
  {
    reading = {},
    options = planOptions,
  }: { readonly reading?: Partial<RowOptions>; readonly options?: RunOptions } = {},
): Promise<{ readonly plan: PlanFile; readonly rows: string; readonly planned: PlannedRows }> {
  const stateDir = await temporaryFolder();
  const rows = join(stateDir, 'rows.jsonl');
  const { onConflict } = options;
  const planned = await planManifest(
    openRunStore(stateDir, operations),
    {
      path: manifest,
      name: manifest,
      digest: await hashFile(manifest),
      options,
      reading: { clearToken: '<clear>', onConflict, ...reading },
      consent: ({ invalid, partial }) => ({ skip_invalid: invalid > 0, allow_partial: partial > 0 }),
    },
    rows,
  );
  return { plan: await writePlanFile(file, rows, planned), rows, planned };
}
