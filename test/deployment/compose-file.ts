import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseDuration } from '../../src/cli/config/parsers.ts';

/** A service of docker-compose.yml: what it takes to start the same thing without Docker. */
export interface ComposeService {
  readonly image: string;
  /** Arguments of the image's entry point; of Redis, which has none to speak of, the whole command. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** `CMD` or `CMD-SHELL`, and what to run. */
  readonly healthcheckTest: readonly string[];
  readonly stopGracePeriodMs: number;
  /** All of its keys, as they are written, variables filled in. */
  readonly keys: Readonly<Record<string, unknown>>;
}

export type ComposeServiceName = 'redis' | 'sandbox' | 'worker' | 'coordinator';

export interface ComposeFile {
  /** The whole document, variables filled in. */
  readonly document: unknown;
  readonly services: Readonly<Record<ComposeServiceName, ComposeService>>;
}

const serviceSchema = z
  .looseObject({
    image: z.string(),
    command: z.array(z.string()),
    environment: z.record(z.string(), z.string()).default({}),
    healthcheck: z.looseObject({ test: z.array(z.string()) }),
    stop_grace_period: z.string(),
  })
  .transform(
    (keys): ComposeService => ({
      image: keys.image,
      command: keys.command,
      environment: keys.environment,
      healthcheckTest: keys.healthcheck.test,
      stopGracePeriodMs: parseDuration(keys.stop_grace_period),
      keys,
    }),
  );

const fileSchema = z.object({
  services: z.strictObject({
    redis: serviceSchema,
    sandbox: serviceSchema,
    worker: serviceSchema,
    coordinator: serviceSchema,
  }),
});

/** Reads docker-compose.yml as Compose does, with these variables in place of the environment and `.env`. */
export function readComposeFile(variables: Readonly<Record<string, string>> = {}): ComposeFile {
  const text = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
  const document = readComposeText(text, variables);
  return { document, services: fileSchema.parse(document).services };
}

/** Reads the text of a Compose file, or of an override of one. */
export function readComposeText(text: string, variables: Readonly<Record<string, string>> = {}): unknown {
  return interpolateAll(parse(text, { merge: true }), variables);
}

function interpolateAll(value: unknown, variables: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') return interpolate(value, variables);
  if (Array.isArray(value)) return value.map((item) => interpolateAll(item, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, interpolateAll(item, variables)]),
  );
}

const reference =
  /\$(?:\$|(?<bare>\w+)|\{(?<name>\w+)(?:(?<colon>:?)(?<operator>[-?+])(?<operand>[^}]*))?\}|)/g;

/** `$$`, `$NAME`, `${NAME}` and the forms with `-`, `?`, `+`; with a colon, an empty variable counts as not set. */
function interpolate(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(reference, (found, ...rest) => {
    if (found === '$$') return '$';
    const { bare, name, colon, operator, operand = '' } = rest.at(-1) as Record<string, string | undefined>;
    const wanted = bare ?? name;
    if (wanted === undefined) throw new Error(`Compose would refuse the lone $ in ${JSON.stringify(text)}.`);
    const value = variables[wanted];
    const isSet = value !== undefined && (colon !== ':' || value !== '');
    switch (operator) {
      case '-':
        return isSet ? value : operand;
      case '+':
        return isSet ? operand : '';
      case '?':
        if (!isSet) throw new Error(`${wanted}: ${operand}`);
        return value;
      default:
        return value ?? '';
    }
  });
}
