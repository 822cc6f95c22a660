import { expect, test } from 'vitest';
import { element, textElement, xmlText } from './xml.ts';

test('markup in text is escaped, so that it stays text', () => {
  expect(textElement('Nm', `</Nm><Amt>1</Amt> & "x" ]]>`)).toBe(
    '<Nm>&lt;/Nm&gt;&lt;Amt&gt;1&lt;/Amt&gt; &amp; &quot;x&quot; ]]&gt;</Nm>',
  );
  expect(element('Bal', textElement('Cd', 'OPBD'))).toBe('<Bal><Cd>OPBD</Cd></Bal>');
});

test('characters that XML 1.0 forbids are replaced, and all others are kept', () => {
  expect(xmlText('a\u0000b\u001Fc\uFFFFd\uD800e')).toBe('a\uFFFDb\uFFFDc\uFFFDd\uFFFDe');
  expect(xmlText('ä 漢 😀\t\n\u0085')).toBe('ä 漢 😀\t\n\u0085');
  expect(xmlText('a\r\nb')).toBe('a&#13;\nb');
});
