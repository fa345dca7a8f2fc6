import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Cron } from 'croner';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { readVersion } from '../../src/package.ts';
import { shutdownMs } from '../../src/run/session/work.ts';
import { parseDuration } from '../../src/settings/parsers.ts';
import { expectUnattended, readExample, typedIn, understood, variables } from './command-line.ts';

const texts = z.array(z.string());
const securityContext = z.strictObject({
  allowPrivilegeEscalation: z.literal(false),
  readOnlyRootFilesystem: z.literal(true),
  capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
});
const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string(), port: z.string() }),
  initialDelaySeconds: z.number().optional(),
  periodSeconds: z.number(),
  timeoutSeconds: z.number(),
});
/** The keys that are used: one that is not among them is misspelt, or has to be added. */
const podSpec = z.strictObject({
  restartPolicy: z.enum(['Never', 'OnFailure', 'Always']).optional(),
  hostname: z.string(),
  terminationGracePeriodSeconds: z.number(),
  automountServiceAccountToken: z.literal(false),
  securityContext: z.strictObject({
    runAsNonRoot: z.literal(true),
    runAsUser: z.literal(1000),
    runAsGroup: z.literal(1000),
    fsGroup: z.literal(1000),
    seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
  }),
  containers: z.tuple([
    z.strictObject({
      name: z.string(),
      image: z.string(),
      args: texts,
      env: z.array(
        z.strictObject({
          name: z.string(),
          value: z.string().optional(),
          valueFrom: z.strictObject({ fieldRef: z.strictObject({ fieldPath: z.string() }) }).optional(),
        }),
      ),
      ports: z.tuple([z.strictObject({ name: z.string(), containerPort: z.number() })]).optional(),
      livenessProbe: probe.optional(),
      readinessProbe: probe.optional(),
      securityContext,
      volumeMounts: z.array(
        z.strictObject({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().optional() }),
      ),
    }),
  ]),
  volumes: z.array(
    z.strictObject({
      name: z.string(),
      persistentVolumeClaim: z.strictObject({ claimName: z.string() }).optional(),
      secret: z.strictObject({ secretName: z.string(), defaultMode: z.number() }).optional(),
      emptyDir: z.strictObject({}).optional(),
    }),
  ),
});
const metadata = z.strictObject({
  name: z.string(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});
const claim = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('PersistentVolumeClaim'),
  metadata,
  spec: z.strictObject({
    accessModes: texts,
    resources: z.strictObject({ requests: z.strictObject({ storage: z.string() }) }),
  }),
});
const cronJob = z.strictObject({
  apiVersion: z.literal('batch/v1'),
  kind: z.literal('CronJob'),
  metadata,
  spec: z.strictObject({
    schedule: z.string(),
    timeZone: z.string(),
    concurrencyPolicy: z.enum(['Allow', 'Forbid', 'Replace']),
    startingDeadlineSeconds: z.number(),
    successfulJobsHistoryLimit: z.number(),
    failedJobsHistoryLimit: z.number(),
    jobTemplate: z.strictObject({
      spec: z.strictObject({
        backoffLimit: z.number(),
        podFailurePolicy: z.strictObject({
          rules: z.array(
            z.strictObject({
              action: z.enum(['FailJob', 'FailIndex', 'Ignore', 'Count']),
              onExitCodes: z
                .strictObject({
                  containerName: z.string(),
                  operator: z.literal('In'),
                  values: z.array(z.number()),
                })
                .optional(),
              onPodConditions: z.array(z.strictObject({ type: z.string(), status: z.string() })).optional(),
            }),
          ),
        }),
        template: z.strictObject({ spec: podSpec }),
      }),
    }),
  }),
});
const deployment = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('Deployment'),
  metadata,
  spec: z.strictObject({
    replicas: z.literal(1),
    strategy: z.strictObject({ type: z.literal('Recreate') }),
    selector: z.strictObject({ matchLabels: z.record(z.string(), z.string()) }),
    template: z.strictObject({ metadata: metadata.omit({ name: true }), spec: podSpec }),
  }),
});

function documents(name: string): readonly unknown[] {
  return parseAllDocuments(readExample(`kubernetes/${name}`)).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as unknown;
  });
}

const job = cronJob.parse(documents('cronjob.yaml')[0]);
const daemon = deployment.parse(documents('deployment.yaml')[0]);
const pods = [
  { file: 'cronjob.yaml', pod: job.spec.jobTemplate.spec.template.spec },
  { file: 'deployment.yaml', pod: daemon.spec.template.spec },
];

