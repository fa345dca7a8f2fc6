import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Cron } from 'croner';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readVersion } from '../../src/base/package.ts';
import { shutdownMs } from '../../src/engine/run/work/drain.ts';
import { parseDuration } from '../../src/settings/parsers.ts';
import { expectUnattended, readExample, typedIn, understood, variables } from './command-line.ts';
import * as schemas from './kubernetes-schemas.ts';

function documents(name: string): readonly unknown[] {
  return parseAllDocuments(readExample(`kubernetes/${name}`)).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as unknown;
  });
}

const [jobText, ...jobClaims] = documents('cronjob.yaml');
const [daemonText, ...daemonClaims] = documents('deployment.yaml');
const [coordinatorText, serviceText, workerText, budgetText] = documents('fleet.yaml');
const job = schemas.cronJob.parse(jobText);
const daemon = schemas.deployment.parse(daemonText);
const coordinator = schemas.statefulSet.parse(coordinatorText);
const worker = schemas.deployment.parse(workerText);
/** Services with a page for Prometheus. */
const services = [
  { what: 'the daemon', ...daemon.spec },
  { what: 'the coordinator', ...coordinator.spec },
  { what: 'a worker', ...worker.spec },
];
const namesOf = (made: readonly { readonly metadata: { readonly name: string } }[]) =>
  made.map(({ metadata }) => metadata.name);
const claimsIn = (texts: readonly unknown[]) => namesOf(texts.map((text) => schemas.claim.parse(text)));
const none: readonly string[] = [];
const templates = namesOf(coordinator.spec.volumeClaimTemplates);
const pods = [
  {
    file: 'cronjob.yaml',
    ...job.spec.jobTemplate.spec.template,
    claims: claimsIn(jobClaims),
    templates: none,
  },
  { file: 'deployment.yaml', ...daemon.spec.template, claims: claimsIn(daemonClaims), templates: none },
  { file: 'fleet.yaml', ...coordinator.spec.template, claims: none, templates },
  { file: 'fleet.yaml', ...worker.spec.template, claims: none, templates: none },
].map(({ spec, ...pod }) => ({ ...pod, pod: spec }));

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

  test.each(pods)(
    '$file mounts the volumes that it names, at its paths',
    ({ file, pod, claims, templates }) => {
      const [{ volumeMounts, env }] = pod.containers;
      expect(volumeMounts.map(({ name }) => name).toSorted()).toEqual(
        [...pod.volumes.map(({ name }) => name), ...templates].toSorted(),
      );
      expect(pod.volumes.flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? [])).toEqual(claims);
      const files = env.flatMap(({ name, value }) => (/_(FILE|DIR)$/.test(name) ? [value ?? ''] : []));
      const places = volumeMounts.map(({ mountPath }) => `${mountPath}/`);
      expect(files.filter((path) => !places.some((place) => path.startsWith(place)))).toEqual([]);
      // As the comment on how to make it says.
      const secret = pod.volumes.find((volume) => volume.secret !== undefined)?.secret;
      const made = /kubectl create secret generic (\S+) (.*)/.exec(readExample(`kubernetes/${file}`));
      expect(made?.[1]).toBe(secret?.secretName);
      const keys = [...(made?.[2] ?? '').matchAll(/--from-file=(\S+)/g)].map(([, key]) => key);
      const used = files.filter((path) => path.startsWith('/run/secrets/')).map((path) => basename(path));
      const mounted = secret?.items?.map(({ key, path }) => (keys.includes(key) ? path : '')) ?? keys;
      expect(used.toSorted()).toEqual(mounted.toSorted());
    },
  );

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

  test.each([
    ['deployment.yaml', 'add'],
    ['fleet.yaml', 'submit'],
  ])('what %s says to type is understood, with a manifest on the volume', async (file, command) => {
    const [typed = []] = typedIn(readExample(`kubernetes/${file}`));
    const { name, flags } = await understood(typed);
    expect(name).toBe(command);
    expect(flags['manifest'] ?? typed[1]).toMatch(/^\/var\/lib\/cqbatch\//);
  });

  test.each(services)(
    'the probes of $what use the port and paths that answer',
    async ({ template: made, selector }) => {
      const { spec, metadata: labeled } = made;
      const [{ args, ports, livenessProbe, readinessProbe }] = spec.containers;
      const { given } = await understood(args);
      expect(ports?.[0].containerPort).toBe(given.healthPort);
      expect(given.healthHost).toBe('0.0.0.0');
      expect(labeled.annotations?.['prometheus.io/port']).toBe(String(given.healthPort));
      expect(livenessProbe?.httpGet).toEqual({ path: '/healthz', port: ports?.[0].name });
      expect(readinessProbe?.httpGet).toEqual({ path: '/readyz', port: ports?.[0].name });
      expect(labeled.labels).toMatchObject(selector.matchLabels);
    },
  );

  test('the daemon has one pod at a time', () => {
    expect(daemon.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
  });

  test('the coordinator calls nothing, and its Service finds it', async () => {
    const { spec, metadata } = schemas.headlessService.parse(serviceText);
    const [{ args, ports }] = coordinator.spec.template.spec.containers;
    expect((await understood(args)).given.concurrency).toBe(0);
    expect(spec.selector).toEqual(coordinator.spec.selector.matchLabels);
    expect(spec.ports[0]).toEqual({ name: ports?.[0].name, port: ports?.[0].containerPort });
    expect(metadata.name).toBe(coordinator.spec.serviceName);
  });

  test('the disruption budget is for the workers, and lets nodes be drained', () => {
    const { spec } = schemas.disruptionBudget.parse(budgetText);
    expect(spec).toEqual({ maxUnavailable: 1, selector: worker.spec.selector });
  });
});
