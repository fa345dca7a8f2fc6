import { hasLoneSurrogate } from '../../../base/text/lost-characters.ts';

/** The letter before a request that is written as it is, because it has letters of this private use itself. */
const verbatim = '\ue000';
const privateUse = /[\ue000-\uf8ff]/u;
/** The first of the letters that stand for values: two for each field. */
const firstPlace = 0xe100;
const mostFields = 3_000;

type Values = readonly (string | undefined)[];

/**
 * A request with a letter in place of each value of its row. Requests of an operation then have the same text, which compresses to
 * nothing.
 *
 * @param values in the order of the fields; undefined where the row has no value
 */
export function templateOf(request: string, values: Values): string {
  if (privateUse.test(request)) return verbatim + request;
  const spelled = values.slice(0, mostFields).flatMap((value, index) => {
    if (!value) return [];
    const [inJson, inPath] = spellings(value);
    const places = [{ text: inJson, place: placeOf(index, 0) }];
    return inPath === inJson ? places : [...places, { text: inPath, place: placeOf(index, 1) }];
  });
  let template = request;
  // Long values come first: a value may be a part of a longer one.
  for (const { text, place } of spelled.sort((a, b) => b.text.length - a.text.length))
    template = template.replaceAll(text, place);
  return template;
}

/** The request of which `templateOf` made the template with these values. */
export function requestOfTemplate(template: string, values: Values): string {
  if (template.startsWith(verbatim)) return template.slice(1);
  return template.replaceAll(new RegExp(privateUse, 'gu'), (letter) => {
    const place = letter.charCodeAt(0) - firstPlace;
    return spellings(values[place >> 1] ?? '')[place % 2] ?? '';
  });
}

function spellings(value: string): readonly [inJson: string, inPath: string] {
  const inJson = JSON.stringify(value).slice(1, -1);
  return [inJson, hasLoneSurrogate(value) ? inJson : encodeURIComponent(value)];
}

function placeOf(index: number, spelling: 0 | 1): string {
  return String.fromCharCode(firstPlace + 2 * index + spelling);
}
