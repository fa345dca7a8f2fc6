import { join } from 'node:path';
import { actorText } from '../../../domain/terms.ts';
import { listedWords } from '../../../engine/operation/list-definition.ts';
import type { PlanEnd, PlanFacts } from '../../../engine/report/plan-page/plan-page-data.ts';
import {
  planPage,
  planPageFile,
  writeRunPage,
  writeUserPage,
} from '../../../engine/report/plan-page/plan-page-file.ts';
import type { RowsHead } from '../../../engine/rows/head.ts';
import type { JudgedRun } from '../../../engine/run/plan/create-run.ts';
import { NoteFile } from '../../../engine/run/plan/note-file.ts';
import { refusals } from '../../../engine/run/plan/readiness.ts';
import { rowsFile } from '../../../engine/run/record/run-rows.ts';
import type { CommandContext } from '../../context.ts';
import type { Plan } from '../../render/plan.ts';
import { linkedText } from '../../render/style.ts';
import { openPage } from '../open-page.ts';

export interface PagedPlan {
  readonly planned: Plan;
  readonly head: Pick<RowsHead, 'source' | 'made_at' | 'made_by'>;
  /** The path of the file of rows. */
  readonly rows: string;
  readonly end: PlanEnd;
}

/** Writes the plan's page, and opens the page if the user wants that. @returns the path of the page */
export async function showPlanPage(context: CommandContext, plan: PagedPlan): Promise<string> {
  const { store, flags, terminal } = context;
  const { source } = plan.head;
  const page = await planPage(store.operations, plan.rows, factsOf(plan));
  const path = flags.planPage ?? (await writeNoted(store, source, page));
  if (flags.planPage !== undefined) await writeUserPage(path, page);
  if (flags.open) openPage(terminal, path);
  return path;
}

/** Writes the page into the state folder, beside the files that say what is wrong with rows. */
async function writeNoted(
  { stateDir }: CommandContext['store'],
  { name, sha256 }: RowsHead['source'],
  page: readonly string[],
): Promise<string> {
  const notes = new NoteFile({ stateDir, name, sha256Of: async () => sha256 }, 'pages', 'html');
  for (const part of page) await notes.add(part);
  return (await notes.end()) ?? '';
}

/** A page of more rows than this takes seconds, so it is written only when the user wants to see it. */
const mostRowsAtOnce = 50_000;

/** Offers the page of a plan while the user is asked for consent. @returns a function that opens the page */
export async function offerPlanPage(
  { store, terminal, planFile }: CommandContext,
  { record, head, digest, scan }: JudgedRun,
  planned: Plan,
): Promise<() => Promise<void>> {
  const folder = store.folder(record.id);
  const [path, rows] = [join(folder, planPageFile), join(folder, rowsFile)];
  const known = planFile
    ? { of: planFile.file, sha256: planFile.sha256 }
    : { of: rowsFile, sha256: digest.sha256 };
  const end = { ...known, note: `Run ${record.id} waits for your answer at the terminal.` };
  const write = async (): Promise<void> =>
    writeRunPage(path, await planPage(store.operations, rows, factsOf({ planned, head, rows, end })));
  const isQuick = scan.rows <= mostRowsAtOnce;
  if (isQuick) await write();
  terminal.warn(
    isQuick ? `Page: ${linkedText(path, path)} (p opens it)` : 'p and Enter show the plan as a page.',
  );
  return async () => {
    if (!isQuick) await write();
    openPage(terminal, path);
  };
}

function factsOf({ planned, head, end }: PagedPlan): PlanFacts {
  const { manifest, baseUrl, rateGroup, isNewTarget, proxy, rate, scan, earlier, compared } = planned;
  return {
    source: {
      name: manifest.name,
      format: manifest.format,
      ...(manifest.sheet && { sheet: manifest.sheet.name }),
    },
    target: baseUrl === undefined ? undefined : { baseUrl, rateGroup, isNew: isNewTarget ?? false, proxy },
    rate,
    refusals: refusals(planned).map(({ text }) => text),
    warnings: scan.warnings.map(({ message }) => message),
    earlier: earlier && { id: earlier.id, state: earlier.state },
    compared: compared?.lists.map(({ list, listed }) => ({ list: listedWords({ name: list }), listed })),
    leftOut: scan.leftOut,
    keptColumns: scan.meanings.flatMap(({ column, field }) => (field === undefined ? [column] : [])),
    madeAt: head.made_at,
    madeBy: head.made_by && actorText(head.made_by),
    end,
  };
}
