/** What a person chooses below instead of typing an option. */
const choices: readonly (readonly [advice: RegExp, choice: string])[] = [
  [/pass --skip-invalid/g, 'leave invalid rows out below'],
  [
    /pass --on-conflict last \(.*?\) or --on-conflict in-order \(.*?\)/g,
    'choose below whether only the last row of each entry is called, or all are in their order',
  ],
  [
    /pass --compare if the service lists its entries, or pass --allow-partial/g,
    'choose below to compare, or to send the rows as they are',
  ],
];

/** The reason why a plan is refused, with what the person can choose on this page in place of the options of `cqbatch plan`. */
export function inChoiceWords(refusal: string): string {
  return choices.reduce((text, [advice, choice]) => text.replaceAll(advice, choice), refusal);
}
