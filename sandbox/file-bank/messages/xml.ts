import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ParseOption, XmlDocument, XmlElement, XmlParseError, XmlValidateError, XsdValidator } from 'libxml2-wasm';

/** ISO's own schemas, with which the bank checks every file that it takes. */
const SCHEMAS = new URL('../../bank/iso20022/', import.meta.url);
const NAMESPACE = /^urn:iso:std:iso:20022:tech:xsd:([a-z]{4}\.\d{3}\.001\.\d{2})$/;

/** An element as it stands in a file, without the library's memory behind it. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
  readonly children: readonly Element[];
}

/** A file that is no message, or not by ISO's schema. */
export class InvalidMessage extends Error {
  readonly version: string | null;
  readonly messageId: string | null;

  constructor(message: string, known: { version: string | null; messageId: string | null }) {
    super(message);
    this.name = 'InvalidMessage';
    this.version = known.version;
    this.messageId = known.messageId;
  }
}

export interface ReadMessage {
  /** Such as `pain.001.001.09`. */
  readonly version: string;
  /** The child of `Document`. */
  readonly root: Element;
}

/** Reads a file whole and checks it by ISO's schema of its version. */
export function readMessage(bytes: Uint8Array): ReadMessage {
  const document = parsed(bytes);
  try {
    const { root, dtd } = document;
    // No message has one, and it could name files of this machine.
    if (dtd !== null)
      throw new InvalidMessage('The file declares a document type.', { version: null, messageId: null });
    const [, version = null] = NAMESPACE.exec(root.namespaceUri) ?? [];
    const [message] = elementOf(root).children;
    if (version === null || message === undefined) {
      throw new InvalidMessage('The file is no message of ISO 20022.', { version, messageId: null });
    }
    const known = {
      version,
      messageId: message.children.map((child) => firstOf(child, 'MsgId', 'Id')).find(Boolean) ?? null,
    };
    const validator = validatorOf(version);
    if (validator === null) throw new InvalidMessage(`The bank does not take ${version}.`, known);
    try {
      validator.validate(document);
    } catch (error) {
      if (error instanceof XmlValidateError) throw new InvalidMessage(error.details[0]?.message.trim() ?? '', known);
      throw error;
    }
    return { version, root: message };
  } finally {
    document.dispose();
  }
}

/** What contradicts ISO's schema in a message that the bank has written. */
export function schemaProblem(content: string): string | null {
  try {
    readMessage(Buffer.from(content));
    return null;
  } catch (error) {
    if (error instanceof InvalidMessage) return error.message;
    throw error;
  }
}

function parsed(bytes: Uint8Array): XmlDocument {
  try {
    return XmlDocument.fromBuffer(bytes, { option: ParseOption.XML_PARSE_NO_XXE });
  } catch (error) {
    if (error instanceof XmlParseError) {
      throw new InvalidMessage('The file is no XML.', { version: null, messageId: null });
    }
    throw error;
  }
}

function elementOf(node: XmlElement): Element {
  const children: Element[] = [];
  let text = '';
  for (let child = node.firstChild; child !== null; child = child.next) {
    if (child instanceof XmlElement) children.push(elementOf(child));
    else text += child.content;
  }
  return {
    name: node.name,
    attributes: Object.fromEntries(node.attrs.map(({ name, value }) => [name, value])),
    text: text.trim(),
    children,
  };
}

function firstOf(element: Element, ...names: string[]): string | null {
  return element.children.find(({ name }) => names.includes(name))?.text ?? null;
}

/** Compiled once: it takes longer than validating. */
const validators = new Map<string, XsdValidator>();

function validatorOf(version: string): XsdValidator | null {
  const known = validators.get(version);
  if (known !== undefined) return known;
  const path = fileURLToPath(new URL(`${version}.xsd`, SCHEMAS));
  if (!existsSync(path)) return null;
  const schema = XmlDocument.fromBuffer(readFileSync(path));
  const validator = XsdValidator.fromDoc(schema);
  schema.dispose();
  validators.set(version, validator);
  return validator;
}

/** Those at the path, such as `PmtTpInf/SvcLvl/Cd`. */
export function all(element: Element, path: string): readonly Element[] {
  return path
    .split('/')
    .reduce<readonly Element[]>(
      (found, name) => found.flatMap(({ children }) => children.filter((child) => child.name === name)),
      [element],
    );
}

/** The text of the first at the path; null: there is none. */
export function textAt(element: Element, path: string): string | null {
  return all(element, path)[0]?.text ?? null;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

/** `<name>content</name>`; nothing without content. */
export function tag(name: string, content: string | null, attributes = ''): string {
  return content === null || content === '' ? '' : `<${name}${attributes}>${content}</${name}>`;
}

/** The same for text, which is escaped. */
export function textTag(name: string, text: string | null): string {
  return tag(name, text === null ? null : escaped(text));
}

export function documentOf(version: string, message: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${version}">${message}</Document>\n`;
}

/** An instant as the messages have it. */
export function instantText(instant: Date): string {
  return instant.toISOString().replace(/\.\d+Z$/, 'Z');
}
