import type { TextContent } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import { toolResult } from '../../../../src/cli/actions/mcp/data.ts';

const dataOf = (document: object) => toolResult(document).structuredContent;

describe('what an agent gets', () => {
  test('has visible control characters, also in names', () => {
    expect(dataOf({ 'a\u202e': ['b\u001b\n'] })).toEqual({ 'a\\u202e': ['b\\u001b\\n'] });
  });

  test('keeps numbers, yes and no, and null', () => {
    const document = { rows: 3, ready: false, file: null };
    expect(dataOf(document)).toEqual(document);
  });

  test('has bounded texts and lists, and says what is missing', () => {
    const { text, list } = dataOf({ text: 'x'.repeat(2_000), list: Array(150).fill(1) }) as {
      text: string;
      list: unknown[];
    };
    expect(text).toBe(`${'x'.repeat(1_000)}…`);
    expect(list).toHaveLength(101);
    expect(list.at(-1)).toBe('… and 50 more');
  });

  test('is bounded as a whole', () => {
    const document = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`column ${index}`, Array(100).fill('x'.repeat(1_000))]),
    );
    expect(JSON.stringify(dataOf(document)).length).toBeLessThan(70_000);
  });

  test('is the same as text, between marks that differ each time', () => {
    const texts = [1, 2].map(() => (toolResult({ rows: 3 }).content[0] as TextContent).text);
    const [mark, other] = texts.map((text) => /^<data-(\w+)>$/m.exec(text)?.[1]);
    expect(mark).not.toBe(other);
    expect(texts[0]).toContain(`<data-${mark}>\n{"rows":3}\n</data-${mark}>`);
  });
});
