import type { OptionName } from './option-table.ts';

/** Options by heading, in the order of help. */
export type OptionGroups = Readonly<Record<string, readonly OptionName[]>>;

/** Options of every command. */
export const output = ['json', 'quiet', 'stateDir'] as const;

/** Of the commands that write a report. */
export const reporting: OptionGroups = { Report: ['delimiter', 'html'] };

/** Of the commands that take a run to its end here. */
const following: OptionGroups = { ...reporting, Log: ['verbose', 'logLevel'] };

/** How people learn how a run ended. */
export const telling: OptionGroups = {
  Notifications: ['notifyUrl', 'pingUrl', 'metricsFile'],
};

/** What is kept of a run for questions that come later. */
export const audit: OptionGroups = { Audit: ['reason', 'saveResponses'] };

const meaning = ['operation', 'where', 'operations', 'default', 'map'] as const;
const reading = ['sheet', 'encoding', 'skipLines', 'rowsAt', 'trim'] as const;

/** What the rows of a manifest mean, and how the file is read. */
export const rows: OptionGroups = { Manifest: [...meaning, ...reading] };

/** Of the commands that work on a run that was planned with operations of the user's own. */
export const own: OptionGroups = { Manifest: ['operations'] };

/** What keeps a run from doing harm. */
export const guards: OptionGroups = {
  Guards: ['canary', 'maxFailures', 'maxRows', 'stopAt', 'maxDuration'],
};

/** How the API is called. */
export const calling = ['concurrency', 'timeout', 'maxOutage'] as const;

const sharing = ['queue', 'queuePasswordFile'] as const;

/** Of the commands that look at runs or control them, also from another machine. */
export const shared: OptionGroups = { 'Shared datastore': sharing };

/** Of the commands that take a run to its end, after the groups of their own. */
export const executing: OptionGroups = {
  Calls: [...calling, 'attempts'],
  'Shared datastore': [...sharing, 'worker'],
  ...following,
  ...telling,
  ...audit,
};
