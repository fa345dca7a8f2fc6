import { CqbatchError } from '../../../errors.ts';
import type { ManifestOrigin } from '../../../run/plan/create-run.ts';
import type { RunStore } from '../../../run/record/store.ts';
import type { Beginning } from '../../../schedule/carry-out.ts';
import { type Occasion, runIdFor, type Schedule } from '../../../schedule/schedule.ts';
import { type Flags, loadSettings } from '../../config/load.ts';
import type { RefusedManifest, Workplace } from '../../context.ts';
import { exitCodes } from '../../exit-codes.ts';
import { plain } from '../../render/style.ts';
import { silentTerminal } from '../../terminal.ts';
import { knownError } from '../../thrown.ts';
import { submitRun } from '../run/submit.ts';
import { isOfManifest } from './inbox-manifest.ts';

/** What a daemon brings to a schedule, which may say it otherwise. */
export interface DaemonPlace {
  readonly store: RunStore;
  readonly flags: Flags;
}

/** Submits the run that an occasion of a schedule begins, unless it is there. */
export async function beginRun(
  daemon: DaemonPlace,
  schedule: Schedule,
  occasion: Occasion,
  manifest: string,
): Promise<Beginning> {
  try {
    const workplace = await scheduledWorkplace(daemon, schedule, occasion);
    const runId = runIdFor(schedule, occasion);
    const submitted = await submitOnce(workplace, runId, manifest);
    if (submitted.is === 'there') return { came: 'began', runs: [runId] };
    if (submitted.is === 'later') return { came: 'later' };
    return { came: 'failed', code: 'MANIFEST_REFUSED', message: submitted.why.text };
  } catch (error) {
    return failedToBegin(error);
  }
}

/** What nothing could be begun for. @throws a defect of this program */
export function failedToBegin(error: unknown): Beginning {
  const known = knownError(error);
  if (known === undefined) throw error;
  return { came: 'failed', code: known.code, message: known.message };
}

/** Whether a run is there now. */
type Submitted =
  | { readonly is: 'there' }
  /** Another process is planning it, or this one is being stopped. */
  | { readonly is: 'later' }
  | { readonly is: 'refused'; readonly why: RefusedManifest };

/**
 * Plans and submits a run of an id, unless there is one.
 *
 * @throws what has nothing to do with the manifest
 */
export async function submitOnce(
  { store, flags, ...workplace }: Workplace,
  runId: string,
  manifest: string,
  origin?: ManifestOrigin,
): Promise<Submitted> {
  const found = await store.look(runId);
  if (found !== undefined) return { is: found === 'being planned' ? 'later' : 'there' };
  let why: RefusedManifest = { text: 'It was not run.' };
  const onRefused = (refused: RefusedManifest): void => {
    why = { ...refused, text: plain(refused.text) };
  };
  try {
    const place = { ...workplace, store, flags: { ...flags, runId }, onRefused };
    const submitted = await submitRun(place, manifest, origin);
    if (typeof submitted !== 'number') return { is: 'there' };
    return submitted === exitCodes.interrupted ? { is: 'later' } : { is: 'refused', why };
  } catch (error) {
    if (!(error instanceof CqbatchError)) throw error;
    // Somebody else was quicker: the next look tells.
    if (error.code === 'RUN_EXISTS') return { is: 'later' };
    if (!isOfManifest(error)) throw error;
    return { is: 'refused', why: { text: error.message } };
  }
}

/** Where the runs of a schedule are planned. What the schedule leaves open is as the daemon has it. */
export async function scheduledWorkplace(
  { store, flags: { baseUrl, allowInsecureHttp, stateDir } }: DaemonPlace,
  { name, options }: Schedule,
  { due }: Occasion,
): Promise<Workplace> {
  const flags: Flags = {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(allowInsecureHttp !== undefined && { allowInsecureHttp }),
    ...(options as Flags),
    ...(stateDir !== undefined && { stateDir }),
    yes: true,
    reason: `schedule ${name}, due ${due}`,
  };
  const { concurrency, ...settings } = await loadSettings(flags);
  return {
    terminal: silentTerminal(() => {}),
    flags,
    store,
    // That of a daemon which calls nothing says nothing of the run.
    settings: { ...settings, ...(concurrency !== undefined && concurrency !== 0 && { concurrency }) },
  };
}
