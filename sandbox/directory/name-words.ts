/**
 * A name taken apart for comparison. A word has one or two spellings: its letters without their marks (Müller: muller), and
 * as its language writes them without marks (mueller). Two words are the same where a spelling is.
 */
export type Word = readonly string[];

/** What the plain form of a letter with a mark cannot be decomposed to. */
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

/** How German and the Nordic languages write these where the mark is missing. */
const TRANSCRIBED: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe' };

// Marks of other scripts make letters of their own: й is no и.
const MARKS = /([\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu;

export function lowered(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFC')
    .replaceAll(/['’‘`´ʼ]/g, '');
}

/** Every run of letters and digits of a text that `lowered` gave, with its spellings. */
export function wordsOf(text: string): Word[] {
  return (text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).map(spellingsOf);
}

function spellingsOf(word: string): Word {
  const plain = unmarked(word);
  const transcribed = unmarked(word.replaceAll(/[äöüåø]/g, (letter) => TRANSCRIBED[letter] ?? letter));
  return plain === transcribed ? [plain] : [plain, transcribed];
}

function unmarked(word: string): string {
  return word
    .replaceAll(/[æœøßđðþłıħŋ]/g, (letter) => LETTERS[letter] ?? letter)
    .normalize('NFD')
    .replaceAll(MARKS, '$1')
    .normalize('NFC')
    .replaceAll('ς', 'σ');
}

export function sameWord(one: Word, other: Word): boolean {
  return one.some((spelling) => other.includes(spelling));
}

export function sameWords(some: readonly Word[], others: readonly Word[]): boolean {
  return some.length === others.length && some.every((word, index) => sameWord(word, others[index] ?? []));
}

/** The same words in whatever order. */
export function sameBag(some: readonly Word[], others: readonly Word[]): boolean {
  const left = [...others];
  for (const word of some) {
    const index = left.findIndex((candidate) => sameWord(word, candidate));
    if (index < 0) return false;
    left.splice(index, 1);
  }
  return left.length === 0;
}

/** One word of several, as `mc` and `donald` make `mcdonald`. */
export function joined(words: readonly Word[]): Word {
  const plain = words.map(([first = '']) => first).join('');
  const transcribed = words.map((word) => word.at(-1) ?? '').join('');
  return plain === transcribed ? [plain] : [plain, transcribed];
}

/** Whether one was meant for the other: a slip of the keyboard in a word long enough to be known by the rest. */
export function isTypingError(one: Word, other: Word, lengthMin: number): boolean {
  return one.some((spelling) => other.some((candidate) => isSlip(spelling, candidate, lengthMin)));
}

const LONG_WORD = 9;

function isSlip(one: string, other: string, lengthMin: number): boolean {
  const length = Math.max(one.length, other.length);
  // Another number is another thing, however near it looks.
  if (length < lengthMin || /\p{N}/u.test(one + other)) return false;
  return editDistance(one, other) <= (length >= LONG_WORD ? 2 : 1);
}

/** Letters left out, added, exchanged, or swapped with their neighbour (optimal string alignment). */
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
