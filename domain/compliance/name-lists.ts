import { nameSimilarity, wordSimilarity } from './name-similarity.ts';
import { type NameWord, wordsOfName } from './name-words.ts';

/** An entity of a list, such as a sanctioned person, company or ship. */
export interface ListedEntity {
  readonly id: string;
  /** The name and all aliases. */
  readonly names: readonly string[];
}

export interface NameListProblem {
  /** The line of the file, from 1. */
  readonly line: number;
  readonly message: string;
}

/** The columns in use of a file like OpenSanctions’ `targets.simple.csv`; it may have others. */
const COLUMNS = ['id', 'name', 'aliases'] as const;
/** The index of each column in a row. */
export type Columns = Readonly<Record<(typeof COLUMNS)[number], number>>;
const ALIAS_SEPARATOR = ';';

/** Maps the header row to the indexes of the columns, or reports the missing ones. */
export function readHeader(header: readonly string[]): Columns | NameListProblem {
  const places = header.map((column) => column.trim().toLowerCase());
  const missing = COLUMNS.filter((column) => !places.includes(column));
  if (missing.length > 0)
    return { line: 1, message: `must have the columns ${COLUMNS.join(', ')} (missing: ${missing.join(', ')})` };
  return { id: places.indexOf('id'), name: places.indexOf('name'), aliases: places.indexOf('aliases') };
}

/** The entity of a row, or its problem, without quoting it. */
export function readEntity(row: readonly string[], columns: Columns, line: number): ListedEntity | NameListProblem {
  const id = row[columns.id]?.trim() ?? '';
  const name = row[columns.name]?.trim() ?? '';
  const aliases = (row[columns.aliases] ?? '').split(ALIAS_SEPARATOR).map((alias) => alias.trim());
  if (id === '') return { line, message: 'has no id' };
  if (wordsOfName(name).length === 0) return { line, message: 'has no name' };
  return { id, names: [name, ...aliases.filter((alias) => alias !== '')] };
}

/** Work between two pauses: a millisecond or so of comparing or preparing. */
const WORDS_PER_SLICE = 500;
const NAMES_PER_SLICE = 50;

/** Words of less weight do not select candidates. */
const DISTINCTIVE_WEIGHT_MIN = 0.4;

/** A listed name that is similar to one that was asked for. */
export interface NameHit {
  readonly entityId: string;
  readonly listedName: string;
  /** From 0, different, to 1, equal. */
  readonly similarity: number;
}

/** A list prepared for searches: from its different words to the names that contain them. */
export class NameList {
  readonly #names: (readonly NameWord[])[] = [];
  /** What each of `#names` is in the file. */
  readonly #listed: Pick<NameHit, 'entityId' | 'listedName'>[] = [];
  readonly #words = new Map<string, { readonly word: NameWord; readonly nameIndexes: number[] }>();
  /** By all letters of a name, for words that are divided differently. */
  readonly #joined = new Set<string>();
  #entityCount = 0;

  get entityCount(): number {
    return this.#entityCount;
  }

  /** Adds entities in slices; every `yield` is a pause for other work. */
  *add(entities: Iterable<ListedEntity>): Generator<void, void> {
    let added = 0;
    for (const { id, names } of entities) {
      this.#entityCount += 1;
      for (const name of names) {
        this.#addName(wordsOfName(name), { entityId: id, listedName: name });
        added += 1;
        if (added % NAMES_PER_SLICE === 0) yield;
      }
    }
  }

  #addName(words: readonly NameWord[], listed: Pick<NameHit, 'entityId' | 'listedName'>): void {
    if (words.length === 0) return;
    this.#listed.push(listed);
    const at = this.#names.push(words) - 1;
    this.#joined.add(joinedOf(words));
    for (const word of words) {
      const spelling = word.also === null ? word.text : `${word.text} ${word.also.text}`;
      const known = this.#words.get(spelling);
      if (known === undefined) this.#words.set(spelling, { word, nameIndexes: [at] });
      else if (known.nameIndexes.at(-1) !== at) known.nameIndexes.push(at);
    }
  }

  /** Whether a listed name is at least this similar. Every `yield` is a pause for other work. */
  *search(name: string, threshold: number): Generator<void, boolean> {
    const asked = wordsOfName(name);
    if (asked.length === 0) return false;
    if (this.#joined.has(joinedOf(asked))) return true;
    let compared = 0;
    for (const at of yield* this.#candidates(asked)) {
      if (nameSimilarity(asked, this.#names[at] ?? []) >= threshold) return true;
      compared += 1;
      if (compared % NAMES_PER_SLICE === 0) yield;
    }
    return false;
  }

  /** The listed names for which `search` finds the name, the most similar first. Every `yield` is a pause for other work. */
  *hits(name: string, threshold: number): Generator<void, readonly NameHit[]> {
    const asked = wordsOfName(name);
    if (asked.length === 0) return [];
    const joined = joinedOf(asked);
    const compared = this.#joined.has(joined) ? this.#names.keys() : yield* this.#candidates(asked);
    const hits: NameHit[] = [];
    let count = 0;
    for (const at of compared) {
      const [words, listed] = [this.#names[at], this.#listed[at]];
      if (words === undefined || listed === undefined) continue;
      const similarity = joinedOf(words) === joined ? 1 : nameSimilarity(asked, words);
      if (similarity >= threshold) hits.push({ ...listed, similarity });
      count += 1;
      if (count % NAMES_PER_SLICE === 0) yield;
    }
    return hits.sort((one, other) => other.similarity - one.similarity);
  }

  /** The names that contain a word like one of these, or one that joins two of them. */
  *#candidates(asked: readonly NameWord[]): Generator<void, Set<number>> {
    const candidates = new Set<number>();
    let compared = 0;
    const distinctive = asked.filter(({ weight, text }) => weight >= DISTINCTIVE_WEIGHT_MIN && text.length > 1);
    for (const { word, nameIndexes } of this.#words.values()) {
      if (distinctive.some((one) => wordSimilarity(one, word) > 0)) for (const at of nameIndexes) candidates.add(at);
      compared += distinctive.length;
      if (compared >= WORDS_PER_SLICE) {
        compared = 0;
        yield;
      }
    }
    return candidates;
  }
}

function joinedOf(words: readonly NameWord[]): string {
  return words.map(({ text }) => text).join('');
}
