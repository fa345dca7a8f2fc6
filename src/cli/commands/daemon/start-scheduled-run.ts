import { withScope } from '../../../base/async/scope.ts';
import { BusyError, CqbatchError, usageError } from '../../../base/errors/errors.ts';
import type { Log } from '../../../base/log.ts';
import { Inbox } from '../../../daemon/inbox/inbox.ts';
import type { Beginning } from '../../../daemon/schedule/carry-out.ts';
import { type Occasion, runIdFor, type Schedule } from '../../../daemon/schedule/schedule.ts';
import { withActor } from '../../../domain/actor.ts';
import type { LimitedApi } from '../../../domain/terms.ts';
import type { ManifestOrigin } from '../../../engine/run/plan/create-run.ts';
import { lockRun } from '../../../engine/run/record/open-run.ts';
import { enterState, goesOnByItself, withoutPlace } from '../../../engine/run/record/record.ts';
import type { RunStore } from '../../../engine/run/record/store.ts';
import { budgetOf } from '../../../settings/run-options.ts';
import { defaults } from '../../../settings/settings.ts';
import { type Flags, loadSettings } from '../../config.ts';
import type { CommandContext, RefusedManifest } from '../../context.ts';
import { exitCodes, knownError } from '../../exit-codes.ts';
import { plain } from '../../render/style.ts';
import { silentTerminal } from '../../terminal.ts';
import { mismatchOf } from '../api-client.ts';
import { runOptions } from '../options.ts';
import { withPlanBeside } from '../run/approval.ts';
import { endedRun } from '../run/resume.ts';
import { submitRun } from '../run/submit.ts';
import { endingOf, endingOfRefused, hasEnded, isOfManifest } from './inbox-manifest.ts';

/** The daemon's defaults, which a schedule may override. */
interface DaemonPlace extends Pick<CommandContext, 'store' | 'flags'> {
  /** The API that the daemon calls itself; absent when workers do. */
  readonly api?: LimitedApi | undefined;
}

/** Reports a manifest that can't be run. Resolves when reported. */
type Tell = (message: string) => Promise<void>;

/** Submits the runs of a schedule's occasion. @throws a defect of this program */
export async function startScheduledRun(
  daemon: DaemonPlace,
  schedule: Schedule,
  occasion: Occasion,
  tell: Tell,
): Promise<Beginning> {
  const { source } = schedule;
  try {
    const workplace = await scheduledWorkplace(daemon, schedule, occasion);
    const mismatch = daemon.api && mismatchOf(daemon.api, runOptions(workplace));
    if (mismatch !== undefined)
      throw usageError('INVALID_SETTING', `The daemon can't carry out these runs: ${mismatch}.`);
    if ('inbox' in source) return await beginInbox(workplace, source.inbox, tell);
    return await beginRun(workplace, runIdFor(schedule, occasion), source.manifest);
  } catch (error) {
    const known = knownError(error);
    if (known === undefined) throw error;
    return { result: 'failed', code: known.code, message: known.message };
  }
}

/** Submits a run unless it exists. */
async function beginRun(workplace: CommandContext, runId: string, manifest: string): Promise<Beginning> {
  const submitted = await submitOnce(workplace, runId, manifest);
  if (submitted === 'there') return { result: 'began', runs: [runId] };
  if (submitted === 'later') return { result: 'later' };
  return { result: 'failed', code: 'MANIFEST_REFUSED', message: submitted.text };
}

/**
 * Plans and submits a run unless its id exists.
 *
 * @returns `later` if another process is planning the run, or this process is stopping
 * @throws errors not caused by the manifest
 */
async function submitOnce(
  { store, flags, ...workplace }: CommandContext,
  runId: string,
  manifest: string,
  origin?: ManifestOrigin,
): Promise<'there' | 'later' | RefusedManifest> {
  const found = await store.look(runId);
  if (found !== undefined) return found === 'being planned' ? 'later' : 'there';
  let why: RefusedManifest = { text: 'It was not run.' };
  const onRefused = (refused: RefusedManifest): void => {
    why = { ...refused, text: plain(refused.text) };
  };
  try {
    const place = { ...workplace, store, flags: { ...flags, runId }, onRefused };
    const submitted = await withPlanBeside(place, manifest, origin?.name ?? manifest, (planned) =>
      submitRun(planned, manifest, origin),
    );
    if (typeof submitted !== 'number') return 'there';
    return submitted === exitCodes.interrupted ? 'later' : why;
  } catch (error) {
    // Another process was faster: the next look finds the run.
    if (error instanceof CqbatchError && error.code === 'RUN_EXISTS') return 'later';
    if (!isOfManifest(error)) throw error;
    return { text: error.message };
  }
}

