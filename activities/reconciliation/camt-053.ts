import { SaxesParser, type SaxesTagNS } from 'saxes';
import type { StatementItem } from '../../domain/reconciliation/bank-statements.ts';
import { type CamtElement, CamtProblem, cleanText } from './camt-elements.ts';
import { ItemsInTurn, STATEMENT } from './camt-items-in-turn.ts';

export { CamtProblem };

const NAMESPACE = /^urn:iso:std:iso:20022:tech:xsd:(camt\.053\.001\.(\d{2}))$/;
/** The published versions whose elements mean the same; they differ in what they add, and in the elements that camt-items.ts names. */
const [VERSION_MIN, VERSION_MAX] = [2, 14];
const PAGES = ['BkToCstmrStmt/GrpHdr/MsgPgntn', `${STATEMENT}/StmtPgntn`].flatMap((of) => [
  `${of}/LastPgInd`,
  `${of}/PgNb`,
]);

/** Banks write shorter ones; the rest of a longer text is cut off, with a mark. */
const TEXT_LENGTH_MAX = 500;
const DEPTH_MAX = 40;
/** Of what is held at once: the head of a statement, of an entry, and one transaction. */
const ELEMENTS_MAX = 50_000;
/** Of what the parser holds until it ends, as a text or a comment. */
const UNBROKEN_LENGTH_MAX = 16 * 1024 * 1024;
const SLICE_LENGTH = 64 * 1024;

/**
 * Reads a file as a stream, in pages: memory holds one transaction, however many an entry has. The parser expands no entity of a
 * document type and fetches nothing. Control and formatting characters of the file are replaced by a mark. Throws `CamtProblem`.
 */
export async function* readBankStatement(chunks: AsyncIterable<string>): AsyncGenerator<readonly StatementItem[]> {
  const reader = new CamtReader();
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += SLICE_LENGTH) {
      const items = reader.write(chunk.slice(start, start + SLICE_LENGTH));
      if (items.length > 0) yield items;
    }
  }
  const items = reader.close();
  if (items.length > 0) yield items;
}

/** An element that is being read. */
interface OpenElement extends CamtElement {
  text: string;
  readonly children: CamtElement[];
  /** From below `Document`, where it is empty, as `BkToCstmrStmt/Stmt`; null in an envelope, and in what is not read. */
  readonly path: string | null;
  /** How many elements were held when it began, and are again when it has ended as an item of its own. */
  readonly heldBefore: number | null;
}

class CamtReader {
  readonly #parser = new SaxesParser({ xmlns: true });
  readonly #items = new ItemsInTurn();
  readonly #open: OpenElement[] = [];
  /** Of the document that is open; null outside: in an envelope, in which banks send a message together with its header. */
  #namespace: string | null = null;
  #hasDocument = false;
  #root = '';
  /** As the file declares it; what it is read as is UTF-8, which ISO 20022 asks for. */
  #encoding = 'UTF-8';
  #held = 0;
  #unbrokenLength = 0;

  constructor() {
    this.#parser.on('error', ({ message }) => {
      throw new CamtProblem(`The file is not well-formed XML: ${message}`);
    });
    this.#parser.on('doctype', () => {
      throw new CamtProblem('The file has a document type, which no camt.053 has.');
    });
    this.#parser.on('xmldecl', ({ encoding = 'UTF-8' }) => {
      this.#encoding = encoding;
    });
    this.#parser.on('opentag', (tag) => this.#begin(tag));
    this.#parser.on('text', (text) => this.#add(text));
    // Text as any other (XML 1.0, 2.7).
    this.#parser.on('cdata', (text) => this.#add(text));
    this.#parser.on('closetag', () => this.#end());
  }

  write(chunk: string): readonly StatementItem[] {
    this.#unbrokenLength += chunk.length;
    this.#parser.write(chunk);
    if (!/^utf-?8$/i.test(this.#encoding) && /\P{ASCII}/u.test(chunk)) {
      throw new CamtProblem(`The file is in ${this.#encoding}: convert it to UTF-8.`);
    }
    if (this.#unbrokenLength > UNBROKEN_LENGTH_MAX) {
      throw new CamtProblem('The file has a part without an element that is longer than in any camt.053.');
    }
    return this.#items.take();
  }

  close(): readonly StatementItem[] {
    this.#parser.close();
    if (!this.#hasDocument) throw new CamtProblem(`The file is no camt.053, but ${this.#root}.`);
    if (this.#items.statements === 0) throw new CamtProblem('The file has no statement.');
    return this.#items.take();
  }

  #begin({ local, uri, attributes }: SaxesTagNS): void {
    this.#unbrokenLength = 0;
    if (this.#open.length === DEPTH_MAX) throw new CamtProblem('The file is nested deeper than any camt.053.');
    const parent = this.#open.at(-1);
    const path = this.#pathOf(local, uri, parent);
    const isItem = path !== null && parent !== undefined && this.#items.begin(path, parent);
    const element: OpenElement = {
      name: local,
      currency: attributes.Ccy?.value ?? null,
      text: '',
      children: [],
      path,
      heldBefore: isItem ? this.#held : null,
    };
    this.#open.push(element);
    if (path === null || parent === undefined || isItem) return;
    this.#held += 1;
    if (this.#held > ELEMENTS_MAX) throw new CamtProblem(`The file has more elements in ${path} than any camt.053.`);
    parent.children.push(element);
  }

  /** A document begins with its version; what is of another namespace, or in extensions that banks agree on, is not read. */
  #pathOf(local: string, uri: string, parent: OpenElement | undefined): string | null {
    if (this.#namespace === null) {
      if (parent === undefined) this.#root = uri === '' ? local : uri;
      if (local !== 'Document') return null;
      this.#namespace = readableNamespace(uri);
      this.#hasDocument = true;
      return '';
    }
    if (parent === undefined || parent.path === null || uri !== this.#namespace || local === 'SplmtryData') return null;
    return parent.path === '' ? local : `${parent.path}/${local}`;
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
    element.text = cleanText(element.text.trim(), TEXT_LENGTH_MAX);
    if (PAGES.includes(element.path)) requireOnlyPage(element.text);
    if (element.heldBefore === null) return;
    this.#items.end(element.path, element);
    this.#held = element.heldBefore;
  }
}

function readableNamespace(uri: string): string {
  const [, name = '', version = ''] = NAMESPACE.exec(uri) ?? [];
  if (name === '') throw new CamtProblem(`The file is no camt.053, but ${uri === '' ? 'has no namespace' : uri}.`);
  if (Number(version) >= VERSION_MIN && Number(version) <= VERSION_MAX) return uri;
  throw new CamtProblem(
    `The file is ${name}: of camt.053, the versions 001.${String(VERSION_MIN).padStart(2, '0')} to 001.${VERSION_MAX} can be read.`,
  );
}

/** `text` is the number of the page, or whether it is the last. What the other pages have would seem to be missing. */
function requireOnlyPage(text: string): void {
  if (text === 'true' || /^0*1$/.test(text)) return;
  throw new CamtProblem('The file is one page of several: join them into one file.');
}
