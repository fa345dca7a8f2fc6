import { withScope } from '../../../base/async/scope.ts';
import { BusyError, CqbatchError, usageError } from '../../../base/errors/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { Inbox } from '../../../daemon/inbox/inbox.ts';
import type { TakenRecord } from '../../../daemon/inbox/records.ts';
import type { Beginning } from '../../../daemon/schedule/carry-out.ts';
import { type Occasion, runIdFor, type Schedule } from '../../../daemon/schedule/schedule.ts';
import { withActor } from '../../../domain/actor.ts';
import type { LimitedApi } from '../../../domain/terms.ts';
import type { ManifestOrigin } from '../../../engine/run/plan/create-run.ts';
import { lockRun } from '../../../engine/run/record/open-run.ts';
import { goesOnByItself } from '../../../engine/run/record/record.ts';
import type { RunStore } from '../../../engine/run/record/store.ts';
import { resubmitRun } from '../../../engine/run/work/resubmit.ts';
import { budgetOf } from '../../../settings/run-options.ts';
import { type Flags, loadSettings } from '../../config.ts';
import type { CommandContext, RefusedManifest } from '../../context.ts';
import { exitCodes, knownError } from '../../exit-codes.ts';
import { withoutMarks } from '../../render/style.ts';
import { silentTerminal } from '../../terminal.ts';
import { mismatchOf } from '../api-client.ts';
import { runOptions } from '../options.ts';
import { endedRun } from '../run/resume.ts';
import { submitRun } from '../run/submit.ts';
import { endingOf, endingOfRefused, hasEnded, isOfManifest, openInbox } from './inbox-manifest.ts';

/** What a daemon gives to a scheduled run. Its flags are the defaults of the schedule. */
interface DaemonContext extends Pick<CommandContext, 'store' | 'flags'> {
  /** The API that the daemon calls. Absent when only workers call the API. */
  readonly api?: LimitedApi | undefined;
}

type ReportRefusal = (message: string) => Promise<void>;

/** Starts a schedule's run, and reports why a run can't start. @throws only defects of this program */
export async function startScheduledRun(
  daemon: DaemonContext,
  schedule: Schedule,
  occasion: Occasion,
  report: ReportRefusal,
): Promise<Beginning> {
  const { source } = schedule;
  try {
    const context = await runContext(daemon, schedule, occasion);
    const mismatch = daemon.api && mismatchOf(daemon.api, runOptions(context));
    if (mismatch !== undefined)
      throw usageError('INVALID_SETTING', `The daemon can't carry out these runs: ${mismatch}.`);
    if ('inbox' in source) return await beginInbox(context, source.inbox, report);
    return await beginRun(context, runIdFor(schedule, occasion), source.manifest);
  } catch (error) {
    const known = knownError(error);
    if (known === undefined) throw error;
    return { result: 'failed', code: known.code, message: known.message };
  }
}

async function beginRun(context: CommandContext, runId: string, manifest: string): Promise<Beginning> {
  const submitted = await submitOnce(context, runId, manifest);
  if (submitted === 'there') return { result: 'began', runs: [runId] };
  if (submitted === 'later') return { result: 'later' };
  return { result: 'failed', code: 'MANIFEST_REFUSED', message: submitted.refusalMessage };
}

/**
 * Plans and submits a run unless its id exists. Returns `later` if another process is planning the run, or this process is stopping.
 *
 * @throws errors not caused by the manifest
 */
async function submitOnce(
  { store, flags, ...context }: CommandContext,
  runId: string,
  manifest: string,
  origin?: ManifestOrigin,
): Promise<'there' | 'later' | RefusedManifest> {
  const existing = await store.look(runId);
  if (existing !== undefined) return existing === 'being planned' ? 'later' : 'there';
  let refusal: RefusedManifest = { refusalMessage: 'It was not run.' };
  const onRefused = (refused: RefusedManifest): void => {
    refusal = { ...refused, refusalMessage: withoutMarks(refused.refusalMessage) };
  };
  try {
    const ownContext = { ...context, store, flags: { ...flags, runId }, onRefused };
    const submitted = await submitRun(ownContext, manifest, origin);
    if (typeof submitted !== 'number') return 'there';
    return submitted === exitCodes.interrupted ? 'later' : refusal;
  } catch (error) {
    // Another process has created the run meanwhile: the next poll finds the run.
    if (error instanceof CqbatchError && error.code === 'RUN_EXISTS') return 'later';
    if (!isOfManifest(error)) throw error;
    return { refusalMessage: error.message };
  }
}

