import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { statIfAny } from '../../../base/disk/files.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { Inbox } from '../../../daemon/inbox/inbox.ts';
import { goingScheduledRun, overlapRules, type Schedule } from '../../../daemon/schedule/schedule.ts';
import { timesOf } from '../../../daemon/schedule/times.ts';
import { scheduleNames } from '../../../domain/names.ts';
import { planSuffix } from '../../../engine/run/plan/file/plan-file.ts';
import type { RunStore } from '../../../engine/run/record/store.ts';
import { orNone, parseChoice, parseLongDuration } from '../../../settings/parsers.ts';
import type { Flags } from '../../config.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { outputOptions } from '../../option-groups.ts';
import { scheduleOptions } from '../../option-table.ts';
import { scheduleDocument, timesText } from '../../render/schedule.ts';
import { flagsWhere, parsedArgument, runOptions } from '../options.ts';
import {
  changeMarks,
  openScheduleContext,
  refuseWhileRunIsOpen,
  type ScheduleContext,
  sayWhoCarriesOut,
  viewOf,
  warnOfUnfinishedManifests,
  withScheduleLock,
} from './schedule.ts';

export async function addSchedule(name: string, flags: Flags): Promise<ExitCode> {
  scheduleNames.require(name);
  const context = await openScheduleContext(flags);
  const { terminal, schedules, settings } = context;
  const { cron } = flags;
  if (cron === undefined)
    throw usageError(
      'INVALID_SETTING',
      "The schedule has no times: pass --cron, such as --cron '0 2 * * 1-5'.",
    );
  const tz = settings.tz ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  await timesOf({ cron, tz });
  const source = await sourceOf(flags, context.store);
  checkOptions(context);
  const existing = flags.replace ? await schedules.look(name) : undefined;
  const what = existing === undefined ? 'added' : 'replaced';
  const given = {
    version: 1 as const,
    name,
    cron: cron.trim().replace(/\s+/g, ' '),
    tz,
    source,
    options: await givenOptions(flags),
    overlap: parsedArgument('--overlap', flags.overlap ?? 'skip', parseChoice(overlapRules)),
    catchUpMs: parsedArgument('--catch-up', flags.catchUp ?? '1h', orNone(parseLongDuration)),
  };
  const wanted = ({ paused, changes }: Pick<Schedule, 'paused' | 'changes'>): Schedule => ({
    ...given,
    paused,
    ...changeMarks(what, changes, context),
  });
  const schedule =
    existing === undefined
      ? await schedules.add(wanted({ paused: false, changes: [] }))
      : await withScheduleLock(context, name, async () => {
          if (!isDeepStrictEqual(existing.source, source))
            refuseWhileRunIsOpen(
              existing.source,
              await goingScheduledRun(context.store, await schedules.state(name)),
            );
          return schedules.change(name, wanted);
        });
  if (settings.baseUrl === undefined)
    terminal.warn(
      'warning: the daemon needs the address of the API: set CQBATCH_BASE_URL for it, or pass --base-url here.',
    );
  if ('manifest' in source && (await statIfAny(source.manifest)) === undefined)
    terminal.warn(`warning: ${source.manifest} doesn't exist yet, or you may not see it.`);
  const view = await viewOf(context, schedule);
  const paused = schedule.paused ? ' It is paused.' : '';
  terminal.result(
    scheduleDocument(view),
    `Schedule ${name} is ${what}.${paused} It is due ${timesText(view.next.slice(0, 3), schedule.tz)}, … (${schedule.tz}).`,
  );
  if (existing !== undefined) await warnOfUnfinishedManifests(context, existing.source);
  await sayWhoCarriesOut(context);
  return exitCodes.success;
}

/** The manifest or inbox of a schedule. Paths are absolute, because the daemon may run in another folder. */
async function sourceOf({ manifest, inbox }: Flags, store: RunStore): Promise<Schedule['source']> {
  if (manifest !== undefined && inbox !== undefined)
    throw usageError(
      'INVALID_SETTING',
      'A schedule has either --manifest or --inbox: leave out one of them.',
    );
  if (inbox !== undefined) {
    await Inbox.open({ path: inbox, store });
    return { inbox: resolve(inbox) };
  }
  if (manifest === undefined)
    throw usageError(
      'INVALID_SETTING',
      'The schedule has nothing to run: pass --manifest FILE or --inbox DIR.',
    );
  if (manifest === '-' || manifest.endsWith(planSuffix)) {
    const why = manifest === '-' ? 'standard input can be read only once' : 'a plan is run only once';
    throw usageError(
      'INVALID_SETTING',
      `--manifest ${manifest}: ${why}. Name a file that is rewritten for each run.`,
    );
  }
  if ((await statIfAny(manifest))?.isDirectory())
    throw usageError('INVALID_SETTING', `--manifest ${manifest} is a folder: pass it as --inbox.`);
  return { manifest: resolve(manifest) };
}

/** Checks a schedule's options. A missing base URL is no error, because the daemon has one. */
function checkOptions({ settings, ...context }: ScheduleContext): void {
  runOptions({ ...context, settings: { baseUrl: 'https://api.invalid', ...settings } });
}

const ownOptions: readonly string[] = [...Object.keys(scheduleOptions), ...outputOptions, 'reason'];

/** The options that a schedule stores. Files in `skipDone` get absolute paths. */
async function givenOptions({ tz, skipDone, ...flags }: Flags): Promise<Schedule['options']> {
  return {
    ...(flagsWhere(flags, (name) => !ownOptions.includes(name)) as Schedule['options']),
    ...(skipDone !== undefined && { skipDone: await Promise.all(skipDone.map(absoluteIfFile)) }),
    ...(tz !== undefined && flags.stopAt !== undefined && { tz }),
  };
}

/** The absolute path if the value of `--skip-done` is a report's path; unchanged if it names a run. */
async function absoluteIfFile(name: string): Promise<string> {
  return (await statIfAny(name))?.isFile() ? resolve(name) : name;
}