/** The workplace for runs of a schedule. The daemon supplies options that the schedule omits. */
async function scheduledWorkplace(
  { store, flags: { baseUrl, rateGroup, allowInsecureHttp, stateDir } }: DaemonPlace,
  { name, options }: Schedule,
  { due }: Occasion,
): Promise<CommandContext> {
  const flags: Flags = {
    baseUrl,
    rateGroup,
    allowInsecureHttp,
    ...(options as Flags),
    stateDir,
    yes: true,
    reason: `schedule ${name}, due ${due}`,
  };
  const { concurrency, ...settings } = await loadSettings(flags);
  return {
    terminal: silentTerminal(),
    flags,
    store,
    // A daemon without calls has concurrency 0, which does not apply to the run.
    settings: { ...settings, ...(concurrency !== undefined && concurrency !== 0 && { concurrency }) },
  };
}

/** Submits a run of each waiting or unfinished manifest of an inbox. */
async function beginInbox(workplace: CommandContext, path: string, tell: Tell): Promise<Beginning> {
  // Checked before a manifest is taken.
  runOptions(workplace);
  const { store, settings } = workplace;
  const { settle: settleMs = defaults.settle } = settings;
  const inbox = await Inbox.open({ path, store, settleMs });
  const runs = new Set<string>();
  const refused: string[] = [];
  for await (const { name, taking } of inbox.take()) {
    if (taking.kind === 'unusable') {
      await tell(`${name}: ${taking.why}`);
      refused.push(name);
    }
    if (taking.kind !== 'taken') continue;
    const { manifest } = taking;
    const { run } = manifest.record;
    const submitted = await submitOnce(workplace, run, manifest.path, manifest.origin);
    if (submitted === 'later') return { result: 'later' };
    if (submitted === 'there') {
      if (await goesOn(workplace, run)) runs.add(run);
      continue;
    }
    // Reported before it is moved: after a kill, the next process could not report it.
    await tell(`${name}: ${submitted.text}`);
    await manifest.finish(endingOfRefused(submitted));
    refused.push(name);
  }
  return { result: 'began', runs: [...runs], refused };
}

/** Whether a run will continue by itself; makes a stopped run do so. */
async function goesOn({ store, settings }: CommandContext, id: string): Promise<boolean> {
  const record = await store.load(id);
  if (goesOnByItself(record)) return true;
  if (hasEnded(record)) return false;
  const lock = await lockIfFree(store, id);
  // A user has resumed it.
  if (lock === undefined) return true;
  try {
    const budget = budgetOf(settings);
    const again = { ...withoutPlace(await store.load(id)), submitted: true, ...(budget && { budget }) };
    await store.save(enterState(again, 'submitted', withActor()));
    return true;
  } finally {
    await lock.release();
  }
}

/** Moves the manifests of ended runs to their final folders. Called every second, so it keeps inboxes open. */
export function inboxFinisher(store: RunStore, log: Log): (path: string) => Promise<void> {
  const inboxes = new Map<string, Inbox>();
  return async (path) => {
    const inbox = inboxes.get(path) ?? (await Inbox.open({ path, store, settleMs: 0 }));
    // After an error, the next call reopens the inbox and creates missing folders.
    inboxes.delete(path);
    await finishInbox(inbox, store, log);
    inboxes.set(path, inbox);
  };
}

async function finishInbox(inbox: Inbox, store: RunStore, log: Log): Promise<void> {
  for (const taken of await inbox.unfinished()) {
    const { run } = taken;
    const record = await store.look(run);
    if (typeof record !== 'object' || !hasEnded(record)) continue;
    await withScope(async (defer) => {
      const lock = await lockIfFree(store, run);
      if (lock === undefined) return;
      defer(() => lock.release());
      const taking = await inbox.takeOver(taken);
      if (taking.kind !== 'taken') return;
      const { manifest } = taking;
      defer(manifest.release);
      const put = await manifest.finish(await endingOf(store, await endedRun(store, record)));
      log.info({ run, path: put }, 'manifest of an inbox finished');
    });
  }
}

/** The lock of a run; undefined while another process works on the run. */
async function lockIfFree(store: RunStore, id: string) {
  return lockRun(store.folder(id), id, `inbox of run ${id}`).catch((error: unknown) => {
    if (error instanceof BusyError) return undefined;
    throw error;
  });
}
