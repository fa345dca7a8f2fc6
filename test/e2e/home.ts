import { anyDatastore } from '../helpers/any-datastore.ts';
import type { CommandOptions } from '../helpers/cqbatch.ts';
import { startSandbox, type TestSandbox } from '../helpers/sandbox.ts';
import { type Machine, newMachine } from './redis/machine.ts';

/** A machine that calls a sandbox of its own. */
export interface Home extends Machine {
  readonly sandbox: TestSandbox;
  readonly options: CommandOptions;
}

/**
 * @param rows the text of `rows.csv`, or how many evaluations it restores
 * @param flags those of the sandbox
 * @param env what commands are told besides: without it, that they use any datastore
 */
export async function newHome(
  rows: string | number = 0,
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = anyDatastore(),
): Promise<Home> {
  const sandbox = await startSandbox(...flags);
  const machine = await newMachine({ sandbox, env }, rows);
  return { ...machine, sandbox, options: { cwd: machine.cwd, env: machine.env } };
}
