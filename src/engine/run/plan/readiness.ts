import { count, counted } from '../../../base/text/format.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import type { ConflictRule } from '../../../domain/terms.ts';
import type { ScanSummary } from '../../manifest/check/scan.ts';
import type { RoundedIds } from '../../manifest/manifest.ts';
import type { RowCounts } from '../../rows/row-counts.ts';
import type { RunStore } from '../record/store.ts';
import { lookUpTarget, type Target } from '../record/targets.ts';

/** What a user permits in a run. */
export interface Permits {
  /** Whether invalid rows are left out. */
  readonly skipInvalid?: boolean | undefined;
  /** Whether rows may omit fields. */
  readonly allowPartial?: boolean | undefined;
  /** Whether a run may have no calls. */
  readonly allowEmpty?: boolean | undefined;
}

/** Rows that were all checked. */
interface CheckedRows {
  readonly manifest: { readonly name: string };
  readonly scan: Omit<RowCounts, 'superseded' | 'duplicates'> &
    Pick<ScanSummary, 'choice' | 'doneIn' | 'roundedIds'>;
}

/** The facts that decide whether a run may start. */
export interface ReadyRows extends CheckedRows, Permits {
  readonly onConflict: ConflictRule;
  /** What the state folder knows about the API, if the user named the API. */
  readonly target: Target | undefined;
  readonly baseUrl: string | undefined;
}

/** Checked rows, with the other facts that decide whether they may be called with these options. */
export async function readyRows<Rows extends CheckedRows>(
  { stateDir }: Pick<RunStore, 'stateDir'>,
  rows: Rows,
  { baseUrl, onConflict }: { readonly baseUrl?: string | undefined; readonly onConflict: ConflictRule },
  { skipInvalid, allowPartial, allowEmpty }: Permits,
): Promise<Rows & ReadyRows> {
  const target = baseUrl === undefined ? undefined : await lookUpTarget(stateDir, baseUrl);
  return { ...rows, skipInvalid, allowPartial, allowEmpty, onConflict, target, baseUrl };
}

/** Whether a run may start: `plan` reports the answer, `run` obeys it. */
export function isReady(planned: ReadyRows): boolean {
  return refusals(planned).length === 0;
}

/** Code of the first reason that a run may not start. */
export function refusalOf(planned: ReadyRows): Refusal['code'] | undefined {
  return refusals(planned)[0]?.code;
}

/** The last line of a plan: whether the run can start, and if not, what to do. */
export function verdictText(planned: ReadyRows): string {
  const texts = refusals(planned).map(({ text }) => `Not ready: ${text}`);
  if (texts.length > 0) return texts.join(' ');
  const { callable, invalid } = planned.scan;
  const leftOut = invalid === 0 ? '' : `, ${counted(invalid, 'invalid row')} left out`;
  return `Ready: ${counted(callable, 'call')}${leftOut}.`;
}

/** Whether rows may omit fields that the service might reset, if any row does. */
function isPartialAllowed({
  scan,
  target,
  allowPartial,
}: Pick<ReadyRows, 'scan' | 'target' | 'allowPartial'>): boolean {
  return scan.partial === 0 || allowPartial === true || target?.allowsPartial === true;
}

interface Refusal {
  readonly code:
    | 'INVALID_ROWS'
    | 'CONFLICTING_ROWS'
    | 'ROUNDED_IDS'
    | 'PARTIAL_ROWS'
    | 'NOTHING_TO_CALL'
    | 'CELLS_INCOMPARABLE';
  /** The problem and its remedy. */
  readonly text: string;
}

/** Why a run may not start. */
export function refusals(planned: ReadyRows): readonly Refusal[] {
  const { scan, skipInvalid, onConflict } = planned;
  const found: Refusal[] = [];
  const nothing = refusalOfNothing(planned);
  if (nothing !== undefined) found.push(nothing);
  if (scan.invalid > 0 && !skipInvalid) found.push({ code: 'INVALID_ROWS', text: invalidText(planned) });
  if (scan.conflicts > 0 && onConflict === 'refuse')
    found.push({ code: 'CONFLICTING_ROWS', text: conflictText(planned) });
  for (const rounded of scan.roundedIds) found.push({ code: 'ROUNDED_IDS', text: roundedText(rounded) });
  if (!isPartialAllowed(planned)) found.push({ code: 'PARTIAL_ROWS', text: partialText(planned) });
  return found;
}

/** A run without calls looks like success, which it is only if the user says so. */
function refusalOfNothing({ manifest, scan, skipInvalid, allowEmpty }: ReadyRows): Refusal | undefined {
  const { callable, invalid, doneBefore, doneIn, choice } = scan;
  if (callable > 0 || (invalid > 0 && !skipInvalid)) return undefined;
  const name = escapeInvisible(manifest.name);
  // Undecided rows may be the wanted ones.
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

/** Why identifiers seem rounded, and how to get the right ones. */
function roundedText({ column, ids, by }: RoundedIds): string {
  return (
    `all ${count(ids)} identifiers in ${escapeInvisible(column)} with more than 15 digits end in the zeros that ${by}; ` +
    'by chance, that happens less than once in a million. They are probably wrong: export the column again as text, or ' +
    'pass --trust-ids if you know that they are right.'
  );
}

/** The risk of rows that omit fields, and how to find out about it. */
function partialText({ scan, baseUrl }: Pick<ReadyRows, 'scan' | 'baseUrl'>): string {
  const rows = counted(scan.partial, 'row', ['leaves', 'leave']);
  return (
    `${rows} fields out. ${baseUrl ?? 'The service'} may reset fields that a row leaves out: its documentation does not say. ` +
    'Give all fields, or try one row: "cqbatch run" with --allow-partial --canary 1 asks after that row; check its entry before you ' +
    'answer yes. After the first completed run, cqbatch does not ask again for that address.'
  );
}
