import type { Flags } from './config/load.ts';
import type { ExitCode } from './exit-codes.ts';
import type { OptionGroups } from './option-groups.ts';
import type { OwnMeanings } from './option-table.ts';

export interface NamedSpec {
  readonly name: string;
  /** What the command does, in one line of the list of commands. */
  readonly description: string;
  /** What its own help says besides. */
  readonly details?: string;
  /** What one would type, with what it is for. */
  readonly examples?: readonly (readonly [command: string, purpose: string])[];
}

/** A command. */
export interface CommandSpec extends NamedSpec, OwnMeanings {
  readonly arguments?: readonly (readonly [name: string, description: string])[];
  /** Its options besides those of every command. */
  readonly options?: OptionGroups;
  /** Loads what it does: `cqbatch --help` has to be quick. */
  readonly load: () => Promise<Action>;
}

/** Several commands about one thing: `cqbatch schedule add`. */
export interface CommandGroupSpec extends NamedSpec {
  readonly commands: readonly CommandSpec[];
}

/** Does what a command is for, and gives the exit code. Without an argument, the flags come first. */
type Action =
  | ((flags: Flags) => Promise<ExitCode>)
  | ((argument: string, flags: Flags) => Promise<ExitCode>)
  | ((argument: string, second: string, flags: Flags) => Promise<ExitCode>);

/** The run that a command is for, by default the newest that it fits. */
export function runThat(fits = ''): readonly [name: string, description: string] {
  return ['[run]', `id of a run, or a part that no other id has; default: the newest run${fits}`];
}
