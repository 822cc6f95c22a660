/**
 * Spreadsheets read a cell that begins with one of these signs as a formula. A spreadsheet that separates cells by
 * semicolons or tabs also finds cells inside a quoted field. Full-width signs count too.
 */
const FORMULA_START = /(?<=(?:^|[;\t\r\n])"*)(?=[=+\-@\t\r＝＋－＠])/g;
const NEEDS_QUOTES = /[",;\t\r\n]/;

/** A line of a CSV file (RFC 4180); null is an empty field. */
export function csvLine(values: readonly (string | null)[]): string {
  return `${values.map((value) => quoted(value ?? '')).join(',')}\r\n`;
}

/** Makes third-party text safe for a field: an apostrophe keeps a spreadsheet from evaluating it. */
export function withoutFormulas(text: string): string {
  return text.replaceAll(FORMULA_START, "'");
}

function quoted(value: string): string {
  return NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
