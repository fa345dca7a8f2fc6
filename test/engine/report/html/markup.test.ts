import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { expect, test } from 'vitest';
import { htmlOf, markup, withWholeOptions } from '../../../../src/engine/report/html/markup.ts';

test('a part becomes HTML, and what is left out leaves nothing', () => {
  const part = markup('p', { class: 'note' }, 'a ', [markup('b', {}, 'c'), false], undefined, ' d');
  expect(htmlOf(part)).toBe('<p class="note">a <b>c</b> d</p>');
});

test('an option is one part of a text, and a dash between words is none', () => {
  const text = 'Run "cqbatch retry --code A" -- or --max-rows.';
  expect(htmlOf(withWholeOptions(text))).toBe(
    'Run &#34;cqbatch retry <span class="option">--code</span> A&#34; -- or <span class="option">--max-rows</span>.',
  );
});

test('characters that change the reading order become visible', () => {
  expect(htmlOf('invoice\u202egpj.exe')).toBe('invoice\\u202egpj.exe');
});

test('no text becomes markup, whatever it is', () => {
  const text = fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', ';', 'b', '/', '!', '-', ' ') });
  fc.assert(
    fc.property(text, text, (inside, attribute) => {
      const read = { texts: '', elements: 0, title: '' };
      const parser = new SaxesParser();
      parser.on('text', (found) => {
        read.texts += found;
      });
      parser.on('opentag', ({ attributes }) => {
        read.elements += 1;
        read.title = String(attributes['title']);
      });
      parser.write(htmlOf(markup('p', { title: attribute }, inside))).close();
      expect(read).toEqual({ texts: inside, elements: 1, title: attribute });
    }),
  );
});
