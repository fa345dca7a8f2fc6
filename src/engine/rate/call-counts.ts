import type { TrafficReport } from '../cluster/entries.ts';
import type { Traffic } from './governor/traffic.ts';

/**
 * Adds up the reports of all workers. Each report covers everything since its worker started; the governor needs the
 * difference.
 */
export class CallCounts {
  readonly #known = new Map<string, TrafficReport>();
  /** Calls that were let through and rejected since the ledger began. */
  accepted = 0;
  rejected = 0;

  /**
   * What is new since the last call.
   *
   * @param reports of the workers that are there, by worker
   * @param now of the steady clock, as are the times that are returned
   * @param restsSince only answers to calls sent since then may ask to wait: workers forget the others soon
   */
  add(now: number, reports: ReadonlyMap<string, TrafficReport>, restsSince = 0): Traffic {
    const fresh = [...reports].map(([worker, report]) => {
      // What a worker met with before it was first seen here was already reported to an earlier governor.
      const before = this.#known.get(worker) ?? report;
      this.#known.set(worker, report);
      return { report, ...difference(report, before) };
    });
    for (const worker of this.#known.keys()) if (!reports.has(worker)) this.#known.delete(worker);

    const accepted = sum(fresh, ({ accepted }) => accepted);
    const rejected = sum(fresh, ({ rejected }) => rejected);
    const unavailable = sum(fresh, ({ unavailable }) => unavailable);
    this.accepted += accepted + unavailable;
    this.rejected += rejected;
    const refused = fresh.filter((each) => each.rejected > 0);
    const failed = fresh.filter((each) => each.rejected + each.unavailable > 0);
    const [wait] = fresh
      .flatMap(({ report: { waitMs, waitBy, refusedAgoMs = 0 } }) =>
        waitMs !== undefined && now - refusedAgoMs >= restsSince ? [{ until: now + waitMs, by: waitBy }] : [],
      )
      .toSorted((one, other) => other.until - one.until);
    return {
      accepted,
      rejected,
      unavailable,
      durationMs: sum(fresh, ({ durationMs }) => durationMs),
      active: sum(fresh, ({ report }) => report.active),
      rejectedSentAt: highest(refused, ({ refusedAgoMs: ago }) => (ago === undefined ? ago : now - ago)),
      rejectedWith: refused.at(-1)?.report.refusedWith,
      waitUntil: wait?.until,
      waitBy: wait?.by,
      acceptedAmong: highest(fresh, ({ acceptedAmong }) => acceptedAmong),
      // A worker that does not know the latest calls of the others counts too few.
      rejectedAmong: highest(failed, ({ rejectedAmong }) => rejectedAmong),
      // A worker without a new answer repeats its last report.
      stated: fresh.flatMap((each) =>
        each.accepted + each.rejected + each.unavailable > 0 ? each.report.stated : [],
      ),
    };
  }
}

function difference(report: TrafficReport, before: TrafficReport) {
  return {
    accepted: report.accepted - before.accepted,
    rejected: report.rejected - before.rejected,
    unavailable: (report.unavailable ?? 0) - (before.unavailable ?? 0),
    durationMs: report.durationMs - before.durationMs,
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
