import { operations } from '../../jobs/index.ts';
import { Metrics } from '../../src/daemon/metrics/metrics.ts';
import { openRegistry } from '../../src/daemon/metrics/registry.ts';
import type { Pace } from '../../src/domain/pace.ts';
import { parsePrometheusText } from '../helpers/prometheus-text.ts';

const pace: Pace = {
  isKept: true,
  rate: 1,
  limit: 1,
  concurrency: 1,
  phase: 'holding',
  refuses503: false,
  reason: '',
};

/** A scrape in which all metrics with labels have a value, by the name of the metric. */
export async function scraped(): Promise<ReturnType<typeof parsePrometheusText>> {
  const metrics = new Metrics({ version: '1.2.3', operations, runs: true });
  metrics.rowsFinished([{ operation: 'restore-evaluation', outcome: 'succeeded', code: 'OK' }]);
  metrics.observeRequests().ended({ status: 200, durationMs: 1 });
  metrics.rateGroup = 'acme';
  metrics.paceOfWorker = () => pace;
  const { text } = await (await openRegistry(metrics))();
  return parsePrometheusText(text);
}
