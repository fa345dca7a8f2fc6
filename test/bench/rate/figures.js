// @ts-check

/** What a client does before it knows the limit is not judged. */
const firstSeconds = 10;
const minute = 60;
/** How long the new limit must be in use, and how long few calls must be rejected. */
const risenFor = 5;
const quietFor = 30;

/**
 * The figures of a simulation.
 *
 * @type {import('./world.ts').FiguresOf}
 */
export const figuresOf = ({ judged, risesAt, dropsAt }, seconds, permitted) => {
  const end = seconds.length;
  const [from, to] = judged ?? [firstSeconds, end];
  const accepted = (/** @type {number} */ from, /** @type {number} */ to) =>
    sum(seconds.slice(from, to).map((second) => second.accepted));
  const share = (/** @type {number} */ from, /** @type {number} */ to) =>
    accepted(from, to) / Math.max(1, sum(permitted.slice(from, to)));
  const rejected = (/** @type {number} */ from, /** @type {number} */ to) => {
    const refused = sum(seconds.slice(from, to).map((second) => second.rejected));
    return refused / Math.max(1, refused + accepted(from, to));
  };
  const minutes = Array.from({ length: Math.floor((to - from) / minute) }, (_, index) =>
    share(from + index * minute, from + (index + 1) * minute),
  );
  return {
    used: share(from, to),
    rejected: rejected(firstSeconds, end),
    worstMinute: Math.min(...minutes),
    ...(risesAt !== undefined && {
      risenAfter: firstFrom(risesAt, end - risenFor, (second) => share(second, second + risenFor) >= 0.9),
    }),
    ...(dropsAt !== undefined && {
      droppedAfter: firstFrom(
        dropsAt,
        end - quietFor,
        (second) => rejected(second, second + quietFor) < 0.01,
      ),
    }),
  };
};

/**
 * @param {number} from
 * @param {number} to
 * @param {(second: number) => boolean} holds
 * @returns seconds after `from`
 */
function firstFrom(from, to, holds) {
  for (let second = from; second <= to; second++) if (holds(second)) return second - from;
  return Number.POSITIVE_INFINITY;
}

function sum(/** @type {readonly number[]} */ numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
