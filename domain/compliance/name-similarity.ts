import { distance } from 'fastest-levenshtein';
import { type NameWord, soundOf } from './name-words.ts';

/** Words less similar than this are different words; a joined word must come closer, since there are so many joins. */
const WORD_SIMILARITY_ABOVE = 0.75;
const JOINED_SIMILARITY_ABOVE = 0.85;
const JOINED_LENGTH_MIN = 3;
/** Ensures that equal words are paired before joins that contain them. */
const JOINED_PENALTY = 0.01;
/** Two spellings of one sound. */
const SAME_SOUND = 0.96;
/** Shorter words must be equal: a single letter makes them a different name. */
const LENGTH_MIN = 4;
/** How many words of one name may be one word of the other: `Abd al Aziz` and `Abdulaziz`. */
const JOINED_MAX = 3;

type Spelling = Pick<NameWord, 'text' | 'sound'>;
type SpelledWord = Spelling & Pick<NameWord, 'also'>;

/** From 0, different, to 1, equal. If a word has two spellings, the closer one counts. */
export function wordSimilarity(one: SpelledWord, other: SpelledWord): number {
  const same = spellingSimilarity(one, other);
  if (one.also === null && other.also === null) return same;
  return Math.max(same, spellingSimilarity(one.also ?? one, other), spellingSimilarity(one, other.also ?? other));
}

function spellingSimilarity(one: Spelling, other: Spelling): number {
  if (one.text === other.text) return 1;
  if (one.text.length < LENGTH_MIN || other.text.length < LENGTH_MIN || hasDigit(one) || hasDigit(other)) return 0;
  if (one.sound === other.sound) return SAME_SOUND;
  const closest = Math.max(closeness(one.text, other.text), SAME_SOUND * closeness(one.sound, other.sound));
  if (closest <= WORD_SIMILARITY_ABOVE) return 0;
  return consonantsOf(one) === consonantsOf(other) ? (1 + closest) / 2 : closest;
}

/** Transcriptions differ in vowels more than in anything else: `Mohammed` and `Muhammad`. */
function consonantsOf({ sound }: Spelling): string {
  return sound.replaceAll(/[aiu]/g, '');
}

function hasDigit({ text }: Spelling): boolean {
  return /\d/.test(text);
}

function closeness(one: string, other: string): number {
  const longer = Math.max(one.length, other.length);
  // So far apart in length that the distance cannot matter.
  if (Math.abs(one.length - other.length) >= longer * (1 - WORD_SIMILARITY_ABOVE)) return 0;
  const edits = isSwap(one, other) ? 1 : distance(one, other);
  return 1 - edits / longer;
}

/** Whether two adjacent letters are swapped: one typing error, which the distance counts as two. */
function isSwap(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return one[at] === other[at + 1] && one[at + 1] === other[at] && one.slice(at + 2) === other.slice(at + 2);
}

/** One word of a name, or several joined. */
interface Span extends SpelledWord {
  readonly from: number;
  readonly to: number;
}

/** Words of both names that are considered the same. */
interface Pair {
  readonly asked: Span;
  readonly listed: Span;
  readonly similarity: number;
}

/** The cost of a word that only resembles the other, as a multiple of the difference. */
const DIFFERENCE_COST = 1.5;
/** The cost of missing words; one name may have many more than the other. */
const MISSING_WORDS_COST = 0.15;
/** If only one word agrees, it must make up most of the name. */
const SINGLE_WORD_COVERAGE_MIN = 0.8;
const DISTINCTIVE_WEIGHT_MIN = 0.4;
/** How much an initial says about its word. */
const INITIAL_WEIGHT = 0.4;

/**
 * How similar a name is to a listed one, from 0 to 1, whatever the order of the words. Either name may lack words of the
 * other if two distinctive ones agree.
 */
