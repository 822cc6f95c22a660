/** Marks where text was cut off. */
const CUT = '…';
/** Replaces a character that could move, hide or colour text on a terminal, so that the value never equals a legitimate one. */
const REMOVED = '\uFFFD';
const LINE_BREAKS = /[\t\n\r\u2028\u2029]/g;
/** Controls (C0, C1) and formatting characters, such as bidirectional overrides and those without width. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** Text of others on one line, without characters that act on a terminal, cut to the length. */
export function plainLine(text: string, lengthMax: number): string {
  const cut = text.length > lengthMax ? text.slice(0, lengthMax) : text;
  const clean = cut.replaceAll(LINE_BREAKS, ' ').replaceAll(UNSAFE, REMOVED).trim();
  return text.length > lengthMax ? clean + CUT : clean;
}
