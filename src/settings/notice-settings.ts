import { parseChoice, parseMetricsFile, parseText } from './parsers.ts';
import type { Setting } from './setting.ts';

/** Settings that say what other programs are told, and where. */
export const noticeSettings = {
  notifyUrl: {
    parse: parseText,
    value: '<url>',
    help: 'post here how a run ended, in the format of Slack and Teams',
  },
  notifyOn: {
    needs: 'notifyUrl',
    noFlag: true,
    parse: parseChoice(['failure', 'always']),
    words: ['failure', 'always'],
    value: '<when>',
    help: 'when to post: failure (any exit code except 0) or always',
    default: 'failure',
  },
  notifySecretFile: {
    needs: 'notifyUrl',
    noFlag: true,
    parse: parseText,
    value: '<file>',
    help: 'file with the secret that signs what is posted',
    orVariable: ['CQBATCH_NOTIFY_SECRET', 'the secret'],
  },
  pingUrl: {
    parse: parseText,
    value: '<url>',
    help: 'call <url>/start and <url>/<exit code>, as healthchecks.io expects',
  },
  metricsFile: {
    parse: parseMetricsFile,
    value: '<file.prom>',
    help: 'write metrics to this file, for the textfile collector of node_exporter',
  },
} as const satisfies Readonly<Record<string, Setting>>;
