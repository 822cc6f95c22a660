import { SaxesParser, type SaxesTagNS } from 'saxes';
import { UnreadableMessage } from '../../../domain/bank-files/messages.ts';
import { plainLine } from '../../../domain/common/texts/plain-line.ts';
import type { MessageElement } from './elements.ts';

/** An element with the children read so far. */
export type HeldElement = MessageElement & { readonly children: MessageElement[] };

/** Takes the parts of a message as they are read, so that memory never holds the whole. Paths begin below `Document`. */
export interface PartReader {
  /** Whether the element is a part of its own, and is therefore not kept in its parent. */
  begin(path: string, parent: HeldElement): boolean;
  /** The end of an element for which `begin` said yes. */
  end(path: string, element: HeldElement): void;
}

/** A message with the published versions that share the meaning of their elements. */
export interface ReadableMessage {
  /** Such as `camt.053`. */
  readonly name: string;
  readonly versions: readonly [first: number, last: number];
}

/** What a file may hold. */
export interface ReadableFile {
  readonly messages: readonly ReadableMessage[];
  /** Of a file that is no XML. */
  readonly noXml: string;
  /** Begins the message of a `Document`; `version` is such as `camt.053.001.08`. */
  readonly begin: (message: ReadableMessage, version: string) => PartReader;
}

const NAMESPACE = /^urn:iso:std:iso:20022:tech:xsd:(([a-z]{4}\.\d{3})\.001\.(\d{2}))$/;
/** The elements that say which page of several this is, in statements and notifications. */
const PAGE = /^\w+\/(GrpHdr\/MsgPgntn|Stmt\/StmtPgntn|Ntfctn\/NtfctnPgntn)\/(LastPgInd|PgNb)$/;

/** Far more than banks write; a longer text is cut off and marked. */
const TEXT_LENGTH_MAX = 500;
const DEPTH_MAX = 40;
/** Elements in memory at once: the head of a message, the head of an entry, and one transaction. */
const ELEMENTS_MAX = 50_000;
/** Length of one text or comment, which the parser holds until its end. */
const UNBROKEN_LENGTH_MAX = 16 * 1024 * 1024;
const SLICE_LENGTH = 64 * 1024;

/** An element that is being read. */
interface OpenElement extends MessageElement {
  text: string;
  readonly children: MessageElement[];
  /** The path below `Document`, such as `BkToCstmrStmt/Stmt`; empty for `Document` itself, null for elements that are not read. */
  readonly path: string | null;
  /** For a part of its own: the number of elements in memory before it, restored at its end. */
  readonly heldBefore: number | null;
}

/**
 * Reads the messages of a file. The parser expands no entity of a document type and fetches nothing. Control and formatting characters
 * are replaced by a visible mark. Throws `UnreadableMessage`.
 */
export class DocumentReader {
  readonly #parser = new SaxesParser({ xmlns: true });
  readonly #file: ReadableFile;
  /** For texts: what the file should be. */
  readonly #name: string;
  readonly #open: OpenElement[] = [];
  /** The namespace of the open document; null outside of one, as in an envelope in which banks send a message with its header. */
  #namespace: string | null = null;
  #parts: PartReader | null = null;
  #hasDocument = false;
  #isXml = false;
  #root = '';
  /** The declared encoding. The file is read as UTF-8, which ISO 20022 requires. */
  #encoding = 'UTF-8';
  #held = 0;
  #unbrokenLength = 0;

