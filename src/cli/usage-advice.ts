import { nameInWords, settingsWithoutFlag, variableOf } from '../index.ts';

/** Options that people type although they are not there, with what to write instead. */
const instead: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    settingsWithoutFlag.map((name) => {
      const key = nameInWords(name, '_');
      return [
        `--${key.replaceAll('_', '-')}`,
        `set "${key}" in config.json of the state folder, or ${variableOf(name)}`,
      ];
    }),
  ),
  '--canary-random': 'write --canary 10,random for a random sample',
  '--tz': "write the time zone behind the time: --stop-at '06:00 Europe/London'",
  '--once': 'type "cqbatch watch FOLDER --once"',
  '--dry-run': '"cqbatch plan" checks every row and sends nothing',
  '-n': '"cqbatch plan" checks every row and sends nothing; --max-rows 50 stops after 50 rows',
  '--limit': '--max-rows 50 stops after 50 rows; --canary 50 calls 50 rows, and asks',
  '--token': 'a token is never an option; set CQBATCH_TOKEN, or pass --token-file FILE',
};

/** Words that people type in place of a command: a manifest, or what it is for. */
const ofManifest =
  /unknown command '(?:.*\.(?:csv|tsv|txt|jsonl?|ndjson|xlsx)(?:\.gz)?|restore|update|start|import|check|validate)'/;

/** A message of commander on what was typed, with what to type instead if that is known. */
export function withAdvice(message: string): string {
  const [, option = ''] = /unknown option '([^'=]+)/.exec(message) ?? [];
  const advice = instead[option];
  if (advice !== undefined)
    return message.replace(/unknown option.*?(?=\n*$)/s, `There is no option ${option}: ${advice}.`);
  if (ofManifest.test(message))
    return message.replace(
      /unknown command '.*'/,
      '$&. "cqbatch plan FILE" checks a manifest, "cqbatch run FILE" calls the API.',
    );
  // A shell replaces a pattern by the names that match.
  return message.replace(
    /^error: too many arguments.*/,
    "$& Put a pattern in quotation marks: 'inbox/*.csv'.",
  );
}
