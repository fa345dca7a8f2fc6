import type { RowResult } from '../../../../src/domain/row-result.ts';
import type { Outcome } from '../../../../src/domain/terms.ts';
import type { PageData, PageRun, ReportedOperation } from '../../../../src/engine/report/html/page-data.ts';
import { ReportPage } from '../../../../src/engine/report/html/report-page.ts';
import { Tally } from '../../../../src/engine/report/summary.ts';
import { factsOfRun, stepsAfter } from '../../../helpers/page-lines.ts';
import { callableRow, restoreEvaluation } from '../../../helpers/planned-row.ts';

const restore = { ...restoreEvaluation, columns: [] };

export interface Reported {
  readonly run?: Partial<PageRun>;
  readonly operations?: readonly ReportedOperation[];
  /** `2 succeeded OK, 51 failed NOT_FOUND (1 unclear)` */
  readonly told: string;
  readonly messageOf?: (row: number) => string;
}

/** The data of a page about such rows. */
export async function pageDataOf({
  run,
  operations = [restore],
  told,
  messageOf = () => '',
}: Reported): Promise<PageData> {
  const page = new ReportPage({
    refeed: { columns: [], clear_token: '', defaults: {} },
    operations,
    requestOf: () => undefined,
    run: {
      id: 'r-1',
      state: 'completed',
      phase: 'ended',
      baseUrl: 'https://api.example',
      stops: [],
      ...run,
    },
  });
  const tally = new Tally();
  let row = 0;
  for (const [, rows, outcome, code = '', unclear = 0] of told.matchAll(
    /(\d+) (\w+) (\w+)(?: \((\d+) unclear\))?/g,
  ))
    for (let index = 0; index < Number(rows); index += 1) {
      row += 1;
      const result: RowResult = {
        row,
        operation: 'restore-evaluation',
        outcome: outcome as Outcome,
        code,
        message: messageOf(row),
        attempts: 1,
        unclear: index < Number(unclear),
      };
      tally.add(result);
      await page.add([{ row: callableRow(row), result }]);
    }
  const { id = 'r-1', state = 'completed', phase = 'ended' } = run ?? {};
  const summary = tally.summary({ ...factsOfRun, state, activeMs: 1_000 });
  const steps = stepsAfter(summary, { id, phase, correctFile: `runs/${id}/correct.csv` });
  return (await page.content(summary, steps)).data;
}
