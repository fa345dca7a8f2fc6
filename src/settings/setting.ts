/** A setting from several sources. */
export interface Setting {
  /** Parses a user's value; throws a RangeError with the correct form. */
  readonly parse: (text: string) => unknown;
  /** Placeholder in help; absent for a flag without a value, which means yes. */
  readonly value?: string;
  readonly help: string;
  /** Whether `-h` shows it even if a command has many options. */
  readonly common?: true;
  /** Whether it has no flag, only a variable and a key. */
  readonly noFlag?: true;
  /** The default, as a user would write it. */
  readonly default?: string;
  /** The default in words, if it can't be written. */
  readonly otherwise?: string;
  /** All possible values. */
  readonly words?: readonly string[];
  /** Another variable for the setting. */
  readonly orVariable?: string;
  /** The run option that it sets, for reading rows: fixed when the run is planned. */
  readonly rowOption?: string;
  /** The run option that it sets, for calling the API: `resume` may change it. */
  readonly callOption?: string;
  /** Whether it also applies to a batch of a program, like those that set a run option. */
  readonly ofBatch?: true;
  /** The setting without which it has no effect. */
  readonly needs?: string;
  /** Pairs `name=value`: a repeatable flag, an object in the configuration file, lines in the variable. */
  readonly isMap?: true;
  /** Whether its variable must not be empty, which means unset for others: without a condition, every row would be called. */
  readonly neverEmpty?: true;
}
