import { flagOf } from '../settings/settings.ts';
import type { CommandGroupSpec, CommandSpec } from './command-spec.ts';
import {
  audit,
  guards,
  insecureHttp,
  moreGuards,
  reason,
  repeating,
  reporting,
  rows,
  settingOptions,
  skipDone,
  skipInvalid,
} from './option-groups.ts';

const schedule = ['<schedule>', 'its name'] as const;

const seldomNeededGuards = moreGuards(undefined, [
  skipInvalid,
  skipDone,
  ...settingOptions('onConflict', 'allowPartial'),
]);
/** The time zone is that of the schedule. */
const guardsOfRuns = {
  ...seldomNeededGuards,
  options: seldomNeededGuards.options.filter(([flag]) => !flag.startsWith('--tz ')),
};

/** A command that says something to one schedule. */
function change(name: string, description: string, load: CommandSpec['load']): CommandSpec {
  const heading = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  return { name, description, argument: schedule, options: [{ heading, options: [reason] }], load };
}

/** `cqbatch schedule …` */
export const scheduleCommands: CommandGroupSpec = {
  name: 'schedule',
  description: 'runs at times of day, begun by a "cqbatch worker --coordinate"',
  commands: [
    {
      name: 'add',
      description: 'begin runs of a manifest, or of what lies in an inbox, at certain times',
      argument: ['<schedule>', 'how it is called: its runs are named after it'],
      options: [
        {
          heading: 'When',
          options: [
            ['--cron <pattern>', 'minute, hour, day of month, month, day of week: "0 2 * * 1-5"'],
            flagOf('tz', { help: 'time zone of --cron and --stop-at, such as Europe/London' }),
          ],
        },
        {
          heading: 'What',
          options: [
            ['--manifest <file>', 'one run of that file, as it is then'],
            ['--inbox <dir>', 'a run of each manifest that waits in that folder then'],
            ...settingOptions('settle'),
          ],
        },
        {
          heading: 'Schedule',
          options: [
            ['--overlap <rule>', 'while its last run is going: skip a time, or queue one', 'skip'],
            ['--catch-up <duration>', 'make up for a missed time until it is so late; or none', '1h'],
            ['--replace', 'in place of the schedule of that name'],
          ],
        },
        { heading: 'API', options: [...settingOptions('baseUrl', 'rate'), insecureHttp] },
        guards(),
      ],
      seldomNeeded: [
        guardsOfRuns,
        rows,
        { heading: 'Calls', options: settingOptions(...repeating) },
        reporting,
        audit,
      ],
      examples: [
        [
          `cqbatch schedule add nightly --cron '0 2 * * 1-5' --tz Europe/London --manifest nightly.csv`,
          'at 02:00',
        ],
        [`cqbatch schedule add inbox --cron '*/15 * * * *' --inbox inbox/`, 'every quarter of an hour'],
      ],
      load: async () => (await import('./actions/serve/schedule-add.ts')).addSchedule,
    },
    {
      name: 'list',
      description: 'all schedules, each with its next five times',
      load: async () => (await import('./actions/serve/schedule.ts')).listSchedules,
    },
    {
      name: 'show',
      description: 'what a schedule is, when it comes next and what came of it last',
      argument: schedule,
      load: async () => (await import('./actions/serve/schedule.ts')).showSchedule,
    },
    {
      name: 'history',
      description: 'what came of each time of a schedule, the latest first',
      argument: schedule,
      load: async () => (await import('./actions/serve/schedule.ts')).scheduleHistory,
    },
    change(
      'pause',
      'begin no more runs, until it is unpaused; one that is going goes on',
      async () => (await import('./actions/serve/schedule.ts')).pauseSchedule,
    ),
    change(
      'unpause',
      'go on with a paused schedule; what it missed is not made up for',
      async () => (await import('./actions/serve/schedule.ts')).unpauseSchedule,
    ),
    change(
      'trigger',
      'begin a run now, also while it is paused',
      async () => (await import('./actions/serve/schedule.ts')).triggerSchedule,
    ),
    {
      name: 'remove',
      description: 'forget a schedule and its history; its runs stay',
      argument: schedule,
      load: async () => (await import('./actions/serve/schedule.ts')).removeSchedule,
    },
  ],
  examples: [
    [`cqbatch schedule add nightly --cron '0 2 * * *' --manifest nightly.csv`, 'what, and when'],
    ['cqbatch schedule list', 'when it comes next'],
    ['cqbatch worker --coordinate', 'carry it out: a daemon, from then on'],
    ['cqbatch schedule history nightly', 'what came of it'],
  ],
};
