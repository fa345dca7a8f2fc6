import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { shutdownMs } from '../../src/engine/run/work/drain.ts';
import { describeWithProgram } from '../helpers/describe-with-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { expectUnattended, readExample, typedIn, understood, variables, words } from './command-line.ts';

/** The value of a key in a unit file. @throws unless the file has it once */
function valueIn(name: string, key: string): string {
  const entries = readExample(`systemd/${name}`).matchAll(/^(\w+)=(.*)$/gm);
  const found = [...entries].filter(([, each]) => each === key);
  expect(found).toHaveLength(1);
  return found[0]?.[2] ?? '';
}

const units = readdirSync('examples/scheduling/systemd').filter((name) => !name.endsWith('.env'));
const services = units.filter((name) => name.endsWith('.service'));

/** The words behind `cqbatch` of what a service starts. */
function startedBy(service: string): readonly string[] {
  const [program, ...args] = words(valueIn(service, 'ExecStart').replaceAll('%%', '%').replaceAll('$$', '$'));
  if (program !== '/bin/sh') return expectCqbatch([program ?? '', ...args]);
  expect(args[0]).toBe('-c');
  return expectCqbatch(words(args[1] ?? '').slice(1));
}

function expectCqbatch([program = '', ...args]: readonly string[]): readonly string[] {
  expect(basename(program)).toMatch(/^cqbatch/);
  return args;
}

describe('the units of systemd', () => {
  test.each(services)('%s starts a valid command that asks nothing', (name) =>
    expectUnattended(startedBy(name)),
  );

  test.each(
    services.flatMap((name) => typedIn(readExample(`systemd/${name}`)).map((args) => ({ name, args }))),
  )('$name advises valid commands', async ({ args }) => expect((await understood(args)).flags).toBeDefined());

  test('set only variables that exist', () => {
    const set = [...readExample('systemd/cqbatch.env').matchAll(/^(?:# )?(CQBATCH_\w+)=/gm)];
    expect(set.length).toBeGreaterThan(3);
    expect(set.map(([, name = '']) => name).filter((name) => !variables.has(name))).toEqual([]);
  });

  test('the timer makes up for a missed time', () => {
    expect(valueIn('cqbatch-nightly.timer', 'Persistent')).toBe('true');
  });

  test('the path unit watches for the files that its service takes', () => {
    expect(startedBy('cqbatch-inbox.service')).toContain(valueIn('cqbatch-inbox.path', 'PathExistsGlob'));
  });

  test.each(services)('%s leaves calls in flight time to finish', (name) => {
    expect(Number(valueIn(name, 'TimeoutStopSec')) * 1_000).toBeGreaterThan(shutdownMs);
    expect(valueIn(name, 'EnvironmentFile')).toBe('/etc/cqbatch/cqbatch.env');
  });
});

describeWithProgram(['systemd-analyze'], 'systemd', () => {
  const systemdAnalyze = (...args: string[]) => promisify(execFile)('systemd-analyze', args);

  test('finds nothing wrong with the units', async () => {
    const copies = await temporaryFolder();
    for (const name of units) {
      // That of the program need not be installed here.
      const text = readExample(`systemd/${name}`).replaceAll('/usr/local/bin/cqbatch', '/bin/true');
      await writeFile(join(copies, name), text);
    }
    const { stdout, stderr } = await systemdAnalyze('verify', ...units.map((name) => join(copies, name)));
    expect(stdout + stderr).toBe('');
  });

  test('understands when the timer is due', async () => {
    const { stdout } = await systemdAnalyze('calendar', valueIn('cqbatch-nightly.timer', 'OnCalendar'));
    expect(stdout).toContain('Normalized form: Mon..Fri *-*-* 02:00:00 Europe/London');
  });
});