/** The context of a scheduled run. The daemon's options are the defaults of those that the schedule omits. */
async function runContext(
  { store, flags: { baseUrl, rateGroup, allowInsecureHttp, stateDir } }: DaemonContext,
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
    // With --concurrency 0, a daemon leaves the calls to workers. A run must not inherit this 0.
    settings: { ...settings, ...(concurrency !== undefined && concurrency !== 0 && { concurrency }) },
  };
}

async function beginInbox(context: CommandContext, path: string, report: ReportRefusal): Promise<Beginning> {
  // Wrong options must throw before a manifest is taken from the inbox.
  runOptions(context);
  const { store, settings } = context;
  const inbox = await openInbox(path, store, settings);
  const runs = new Set<string>();
  const refused: string[] = [];
  for await (const { name, taking } of inbox.take()) {
    if (taking.kind === 'unusable' || taking.kind === 'refused') {
      await report(taking.kind === 'refused' ? taking.error.message : `${name}: ${taking.why}`);
      refused.push(name);
    }
    if (taking.kind !== 'taken') continue;
    const { manifest } = taking;
    const { run } = manifest.record;
    const submitted = await submitOnce(context, run, manifest.path, manifest.origin);
    if (submitted === 'later') return { result: 'later' };
    if (submitted === 'there') {
      if (await resubmitIfStopped(context, run)) runs.add(run);
      continue;
    }
    // Report before the manifest is moved: if this process dies in between, the next process reports again.
    if (!(await manifest.hasChanged())) await report(`${name}: ${submitted.refusalMessage}`);
    const finished = await manifest.finish(endingOfRefused(submitted));
    if (finished !== undefined) refused.push(name);
  }
  return { result: 'began', runs: [...runs], refused };
}

/** Whether a run goes on. A run that stopped before its end is submitted again, and goes on. */
async function resubmitIfStopped({ store, settings }: CommandContext, id: string): Promise<boolean> {
  const record = await store.load(id);
  if (goesOnByItself(record)) return true;
  if (hasEnded(record)) return false;
  const resubmission = await resubmitRun(store, record, {
    budget: budgetOf(settings),
    attribution: withActor(),
  });
  // If another process works on the run, a user has resumed it.
  return resubmission.result === 'in use' || goesOnByItself(resubmission.record);
}

/** Returns what archives the manifests of finished runs. It is called every second, so it keeps inboxes open. */
export function inboxFinisher(
  { store, settings }: Pick<CommandContext, 'store' | 'settings'>,
  log: Log,
): (path: string) => Promise<void> {
  const inboxes = new Map<string, Inbox>();
  return async (path) => {
    const inbox = inboxes.get(path) ?? (await openInbox(path, store, settings));
    // Forget the inbox after an error: the next call opens it again, and makes missing folders.
    inboxes.delete(path);
    await finishInbox(inbox, store, log);
    inboxes.set(path, inbox);
  };
}

/** Archives an inbox's finished manifests. @throws the last failure after all were tried: files of one run may be damaged */
async function finishInbox(inbox: Inbox, store: RunStore, log: Log): Promise<void> {
  const failures: unknown[] = [];
  for (const taken of await inbox.unfinishedManifests())
    await finishManifest(inbox, taken, store, log).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures.at(-1);
}

async function finishManifest(inbox: Inbox, taken: TakenRecord, store: RunStore, log: Log): Promise<void> {
  const { run } = taken;
  const record = await store.look(run);
  if (typeof record !== 'object' || !hasEnded(record)) return;
  await withScope(async (defer) => {
    const lock = await lockIfFree(store, run);
    if (lock === undefined) return;
    defer(() => lock.release());
    const taking = await inbox.takeOver(taken);
    if (taking.kind !== 'taken') return;
    const { manifest } = taking;
    defer(manifest.release);
    const finished = await manifest.finish(await endingOf(store, await endedRun(store, record)));
    log.info({ run, path: finished?.path }, 'manifest of an inbox finished');
  });
}

/** The lock of a run. Undefined while another process works on the run. */
async function lockIfFree(store: RunStore, id: string) {
  return lockRun(store.folder(id), id, `inbox of run ${id}`).catch((error: unknown) => {
    if (error instanceof BusyError) return undefined;
    throw error;
  });
}
