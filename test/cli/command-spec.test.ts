import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type CommandSpec,
  settingsWithoutEffect,
  textsOfUnused,
  unusedPairs,
} from '../../src/cli/command-spec.ts';
import { commandGroups } from '../../src/cli/commands.ts';
import type { Setting } from '../../src/settings/setting.ts';
import { settings } from '../../src/settings/setting-table.ts';
import { nameInWords, type SettingName, settingNeeds } from '../../src/settings/settings.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { everyCommand } from './help.ts';
import { toldOptions } from './told-options.ts';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Where they can be typed, they have an effect, unless `Unused` says otherwise. */
const effective = words(`
  json quiet stateDir baseUrl queue operations tokenFile tokenCommand rateGroup rate priority
  concurrency attempts timeout backoff maxOutage html delimiter format logLevel
  reason saveResponses runId out sha256 against code transient unclear watch row withRetries
  plan planPage dryRun coordinate once port host publicUrl control healthPort metricsFile
  notifyUrl pingUrl cron manifest inbox catchUp overlap wait submit`);

/** They permit or limit what need not occur. */
const conditional = words(`
  yes skipInvalid allowPartial allowEmpty allowInsecureHttp trustIds trustQuotes strict replace trim
  onConflict clearToken confirmAbove maxManifestSize requireReason canary maxFailures
  maxRows maxDuration stopAt compare overwrite`);

/** Standing settings for options that are typed later. */
const standing = words('canaryMaxFailures');

const specs = Object.values(commandGroups)
  .flat()
  .flatMap((spec): (readonly [name: string, spec: CommandSpec])[] =>
    'commands' in spec
      ? spec.commands.map((below) => [`${spec.name} ${below.name}`, below])
      : [[spec.name, spec]],
  );

const optionsOf = new Map(
  [...(await everyCommand())].map(([name, { options }]) => [
    name,
    options.map((each) => each.attributeName()),
  ]),
);

test('every option and setting is in the list of those that say that they have no effect, or of the others', () => {
  const sayIt = specs.flatMap(([, { unused = {} }]) => Object.values(unusedPairs(unused)).flat());
  const listed = [...effective, ...conditional, ...standing, ...sayIt.map(([name]) => name)];
  const all = new Set([...listed, ...Object.keys(toldOptions)]);
  // The sandbox is a service of its own.
  const options = [...optionsOf].flatMap(([name, names]) => (name === 'sandbox' ? [] : names));
  expect([...all].toSorted()).toEqual([...new Set([...options, ...Object.keys(settings)])].toSorted());
});

function hasNoFlag(option: string): boolean {
  const setting: Setting | undefined = settings[option as SettingName];
  return setting?.noFlag === true;
}

test.each(specs)('%s says which of its options have no effect', async (name, { unused = {} }) => {
  const known = optionsOf.get(name) ?? [];
  const own = Object.values(unused).flatMap((by) => Object.entries(by).flat(2));
  expect(known).toEqual(expect.arrayContaining(own));
  const stateDir = await temporaryFolder();
  const said = (flags: object) => textsOfUnused(unused, { ...flags, stateDir });
  const long = (option: string): string => `--${nameInWords(option, '-')}`;
  const typed = (option: string) => ({ [option]: option === 'rate' ? '1/s' : '1' });
  const { lackingOption, overriddenBy } = unusedPairs(unused);
  for (const [option, other] of lackingOption.filter(([option]) => !hasNoFlag(option))) {
    const text = `${long(option)} has no effect without ${long(other)}.`;
    expect(await said(typed(option))).toContain(text);
    expect(await said({ ...typed(option), ...typed(other) })).not.toContain(text);
  }
  for (const [option, other] of overriddenBy) {
    const text = `${long(option)} has no effect with ${long(other)}.`;
    expect(await said({ ...typed(option), ...typed(other) })).toContain(text);
    expect(await said(typed(option))).not.toContain(text);
  }
});

test('what an option needs may come from a variable or the configuration', async () => {
  const stateDir = await temporaryFolder();
  await writeFile(join(stateDir, 'config.json'), '{"health_port": 8790}');
  expect(await textsOfUnused({}, { healthHost: '0.0.0.0', stateDir })).toEqual([]);
});

test.each(settingNeeds)('the setting %s has no effect without %s', (name, other) => {
  expect(Object.keys(settings)).toContain(other);
  const text = `${nameInWords(name, '_')} has no effect without ${nameInWords(other, '_')}`;
  expect(settingsWithoutEffect({ [name]: 'x' })).toEqual([text]);
  expect(settingsWithoutEffect({ [name]: 'x', [other]: 'x' })).toEqual([]);
});
