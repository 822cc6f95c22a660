import { randomUUID } from 'node:crypto';
import { LosslessNumber, parse } from 'lossless-json';

/**
 * JSON whose numbers keep their digits, parsed by the engine's own parser: one in JavaScript takes a quarter of a second for
 * a text of a megabyte, and every other caller waits meanwhile. Numbers are put into quotes behind a mark that no caller can
 * know, and taken out again by the code that walks through the result.
 */
const MARK = `\uE000${randomUUID()}:`;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Stands for a text that is no JSON. */
const NO_JSON = '';
/** Up to here a mistake is named with its place, which takes the slow parser. */
const EXPLAINED_LENGTH_MAX = 64 * 1024;

/** As JSON.parse, but numbers are marked texts, for `numberIn`. Throws a SyntaxError that repeats nothing of a long text. */
export function parseMarkingNumbers(text: string): unknown {
  try {
    return JSON.parse(markNumbers(text));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (text.length <= EXPLAINED_LENGTH_MAX) parse(text);
    throw new SyntaxError('it breaks off, or is written otherwise');
  }
}

/** The number that a marked text stands for; null where it is a text of the caller's. */
export function numberIn(text: string): LosslessNumber | null {
  return text.startsWith(MARK) ? new LosslessNumber(text.slice(MARK.length)) : null;
}

// Between two numbers of JSON stands a comma. Text without it is refused before the marks make it forty times as long.
function markNumbers(text: string): string {
  let marked = '';
  let copied = 0;
  let isDue = true;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x22) {
      index = endOfString(text, index);
    } else if (code === 0x2c) {
      isDue = true;
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      NUMBER.lastIndex = index;
      const [digits] = NUMBER.exec(text) ?? [];
      if (digits === undefined || !isDue) return NO_JSON;
      isDue = false;
      marked += `${text.slice(copied, index)}"${MARK}${digits}"`;
      index += digits.length - 1;
      copied = index + 1;
    }
  }
  return copied === 0 ? text : marked + text.slice(copied);
}

/** Where the string ends that begins here: at its closing quote, or at the end of the text. */
export function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text.charCodeAt(index) !== 0x22) {
    index += text.charCodeAt(index) === 0x5c ? 2 : 1;
  }
  return index;
}