describe('the manifests for Kubernetes', () => {
  test.each(pods)(
    '$file starts a command that is understood, with variables that there are',
    async ({ pod }) => {
      const [{ args, env }] = pod.containers;
      await expectUnattended(args);
      const unknown = env.filter(({ name }) => !variables.has(name)).map(({ name }) => name);
      expect(unknown.filter((name) => !args.includes(`$(${name})`))).toEqual([]);
    },
  );

  test.each(pods)('$file mounts the volumes that it names, at the paths that it uses', ({ file, pod }) => {
    const [{ volumeMounts, env }] = pod.containers;
    expect(volumeMounts.map(({ name }) => name).toSorted()).toEqual(
      pod.volumes.map(({ name }) => name).toSorted(),
    );
    const claims = documents(file)
      .slice(1)
      .map((document) => claim.parse(document).metadata.name);
    expect(pod.volumes.flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? [])).toEqual(claims);
    const files = env.flatMap(({ name, value }) => (/_(FILE|DIR)$/.test(name) ? [value ?? ''] : []));
    const places = volumeMounts.map(({ mountPath }) => `${mountPath}/`);
    expect(files.filter((path) => !places.some((place) => path.startsWith(place)))).toEqual([]);
    // As the comment on how to make it says.
    const secret = pod.volumes.find((volume) => volume.secret !== undefined)?.secret?.secretName;
    const made = /kubectl create secret generic (\S+) (.*)/.exec(readExample(`kubernetes/${file}`));
    expect(made?.[1]).toBe(secret);
    const keys = [...(made?.[2] ?? '').matchAll(/--from-file=(\S+)/g)].map(([, key]) => key);
    const used = files.filter((path) => path.startsWith('/run/secrets/')).map((path) => basename(path));
    expect(used.toSorted()).toEqual(keys.toSorted());
  });

  test.each(pods)(
    '$file starts the image of this version, and stops it later than that takes',
    async ({ pod }) => {
      const [{ image, args }] = pod.containers;
      const { services: composed } = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true });
      const [name] = composed.worker.image.split(':');
      expect(image).toBe(`registry.example.com/${name}:${readVersion()}`);
      const { given } = await understood(args);
      const stopMs = args[0] === 'worker' ? (given.shutdownTimeout ?? parseDuration('25s')) : shutdownMs;
      expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(stopMs);
    },
  );

  test('the CronJob starts on its schedule, and names its run after the job', () => {
    const { schedule, timeZone, jobTemplate } = job.spec;
    expect(new Cron(schedule, { timezone: timeZone }).nextRun()).toBeInstanceOf(Date);
    const [{ name, args, env }] = jobTemplate.spec.template.spec.containers;
    expect(args[args.indexOf('--run-id') + 1]).toBe(`$(${env[0]?.name})`);
    // Kubernetes accepts a policy on failures with this one only.
    expect(jobTemplate.spec.template.spec.restartPolicy).toBe('Never');
    const [rule] = jobTemplate.spec.podFailurePolicy.rules;
    expect(rule?.onExitCodes).toMatchObject({ containerName: name, values: [1, 2, 3, 5, 6] });
  });

  test('the schedule of the Deployment is understood, and its manifest on the volume', async () => {
    const [typed = []] = typedIn(readExample('kubernetes/deployment.yaml'));
    const { name, flags } = await understood(typed);
    expect([name, flags['tz']]).toEqual(['add', 'Europe/London']);
    expect(flags['manifest']).toMatch(/^\/var\/lib\/cqbatch\//);
  });

  test('the probes of the Deployment use the port and paths that answer', async () => {
    const { spec, metadata: labeled } = daemon.spec.template;
    const [{ args, ports, livenessProbe, readinessProbe }] = spec.containers;
    const { given } = await understood(args);
    expect(ports?.[0].containerPort).toBe(given.healthPort);
    expect(given.healthHost).toBe('0.0.0.0');
    expect(labeled.annotations?.['prometheus.io/port']).toBe(String(given.healthPort));
    expect(livenessProbe?.httpGet).toEqual({ path: '/healthz', port: ports?.[0].name });
    expect(readinessProbe?.httpGet).toEqual({ path: '/readyz', port: ports?.[0].name });
    expect(labeled.labels).toMatchObject(daemon.spec.selector.matchLabels);
  });
});
