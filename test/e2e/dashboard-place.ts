import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type Home, newHome } from './home.ts';
import { eventually, kindSandbox } from './redis/machine.ts';

/** A machine with a manifest, and an API that takes a tenth of a second for each row. */
export async function newPlace(rows: number, more: Readonly<Record<string, string>> = {}, name = 'rows.csv') {
  const home = await newHome(rows, [...kindSandbox, '--latency', '100ms'], more);
  if (name !== 'rows.csv') await rename(join(home.cwd, 'rows.csv'), join(home.cwd, name));
  return {
    ...home,
    /** Starts the run `r`. */
    going: (...flags: string[]) =>
      home.start('run', name, '--yes', '--run-id', 'r', '--concurrency', '4', ...flags),
    /** Ends the patience of a run that was started with a low rate. */
    hurry: () => home.run('set-rate', 'r', 'none'),
  };
}

export interface Address {
  readonly url: string;
  readonly control_url: string | null;
}

/** The dashboard that a command serves. */
export async function dashboardOf(place: Pick<Home, 'start'>, ...flags: string[]) {
  const served = place.start('dashboard', '--port', '0', '--json', ...flags);
  await eventually(() => served.stdout.endsWith('\n'));
  return { served, ...(JSON.parse(served.stdout) as Address) };
}
