import { usageError } from '../../../base/errors/errors.ts';
import { count, counted } from '../../../base/text/format.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import type { ConflictRule, KnownFates } from '../../../domain/terms.ts';
import type { ScanSummary } from '../../manifest/check/scan.ts';
import type { RoundedIds } from '../../manifest/manifest.ts';
import type { RowsHead } from '../../rows/head.ts';
import type { OperationSummary, RowCounts } from '../../rows/row-counts.ts';
import type { RunRecord } from '../record/record.ts';
import { openRunRows } from '../record/run-rows.ts';
import type { RunStore } from '../record/store.ts';
import { lookUpTarget, rememberFates, type Target } from '../record/targets.ts';

export interface Permits extends KnownFates {
  readonly skipInvalid?: boolean | undefined;
  readonly allowPartial?: boolean | undefined;
  readonly allowEmpty?: boolean | undefined;
}

interface CheckedRows {
  readonly manifest: { readonly name: string };
  readonly scan: Omit<RowCounts, 'superseded' | 'duplicates'> &
    Pick<ScanSummary, 'choice' | 'doneIn' | 'roundedIds'> &
    UpdatingRows['scan'];
}

/** What decides whether rows may leave fields out, or clear them. */
export interface UpdatingRows extends KnownFates {
  readonly scan: {
    readonly perOperation: Readonly<Record<string, Pick<OperationSummary, 'partial' | 'fields'>>>;
  };
  readonly target: Pick<Target, 'updates'> | undefined;
  readonly baseUrl: string | undefined;
}

export interface ReadyRows extends CheckedRows, Permits {
  readonly onConflict: ConflictRule;
  readonly target: Target | undefined;
  readonly baseUrl: string | undefined;
}

export async function readyRows<Rows extends CheckedRows>(
  { stateDir }: Pick<RunStore, 'stateDir'>,
  rows: Rows,
  { baseUrl, onConflict }: { readonly baseUrl?: string | undefined; readonly onConflict: ConflictRule },
  { skipInvalid, allowPartial, allowEmpty, leftOut, cleared }: Permits,
): Promise<Rows & ReadyRows> {
  const target = baseUrl === undefined ? undefined : await lookUpTarget(stateDir, baseUrl);
  return { ...rows, skipInvalid, allowPartial, allowEmpty, leftOut, cleared, onConflict, target, baseUrl };
}

export function isReady(planned: ReadyRows): boolean {
  return refusals(planned).length === 0;
}

export function refusalOf(planned: ReadyRows): Refusal['code'] | undefined {
  return refusals(planned)[0]?.code;
}

/** One line for each reason, with what to do. */
export function verdictText(planned: ReadyRows): string {
  const texts = refusals(planned).map(({ text }) => `Not ready: ${text}`);
  if (texts.length > 0) return texts.join('\n');
  const { callable, invalid } = planned.scan;
  const leftOut = invalid === 0 ? '' : `, ${counted(invalid, 'invalid row')} left out`;
  return `Ready: ${counted(callable, 'call')}${leftOut}.`;
}

/** If the service certainly resets the fields, `fateRefusals` refuses the rows. */
function isPartialAllowed(planned: ReadyRows): boolean {
  if (planned.allowPartial === true || planned.target?.allowsPartial === true) return true;
  return Object.entries(planned.scan.perOperation).every(
    ([name, { partial }]) => partial === 0 || fatesOf(planned, name).leftOut !== undefined,
  );
}

/** What the user says now, or else what was seen at the API. */
export function fatesOf({ target, leftOut, cleared }: Omit<UpdatingRows, 'scan'>, name: string): KnownFates {
  const seen = target?.updates[name];
  const known = leftOut ?? seen?.leftOut;
  // An API that empties a field that it does not get also empties a field that it gets empty.
  return { leftOut: known, cleared: known === 'reset' ? 'empty' : (cleared ?? seen?.cleared) };
}

