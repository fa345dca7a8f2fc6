import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const sources = await Promise.all(
  (await readdir('src', { recursive: true }))
    .filter((name) => name.endsWith('.ts'))
    .map(async (name) => ({ path: join('src', name), text: await readFile(join('src', name), 'utf8') })),
);

/** What can create, open for writing, replace or give away a file or folder. */
const writing =
  /^(appendFile|chmod|chown|copyFile|cp|createWriteStream|fchmod|fchown|ftruncate|lchmod|lchown|link|lutimes|mkdir|mkdtemp|open|openAsBlob|openCallback|rename|symlink|truncate|utimes|write|writeFile|writev)(Sync)?$/;

/**
 * The files that write by other means than `replaceFile`, `createFile` and `makeFolderLikeParent` of src/base/disk/files.ts, and why that is
 * safe in a folder where another user may put links.
 */
const writers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'the functions that all others use': {
    'src/base/disk/files.ts': 'chmod link mkdir open rename writeFile',
  },
  'nothing is opened for writing': {
    'src/cli/main.ts': 'writeSync',
    'src/cli/output.ts': 'writeSync',
    'src/engine/datastore/embedded/embedded.ts': 'openSync',
    'src/base/disk/open-folder.ts': 'open',
  },
  'for reading, but for the journal of a run, in whose folder only its owner may write': {
    'src/base/disk/open-file.ts': 'open',
  },
  'a rename in an open folder replaces a link, and never follows it': {
    'src/daemon/inbox/files.ts': 'rename',
  },
  'a new folder, or an open one that no other user may change (refuseIf)': {
    'src/daemon/inbox/records.ts': 'mkdir',
  },
  'a new file with a random name (wx)': {
    'src/daemon/inbox/waiting-files.ts': 'writeFile',
    'src/engine/report/csv-file.ts': 'open rename',
    'src/engine/rows/record-pages.ts': 'mkdirSync openSync writeSync',
    'src/engine/run/plan/note-file.ts': 'appendFile rename',
  },
  'a new folder with a random name': {
    'src/base/disk/owned-folder.ts': 'lutimes mkdtemp',
    'src/build/make-template.ts': 'mkdtemp truncate',
    'src/base/disk/tar.ts': 'mkdirSync writeFileSync',
    'src/build/executable/unpack.ts': 'mkdtempSync openSync renameSync',
    'src/base/disk/code-cache.ts': 'mkdirSync',
    'src/engine/run/verify/verify-run.ts': 'mkdtemp',
  },
  'only its owner may write in folders of runs, schedules, and the queue (checkStateFolder)': {
    'src/engine/datastore/embedded/template.ts': 'mkdir rename truncateSync',
    'src/engine/journal/appendable-journal.ts': 'open',
    'src/engine/list/listed-entries.ts': 'open',
    'src/engine/manifest/stage.ts': 'open openCallback rename',
    'src/engine/rows/rows-writer.ts': 'open rename',
    'src/engine/run/plan/create-run.ts': 'rename',
    'src/engine/run/record/answer-file.ts': 'appendFile writeFile',
    'src/engine/run/record/prune.ts': 'rename',
    'src/engine/run/record/store.ts': 'mkdir',
    'src/engine/run/work/control.ts': 'appendFile',
    'src/daemon/schedule/store.ts': 'appendFile mkdir rename',
  },
  'a lock that is a folder': {
    'src/base/disk/lock.ts': 'lutimes',
  },
};

/**
 * The files that write a whole file through src/base/disk, by what holds when two processes write it at once, and the test that shows it
 * with two writers. A file that both read and change is changed by `changeJsonFile`.
 */
const wholeFiles: Readonly<Record<string, readonly string[]>> = {
  'the first one creates it, and the others hear so: base/disk/files.test.ts': [
    'src/cli/commands/export.ts',
    'src/cli/commands/init.ts',
    'src/engine/run/plan/file/plan-file.ts',
    'src/engine/run/plan/plan-use.ts',
    'src/engine/run/record/state-folder.ts',
  ],
  'one changes what the other has written: e2e/writers.test.ts, daemon/schedule/store.test.ts': [
    'src/daemon/schedule/store.ts',
    'src/engine/run/record/targets.ts',
    'src/engine/run/work/estimated-limits.ts',
  ],
  'only the holder of a lock writes it: base/disk/lock.test.ts, e2e/cron.test.ts': [
    'src/daemon/inbox/records.ts',
    'src/daemon/metrics/metrics-file.ts',
    'src/engine/datastore/embedded/epoch.ts',
    'src/engine/run/record/store.ts',
    'src/engine/run/work/rate-log.ts',
  ],
  'the last one replaces it whole: base/disk/files.test.ts': [
    'src/base/disk/lock.ts',
    'src/base/disk/owned-folder.ts',
    'src/daemon/inbox/files.ts',
    'src/engine/report/check-file.ts',
    'src/engine/report/html/html-report.ts',
    'src/engine/report/plan-page/plan-page-file.ts',
    'src/engine/report/write-reports.ts',
    'src/engine/report/xlsx-report.ts',
    'src/pages/server/start/draft-store.ts',
  ],
};

/** The writing functions that each file imports from Node. */
function found(): Readonly<Record<string, string>> {
  const entries = sources
    .filter(({ path }) => !path.startsWith('src/pages/browser/'))
    .map(({ path, text }) => {
      const imports = [...text.matchAll(/import ([^;]*?) from 'node:fs(?:\/promises)?';/g)];
      // A whole module would hide what is used of it.
      expect(imports.filter(([, names = '']) => !names.startsWith('{') && !names.startsWith('type'))).toEqual(
        [],
      );
      const names = imports
        .flatMap(([, list = '']) => list.replace(/^\{|\}$/g, '').split(','))
        .map((each) => each.trim().replace(/^.* as /, ''))
        .filter((each) => writing.test(each));
      return [path, names.toSorted().join(' ')] as const;
    });
  return Object.fromEntries(entries.filter(([, names]) => names !== ''));
}

test('no other file than these writes files by itself: another user may have put a link there', () => {
  expect(found()).toEqual(Object.assign({}, ...Object.values(writers)));
});

test('each file that is written whole has an answer to two writers', () => {
  const calls =
    /\b(replaceFile|createFile|writeFileAtomically|replaceJsonFile|writeJsonFile|changeJsonFile)\(/;
  const defining = ['changed-file', 'files', 'json-file'].map((name) => `src/base/disk/${name}.ts`);
  const writing = sources.filter(({ path, text }) => !defining.includes(path) && calls.test(text));
  expect(writing.map(({ path }) => path).toSorted()).toEqual(Object.values(wholeFiles).flat().toSorted());
});
