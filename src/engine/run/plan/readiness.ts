import { count, counted } from '../../../base/text/format.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import type { ConflictRule } from '../../../domain/terms.ts';
import type { ScanSummary } from '../../manifest/check/scan.ts';
import type { RoundedIds } from '../../manifest/manifest.ts';
import type { RowCounts } from '../../rows/row-counts.ts';
import type { RunStore } from '../record/store.ts';
import { isNewTarget } from '../record/targets.ts';

export interface PlanPermits {
  readonly skipInvalid?: boolean | undefined;
  readonly allowPartial?: boolean | undefined;
  readonly allowEmpty?: boolean | undefined;
}

interface CheckedRows {
  readonly manifest: { readonly name: string };
  readonly scan: Omit<RowCounts, 'superseded' | 'duplicates'> &
    Pick<ScanSummary, 'choice' | 'doneIn' | 'roundedIds'>;
}

export interface ReadyRows extends CheckedRows, PlanPermits {
  readonly onConflict: ConflictRule;
  readonly baseUrl: string | undefined;
  /** Whether no run of the state folder has called the API before. Undefined without a base URL. */
  readonly isNewTarget: boolean | undefined;
}

export async function readyRows<Rows extends CheckedRows>(
  { stateDir }: Pick<RunStore, 'stateDir'>,
  rows: Rows,
  { baseUrl, onConflict }: { readonly baseUrl?: string | undefined; readonly onConflict: ConflictRule },
  { skipInvalid, allowPartial, allowEmpty }: PlanPermits,
): Promise<Rows & ReadyRows> {
  const isNew = baseUrl === undefined ? undefined : await isNewTarget(stateDir, baseUrl);
  return { ...rows, skipInvalid, allowPartial, allowEmpty, onConflict, baseUrl, isNewTarget: isNew };
}

export function isReady(planned: ReadyRows): boolean {
  return refusals(planned).length === 0;
}

export function refusalOf(planned: ReadyRows): Refusal['code'] | undefined {
  return refusals(planned)[0]?.code;
}

/** The reasons why a plan is not ready, each a line with what to do. Empty if the plan is ready. */
export function unreadyText(planned: ReadyRows): string {
  return refusals(planned)
    .map(({ text }) => `Not ready: ${text}`)
    .join('\n');
}

interface Refusal {
  readonly code:
    | 'INVALID_ROWS'
    | 'CONFLICTING_ROWS'
    | 'ROUNDED_IDS'
    | 'FIELDS_LEFT_OUT'
    | 'NOTHING_TO_CALL'
    | 'CELLS_INCOMPARABLE';
  readonly text: string;
}

export function refusals(planned: ReadyRows): readonly Refusal[] {
  const { scan, skipInvalid, allowPartial, onConflict } = planned;
  const found: Refusal[] = [];
  const nothing = refusalOfNothing(planned);
  if (nothing !== undefined) found.push(nothing);
  if (scan.invalid > 0 && !skipInvalid) found.push({ code: 'INVALID_ROWS', text: invalidText(planned) });
  if (scan.conflicts > 0 && onConflict === 'refuse')
    found.push({ code: 'CONFLICTING_ROWS', text: conflictText(planned) });
  for (const rounded of scan.roundedIds) found.push({ code: 'ROUNDED_IDS', text: roundedText(rounded) });
  if (scan.partial > 0 && !allowPartial)
    found.push({ code: 'FIELDS_LEFT_OUT', text: leftOutText(scan.partial) });
  return found;
}

/** A run without calls looks like success: the user must say that it is. */
function refusalOfNothing({ manifest, scan, skipInvalid, allowEmpty }: ReadyRows): Refusal | undefined {
  const { callable, invalid, doneBefore, doneIn, asWanted, choice } = scan;
  if (callable > 0 || (invalid > 0 && !skipInvalid)) return undefined;
  const name = escapeInvisible(manifest.name);
  // Rows without a decision may be the rows that the user wanted to call.
  if (choice?.chosen === 0 && choice.undecided > 0) {
    const text = `${name} has nothing to call. ${choice.incomparable.join('. ')}. ${howToWriteCells}`;
    return { code: 'CELLS_INCOMPARABLE', text };
  }
  if (allowEmpty) return undefined;
  const facts: string[] = [];
  if (choice?.chosen === 0 && choice.leftOut > 0) facts.push(choice.whyNothing());
  if (doneBefore > 0) {
    const sources = [...doneIn.keys()].map(escapeInvisible).join(', ');
    facts.push(`${counted(doneBefore, 'row', ['was', 'were'])} done before in ${sources}.`);
  }
  if (asWanted > 0)
    facts.push(
      `${counted(asWanted, 'row', ['changes nothing: its entry is', 'change nothing: their entries are'])} so already.`,
    );
  if (invalid > 0) facts.push(`${counted(invalid, 'row', ['is', 'are'])} invalid.`);
  if (facts.length === 0) facts.push('It has no rows.');
  const text = `${name} has nothing to call. ${facts.join(' ')} If that is right, pass --allow-empty.`;
  return { code: 'NOTHING_TO_CALL', text };
}

const howToWriteCells =
  'Write numbers as 79.5 and times as 2026-11-16T10:00:00Z, or leave such rows out with another --where.';

function invalidText({ manifest, scan: { rows, invalid } }: ReadyRows): string {
  const [are, them] = invalid === 1 ? ['is', 'it'] : ['are', 'them'];
  const which = invalid === rows && rows > 1 ? `all ${counted(rows, 'row')}` : counted(invalid, 'row');
  const orSkip = invalid === rows ? '' : ' or pass --skip-invalid';
  return `${which} of ${escapeInvisible(manifest.name)} ${are} invalid; fix ${them}${orSkip}.`;
}

function conflictText({ manifest, scan: { conflicts } }: ReadyRows): string {
  const name = escapeInvisible(manifest.name);
  return (
    `${counted(conflicts, 'row')} of ${name} ${conflicts === 1 ? 'conflicts with an earlier row' : 'conflict with earlier rows'}: ` +
    'different values for the same entry. Remove the wrong rows, or pass --on-conflict last (only the last row of each entry is called) or ' +
    "--on-conflict in-order (all are called, one after the other, in the manifest's order)."
  );
}

function roundedText({ column, ids, by }: RoundedIds): string {
  return (
    `all ${count(ids)} identifiers in ${escapeInvisible(column)} with more than 15 digits end in the zeros that ${by}; ` +
    'by chance, that happens less than once in a million. They are probably wrong: export the column again as text, or ' +
    'pass --trust-ids if you know that they are right.'
  );
}

function leftOutText(rows: number): string {
  return (
    `${counted(rows, 'row', ['leaves', 'leave'])} fields out, and the API may reset what a request leaves out: ` +
    'give all fields, pass --compare if the service lists its entries, or pass --allow-partial.'
  );
}
