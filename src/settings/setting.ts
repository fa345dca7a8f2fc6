/** A setting that can be given in more than one place. */
export interface Setting {
  /** Reads what users write; throws a RangeError that says how to. */
  readonly parse: (text: string) => unknown;
  /** What stands for its value in the help; absent: the flag takes no value and means yes. */
  readonly value?: string;
  readonly help: string;
  /** Whether `-h` shows it also where a command has many options. */
  readonly common?: true;
  /** Whether it stands in the configuration file or a variable only, and has no flag. */
  readonly noFlag?: true;
  /** The usual value, as it would be written. */
  readonly default?: string;
  /** The usual value in words, where it can't be written. */
  readonly otherwise?: string;
  /** The only words that the value can be. */
  readonly words?: readonly string[];
  /** Another variable that can give the value. */
  readonly orVariable?: string;
  /** The field of a run's options that says how its rows are read: it stays as it was planned. */
  readonly rowOption?: string;
  /** The field of a run's options that says how its rows are called: `resume` may change it. */
  readonly callOption?: string;
  /** Pairs `name=value`: a flag that may be repeated, an object in the configuration file, lines in the variable. */
  readonly isMap?: true;
}