/** Refuses rows that leave out fields which the API resets, and rows that clear fields which the API keeps. */
export function fateRefusals(rows: UpdatingRows): readonly Refusal[] {
  const at = rows.baseUrl === undefined ? '' : ` at ${rows.baseUrl}`;
  return Object.entries(rows.scan.perOperation).flatMap(([name, { partial, fields }]): readonly Refusal[] => {
    const { leftOut, cleared } = fatesOf(rows, name);
    const clears = Object.keys(fields).filter((field) => (fields[field]?.cleared ?? 0) > 0);
    if (leftOut === 'reset' && partial > 0) {
      const text =
        `${counted(partial, 'row', ['leaves', 'leave'])} fields out, and ${name}${at} resets such fields: their values would be lost. ` +
        'Give all fields. If the API keeps them after all, pass --left-out kept.';
      return [{ code: 'PARTIAL_ROWS', text }];
    }
    if (cleared !== 'kept' || clears.length === 0) return [];
    const text =
      `rows clear ${clears.join(', ')}, and ${name}${at} keeps a field that a row clears: nothing would change. ` +
      'Leave these cells empty, or give values. If the API clears them after all, pass --cleared empty.';
    return [{ code: 'CLEARED_ROWS', text }];
  });
}

export function updatesIn({ operations }: Pick<RowsHead, 'operations'>): UpdatingRows['scan'] {
  const counted = operations.map(
    ({ name, counts: { partial }, effects: fields }) => [name, { partial, fields }] as const,
  );
  return { perOperation: Object.fromEntries(counted) };
}

/** Only for operations whose rows may leave fields out. */
export async function rememberSaid(
  { stateDir }: Pick<RunStore, 'stateDir'>,
  { scan, baseUrl, leftOut, cleared }: UpdatingRows,
): Promise<void> {
  if (baseUrl === undefined || (leftOut ?? cleared) === undefined) return;
  const updating = Object.entries(scan.perOperation).filter(
    ([, { fields }]) => Object.keys(fields).length > 0,
  );
  const names = updating.map(([name]) => name);
  await rememberFates(stateDir, baseUrl, names, { leftOut, cleared });
}

/** @throws a usage error if the API, as seen after the plan, would not update the rows as they say */
export async function refuseOtherFates(
  store: RunStore,
  record: RunRecord,
  { baseUrl, leftOut, cleared }: Pick<UpdatingRows, 'baseUrl' | keyof KnownFates>,
): Promise<void> {
  const { head } = await openRunRows(store, record);
  const target = baseUrl === undefined ? undefined : await lookUpTarget(store.stateDir, baseUrl);
  const rows = { scan: updatesIn(head), target, baseUrl, leftOut, cleared };
  const [refusal] = fateRefusals(rows);
  if (refusal !== undefined) throw usageError(refusal.code, `${refusal.text} Nothing was sent.`);
  await rememberSaid(store, rows);
}

interface Refusal {
  readonly code:
    | 'INVALID_ROWS'
    | 'CONFLICTING_ROWS'
    | 'ROUNDED_IDS'
    | 'PARTIAL_ROWS'
    | 'CLEARED_ROWS'
    | 'NOTHING_TO_CALL'
    | 'CELLS_INCOMPARABLE';
  readonly text: string;
}

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
  return [...found, ...fateRefusals(planned)];
}

/** A run without calls looks like success: the user must say that it is. */
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

function roundedText({ column, ids, by }: RoundedIds): string {
  return (
    `all ${count(ids)} identifiers in ${escapeInvisible(column)} with more than 15 digits end in the zeros that ${by}; ` +
    'by chance, that happens less than once in a million. They are probably wrong: export the column again as text, or ' +
    'pass --trust-ids if you know that they are right.'
  );
}

function partialText({ scan, baseUrl }: Pick<ReadyRows, 'scan' | 'baseUrl'>): string {
  const rows = counted(scan.partial, 'row', ['leaves', 'leave']);
  return (
    `${rows} fields out, and it is not known whether ${baseUrl ?? 'the API'} keeps or resets them. ` +
    'Give all fields, or try one row: "cqbatch run FILE --allow-partial --canary 1" asks after that row whether they were kept or reset. ' +
    'It remembers the answer for that address. If you know it already, pass --left-out kept.'
  );
}
