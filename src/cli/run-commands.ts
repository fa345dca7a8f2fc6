import { flagOf } from '../settings/settings.ts';
import { type CommandSpec, runThat } from './command-spec.ts';
import {
  audit,
  calling,
  following,
  guards,
  insecureHttp,
  moreGuards,
  own,
  repeating,
  reporting,
  resumedGuards,
  rows,
  settingOptions,
  skipDone,
  skipInvalid,
  startOptions,
  telling,
  working,
} from './option-groups.ts';

const manifest = [
  '<manifest>',
  'CSV, TSV, Excel, JSON or JSON Lines file, also gzipped; - for standard input',
] as const;
/** The same, or what `plan --out` has written. */
const manifestOrPlan = [manifest[0], `${manifest[1]}; or a plan (.cqplan)`] as const;

/** What lets a run of a manifest begin, and with which rows. */
const consent = [skipDone, ...settingOptions('onConflict', 'allowPartial', 'confirmAbove')];

/** Of the commands that make a run of rows of another one. */
const derived = {
  options: [
    {
      heading: 'API',
      options: [...settingOptions('tokenFile'), flagOf('rate', { byDefault: 'as in that run' })],
    },
    { heading: 'Run', options: [...startOptions, ...settingOptions('wait')] },
    guards('as in that run'),
    following,
  ],
  seldomNeeded: [
    moreGuards('as in that run', settingOptions('confirmAbove')),
    own,
    ...working('as in that run'),
    telling,
    audit,
  ],
};

