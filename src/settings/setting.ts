export interface Setting {
  /** Reads the text of a value. Throws a RangeError with the correct form. */
  readonly parse: (text: string) => unknown;
  /** A placeholder for the value in help; absent for a switch. */
  readonly value?: string;
  readonly help: string;
  /** Whether `-h` shows the setting even if a command has many options. */
  readonly isCommon?: true;
  /** Whether the setting has only a variable and a key, and no flag. */
  readonly noFlag?: true;
  /** The default, as a user would write it. */
  readonly default?: string;
  /** The default in words, if it has no value. */
  readonly behaviorWithout?: string;
  readonly words?: readonly string[];
  /** The variable that may hold what the setting's file holds, and what that is. */
  readonly orVariable?: readonly [variable: string, content: string];
  /** The run option for reading rows, fixed when the run is planned. */
  readonly rowOption?: string;
  /** The run option for calling the API, which `resume` may change. */
  readonly callOption?: string;
  /** Whether the setting also applies to a batch of a program, like all settings with a run option. */
  readonly appliesToBatch?: true;
  /** Whether the setting limits what may go wrong in a run: commands that call rows have its flag in the group Guards. */
  readonly isGuard?: true;
  /** The setting without which this one has no effect. */
  readonly needs?: string;
  /** Whether the setting has pairs `name=value`: a repeatable flag, an object in the configuration file, lines in the variable. */
  readonly isMap?: true;
  /** In the configuration file also a list of words. No message quotes it, because its arguments may be secret. */
  readonly isCommand?: true;
  /** The setting that excludes this one. */
  readonly excludedBy?: string;
  /** Whether an empty variable is an error instead of unset, because an empty condition would select every row. */
  readonly mustNotBeEmpty?: true;
}
