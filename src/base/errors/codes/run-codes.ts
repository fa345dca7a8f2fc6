import type { CodeTable } from './advice.ts';

const waitForEnd = 'Wait for its end (--wait 10m), or type "cqbatch cancel RUN".';
const planAgain = 'Make the plan again, and have the new plan reviewed.';
const again = 'Type the command again.';
const otherName = 'Choose another name, or remove the file.';

/** Errors of settings, runs, plans, schedules, inboxes and the dashboard. */
export const runCodes = {
  INVALID_SETTING: ['An option, variable or key is wrong.', 'Correct the value as the message says.'],
  INVALID_OPTION: ['An option of the sandbox is wrong.', 'Correct the value as the message says.'],
  USAGE: ['The command line is wrong.', 'Add -h to the command.'],
  OPTION_MISSING: ['A program left out an option of runBatch or planBatch.', 'Pass the option.'],
  CONFIG_UNREADABLE: ["config.json can't be read.", 'Correct the file.'],
  CANNOT_LISTEN: ['The port is in use or forbidden.', 'Choose another port with --port or --health-port.'],
  CONSENT_MISSING: ["The command can't ask here.", 'Look at the plan, then pass --yes.'],
  REASON_MISSING: ['The settings require a reason.', 'Pass --reason.'],
  RUN_UNKNOWN: ['There is no such run.', 'Type "cqbatch list".'],
  RUN_AMBIGUOUS: ['Several runs begin so.', 'Type more of the id.'],
  NO_RUN_FITS: ['No run has the state that the command needs.', 'Type "cqbatch list", then name a run.'],
  RUN_STATE: ['The state of the run does not allow this.', 'Type "cqbatch status RUN".'],
  RUN_ENDED: ['The run has ended.', 'Nothing to do.'],
  RUN_NOT_ENDED: ['The run could still be resumed.', 'Type "cqbatch cancel RUN", then "cqbatch undo RUN".'],
  RUN_NOT_RESUMABLE: ['The run has no rows left to resume.', 'Type "cqbatch retry RUN".'],
  RUN_EXISTS: ['There is a run of this id.', 'Pass --or-resume to continue the run, or another --run-id.'],
  RUN_ID_TAKEN: ['A run elsewhere has this id.', 'Choose another --run-id.'],
  RUN_LOCKED: ['Another process works on the run.', waitForEnd],
  RUN_RUNNING: ['The run is in progress.', waitForEnd],
  ROWS_WITHOUT_RESULT: ['Rows have no result yet.', 'Type "cqbatch resume RUN".'],
  ROW_UNKNOWN: ['The run has no such row.', 'See the column _row of its report.'],
  RETRY_UNFINISHED: ['An earlier retry or undo has not ended.', 'Type "cqbatch resume RUN" with its id.'],
  NOTHING_TO_RETRY: ['No row fits.', 'See the codes that the message names.'],
  NOTHING_TO_UNDO: ['No row can be put back.', 'The message says why.'],
  NOTHING_TO_KEEP: ['prune does not know what to keep.', 'Type "cqbatch prune --keep-days 90".'],
  COMMAND_UNANSWERED: ['The run did not take a command in time.', 'Type "cqbatch status RUN".'],
  CANCEL_INTERRUPTED: ['Workers still call rows.', again],
  CANCEL_UNANSWERED: ['No process took the cancellation.', 'Type "cqbatch cancel RUN" on the named machine.'],
  PLAN_NOT_FOUND: ['There is no such plan file.', 'Correct the path.'],
  PLAN_UNREADABLE: ['The file is no plan.', 'Type "cqbatch plan MANIFEST --out NAME.cqplan".'],
  PLAN_EXISTS: ['The plan file already exists.', otherName],
  PAGE_EXISTS: ['The file already exists, and is no page of a plan.', otherName],
  PLAN_CHANGED: ['The plan was changed, or other operations are loaded.', planAgain],
  PLAN_DIFFERS: [
    'The plan is not that of --sha256, or has other options.',
    `Leave out the option that is named. ${planAgain}`,
  ],
  PLAN_OUTDATED: ['Its rows were called since the plan was made.', planAgain],
  PLAN_USED: ['The plan was run before.', 'To call its rows once more, make a new plan.'],
  SCHEDULE_UNKNOWN: ['There is no such schedule.', 'Type "cqbatch schedule list".'],
  SCHEDULE_EXISTS: ['There is a schedule of this name.', 'Pass --replace, or choose another name.'],
  SCHEDULE_STATE: ['The schedule is paused already, or is not.', 'Nothing to do.'],
  SCHEDULE_LOCKED: ['A run of the schedule may be starting.', again],
  SCHEDULE_RUNNING: [
    'A run of the schedule is in progress.',
    'Wait for the end of the run, or cancel the run.',
  ],
  SCHEDULE_MISSED: [
    'No daemon was running in time.',
    'Start a daemon. Then type "cqbatch schedule trigger NAME".',
  ],
  INVALID_CRON: ["--cron can't be read.", 'Write a pattern such as "0 2 * * 1-5".'],
  INBOX_UNUSABLE: [
    'The inbox is no folder, or others may change its records.',
    'Type what the message says.',
  ],
  INBOX_LOCKED: ['Another process takes this manifest.', 'Wait for its end.'],
  SESSION_MISSING: [
    'The browser has no session.',
    'Open the address that "cqbatch dashboard --control" prints.',
  ],
  STOPPING: ['The dashboard ends.', 'Start the dashboard again. Prepared runs are kept.'],
  DRAFT_UNKNOWN: ['The draft is gone.', 'Choose the file again.'],
  DRAFT_LOCKED: ['Another dashboard has the draft.', 'Wait, then try again.'],
  TOO_MANY_UPLOADS: ['Too many files arrive at once.', 'Wait, then try again.'],
  PLAN_MISSING: ['The draft has no plan to start.', 'Plan the rows again.'],
  NOTHING_TO_PLAN: ['There is nothing to plan.', 'The message says why.'],
  NOT_STARTED: ['The run was not started.', 'The message says why.'],
} as const satisfies CodeTable;
