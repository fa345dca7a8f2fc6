import type { Flags } from './config/load.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Unused } from './option-effects.ts';
import type { OptionGroups } from './option-groups.ts';
import type { OwnMeanings } from './option-table.ts';

export interface NamedSpec {
  readonly name: string;
  /** Purpose, on one line. */
  readonly description: string;
  /** More text for its help. */
  readonly details?: string;
  /** Sample commands with their purpose. */
  readonly examples?: readonly (readonly [command: string, purpose: string])[];
}

/** A command. */
export interface CommandSpec extends NamedSpec, OwnMeanings {
  readonly arguments?: readonly (readonly [name: string, description: string])[];
  /** Its options besides the common ones. */
  readonly options?: OptionGroups;
  /** Which of them may have no effect, besides those of every command. */
  readonly unused?: Unused;
  /** Loads the action on demand, to keep `cqbatch --help` fast. */
  readonly load: () => Promise<Action>;
}

/** Commands with a common subject: `cqbatch schedule add`. */
export interface CommandGroupSpec extends NamedSpec {
  readonly commands: readonly CommandSpec[];
}

/** Carries out a command. @returns its exit code. Without an argument, the flags come first. */
type Action =
  | ((flags: Flags) => Promise<ExitCode>)
  | ((argument: string, flags: Flags) => Promise<ExitCode>)
  | ((argument: string, second: string, flags: Flags) => Promise<ExitCode>);

/** The argument that names a run; default: the newest that fits. */
export function runThat(fits = ''): readonly [name: string, description: string] {
  return ['[run]', `id of a run, or a part that no other id has; default: the newest run${fits}`];
}