export function nameSimilarity(asked: readonly NameWord[], listed: readonly NameWord[]): number {
  const pairs = bestPairs(asked, listed);
  const distinctive = pairs.filter((pair) => weightOf(asked, pair.asked) >= DISTINCTIVE_WEIGHT_MIN);
  if (distinctive.every((pair) => isInitial(pair))) return 0;
  const ofAsked = coverage(asked, pairs, (pair) => pair.asked);
  const ofListed = coverage(listed, pairs, (pair) => pair.listed);
  const [fewer, more] = [Math.min(ofAsked, ofListed), Math.max(ofAsked, ofListed)];
  if (distinctive.length < 2 && fewer < SINGLE_WORD_COVERAGE_MIN) return 0;
  return more * (1 - MISSING_WORDS_COST * (1 - fewer));
}

/** The most similar words first; each word belongs to one pair at most. */
function bestPairs(asked: readonly NameWord[], listed: readonly NameWord[]): Pair[] {
  const possible: Pair[] = [];
  const listedSpans = spansOf(listed);
  for (const one of spansOf(asked)) {
    for (const other of listedSpans) {
      const similarity = spanSimilarity(one, other);
      if (similarity > 0) possible.push({ asked: one, listed: other, similarity });
    }
  }
  possible.sort((one, other) => other.similarity - one.similarity);
  const chosen: Pair[] = [];
  for (const pair of possible) {
    const isFree = chosen.every(
      ({ asked: taken, listed: other }) => !overlap(taken, pair.asked) && !overlap(other, pair.listed),
    );
    if (isFree) chosen.push(pair);
  }
  return chosen;
}

function spansOf(words: readonly NameWord[]): Span[] {
  return words.flatMap((word, from) => {
    const spans: Span[] = [{ from, to: from + 1, text: word.text, sound: word.sound, also: word.also }];
    for (let to = from + 2; to <= Math.min(words.length, from + JOINED_MAX); to += 1) {
      const text = words
        .slice(from, to)
        .map((each) => each.text)
        .join('');
      if (text.length >= JOINED_LENGTH_MIN) spans.push({ from, to, text, sound: soundOf(text), also: null });
    }
    return spans;
  });
}

/** An initial counts in full, but after all words: it takes one that no other word has taken. */
const INITIAL_SIMILARITY = 0.5;

function spanSimilarity(one: Span, other: Span): number {
  const [oneIsJoined, otherIsJoined] = [one.to - one.from > 1, other.to - other.from > 1];
  if (oneIsJoined && otherIsJoined) return 0;
  const similarity = wordSimilarity(one, other);
  if (oneIsJoined || otherIsJoined) return similarity > JOINED_SIMILARITY_ABOVE ? similarity - JOINED_PENALTY : 0;
  if (similarity > 0) return similarity;
  const [shorter, longer] = one.text.length < other.text.length ? [one, other] : [other, one];
  return shorter.text.length === 1 && longer.text.startsWith(shorter.text) ? INITIAL_SIMILARITY : 0;
}

function isInitial({ similarity }: Pair): boolean {
  return similarity === INITIAL_SIMILARITY;
}

function overlap(one: Span, other: Span): boolean {
  return one.from < other.to && other.from < one.to;
}

function weightOf(words: readonly NameWord[], { from, to }: Span): number {
  return words.slice(from, to).reduce((sum, { weight }) => sum + weight, 0);
}

/** The part of a name that the pairs account for. */
function coverage(words: readonly NameWord[], pairs: readonly Pair[], spanOf: (pair: Pair) => Span): number {
  const covered = pairs.reduce((sum, pair) => {
    const similarity = isInitial(pair) ? 1 : Math.max(0, 1 - DIFFERENCE_COST * (1 - pair.similarity));
    return sum + similarity * Math.min(weightOf(words, spanOf(pair)), isInitial(pair) ? INITIAL_WEIGHT : Infinity);
  }, 0);
  return covered / words.reduce((sum, { weight }) => sum + weight, 0);
}
