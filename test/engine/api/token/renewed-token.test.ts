import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { deferred } from '../../../../src/base/async/waiting.ts';
import { type ReadToken, renewedToken } from '../../../../src/engine/api/token/renewed-token.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
});

/** A place that makes the tokens `1`, `2`, … or fails. */
function place(lifeMs?: number) {
  const onTrouble = vi.fn();
  const read = vi.fn(async (): Promise<ReadToken> => ({ token: String(read.mock.calls.length), lifeMs }));
  return { read, onTrouble, source: renewedToken(read, { pauseMs: 1_000, onTrouble }) };
}

const pass = (ms: number): void => void vi.advanceTimersByTime(ms);
/** Lets a read in the background end. */
const settled = (): Promise<void> => new Promise(setImmediate);

describe('a token without a known end', () => {
  test('is read at the first use, by all calls together, and then kept', async () => {
    const { read, source } = place();
    const calls = [source.current(), source.current(), source.refresh('0')];
    expect(await Promise.all(calls)).toEqual(['1', '1', '1']);
    pass(1e9);
    expect(await source.current()).toBe('1');
    expect(read).toHaveBeenCalledTimes(1);
  });

  test('is read once for each refused token, by calls that are refused at once or come back late', async () => {
    const { read, source } = place();
    await source.current();
    const calls = [source.refresh('1'), source.refresh('1'), source.current()];
    expect(await Promise.all(calls)).toEqual(['2', '2', '2']);
    pass(60_000);
    expect(await source.refresh('1')).toBe('2');
    expect(await source.refresh('2')).toBe('3');
    expect(await Promise.all([source.refresh('1'), source.refresh('2')])).toEqual(['3', '3']);
    expect(read).toHaveBeenCalledTimes(3);
  });

  test('that is refused and still there is not read again for that, but by later calls', async () => {
    const { read, source } = place();
    read.mockResolvedValue({ token: 'same' });
    await source.current();
    expect(await source.refresh('same')).toBe('same');
    expect(await Promise.all([source.refresh('same'), source.current()])).toEqual(['same', 'same']);
    expect(read).toHaveBeenCalledTimes(2);
    pass(1_000);
    expect(await source.refresh('same')).toBe('same');
    expect(read).toHaveBeenCalledTimes(2);
    read.mockResolvedValue({ token: 'mended' });
    expect(await source.current()).toBe('mended');
    expect(await source.refresh('same')).toBe('mended');
    expect(read).toHaveBeenCalledTimes(3);
  });

  test('that was refused while it was being read is read once more', async () => {
    const { read, source } = place(10_000);
    await source.current();
    const slow = deferred<ReadToken>();
    read.mockReturnValueOnce(slow.promise);
    pass(9_000);
    expect(await source.current()).toBe('1');
    const renewed = source.refresh('1');
    slow.resolve({ token: '1' });
    expect(await renewed).toBe('3');
    expect(await source.current()).toBe('3');
    expect(read).toHaveBeenCalledTimes(3);
  });

  test('that was refused is read once more if the read in progress fails', async () => {
    const { read, source, onTrouble } = place(10_000);
    await source.current();
    const failing = deferred<void>();
    read.mockImplementationOnce(async () => {
      await failing.promise;
      throw new Error('away');
    });
    pass(9_000);
    expect(await source.current()).toBe('1');
    const renewed = source.refresh('1');
    failing.resolve();
    expect(await renewed).toBe('3');
    expect(onTrouble).not.toHaveBeenCalled();
  });

  test('fails once for all calls that had it refused, and is read again by later calls', async () => {
    const { read, source, onTrouble } = place();
    await source.current();
    read.mockRejectedValueOnce(new Error('away'));
    await Promise.all(['1', '1'].map((refused) => expect(source.refresh(refused)).rejects.toThrow('away')));
    await expect(source.refresh('1')).rejects.toThrow('away');
    expect(read).toHaveBeenCalledTimes(2);
    expect(await source.current()).toBe('3');
    expect(await source.refresh('1')).toBe('3');
    expect(onTrouble).not.toHaveBeenCalled();
  });
});

describe('a token with a known end', () => {
  test("that can't be renewed is used until its end, with a try each second", async () => {
    const { read, source, onTrouble } = place(100_000);
    await source.current();
    const away = new Error('away');
    read.mockRejectedValue(away);
    pass(90_000);
    for (let ms = 90_000; ms < 100_000; ms += 100) {
      expect(await Promise.all([source.current(), source.current()])).toEqual(['1', '1']);
      await settled();
      pass(100);
    }
    expect(read).toHaveBeenCalledTimes(1 + 10);
    expect(onTrouble.mock.calls).toEqual(Array.from({ length: 10 }, () => [away]));
    await expect(source.current()).rejects.toThrow('away');
    read.mockResolvedValue({ token: 'back' });
    expect(await source.current()).toBe('back');
  });

  test('is not read again and again where the same one is cached until its end', async () => {
    const { read, source } = place();
    const endMs = Date.now() + 60_000;
    read.mockImplementation(async () => ({ token: 'cached', lifeMs: endMs - Date.now() }));
    for (let ms = 0; ms < 60_000; ms += 100) {
      expect(await source.current()).toBe('cached');
      await settled();
      pass(100);
    }
    // After 54 s, then after nine tenths of what is left, and in the last seconds once a second.
    expect(read.mock.calls.length).toBeLessThanOrEqual(5);
  });

  test.each([0, -5, Number.NaN])('of %d ms counts as unknown: a clock may be wrong', async (lifeMs) => {
    const { read, source } = place(lifeMs);
    for (let call = 0; call < 5; call++) expect(await source.current()).toBe('1');
    expect(read).toHaveBeenCalledTimes(1);
  });
});
