import { z } from 'zod';

/** The objects of Kubernetes, with the keys that the examples use: one that is not among them is misspelt, or has to be added. */

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
const podSpec = z.strictObject({
  restartPolicy: z.enum(['Never', 'OnFailure', 'Always']).optional(),
  hostname: z.string().optional(),
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
      secret: z
        .strictObject({
          secretName: z.string(),
          defaultMode: z.number(),
          items: z.array(z.strictObject({ key: z.string(), path: z.string() })).optional(),
        })
        .optional(),
      emptyDir: z.strictObject({}).optional(),
    }),
  ),
});
const metadata = z.strictObject({
  name: z.string(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});
const claimed = {
  metadata,
  spec: z.strictObject({
    accessModes: texts,
    resources: z.strictObject({ requests: z.strictObject({ storage: z.string() }) }),
  }),
};
export const claim = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('PersistentVolumeClaim'),
  ...claimed,
});
export const cronJob = z.strictObject({
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
const matchLabels = z.strictObject({ matchLabels: z.record(z.string(), z.string()) });
const template = z.strictObject({ metadata: metadata.omit({ name: true }), spec: podSpec });
export const deployment = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('Deployment'),
  metadata,
  spec: z.strictObject({
    replicas: z.int().min(1).optional(),
    strategy: z.strictObject({ type: z.literal('Recreate') }).optional(),
    selector: matchLabels,
    template,
  }),
});
export const statefulSet = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('StatefulSet'),
  metadata,
  spec: z.strictObject({
    replicas: z.literal(1),
    serviceName: z.string(),
    selector: matchLabels,
    template,
    volumeClaimTemplates: z.tuple([z.strictObject(claimed)]),
  }),
});
export const headlessService = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('Service'),
  metadata,
  spec: z.strictObject({
    clusterIP: z.literal('None'),
    selector: z.record(z.string(), z.string()),
    ports: z.tuple([z.strictObject({ name: z.string(), port: z.number() })]),
  }),
});
export const disruptionBudget = z.strictObject({
  apiVersion: z.literal('policy/v1'),
  kind: z.literal('PodDisruptionBudget'),
  metadata,
  spec: z.strictObject({ maxUnavailable: z.number(), selector: matchLabels }),
});
