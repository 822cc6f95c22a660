/** An element of a message that is written: text, or elements in the schema's order. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly content: string | readonly XmlElement[];
}

/** The children of an element, in the schema's order; null for those that a message does without. */
export type XmlChildren = readonly (XmlElement | null)[];

/** Null without content: an empty element is never valid. */
export function element(
  name: string,
  content: string | XmlChildren | null,
  attributes: Readonly<Record<string, string>> = {},
): XmlElement | null {
  if (content === null || content === '') return null;
  if (typeof content === 'string') return { name, attributes, content };
  const children = content.filter((child) => child !== null);
  return children.length === 0 ? null : { name, attributes, content: children };
}

/** Text below several elements: `nested('SvcLvl/Cd', 'SEPA')`. Null without text. */
export function nested(path: string, text: string | null): XmlElement | null {
  return path
    .split('/')
    .reverse()
    .reduce<XmlElement | null>((inner, name, at) => element(name, at === 0 ? text : [inner]), null);
}

/** A whole message: the same content is always the same bytes. */
export function writeDocument(namespace: string, message: XmlElement | null): Buffer {
  const document = element('Document', [message], { xmlns: namespace });
  if (document === null) throw new RangeError('a message needs content');
  return Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${linesOf(document, '').join('\n')}\n`, 'utf8');
}

function linesOf({ name, attributes, content }: XmlElement, indent: string): string[] {
  const named = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`);
  const begin = `${indent}<${name}${named.join('')}>`;
  if (typeof content === 'string') return [`${begin}${escaped(content)}</${name}>`];
  return [begin, ...content.flatMap((child) => linesOf(child, `${indent}  `)), `${indent}</${name}>`];
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
/** What XML 1.0 cannot hold, and line breaks, which a parser would change and no text for a bank has. */
const UNWRITABLE = /[\p{Cc}\p{Cs}\u{FFFE}\u{FFFF}\u2028\u2029]/u;

function escaped(text: string): string {
  if (UNWRITABLE.test(text)) throw new RangeError('a text has a character that no message may have');
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
