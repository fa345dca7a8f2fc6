import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

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
    'src/engine/run/proof/difference.ts': 'open',
    'src/base/disk/hash-file.ts': 'open',
  },
  'a rename replaces a link, and never follows it': {
    'src/daemon/inbox/files.ts': 'rename',
  },
  'a new folder, or one that no other user may change (refuseForeign)': {
    'src/daemon/inbox/records.ts': 'mkdir',
  },
  'a new file with a random name (wx)': {
    'src/engine/report/csv-file.ts': 'open rename',
    'src/engine/run/plan/problem-file.ts': 'appendFile rename',
  },
  'a new folder with a random name': {
    'src/base/disk/owned-folder.ts': 'mkdtemp',
    'src/build/make-template.ts': 'mkdtemp truncate',
    'src/base/disk/tar.ts': 'mkdirSync writeFileSync',
    'src/build/executable/unpack.ts': 'mkdirSync mkdtempSync openSync renameSync',
    'src/engine/run/proof/verify-run.ts': 'mkdtemp',
    'src/engine/signature/ssh-keygen.ts': 'mkdtemp writeFile',
  },
  'only its owner may write in folders of runs, schedules, and the queue (checkStateFolder)': {
    'src/engine/datastore/embedded/template.ts': 'mkdir rename truncateSync',
    'src/engine/journal/appendable-journal.ts': 'open',
    'src/engine/journal/open.ts': 'open',
    'src/engine/manifest/stage.ts': 'open openCallback rename',
    'src/engine/rows/rows-writer.ts': 'open rename',
    'src/engine/run/plan/create-run.ts': 'rename',
    'src/engine/run/record/answer-file.ts': 'appendFile writeFile',
    'src/engine/run/record/prune.ts': 'rename',
    'src/engine/run/record/store.ts': 'mkdir',
    'src/engine/run/session/control.ts': 'appendFile',
    'src/daemon/schedule/store.ts': 'appendFile mkdir rename',
  },
  'a lock that is a folder': {
    'src/base/disk/lock.ts': 'lutimes',
  },
};

/** The writing functions that each file imports from Node. */
async function found(): Promise<Readonly<Record<string, string>>> {
  const files = await readdir('src', { recursive: true });
  const entries = files
    .filter((name) => name.endsWith('.ts') && !name.startsWith('pages/browser/'))
    .map(async (name) => {
      const path = join('src', name);
      const text = await readFile(path, 'utf8');
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
  return Object.fromEntries((await Promise.all(entries)).filter(([, names]) => names !== ''));
}

test('no other file than these writes files by itself: another user may have put a link there', async () => {
  expect(await found()).toEqual(Object.assign({}, ...Object.values(writers)));
});
