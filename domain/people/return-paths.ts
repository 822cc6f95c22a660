const PATH_LENGTH_MAX = 2_000;
/** Any host: only whether a path leaves it counts. */
const HERE = 'http://console.invalid';
/** Browsers read a backslash as a slash, and drop tabs and line breaks. */
const ODD = /[\\\p{Cc}\s]/u;

/**
 * The path of the console to which a person returns after the sign-in. What is no path of it, or would begin another sign-in, is
 * its first page: the sign-in leads to no other site.
 */
export function returnPath(text: string | undefined): string {
  if (text === undefined || !text.startsWith('/') || text.length > PATH_LENGTH_MAX || ODD.test(text)) return '/';
  if (!URL.canParse(text, HERE)) return '/';
  const { origin, pathname, search } = new URL(text, HERE);
  // `/.//other.example` is normalised to two slashes, which browsers read as another host.
  if (origin !== HERE || pathname.startsWith('//') || /^\/sign-(in|out)(\/|$)/.test(pathname)) return '/';
  return `${pathname}${search}`;
}
