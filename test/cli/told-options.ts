/** How options are typed that are refused, or that a plan warns of, where they have no effect, and what is said then. */
export const toldOptions: Readonly<Record<string, readonly [words: readonly string[], said: string]>> = {
  where: [['plan', 'rows.csv', '--where', 'evaluation_id>=1'], '--where leaves no row out'],
  skipDone: [['plan', 'rows.csv', '--skip-done', 'report.csv'], '--skip-done report.csv leaves no row out'],
  default: [['plan', 'rows.csv', '--default', 'user_id=w'], '--user-id w applies to no row'],
  userId: [['plan', 'rows.csv', '--user-id', 'w'], '--user-id w applies to no row'],
  map: [
    ['plan', 'rows.csv', '--map', 'a=user_id'],
    '--map names the column "a", which the manifest does not',
  ],
  encoding: [['plan', 'marked.csv', '--encoding', 'macintosh'], 'the file begins with the mark of utf-8'],
  sheet: [['plan', 'rows.csv', '--sheet', '1'], '--sheet only works with Excel workbooks; leave it out'],
  hidden: [['plan', 'rows.csv', '--hidden', 'skip'], '--hidden only works with Excel workbooks'],
  skipLines: [['plan', 'rows.json', '--skip-lines', '1'], '--skip-lines'],
  rowsAt: [['plan', 'rows.csv', '--rows-at', 'data'], '--rows-at only works with a JSON object'],
  operation: [
    ['plan', 'rows.json', '--operation', 'update-soundboard'],
    'rows.json says it is for restore-evaluation, --operation says update-soundboard',
  ],
  orResume: [['run', 'rows.csv', '--yes', '--or-resume'], '--or-resume needs --run-id'],
  resumeHalted: [['run', 'rows.csv', '--yes', '--resume-halted'], '--resume-halted needs --or-resume'],
  worker: [['run', 'rows.csv', '--yes', '--no-worker'], '--no-worker needs a shared datastore'],
  tz: [['schedule', 'add', 's', '--manifest', 'rows.csv', '--tz', 'UTC'], 'has no times: pass --cron'],
  open: [['report', '--open', '--no-html'], '--open needs the page that --no-html leaves out'],
  keepLast: [['worker', '--keep-last', '1'], 'warning: --keep-last has no effect without --coordinate.'],
  verbose: [['run', 'none.csv', '--yes', '-q', '-v'], 'warning: --verbose has no effect with --quiet.'],
};
