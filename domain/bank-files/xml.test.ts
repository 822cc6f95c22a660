import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { expect, test } from 'vitest';
import { element, nested, writeDocument } from './xml.ts';

/** The text of a document's only leaf and its attribute, as another program reads them. */
function readBack(bytes: Buffer): readonly [string, string | undefined] {
  const parser = new SaxesParser();
  let [text, attribute] = ['', undefined as string | undefined];
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('text', (part) => {
    text += part;
  });
  parser.on('opentag', ({ attributes }) => {
    attribute = attributes.Ccy === undefined ? attribute : String(attributes.Ccy);
  });
  parser.write(bytes.toString('utf8')).close();
  return [text.replaceAll(/^\s+|\s+$/g, ''), attribute];
}

const writable = fc
  .string({ unit: 'binary', minLength: 1 })
  .map((text) => text.replaceAll(/[\p{Cc}\p{Cs}\u{FFFE}\u{FFFF}\u2028\u2029]/gu, ''))
  .filter((text) => text.trim() !== '');

test('any text reads back as it was written, as text and as attribute, and the same content is the same bytes', () => {
  fc.assert(
    fc.property(writable, (text) => {
      const write = () => writeDocument('urn:x', element('Root', [element('Amt', `|${text}|`, { Ccy: text })]));
      expect(readBack(write())).toEqual([`|${text}|`, text]);
      expect(write().equals(write())).toBe(true);
    }),
  );
});

test('all five characters with a meaning are escaped', () => {
  const bytes = writeDocument('urn:x', element('Root', [element('Nm', `<a> & "b" 'c' ]]>`, { x: `<>&"'` })]));
  expect(bytes.toString()).toContain(
    '<Nm x="&lt;&gt;&amp;&quot;&apos;">&lt;a&gt; &amp; &quot;b&quot; &apos;c&apos; ]]&gt;</Nm>',
  );
});

test('what no message may hold is never written', () => {
  for (const character of [
    '\0',
    '\u0007',
    '\t',
    '\n',
    '\r',
    '\u007f',
    '\u0085',
    '\ud800',
    '\udc00',
    '\ufffe',
    '\u2028',
  ]) {
    const write = () => writeDocument('urn:x', element('Root', [nested('Nm', `a${character}b`)]));
    expect(write, JSON.stringify(character)).toThrow(RangeError);
  }
});

test('elements without content are left out, with all around them', () => {
  expect(element('A', [nested('B/C', null), element('D', []), nested('E', '')])).toBeNull();
  expect(() => writeDocument('urn:x', null)).toThrow(RangeError);
});
