import type { CommandGroupSpec } from './command-spec.ts';
import * as groups from './option-groups.ts';

const schedule = ['<schedule>', 'its name'] as const;

/** `cqbatch schedule …` */
export const scheduleCommands: CommandGroupSpec = {
  name: 'schedule',
  description: 'runs at times of day, begun by a "cqbatch worker --coordinate"',
  commands: [
    {
      name: 'add',
      description: 'begin runs of a manifest, or of what lies in an inbox, at certain times',
      arguments: [['<schedule>', 'how it is called: its runs are named after it']],
      help: { tz: 'time zone of --cron and --stop-at, such as Europe/London' },
      options: {
        When: ['cron', 'tz'],
        What: ['manifest', 'inbox', 'settle'],
        Schedule: ['overlap', 'catchUp', 'replace'],
        API: ['baseUrl', 'rate', 'allowInsecureHttp'],
        ...groups.guards,
      },
      seldomNeeded: {
        'More guards': [...groups.moreGuards, 'skipInvalid', 'skipDone', 'onConflict', 'allowPartial'],
        ...groups.rows,
        Calls: groups.repeating,
        ...groups.reporting,
        ...groups.audit,
      },
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
      arguments: [schedule],
      load: async () => (await import('./actions/serve/schedule.ts')).showSchedule,
    },
    {
      name: 'history',
      description: 'what came of each time of a schedule, the latest first',
      arguments: [schedule],
      load: async () => (await import('./actions/serve/schedule.ts')).scheduleHistory,
    },
    {
      name: 'pause',
      description: 'begin no more runs, until it is unpaused; one that is going goes on',
      arguments: [schedule],
      options: { Pause: ['reason'] },
      load: async () => (await import('./actions/serve/schedule.ts')).pauseSchedule,
    },
    {
      name: 'unpause',
      description: 'go on with a paused schedule; what it missed is not made up for',
      arguments: [schedule],
      options: { Unpause: ['reason'] },
      load: async () => (await import('./actions/serve/schedule.ts')).unpauseSchedule,
    },
    {
      name: 'trigger',
      description: 'begin a run now, also while it is paused',
      arguments: [schedule],
      options: { Trigger: ['reason'] },
      load: async () => (await import('./actions/serve/schedule.ts')).triggerSchedule,
    },
    {
      name: 'remove',
      description: 'forget a schedule and its history; its runs stay',
      arguments: [schedule],
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
