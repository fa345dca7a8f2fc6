import type { TrafficReport } from '../cluster/entries.ts';
import type { Traffic } from './governor/traffic.ts';

/** Adds up the reports of all workers: each covers everything since its worker started, and the governor needs the difference. */
export class CallCounts {
  readonly #lastReports = new Map<string, TrafficReport>();
  accepted = 0;
  rejected = 0;

  /**
   * @param reports by present worker
   * @param restsSince waits asked for by calls sent earlier do not count
   */
  add(now: number, reports: ReadonlyMap<string, TrafficReport>, restsSince = 0): Traffic {
    const periods = [...reports].map(([worker, report]) => {
      // What happened before a worker's first report here was reported to an earlier governor.
      const last = this.#lastReports.get(worker) ?? report;
      this.#lastReports.set(worker, report);
      return { report, ...difference(report, last) };
    });
    for (const worker of this.#lastReports.keys()) if (!reports.has(worker)) this.#lastReports.delete(worker);

    const accepted = sum(periods, ({ accepted }) => accepted);
    const rejected = sum(periods, ({ rejected }) => rejected);
    const unavailable = sum(periods, ({ unavailable }) => unavailable);
    this.accepted += accepted + unavailable;
    this.rejected += rejected;
    const refused = periods.filter((each) => each.rejected > 0);
    const failed = periods.filter((each) => each.rejected + each.unavailable > 0);
    const [wait] = periods
      .flatMap(({ report: { waitMs, waitBy, refusedAgoMs = 0 } }) =>
        waitMs !== undefined && now - refusedAgoMs >= restsSince ? [{ until: now + waitMs, by: waitBy }] : [],
      )
      .toSorted((one, other) => other.until - one.until);
    return {
      accepted,
      rejected,
      unavailable,
      durationMs: sum(periods, ({ durationMs }) => durationMs),
      active: sum(periods, ({ report }) => report.active),
      rejectedSentAt: highest(refused, ({ refusedAgoMs: ago }) => (ago === undefined ? ago : now - ago)),
      rejectedWith: refused.at(-1)?.report.refusedWith,
      waitUntil: wait?.until,
      waitBy: wait?.by,
      acceptedAmong: highest(periods, ({ acceptedAmong }) => acceptedAmong),
      // The lowest count is too low: its worker misses the latest calls of others.
      rejectedAmong: highest(failed, ({ rejectedAmong }) => rejectedAmong),
      // A worker without a new answer repeats its last report.
      stated: periods.flatMap((each) =>
        each.accepted + each.rejected + each.unavailable > 0 ? each.report.stated : [],
      ),
    };
  }
}

function difference(report: TrafficReport, last: TrafficReport) {
  return {
    accepted: report.accepted - last.accepted,
    rejected: report.rejected - last.rejected,
    unavailable: (report.unavailable ?? 0) - (last.unavailable ?? 0),
    durationMs: report.durationMs - last.durationMs,
  };
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

function highest(
  items: readonly { readonly report: TrafficReport }[],
  value: (report: TrafficReport) => number | undefined,
): number | undefined {
  const known = items.map(({ report }) => value(report)).filter((each) => each !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
