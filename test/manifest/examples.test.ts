import { expect, test } from 'vitest';
import { openManifest } from '../../src/manifest/open.ts';
import { createRowPreparer } from '../../src/manifest/row-preparer.ts';
import { scanManifest } from '../../src/manifest/scan.ts';

test.each<[file: string, counts: object]>([
  ['mixed.csv', { rows: 201, callable: 200, invalid: 0, duplicates: 1, conflicts: 0 }],
  ['restore-evaluations.csv', { rows: 30, callable: 30, partial: 0 }],
  ['restore-evaluations.json', { rows: 3, callable: 3, partial: 0 }],
  ['update-soundboards.csv', { rows: 12, callable: 12, partial: 12 }],
  ['update-soundboards.jsonl', { rows: 3, callable: 3, partial: 2 }],
])('examples/%s can be run as it is', async (file, counts) => {
  const manifest = await openManifest(`examples/${file}`);
  const summary = await scanManifest(manifest, createRowPreparer({ manifest }));
  expect(summary).toMatchObject({ ...counts, warnings: [] });
});