  constructor(file: ReadableFile) {
    this.#file = file;
    this.#name = file.messages.map(({ name }) => name).join(', ');
    this.#parser.on('error', ({ message }) => {
      throw new UnreadableMessage(`The file is not well-formed XML: ${message}`);
    });
    this.#parser.on('doctype', () => {
      throw new UnreadableMessage('The file has a document type declaration, which ISO 20022 does not allow.');
    });
    this.#parser.on('xmldecl', ({ encoding = 'UTF-8' }) => {
      this.#encoding = encoding;
    });
    this.#parser.on('opentag', (tag) => this.#begin(tag));
    this.#parser.on('text', (text) => this.#add(text));
    // CDATA is text (XML 1.0, 2.7).
    this.#parser.on('cdata', (text) => this.#add(text));
    this.#parser.on('closetag', () => this.#end());
  }

  /** Yields after each slice, for readers who take what has been read so far. */
  *write(chunk: string): Generator<void> {
    if (!this.#isXml) this.#isXml = this.#beginsAsXml(chunk);
    for (let start = 0; start < chunk.length; start += SLICE_LENGTH) {
      this.#writeSlice(chunk.slice(start, start + SLICE_LENGTH));
      yield;
    }
  }

  close(): void {
    this.#parser.close();
    if (!this.#hasDocument) throw new UnreadableMessage(`The file is not a ${this.#name} message but ${this.#root}.`);
  }

  /** False for a chunk of spaces only. Files of other kinds would fail at a place in them that says nothing to a person. */
  #beginsAsXml(chunk: string): boolean {
    const begin = /[^\s\uFEFF]/.exec(chunk)?.[0];
    if (begin !== undefined && begin !== '<') throw new UnreadableMessage(this.#file.noXml);
    return begin !== undefined;
  }

  #writeSlice(slice: string): void {
    this.#unbrokenLength += slice.length;
    this.#parser.write(slice);
    if (!/^utf-?8$/i.test(this.#encoding) && /\P{ASCII}/u.test(slice)) {
      throw new UnreadableMessage(`The file is in ${this.#encoding}: convert it to UTF-8.`);
    }
    if (this.#unbrokenLength > UNBROKEN_LENGTH_MAX) {
      throw new UnreadableMessage('The file contains a longer text or comment than any bank’s message.');
    }
  }

  #begin({ local, uri, attributes }: SaxesTagNS): void {
    this.#unbrokenLength = 0;
    if (this.#open.length === DEPTH_MAX)
      throw new UnreadableMessage('The elements of the file are nested more deeply than in any bank’s message.');
    const parent = this.#open.at(-1);
    const path = this.#pathOf(local, uri, parent);
    const isPart = path !== null && parent !== undefined && this.#parts?.begin(path, parent) === true;
    const element: OpenElement = {
      name: local,
      currency: attributes.Ccy?.value ?? null,
      text: '',
      children: [],
      path,
      heldBefore: isPart ? this.#held : null,
    };
    this.#open.push(element);
    if (path === null || parent === undefined || isPart) return;
    this.#held += 1;
    if (this.#held > ELEMENTS_MAX)
      throw new UnreadableMessage(`The file has more elements in ${path} than any bank’s message.`);
    parent.children.push(element);
  }

  /** The namespace of `Document` is its version. Elements of other namespaces, and supplementary data, are not read. */
  #pathOf(local: string, uri: string, parent: OpenElement | undefined): string | null {
    if (this.#namespace === null) {
      if (parent === undefined) this.#root = uri === '' ? local : uri;
      if (local !== 'Document') return null;
      this.#parts = this.#beginMessage(uri);
      this.#namespace = uri;
      this.#hasDocument = true;
      return '';
    }
    if (parent === undefined || parent.path === null || uri !== this.#namespace || local === 'SplmtryData') return null;
    return parent.path === '' ? local : `${parent.path}/${local}`;
  }

  #beginMessage(uri: string): PartReader {
    const [, version = '', name, number = ''] = NAMESPACE.exec(uri) ?? [];
    const message = this.#file.messages.find((one) => one.name === name);
    if (message === undefined)
      throw new UnreadableMessage(
        `The file is not a ${this.#name} message: its namespace is ${uri === '' ? 'missing' : uri}. Only ${this.#name} can be read.`,
      );
    const [first, last] = message.versions;
    if (Number(number) >= first && Number(number) <= last) return this.#file.begin(message, version);
    throw new UnreadableMessage(
      `The file is ${version}, but only versions 001.${String(first).padStart(2, '0')} to 001.${last} of ${message.name} can be read.`,
    );
  }

  #add(text: string): void {
    this.#unbrokenLength = 0;
    const element = this.#open.at(-1);
    if (element === undefined || element.path === null || element.text.length > TEXT_LENGTH_MAX) return;
    element.text += (element.text === '' ? text.trimStart() : text).slice(0, TEXT_LENGTH_MAX + 1);
  }

  #end(): void {
    this.#unbrokenLength = 0;
    const element = this.#open.pop();
    if (element === undefined || element.path === null) return;
    if (element.path === '') this.#namespace = null;
    element.text = plainLine(element.text.trim(), TEXT_LENGTH_MAX);
    if (PAGE.test(element.path)) requireOnlyPage(element.text);
    if (element.heldBefore === null) return;
    this.#parts?.end(element.path, element);
    this.#held = element.heldBefore;
  }
}

/** `text` is a page number, or whether the page is the last. Entries on the other pages would be reported as missing. */
function requireOnlyPage(text: string): void {
  if (text === 'true' || /^0*1$/.test(text)) return;
  throw new UnreadableMessage('The file is one of several pages: join the pages into one file.');
}
