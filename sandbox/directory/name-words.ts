/**
 * One word of a name, in each way in which it can be spelled without diacritical marks: first without the marks (Müller: muller),
 * last as its language writes it without them (mueller), and mixtures in between. Two words are the same if they share a spelling
 * and no letter has different marks in them. A mark may be missing in one, but Hùng is not Hưng.
 */
export interface Word {
  readonly spellings: readonly string[];
  /** For each spelling, the mark on each letter; empty for a letter without one. */
  readonly marks: readonly (readonly string[])[];
}

/** Plain forms of letters that Unicode does not decompose. */
const LETTERS: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ß: 'ss',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ı: 'i',
  ħ: 'h',
  ŋ: 'n',
};

/**
 * How German, the Nordic languages and Serbian spell these letters without the mark. The other form is the letter without its
 * mark, which is also the only form of all letters that are not listed here (ñ: n, ł: l, þ: th).
 */
const TRANSCRIBED: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe', đ: 'dj' };
/** Up to this many of them in one word vary independently; all further ones are spelled like the last of these. */
const MIXED_MAX = 3;

/** Greek capitals keep the dialytika and lose the tonos: both are the same mark. */
const WITHOUT_TONOS: Readonly<Record<string, string>> = { ΐ: 'ϊ', ΰ: 'ϋ' };

// In other scripts, a mark makes a different letter: й is not и.
const MARKS = /([\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu;

export function lowered(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFC')
    .replaceAll(/['’‘`´ʼ]/g, '');
}

/** The words of a text from `lowered`: every run of letters and digits. */
export function wordsOf(text: string): Word[] {
  return (text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).map(wordOf);
}

function wordOf(word: string): Word {
  const clusters = word.match(/\P{M}\p{M}*|\p{M}+/gu) ?? [];
  const double = clusters.filter((cluster) => Object.hasOwn(TRANSCRIBED, cluster)).length;
  const forms = Array.from({ length: 2 ** Math.min(double, MIXED_MAX) }, (_, form) => {
    let seen = -1;
    return clusters.flatMap((cluster) => {
      const transcribed = Object.hasOwn(TRANSCRIBED, cluster) ? TRANSCRIBED[cluster] : undefined;
      if (transcribed === undefined) return lettersOf(cluster);
      seen += 1;
      const isTranscribed = ((form >> Math.min(seen, MIXED_MAX - 1)) & 1) === 1;
      return isTranscribed ? [...transcribed].map((plain) => ({ plain, mark: cluster })) : lettersOf(cluster);
    });
  });
  return { spellings: forms.map(plainOf), marks: forms.map((letters) => letters.map(({ mark }) => mark)) };
}

interface Letter {
  readonly plain: string;
  readonly mark: string;
}

function lettersOf(cluster: string): Letter[] {
  const expanded = cluster.replaceAll(/[æœøßđðþłıħŋ]/g, (letter) => LETTERS[letter] ?? letter);
  const plain = expanded.normalize('NFD').replaceAll(MARKS, '$1').normalize('NFC').replaceAll('ς', 'σ');
  const mark = plain === cluster ? '' : (WITHOUT_TONOS[cluster] ?? cluster);
  return [...plain].map((letter) => ({ plain: letter, mark }));
}

function plainOf(letters: readonly Letter[]): string {
  return letters.map(({ plain }) => plain).join('');
}

export function sameWord(one: Word, other: Word): boolean {
  return one.spellings.some((spelling, at) =>
    other.spellings.some(
      (candidate, otherAt) => spelling === candidate && !marksDiffer(one.marks[at] ?? [], other.marks[otherAt] ?? []),
    ),
  );
}

function marksDiffer(some: readonly string[], others: readonly string[]): boolean {
  return some.some((mark, index) => mark !== '' && (others[index] ?? '') !== '' && mark !== others[index]);
}

/** A word with one spelling and no marks. */
export function spelled(spelling: string): Word {
  return { spellings: [spelling], marks: [[]] };
}

/** Whether the word has this spelling, whatever its marks. */
export function isSpelled(word: Word | undefined, spelling: string): boolean {
  return word?.spellings.includes(spelling) ?? false;
}

export function sameWords(some: readonly Word[], others: readonly Word[]): boolean {
  return some.length === others.length && some.every((word, index) => isSame(word, others[index]));
}

function isSame(word: Word, other: Word | undefined): boolean {
  return other !== undefined && sameWord(word, other);
}

/** The same words in any order. */
export function sameWordsInAnyOrder(some: readonly Word[], others: readonly Word[]): boolean {
  const left = [...others];
  for (const word of some) {
    const index = left.findIndex((candidate) => sameWord(word, candidate));
    if (index < 0) return false;
    left.splice(index, 1);
  }
  return left.length === 0;
}

/** Joins several words into one, as `mc` and `donald` become `mcdonald`: both without marks, or both transcribed. */
export function joined(words: readonly Word[]): Word {
  const all = (of: (lists: Word) => readonly [string, readonly string[]]) => {
    const parts = words.map(of);
    return { spelling: parts.map(([spelling]) => spelling).join(''), marks: parts.flatMap(([, marks]) => marks) };
  };
  const plain = all(({ spellings, marks }) => [spellings[0] ?? '', marks[0] ?? []]);
  const transcribed = all(({ spellings, marks }) => [spellings.at(-1) ?? '', marks.at(-1) ?? []]);
  const forms = plain.spelling === transcribed.spelling ? [plain] : [plain, transcribed];
  return { spellings: forms.map(({ spelling }) => spelling), marks: forms.map(({ marks }) => marks) };
}

/**
 * Whether one is probably a misspelling of the other: different marks, or a typing error in a sufficiently long word.
 */
export function isTypingError(one: Word, other: Word, lengthMin: number): boolean {
  if (one.spellings[0] === other.spellings[0]) return true;
  return one.spellings.some((spelling) => other.spellings.some((candidate) => isSlip(spelling, candidate, lengthMin)));
}

const LONG_WORD = 9;

function isSlip(one: string, other: string, lengthMin: number): boolean {
  const length = Math.max(one.length, other.length);
  // Different numbers are never typing errors.
  if (length < lengthMin || /\p{N}/u.test(one + other)) return false;
  return editDistance(one, other) <= (length >= LONG_WORD ? 2 : 1);
}

/** The number of letters to omit, add, replace, or swap with a neighbour (optimal string alignment). */
export function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const cost = one[row - 1] === other[column - 1] ? 0 : 1;
      let least = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + cost);
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (swapped) least = Math.min(least, (beforeLast[column - 2] ?? 0) + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? 0;
}
