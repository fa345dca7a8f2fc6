// @ts-check
/**
 * Words and phrases that make a reader stop, and what to write instead. `*` stands for one word. Most come from translating
 * word by word; CONTRIBUTING.md says how to write.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const avoided = {
  /** Where it begins a sentence that is not a question. */
  who: 'name who, and put the verb next: "A user who … must", "To …, do …"',
  nobody: 'name who: "no user", "no process", "no worker"',
  somebody: '"you", "a user", "another process"',
  whoever: 'name who: "a user who", "the process that"',
  'for who': 'name who: "for a user who", "for code that"',
  'of who': 'name who',
  'to who': 'name who',
  'by who': 'name who',
  'but who': 'name who',
  'who has to': '"a user who must", "rows that must"',
  anew: '"again", or "a new …"',
  'so many': '"that many", "as many as", or the number',
  'so few': '"that few", or the number',
  'so long': '"as long as", "that long", or the duration',
  'so often': '"that often", "every …", or the number',
  'that is none': '"that is not a …", "an invalid …"',
  'it is none': '"it is not a …"',
  'is none of': '"is not a …", "is not one of"',
  'are none of': '"are not …"',
  begun: '"started"',
  till: '"until"',
  'told apart': '"distinguished"',
  'tell apart': '"distinguish"',
  'tells apart': '"distinguishes"',
  'the same of': '"like …, for"',
  'worth no': 'say what to do: "Treat … as …"',
  'no more than none': 'say what to do',
  'otherwise than': '"differently from"',
  'is left over': '"remains", "is left"',
  'can be had': '"is available"',
  "can't be had": '"is not available"',
  'of an own': '"of its own", "a separate …"',
  'in vain': '"without success"',
  'a good deal': 'the number',
  'ever so': 'leave it out',
  thereby: '"so", or a new sentence',
  whereby: '"where", "by which"',
  therein: '"in it"',
  thereof: '"of it"',
  whilst: '"while"',
};
