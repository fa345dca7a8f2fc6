import { type CommandSpec, runThat } from './command-spec.ts';
import * as groups from './option-groups.ts';

const manifest = [
  '<manifest>',
  'CSV, TSV, Excel, JSON or JSON Lines file, also gzipped; - for standard input',
] as const;
/** The same, or what `plan --out` has written. */
const manifestOrPlan = [manifest[0], `${manifest[1]}; or a plan (.cqplan)`] as const;

/** What lets a run of a manifest begin, and with which rows. */
const consent = ['skipDone', 'onConflict', 'allowPartial', 'confirmAbove'] as const;

/** Of the commands that make a run of rows of another one. */
const derived: Pick<Required<CommandSpec>, 'fromRun' | 'options' | 'seldomNeeded'> = {
  fromRun: 'as in that run',
  options: {
    API: ['tokenFile', 'rate'],
    Run: ['yes', 'runId', 'wait'],
    ...groups.guards,
    ...groups.following,
  },
  seldomNeeded: {
    'More guards': [...groups.moreGuards, 'tz', 'confirmAbove'],
    ...groups.own,
    ...groups.working,
    ...groups.telling,
    ...groups.audit,
  },
};

/** The commands that take the rows of a run to the API here. */
export const runCommands: readonly CommandSpec[] = [
  {
    name: 'plan',
    description: 'validate every row, count, estimate and preview requests; sends nothing',
    arguments: [manifest],
    options: {
      API: ['baseUrl', 'rate', 'allowInsecureHttp'],
      Plan: ['out', 'approvedBy', 'skipInvalid'],
    },
    seldomNeeded: {
      ...groups.rows,
      ...groups.guards,
      'More guards': [...groups.moreGuards, 'tz', 'skipDone', 'onConflict', 'allowPartial'],
      Calls: [...groups.calling, ...groups.repeating],
      ...groups.reporting,
    },
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
    arguments: [manifestOrPlan],
    options: {
      API: ['baseUrl', 'tokenFile', 'rate', 'allowInsecureHttp'],
      Run: ['yes', 'runId', 'orResume', 'resumeHalted', 'skipInvalid', 'wait'],
      ...groups.guards,
      ...groups.following,
    },
    seldomNeeded: {
      'More guards': [...groups.moreGuards, 'tz', ...consent],
      ...groups.rows,
      Inbox: ['once', 'settle'],
      ...groups.working,
      ...groups.telling,
      ...groups.audit,
    },
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
    arguments: [['<folder>', "a folder, or a pattern of names in it: 'inbox/*.csv'"]],
    help: { json: 'print a JSON document for each manifest on standard output, one a line' },
    options: {
      API: ['baseUrl', 'tokenFile', 'rate', 'allowInsecureHttp'],
      Watch: ['yes', 'skipInvalid', 'settle', 'healthPort', 'healthHost'],
      ...groups.guards,
      ...groups.following,
    },
    seldomNeeded: {
      'More guards': [...groups.moreGuards, 'tz', 'onConflict', 'allowPartial'],
      ...groups.rows,
      ...groups.working,
      ...groups.telling,
      ...groups.audit,
    },
    examples: [
      ['cqbatch watch inbox', 'each manifest ends in inbox/done, inbox/partial or inbox/failed'],
      ["cqbatch watch 'inbox/restore-*.csv' --rate 20/s --yes", 'some of them, slowly, as a service'],
    ],
    load: async () => (await import('./actions/serve/inbox.ts')).watch,
  },
  {
    name: 'resume',
    description: 'go on where a run stopped; rows that have a result are not called again',
    arguments: [runThat(' that is not finished')],
    fromRun: 'as before',
    help: { baseUrl: 'another API, for a run of which none has answered' },
    options: {
      API: ['tokenFile', 'rate', 'baseUrl', 'allowInsecureHttp'],
      Run: ['wait'],
      // Its canary stays as it was.
      Guards: ['maxFailures', 'maxRows', 'stopAt'],
      ...groups.following,
    },
    seldomNeeded: {
      'More guards': ['maxFailuresAfter', 'maxConsecutiveFailures', 'maxDuration', 'tz'],
      ...groups.own,
      ...groups.working,
      ...groups.telling,
      ...groups.audit,
    },
    examples: [
      ['cqbatch resume', 'the newest run'],
      ['cqbatch resume 20261121-104117-jsur --rate auto..20/s', 'another one, slower'],
    ],
    load: async () => (await import('./actions/run/resume.ts')).resume,
  },
  {
    name: 'retry',
    description: 'start a new run of the rows that failed in a run, or that a cancelled one never sent',
    arguments: [runThat(' with such rows')],
    ...derived,
    options: { Rows: ['code', 'unclear'], ...derived.options },
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
    arguments: [runThat(' that was not undone')],
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
  arguments: [manifestOrPlan],
  options: {
    API: ['baseUrl', 'rate', 'allowInsecureHttp'],
    Run: ['yes', 'runId', 'skipInvalid'],
    ...groups.guards,
    ...groups.reporting,
  },
  seldomNeeded: {
    'More guards': [...groups.moreGuards, 'tz', ...consent],
    ...groups.rows,
    Calls: groups.repeating,
    ...groups.audit,
  },
  load: async () => (await import('./actions/run/submit.ts')).submit,
};
