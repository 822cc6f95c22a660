interface Cookie {
  readonly value: string;
  readonly path: string;
}

export interface BrowserAnswer {
  readonly status: number;
  readonly url: string;
  readonly headers: Headers;
  readonly text: string;
}

export interface BrowserRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>> | FormData;
}

const REDIRECTS_MAX = 15;

/** What a browser does with cookies and redirects, without a browser. Cookies belong to a host, not to its port. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, Cookie>>();

  /** One request, whose redirect is not followed. */
  async request(url: string, { method, headers = {}, form }: BrowserRequest = {}): Promise<BrowserAnswer> {
    const cookies = this.#cookiesFor(new URL(url));
    const response = await fetch(url, {
      method: method ?? (form === undefined ? 'GET' : 'POST'),
      redirect: 'manual',
      headers: { ...(cookies === '' ? {} : { cookie: cookies }), ...headers },
      ...(form === undefined ? {} : { body: form instanceof FormData ? form : new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) this.#keep(new URL(url), line);
    return { status: response.status, url, headers: response.headers, text: await response.text() };
  }

  /** Follows redirects, until an answer is none. */
  async open(url: string, request: BrowserRequest = {}): Promise<BrowserAnswer> {
    let answer = await this.request(url, request);
    for (let count = 0; answer.status >= 300 && answer.status < 400; count += 1) {
      if (count === REDIRECTS_MAX) throw new Error(`redirects do not end: ${answer.url}`);
      answer = await this.request(locationOf(answer));
    }
    return answer;
  }

  cookie(url: string, name: string): string | null {
    return this.#cookies.get(new URL(url).hostname)?.get(name)?.value ?? null;
  }

  setCookie(url: string, name: string, value: string): void {
    this.#of(new URL(url)).set(name, { value, path: '/' });
  }

  #of({ hostname }: URL): Map<string, Cookie> {
    const known = this.#cookies.get(hostname) ?? new Map<string, Cookie>();
    this.#cookies.set(hostname, known);
    return known;
  }

  #cookiesFor(url: URL): string {
    return [...this.#of(url)]
      .filter(([, { path }]) => url.pathname === path || url.pathname.startsWith(path.replace(/\/?$/, '/')))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
  }

  #keep(url: URL, line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const path = /;\s*path=([^;]*)/i.exec(line)?.[1] ?? '/';
    const expires = /;\s*expires=([^;]*)/i.exec(line)?.[1];
    const isGone = /;\s*max-age=0\b/i.test(line) || (expires !== undefined && Date.parse(expires) < Date.now());
    if (isGone) this.#of(url).delete(name);
    else this.#of(url).set(name, { value, path });
  }
}

/** Where an answer leads. */
export function locationOf({ url, status, headers }: BrowserAnswer): string {
  const location = headers.get('location');
  if (location === null) throw new Error(`${url} answered ${status} without a location`);
  return new URL(location, url).href;
}
