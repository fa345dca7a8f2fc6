import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

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

/** A service, with variables filled in. For Redis, whose image has no real entry point, `command` is the whole command. */
export type ComposeService = z.infer<typeof serviceKeys>;

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

const fileSchema = z.strictObject({
  ...topLevel,
  services: z.strictObject({
    redis: serviceKeys,
    sandbox: serviceKeys,
    worker: serviceKeys,
    coordinator: serviceKeys,
  }),
});
export type ComposeFile = z.infer<typeof fileSchema>;

/** Reads docker-compose.yml as Compose does, with these variables in place of the environment and `.env`. */
export function readComposeFile(variables: Readonly<Record<string, string>> = {}): ComposeFile {
  const text = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
  const document = readComposeText(text, variables) as object;
  // Keys that begin with `x-` are for anchors only.
  const used = Object.entries(document).filter(([key]) => !key.startsWith('x-'));
  return fileSchema.parse(Object.fromEntries(used));
}

/** Reads the text of a Compose file, or of an override of one. */
export function readComposeText(text: string, variables: Readonly<Record<string, string>> = {}): unknown {
  const filled = (_key: unknown, value: unknown) =>
    typeof value === 'string' ? interpolate(value, variables) : value;
  return JSON.parse(JSON.stringify(parse(text, { merge: true }), filled));
}

/** `$$`, `${NAME:-otherwise}` and `${NAME:?problem}`: other forms of Compose are not used. */
function interpolate(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(
    /\$(?:\$|\{(\w+):([-?])([^}]*)\}|)/g,
    (found, name = '', operator = '', operand = '') => {
      if (found === '$$') return '$';
      if (operator === '') throw new Error(`a $ of another form in ${JSON.stringify(text)}`);
      const value = variables[name] ?? '';
      if (value === '' && operator === '?') throw new Error(`${name}: ${operand}`);
      return value === '' ? operand : value;
    },
  );
}