/** The commands that take the rows of a run to the API here. */
export const runCommands: readonly CommandSpec[] = [
  {
    name: 'plan',
    description: 'validate every row, count, estimate and preview requests; sends nothing',
    argument: manifest,
    options: [
      { heading: 'API', options: [...settingOptions('baseUrl', 'rate'), insecureHttp] },
      {
        heading: 'Plan',
        options: [
          ['--out <file>', 'write it to NAME.cqplan, for "cqbatch run NAME.cqplan", later and elsewhere'],
          ['--approved-by <name>', 'who has looked at it'],
          skipInvalid,
        ],
      },
    ],
    seldomNeeded: [
      rows,
      guards(),
      moreGuards(undefined, [skipDone, ...settingOptions('onConflict', 'allowPartial')]),
      { heading: 'Calls', options: settingOptions(...calling, ...repeating) },
      reporting,
    ],
    examples: [
      ['cqbatch plan evaluations.csv', 'what would be sent, and what is wrong'],
      ['cqbatch plan evaluations.csv --rate 20/s', 'and how long it would take'],
      ['cqbatch plan evaluations.csv --out monday.cqplan', 'to be run by somebody else, or by cron'],
    ],
    load: async () => (await import('./actions/run/plan.ts')).plan,
  },
  {
    name: 'run',
    description: 'plan, ask, call the API for every row, and write the report',
    argument: manifestOrPlan,
    options: [
      { heading: 'API', options: [...settingOptions('baseUrl', 'tokenFile', 'rate'), insecureHttp] },
      {
        heading: 'Run',
        options: [
          ...startOptions,
          ['--or-resume', 'go on with the run of that name, if there is one; do nothing if it is finished'],
          ['--resume-halted', 'with --or-resume: also where a guard has halted it, at your own risk'],
          skipInvalid,
          ...settingOptions('wait'),
        ],
      },
      guards(),
      following,
    ],
    seldomNeeded: [
      moreGuards(undefined, consent),
      rows,
      {
        heading: 'Inbox',
        options: [
          ['--once', 'run each manifest that waits in a folder, and put it to done/, partial/ or failed/'],
          ...settingOptions('settle'),
        ],
      },
      ...working(),
      telling,
      audit,
    ],
    examples: [
      ['cqbatch run evaluations.csv', 'plan, ask, do it, report'],
      ['cqbatch run evaluations.csv --rate auto..20/s', 'never more than 20 calls a second'],
      ['cqbatch run nightly.csv --run-id monday --or-resume --wait 1h --yes -qq', 'from cron'],
      ["cqbatch run 'inbox/*.csv' --once --yes -qq", 'from cron, what was put there since'],
    ],
    load: async () => (await import('./actions/run/run.ts')).run,
  },
  {
    name: 'watch',
    description: 'run each manifest that is put into a folder, once by its content, until it is stopped',
    argument: ['<folder>', "a folder, or a pattern of names in it: 'inbox/*.csv'"],
    printsAsJson: 'print a JSON document for each manifest on standard output, one a line',
    options: [
      { heading: 'API', options: [...settingOptions('baseUrl', 'tokenFile', 'rate'), insecureHttp] },
      {
        heading: 'Watch',
        options: [
          ['-y, --yes', 'do not ask; needed where there is no terminal to ask on'],
          skipInvalid,
          ...settingOptions('settle', 'healthPort', 'healthHost'),
        ],
      },
      guards(),
      following,
    ],
    seldomNeeded: [
      moreGuards(undefined, settingOptions('onConflict', 'allowPartial')),
      rows,
      ...working(),
      telling,
      audit,
    ],
    examples: [
      ['cqbatch watch inbox', 'each manifest ends in inbox/done, inbox/partial or inbox/failed'],
      ["cqbatch watch 'inbox/restore-*.csv' --rate 20/s --yes", 'some of them, slowly, as a service'],
    ],
    load: async () => (await import('./actions/serve/inbox.ts')).watch,
  },
  {
    name: 'resume',
    description: 'go on where a run stopped; rows that have a result are not called again',
    argument: runThat(' that is not finished'),
    options: [
      {
        heading: 'API',
        options: [
          ...settingOptions('tokenFile'),
          flagOf('rate', { byDefault: 'as before' }),
          flagOf('baseUrl', {
            help: 'another API, for a run of which none has answered',
            byDefault: 'as before',
          }),
          insecureHttp,
        ],
      },
      { heading: 'Run', options: settingOptions('wait') },
      resumedGuards('as before')[0],
      following,
    ],
    seldomNeeded: [resumedGuards('as before')[1], own, ...working('as before'), telling, audit],
    examples: [
      ['cqbatch resume', 'the newest run'],
      ['cqbatch resume 20261121-104117-jsur --rate auto..20/s', 'another one, slower'],
    ],
    load: async () => (await import('./actions/run/resume.ts')).resume,
  },
  {
    name: 'retry',
    description: 'start a new run of the rows that failed in a run, or that a cancelled one never sent',
    argument: runThat(' with such rows'),
    options: [
      {
        heading: 'Rows',
        options: [
          ['--code <code...>', 'only those with these codes (column _code of the report)'],
          ['--unclear', 'only those that may have been processed unseen (column _unclear)'],
        ],
      },
      ...derived.options,
    ],
    seldomNeeded: derived.seldomNeeded,
    examples: [
      ['cqbatch retry', 'what failed in the newest run'],
      ['cqbatch retry jsur --code UNAVAILABLE INTERNAL', 'in another one, of these codes'],
    ],
    load: async () => (await import('./actions/run/retry.ts')).retry,
  },
  {
    name: 'undo',
    description:
      'start a new run that puts back what a run has changed, where its manifest says what was before',
    argument: runThat(' that was not undone'),
    ...derived,
    examples: [
      ['cqbatch undo', 'what the newest run has changed'],
      ['cqbatch undo jsur --reason "wrong column"', 'what another one has changed'],
    ],
    load: async () => (await import('./actions/run/undo.ts')).undo,
  },
];

/** The one that leaves that to a daemon. */
export const submitCommand: CommandSpec = {
  name: 'submit',
  description: 'plan, ask, and hand the run to a "cqbatch worker --coordinate"',
  argument: manifestOrPlan,
  options: [
    { heading: 'API', options: [...settingOptions('baseUrl', 'rate'), insecureHttp] },
    { heading: 'Run', options: [...startOptions, skipInvalid] },
    guards(),
    reporting,
  ],
  seldomNeeded: [
    moreGuards(undefined, consent),
    rows,
    { heading: 'Calls', options: settingOptions(...repeating) },
    audit,
  ],
  load: async () => (await import('./actions/run/submit.ts')).submit,
};
