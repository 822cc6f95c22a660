import { randomUUID } from 'node:crypto';
import { LosslessNumber, parse } from 'lossless-json';

/**
 * Parses JSON without losing digits. A parser written in JavaScript would block the event loop for a quarter of a
 * second per megabyte, so this one quotes numbers, behind a mark that callers cannot guess, and uses the engine's
 * parser.
 */
const MARK = `\uE000${randomUUID()}:`;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Stands for text that is not JSON. */
const NO_JSON = '';
/** Up to this length errors name their position, which needs the slow parser. */
const EXPLAINED_LENGTH_MAX = 64 * 1024;

/** As JSON.parse, but numbers become marked strings, for `numberIn`. Its SyntaxError does not quote the text, which may contain secrets. */
export function parseMarkingNumbers(text: string): unknown {
  try {
    return JSON.parse(markNumbers(text));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new SyntaxError(`it breaks off, or is written otherwise${placeOf(text)}`);
  }
}

function placeOf(text: string): string {
  if (text.length > EXPLAINED_LENGTH_MAX) return '';
  try {
    parse(text);
  } catch (error) {
    const [place] = /at position \d+$/.exec(error instanceof Error ? error.message : '') ?? [];
    if (place !== undefined) return `, ${place}`;
  }
  return '';
}

/** The number in a marked string; null for a string that the caller sent. */
export function numberIn(text: string): LosslessNumber | null {
  return text.startsWith(MARK) ? new LosslessNumber(text.slice(MARK.length)) : null;
}

// Numbers in JSON are separated by commas. Any other text is rejected before the marks make it forty times as long.
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

/** The end of the string that begins here: its closing quote, or the end of the text. */
export function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text.charCodeAt(index) !== 0x22) {
    index += text.charCodeAt(index) === 0x5c ? 2 : 1;
  }
  return index;
}
