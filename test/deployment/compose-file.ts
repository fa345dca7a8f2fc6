import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseDuration } from '../../src/settings/parsers.ts';

/** A service of docker-compose.yml: everything needed to start it without Docker. */
export interface ComposeService {
  readonly image: string;
  /** Arguments of the image's entry point; for Redis, which has no real entry point, the whole command. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** `CMD` or `CMD-SHELL`, and what to run. */
  readonly healthcheckTest: readonly string[];
  readonly stopGracePeriodMs: number;
  /** All of its keys, as they are written, with variables filled in. */
  readonly keys: Readonly<Record<string, unknown>>;
}

export type ComposeServiceName = 'redis' | 'sandbox' | 'worker' | 'coordinator';

export interface ComposeFile {
  /** The whole document, with variables filled in. */
  readonly document: unknown;
  readonly services: Readonly<Record<ComposeServiceName, ComposeService>>;
}

const texts = z.array(z.string());
const duration = z.string().regex(/^\d+s$/);

const mount = z.strictObject({
  type: z.enum(['bind', 'volume']),
  source: z.string(),
  target: z.string(),
  read_only: z.boolean(),
});
const dependency = z.strictObject({ condition: z.enum(['service_started', 'service_healthy']) });

/** The keys of the Compose Specification that are used: any other key is misspelt, or has to be added here. */
const serviceKeys = z.strictObject({
  image: z.string(),
  build: z.string().optional(),
  pull_policy: z.enum(['always', 'never', 'missing', 'build']).optional(),
  command: texts,
  environment: z.record(z.string(), z.string()).default({}),
  hostname: z.string().optional(),
  user: z.string().optional(),
  init: z.boolean().optional(),
  restart: z.enum(['no', 'always', 'on-failure', 'unless-stopped']).optional(),
  read_only: z.boolean().optional(),
  tmpfs: texts.optional(),
  cap_drop: texts.optional(),
  security_opt: texts.optional(),
  logging: z.strictObject({ driver: z.string() }).optional(),
  stop_grace_period: duration,
  ports: texts.optional(),
  networks: texts.optional(),
  secrets: texts.optional(),
  volumes: z.array(z.union([z.string(), mount])).optional(),
  depends_on: z.record(z.string(), dependency).optional(),
  healthcheck: z.strictObject({
    test: texts,
    interval: duration,
    timeout: duration,
    retries: z.number(),
    start_period: duration,
  }),
});

const serviceSchema = serviceKeys.transform(
  (keys): ComposeService => ({
    image: keys.image,
    command: keys.command,
    environment: keys.environment,
    healthcheckTest: keys.healthcheck.test,
    stopGracePeriodMs: parseDuration(keys.stop_grace_period),
    keys,
  }),
);

const topLevel = {
  name: z.string().optional(),
  networks: z.record(z.string(), z.strictObject({ internal: z.boolean() }).nullable()).optional(),
  volumes: z.record(z.string(), z.null()).optional(),
  secrets: z.record(z.string(), z.strictObject({ file: z.string() })).optional(),
};

/** An override of docker-compose.yml contains only changes. */
export const overrideSchema = z.strictObject({
  ...topLevel,
  services: z.record(z.string(), serviceKeys.partial()),
});

const all = {
  redis: serviceSchema,
  sandbox: serviceSchema,
  worker: serviceSchema,
  coordinator: serviceSchema,
};
const fileSchema = z.strictObject({ ...topLevel, services: z.strictObject(all) });

/** Reads docker-compose.yml as Compose does, with these variables in place of the environment and `.env`. */
export function readComposeFile(variables: Readonly<Record<string, string>> = {}): ComposeFile {
  const text = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
  const document = readComposeText(text, variables);
  return { document, services: fileSchema.parse(withoutExtensions(document)).services };
}

/** Reads the text of a Compose file, or of an override of one. */
export function readComposeText(text: string, variables: Readonly<Record<string, string>> = {}): unknown {
  return interpolateAll(parse(text, { merge: true }), variables);
}

/** Keys that begin with `x-` are for anchors only. */
function withoutExtensions(document: unknown): unknown {
  return Object.fromEntries(Object.entries(document as object).filter(([key]) => !key.startsWith('x-')));
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
