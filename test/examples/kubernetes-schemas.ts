import { z } from 'zod';

/** The objects of Kubernetes, with the keys that the examples use: one that is not among them is misspelt, or has to be added. */

const { strictObject: object, string, number, array, literal } = z;
const texts = array(string());
const named = object({ name: string() });
const textByName = z.record(string(), string());
const metadata = object({
  name: string(),
  labels: textByName.optional(),
  annotations: textByName.optional(),
});

const securityContext = object({
  allowPrivilegeEscalation: literal(false),
  readOnlyRootFilesystem: literal(true),
  capabilities: object({ drop: z.tuple([literal('ALL')]) }),
});
const podSecurityContext = object({
  runAsNonRoot: literal(true),
  runAsUser: literal(1000),
  runAsGroup: literal(1000),
  fsGroup: literal(1000),
  seccompProfile: object({ type: literal('RuntimeDefault') }),
});

const probe = object({
  httpGet: object({ path: string(), port: string() }),
  initialDelaySeconds: number().optional(),
  periodSeconds: number(),
  timeoutSeconds: number(),
});
const variable = named.extend({
  value: string().optional(),
  valueFrom: object({ fieldRef: object({ fieldPath: string() }) }).optional(),
});
const container = named.extend({
  image: string(),
  args: texts,
  env: array(variable),
  ports: z.tuple([named.extend({ containerPort: number() })]).optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  securityContext,
  volumeMounts: array(named.extend({ mountPath: string(), readOnly: z.boolean().optional() })),
});
const secret = object({
  secretName: string(),
  defaultMode: number(),
  items: array(object({ key: string(), path: string() })).optional(),
});
const volume = named.extend({
  persistentVolumeClaim: object({ claimName: string() }).optional(),
  secret: secret.optional(),
  emptyDir: object({}).optional(),
});
const podSpec = object({
  restartPolicy: z.enum(['Never', 'OnFailure', 'Always']).optional(),
  hostname: string().optional(),
  terminationGracePeriodSeconds: number(),
  automountServiceAccountToken: literal(false),
  securityContext: podSecurityContext,
  containers: z.tuple([container]),
  volumes: array(volume),
});

/** An object with metadata. */
const resource = <Spec extends z.ZodType>(apiVersion: string, kind: string, spec: Spec) =>
  object({ apiVersion: literal(apiVersion), kind: literal(kind), metadata, spec });

const storage = object({ requests: object({ storage: string() }) });
const claimSpec = object({ accessModes: texts, resources: storage });
export const claim = resource('v1', 'PersistentVolumeClaim', claimSpec);

const failureRule = object({
  action: z.enum(['FailJob', 'FailIndex', 'Ignore', 'Count']),
  onExitCodes: object({
    containerName: string(),
    operator: literal('In'),
    values: array(number()),
  }).optional(),
  onPodConditions: array(object({ type: string(), status: string() })).optional(),
});
const jobSpec = object({
  backoffLimit: number(),
  podFailurePolicy: object({ rules: array(failureRule) }),
  template: object({ spec: podSpec }),
});
const cronJobSpec = object({
  schedule: string(),
  timeZone: string(),
  concurrencyPolicy: z.enum(['Allow', 'Forbid', 'Replace']),
  startingDeadlineSeconds: number(),
  successfulJobsHistoryLimit: number(),
  failedJobsHistoryLimit: number(),
  jobTemplate: object({ spec: jobSpec }),
});
export const cronJob = resource('batch/v1', 'CronJob', cronJobSpec);

const selector = object({ matchLabels: textByName });
const template = object({ metadata: metadata.omit({ name: true }), spec: podSpec });
const deploymentSpec = object({
  replicas: z.int().min(1).optional(),
  strategy: object({ type: literal('Recreate') }).optional(),
  selector,
  template,
});
export const deployment = resource('apps/v1', 'Deployment', deploymentSpec);

const statefulSetSpec = object({
  replicas: literal(1),
  serviceName: string(),
  selector,
  template,
  volumeClaimTemplates: z.tuple([object({ metadata, spec: claimSpec })]),
});
export const statefulSet = resource('apps/v1', 'StatefulSet', statefulSetSpec);

const serviceSpec = object({
  clusterIP: literal('None'),
  selector: textByName,
  ports: z.tuple([named.extend({ port: number() })]),
});
export const headlessService = resource('v1', 'Service', serviceSpec);

const budgetSpec = object({ maxUnavailable: number(), selector });
export const disruptionBudget = resource('policy/v1', 'PodDisruptionBudget', budgetSpec);
