import type { CommandGroupSpec } from './command-spec.ts';
import * as groups from './option-groups.ts';

const namedSchedule = ['<schedule>', 'name of the schedule'] as const;

export const scheduleCommands: CommandGroupSpec = {
  name: 'schedule',
  description: 'Schedules runs',
  details: 'A daemon starts them: "cqbatch worker --coordinate".',
  commands: [
    {
      name: 'add',
      description: 'Adds a schedule for a manifest or an inbox',
      arguments: [['<schedule>', 'name of the schedule; names of its runs begin with this name']],
      options: {
        When: ['cron', 'tz'],
        What: ['manifest', 'inbox', 'settle'],
        Schedule: ['overlap', 'catchUp', 'replace'],
        API: ['baseUrl', 'rateGroup', 'rate', 'allowInsecureHttp'],
        Runs: groups.choosingOptions,
        ...groups.submittingGroups,
      },
      unused: { overriddenBy: { manifest: ['settle'] } },
      examples: [
        [
          `cqbatch schedule add nightly --cron '0 2 * * 1-5' --manifest nightly.csv`,
          'at 02:00 on weekdays; --tz names the time zone',
        ],
        [`cqbatch schedule add inbox --cron '*/15 * * * *' --inbox inbox/`, 'every quarter of an hour'],
      ],
      load: async () => (await import('./commands/daemon/schedule-add.ts')).addSchedule,
    },
    {
      name: 'list',
      description: 'Lists the schedules, each with its next five times',
      examples: [['cqbatch schedule list', 'each schedule with its next times']],
      load: async () => (await import('./commands/daemon/schedule.ts')).listSchedules,
    },
    {
      name: 'show',
      description: 'Shows a schedule, its next times and last runs',
      arguments: [namedSchedule],
      examples: [
        ['cqbatch schedule show nightly', 'what the schedule runs, when, and how its last runs ended'],
      ],
      load: async () => (await import('./commands/daemon/schedule.ts')).showSchedule,
    },
    {
      name: 'history',
      description: 'Shows the result of each scheduled time, latest first',
      arguments: [namedSchedule],
      examples: [
        ['cqbatch schedule history nightly', 'which times ran, were skipped or were missed, and why'],
      ],
      load: async () => (await import('./commands/daemon/schedule.ts')).scheduleHistory,
    },
    {
      name: 'pause',
      description: 'Starts no more runs; a run in progress continues',
      arguments: [namedSchedule],
      options: { Pause: ['reason'] },
      examples: [
        [
          'cqbatch schedule pause nightly --reason "API upgrade"',
          'no run starts until you unpause the schedule',
        ],
      ],
      load: async () => (await import('./commands/daemon/schedule.ts')).pauseSchedule,
    },
    {
      name: 'unpause',
      description: 'Lets a paused schedule continue',
      details: 'Times missed during the pause are not made up for.',
      arguments: [namedSchedule],
      options: { Unpause: ['reason'] },
      examples: [['cqbatch schedule unpause nightly', 'the next run starts at its next time']],
      load: async () => (await import('./commands/daemon/schedule.ts')).unpauseSchedule,
    },
    {
      name: 'trigger',
      description: 'Starts a run now, even if the schedule is paused',
      arguments: [namedSchedule],
      options: { Trigger: ['reason'] },
      examples: [
        ['cqbatch schedule trigger nightly --reason "late export"', 'one more run, within a second or two'],
      ],
      load: async () => (await import('./commands/daemon/schedule.ts')).triggerSchedule,
    },
    {
      name: 'remove',
      description: 'Removes a schedule and its history; keeps its runs',
      arguments: [namedSchedule],
      help: { yes: 'do not ask', reason: 'reason for this action, kept in schedules/removed.jsonl' },
      options: { Removal: ['yes', 'reason'] },
      examples: [['cqbatch schedule remove nightly', 'asks first; the runs stay']],
      load: async () => (await import('./commands/daemon/schedule.ts')).removeSchedule,
    },
  ],
  examples: [
    [`cqbatch schedule add nightly --cron '0 2 * * *' --manifest nightly.csv`, 'what, and when'],
    ['cqbatch schedule list', 'the next times'],
    ['cqbatch worker --coordinate', 'a daemon that starts the runs'],
    ['cqbatch schedule history nightly', 'the result of each scheduled time'],
  ],
};
