import type { OptionName } from './option-table.ts';

/** Options by their headings in the help, in this order. */
export type OptionGroups = Readonly<Record<string, readonly OptionName[]>>;

/** Options of every command. */
export const output = ['json', 'quiet', 'stateDir'] as const;

/** For commands that write a report. */
export const reporting: OptionGroups = { Report: ['delimiter', 'html'] };

/** What a command writes while its run is in progress. */
export const log = ['verbose', 'logLevel'] as const;

/** For commands that take a run to its end here. */
const following: OptionGroups = { ...reporting, Log: log };

/** How users hear of the end of a run. */
export const notifications = {
  Notifications: ['notifyUrl', 'pingUrl', 'metricsFile'],
} as const satisfies OptionGroups;

/** What is stored to answer later questions about a run. */
export const audit: OptionGroups = { Audit: ['reason', 'saveResponses'] };

const meaning = ['operation', 'where', 'operations', 'default', 'map'] as const;
const reading = ['sheet', 'hidden', 'encoding', 'skipLines', 'rowsAt', 'trim', 'trustIds', 'strict'] as const;

/** How to read a manifest's file and its rows. */
export const rows: OptionGroups = { Manifest: [...meaning, ...reading] };

/** For commands on a run that may have the user's own operations. */
export const ownOperations: OptionGroups = { Manifest: ['operations'] };

/** What stops a run before its last row; resuming continues it. Plans don't store these. */
export const budget = ['maxRows', 'stopAt', 'maxDuration'] as const;

/** Limits that keep a run from doing harm. */
export const guards: OptionGroups = { Guards: ['canary', 'maxFailures', ...budget] };

/** How to call the API. */
export const calling = ['concurrency', 'timeout', 'maxOutage'] as const;

/** What the user has seen that the API does with fields. */
export const fates = ['leftOut', 'cleared'] as const;

/** What is accepted of the rows of a run. */
export const accepting = ['allowPartial', ...fates, 'allowEmpty'] as const;

/** Which rows are called. */
export const choosing = ['skipInvalid', 'skipDone', 'onConflict', ...accepting] as const;

/** The options of `cqbatch plan`. */
export const planning: OptionGroups = {
  API: ['baseUrl', 'rateGroup', 'rate', 'allowInsecureHttp'],
  Plan: ['out', ...choosing],
  ...guards,
  ...rows,
  Calls: [...calling, 'attempts', 'priority'],
  ...reporting,
  Audit: ['saveResponses'],
};

const sharing = ['queue', 'queuePasswordFile'] as const;

/** For commands that inspect or control runs, even of other machines. */
export const shared: OptionGroups = { 'Shared datastore': sharing };

/** For commands that leave the calls to a daemon. Stands after their other groups. */
export const submitting: OptionGroups = {
  ...guards,
  ...rows,
  Calls: ['attempts', 'priority'],
  ...reporting,
  ...audit,
};

/** For commands that take a run to its end. Stands after their other groups. */
export const executing: OptionGroups = {
  Calls: [...calling, 'attempts', 'priority'],
  'Shared datastore': [...sharing, 'worker'],
  ...following,
  ...notifications,
  ...audit,
};
