const MARKUP: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
};
/** Characters that XML 1.0 forbids even escaped: control characters, halves of surrogate pairs, U+FFFE and U+FFFF. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it matches them on purpose
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|\p{Surrogate}/gu;

/** Text between tags or in quotes. Forbidden characters become U+FFFD, so that nothing disappears unnoticed. */
export function xmlText(text: string): string {
  return text.replaceAll(FORBIDDEN, '\uFFFD').replaceAll(/[&<>"\r]/g, (sign) => MARKUP[sign] ?? sign);
}

/** An element with other elements inside. */
export function element(name: string, ...inner: readonly string[]): string {
  return `<${name}>${inner.join('')}</${name}>`;
}

/** An element that holds text. */
export function textElement(name: string, text: string): string {
  return `<${name}>${xmlText(text)}</${name}>`;
}
