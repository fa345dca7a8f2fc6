export interface Setting {
  /** Throws a RangeError with the correct form. */
  readonly parse: (text: string) => unknown;
  /** Placeholder in help; absent for a flag without a value, which means yes. */
  readonly value?: string;
  readonly help: string;
  /** Whether `-h` shows the setting even if a command has many options. */
  readonly common?: true;
  /** Whether there is only a variable and a key. */
  readonly noFlag?: true;
  /** The default, as a user would write it. */
  readonly default?: string;
  /** The default in words, if no value can be written for it. */
  readonly otherwise?: string;
  readonly words?: readonly string[];
  readonly orVariable?: string;
  /** The run option for reading rows; fixed when the run is planned. */
  readonly rowOption?: string;
  /** The run option for calling the API; `resume` may change it. */
  readonly callOption?: string;
  /** Whether the setting also applies to a batch of a program, as all that set a run option do. */
  readonly ofBatch?: true;
  /** Another setting, without which this one has no effect. */
  readonly needs?: string;
  /** Pairs `name=value`: a repeatable flag, an object in the configuration file, lines in the variable. */
  readonly isMap?: true;
  /** A command: in the configuration file also a list of words. No message quotes it, because its arguments may be secret. */
  readonly isCommand?: true;
  /** The setting beside which it is refused. */
  readonly notWith?: string;
  /** Whether an empty variable is an error instead of unset: an empty condition would select every row. */
  readonly neverEmpty?: true;
}
